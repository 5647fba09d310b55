"""The page of `knowwhen ui`, served, and seen in a browser that notes what it does besides."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ALONE = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
HALF_KNOWN = "Which person starred in Skirn Vlurk and directed Thimis Plolm?"  # at probability 0.69
PATIENCE = 60_000  # milliseconds, for a machine with other things to do


@dataclass
class Seen:
    """A page, and what it did besides being shown."""

    page: Any
    dialogs: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

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

    def choose_method(self, method: str, tab: str = "ask") -> None:
        self[f"#{tab}-method input"].click()
        self.page.get_by_role("option", name=method, exact=True).click()

    @property
    def steps(self) -> list[str]:
        """The lines of the tree."""
        return [" ".join(each.inner_text().split()) for each in self["#ask-result .kw-step > summary"].all()]

    def is_as_wide_as(self, width: int) -> bool:
        return bool(self.page.evaluate("document.documentElement.scrollWidth") <= width)


@contextmanager
def opened(browser: Any, address: str, **how: Any) -> Iterator[Seen]:
    """A new reader of the page; nothing but the page's own host may be asked for anything."""
    context = browser.new_context(**how)
    context.set_default_timeout(PATIENCE)
    seen = Seen(context.new_page())

    def dismiss(dialog: Any) -> None:
        seen.dialogs.append(dialog.message)
        dialog.dismiss()

    seen.page.on("dialog", dismiss)
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
    seen.page.goto(address)
    seen["#ask-settings"].wait_for()
    yield seen
    assert {url.split("/")[2] for url in seen.requests if not url.startswith("data:")} == {
        address.split("/")[2]
    }
    assert (seen.errors, seen.dialogs) == ([], [])
    context.close()
