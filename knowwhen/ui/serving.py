"""The page on a port of this machine: it fetches nothing, tells nobody, and serves no file of the disk."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from knowwhen.models.errors import KnowwhenError, SettingsError

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # read when gradio is imported

try:
    import gradio  # noqa: F401  # for the error if it is missing
except ModuleNotFoundError as error:
    raise KnowwhenError("the page needs gradio; pip install 'knowwhen[ui]'") from error

from knowwhen.ui.page import build_page, look

FIRST_PORT, PORTS = 7860, 100  # tried one after the other if none is asked for


@contextmanager
def served(host: str = "127.0.0.1", port: int | None = None) -> Iterator[str]:
    """Serve the page until the block is left.

    Args:
        host: where it listens; on the default nobody else can reach it.
        port: None: the first free one from 7860 on.

    Yields:
        Its address.

    Raises:
        SettingsError: the port is in use.
    """
    page = build_page()
    try:
        _, address, _ = page.launch(
            server_name=host,
            server_port=port,
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
            **look(),
        )
    except OSError as error:
        where = f"port {port}" if port else f"every port from {FIRST_PORT} to {FIRST_PORT + PORTS - 1}"
        raise SettingsError(f"{where} is in use or closed to you; choose another with --port") from error
    try:
        yield address
    finally:
        page.close(verbose=False)
