"""The page on a port of this machine: it fetches nothing, tells nobody, and serves no file of the disk."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from knowwhen.models.errors import KnowwhenError

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio is imported

try:
    import gradio  # noqa: F401  # for the error if it is missing
except ModuleNotFoundError as error:
    raise KnowwhenError("the page needs gradio; pip install 'knowwhen[ui]'") from error

from starlette.middleware import Middleware

from knowwhen.ui.guard import Guard
from knowwhen.ui.page import build_page, look
from knowwhen.ui.ports import check_port


@contextmanager
def served(host: str = "127.0.0.1", port: int | None = None) -> Iterator[str]:
    """Serve the page until the block is left.

    Args:
        host: where it listens; on the default nobody else can reach it.
        port: None: the first free one from 7860 on.

    Yields:
        Its address.

    Raises:
        SettingsError: the port is in use, or the host is no address of this machine.
    """
    host = host.strip("[]")
    check_port(host, port)
    page = build_page()
    _, address, _ = page.launch(
        server_name=f"[{host}]" if ":" in host else host,
        server_port=port,  # None: the first free one now, as another page may have begun meanwhile
        inbrowser=False,
        share=False,
        quiet=True,
        prevent_thread_lock=True,
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
        run_history=False,
        enable_monitoring=False,
        footer_links=[],
        allowed_paths=[],
        app_kwargs={"middleware": [Middleware(Guard, host=host)]},
        **look(),
    )
    try:
        yield address
    finally:
        page.close(verbose=False)
