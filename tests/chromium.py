"""A browser for tests of pages, which notes what a page does besides being shown.

A page is another process: what a click or a key does in it may come after the next line of a test. So tests
do not read a page, but `expect` something of it, which waits.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from playwright.sync_api import expect as expect_of_page
from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ALONE = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
PATIENCE = 180_000  # milliseconds: on a busy machine the first question, which loads the model, takes 50 s
expect: Any = expect_of_page
expect.set_options(timeout=PATIENCE)


@contextmanager
def launched() -> Iterator[Any]:
    """Debian's Chromium, which asks nobody for anything by itself; without one the test is left out."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium; apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ALONE))
        yield browser
        browser.close()


@dataclass
class Seen:
    """A page, and what it did besides being shown."""

    page: Any
    dialogs: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def follow(self, link: Any) -> None:
        """Click a link, and wait until the page behind it is there."""
        with self.page.expect_navigation():
            link.click()

    def is_as_wide_as(self, width: int) -> None:
        """Wait until nothing stands out of a window of this width."""
        expect(self.page.locator("html")).to_have_js_property("scrollWidth", width)


S = TypeVar("S", bound=Seen)


@contextmanager
def reader(browser: Any, kind: type[S], **how: Any) -> Iterator[S]:
    """A new reader, whose page is still empty."""
    context = browser.new_context(**how)
    context.set_default_timeout(PATIENCE)
    seen = kind(context.new_page())

    def dismiss(dialog: Any) -> None:
        seen.dialogs.append(dialog.message)
        dialog.dismiss()

    seen.page.on("dialog", dismiss)
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
    yield seen
    context.close()
