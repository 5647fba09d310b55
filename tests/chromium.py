"""A browser for tests of pages, which notes what a page does besides being shown."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ALONE = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip


@contextmanager
def launched() -> Iterator[Any]:
    """Debian's Chromium, which asks nobody for anything by itself; without one the test is left out."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium; apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
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


S = TypeVar("S", bound=Seen)


@contextmanager
def reader(browser: Any, kind: type[S], **how: Any) -> Iterator[S]:
    """A new reader, whose page is still empty."""
    context = browser.new_context(**how)
    seen = kind(context.new_page())

    def dismiss(dialog: Any) -> None:
        seen.dialogs.append(dialog.message)
        dialog.dismiss()

    seen.page.on("dialog", dismiss)
    seen.page.on("request", lambda request: seen.requests.append(request.url))
    seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
    yield seen
    context.close()
