"""Whose requests the page's server answers: its own page's, and no other page's in the same browser.

Any page of the web can make a reader's browser send requests to 127.0.0.1, and can let a name of its own
point there and then read the answers, too. Neither gets further than this.
"""

from ipaddress import ip_address
from socket import gethostname
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POSTED = {f"/gradio_api/{path}" for path in ("queue/join", "run/predict", "cancel", "reset")}
"""All that the page itself posts to; what else gradio has, such as uploads, is closed."""
TOLD = {"Content-Security-Policy": "frame-ancestors 'none'", "X-Content-Type-Options": "nosniff"}


class Guard:
    """ASGI middleware that refuses what the page itself does not ask for.

    Args:
        app: what it stands before.
        host: where the server listens.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self.app = app
        self._names = {"localhost", host.lower(), gethostname().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it in one line."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(TOLD)
            await send(message)

        refused = self._refused(scope)
        answer = PlainTextResponse(f"knowwhen: {refused}\n", 403) if refused else self.app
        await answer(scope, receive, told)

    def _refused(self, scope: Scope) -> str:
        """Why a request is refused; empty if it is not."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_ours(host):
            return "the page has another address; open the one that knowwhen ui has printed"
        if origin is not None and _authority(origin) != host.lower():
            return "another page asks; only knowwhen's own may"
        if scope["method"] not in ("GET", "HEAD") and scope["path"].rstrip("/") not in POSTED:
            return "the page has no use for this"
        return ""

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in self._names:
                return True
            ip_address(name)  # which nobody can let point elsewhere, as a name can be
        except ValueError:
            return False
        return True


def _authority(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
