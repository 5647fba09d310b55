"""The page of `knowwhen ui`, seen in a browser."""

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from chromium import CHROMIUM, Seen, expect, launched, reader
from openai_server import serve
from scripted import ScriptedChat

pytest.importorskip("gradio")

HALF_KNOWN = "Which person starred in Skirn Vlurk and directed Thimis Plolm?"  # at probability 0.69
NEEDS_BROWSER = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; apt-get install chromium")
PHONE = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
HOSTILE = (
    "</summary></details></script><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
    '<iframe src="http://127.0.0.1:9/"></iframe>{{ 7*7 }} ${alert(4)} @children [a](javascript:alert(5)) '
    "**bold** &lt;b&gt; \u202egnorw\x1b[31m " + "x" * 400
)
SHOWN = "<script>alert(1)</script><img src=x onerror=alert(2)>"
# By the page's own clock, which stands still as long as the page is at work.
SETTLED = """element => new Promise(settled => {
    let quiet
    const changed = () => { clearTimeout(quiet); quiet = setTimeout(settled, 1000) }
    new MutationObserver(changed).observe(element, {subtree: true, childList: true, attributes: true})
    changed()
})"""
IN_VIEW = """selector => {
    const { top, bottom } = document.querySelector(selector).getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight
}"""


class SeenUi(Seen):
    """The page, and what can be done on it."""

    def __getitem__(self, selector: str) -> Any:
        return self.page.locator(selector)

    def go_to(self, tab: str) -> None:
        self.page.get_by_role("tab", name=tab).click()

    def ask(self, question: str, tab: str = "ask", **fields: str) -> None:
        """Fill in the form and press Enter."""
        for name, value in fields.items():
            self[f"#{tab}-{name} textarea, #{tab}-{name} input"].fill(value)
        self[f"#{tab}-question textarea"].fill(question)
        self[f"#{tab}-question textarea"].press("Enter")

    def open_settings(self, form: str = "ask") -> None:
        """Open a form's settings and let them settle: gradio loads them only now, and may lose what is typed
        at that very moment."""
        settings = self[f"#{form}-settings"]
        settings.get_by_role("button").first.click()
        expect(settings.locator(":is(input, textarea):visible").first).to_be_visible()
        settings.evaluate(SETTLED)

    def choose_method(self, method: str, tab: str = "ask") -> None:
        self[f"#{tab}-method input"].click()
        self.page.get_by_role("option", name=method, exact=True).click()

    @property
    def steps(self) -> Any:
        """The lines of the tree."""
        return self["#ask-result .kw-step > summary"]

    def comes_into_view(self, selector: str) -> None:
        """Wait until all its lines are seen without scrolling."""
        self.page.wait_for_function(IN_VIEW, arg=selector)


@contextmanager
def opened(browser: Any, address: str, **how: Any) -> Iterator[SeenUi]:
    """A new reader of the page; nothing but the page's own host may be asked for anything."""
    with reader(browser, SeenUi, **how) as seen:
        seen.page.goto(address)
        seen["#ask-settings"].wait_for()
        yield seen
        asked = {url.split("/")[2] for url in seen.requests if not url.startswith("data:")}
        assert asked == {address.split("/")[2]}
        assert (seen.errors, seen.dialogs) == ([], [])


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    from knowwhen.ui.serving import served

    with served() as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Serve a script as an OpenAI model."""
    with ExitStack() as stack:

        def serve_it(script: Any, **faults: Any) -> Any:
            server = stack.enter_context(serve(ScriptedChat(script), **faults))
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("OPENAI_API_KEY", "none")
            return server

        yield serve_it


@pytest.fixture
def broken_off(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when a run has ended, in whichever way."""
    from knowwhen.ui import run

    events_of, ended = run.aevents_of, threading.Event()

    async def noting(*arguments: Any) -> AsyncIterator[dict[str, Any]]:
        try:
            async for event in events_of(*arguments):
                yield event
        finally:
            ended.set()

    monkeypatch.setattr(run, "aevents_of", noting)
    return ended
