"""The pages build without a warning, lead nowhere dead, load nothing from elsewhere and can be searched."""

import importlib
import io
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from chromium import expect, launched
from PIL import Image

from knowwhen.almanac.questions import AlmanacQuestion
from knowwhen.models.cost import Cost
from knowwhen.models.evidence import Evidence
from knowwhen.nodes.state import Answer, Question, Step
from knowwhen.tools.passage import Passage

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

pytest.importorskip("mkdocstrings", reason="pip install 'knowwhen[docs]'")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages, built as `make docs` builds them."""
    out = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    return out


class Page(HTMLParser):
    """What a page links to, what it loads, and where links can lead within it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(given["href"])
        self.loaded += [given[name] for name in ("src", "srcset", "poster", "data") if name in given]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)


def pages(folder: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}


def elsewhere(address: str) -> bool:
    """Whether an address is none of this site."""
    return bool(urlsplit(address).scheme or urlsplit(address).netloc)


def dead(found: dict[Path, Page]) -> list[tuple[str, str]]:
    """Links and files that are not there, each behind the page that names it."""
    missing = []
    for path, page in found.items():
        for address in [*page.links, *page.loaded]:
            if elsewhere(address):
                continue
            target, anchor = unquote(urlsplit(address).path), unquote(urlsplit(address).fragment)
            there = (path.parent / target).resolve() if target else path
            there = there / "index.html" if there.is_dir() else there
            if not there.is_file() or (anchor and there in found and anchor not in found[there].anchors):
                missing.append((path.name, address))
    return missing


def test_no_link_is_dead(site: Path) -> None:
    found = {path: page for path, page in pages(site).items() if path.name != "404.html"}
    assert len(found) > 20
    assert sum(len(page.links) for page in found.values()) > 1000
    assert dead(found) == []


def test_a_dead_link_would_be_noticed(tmp_path: Path) -> None:
    first = '<h1 id="here">A</h1><a href="#here">x</a><a href="#there">x</a><img src="b.png">'
    second = '<a href="a.html#here">x</a><a href="a.html#gone">x</a><a href="d.html">x</a>'
    (tmp_path / "a.html").write_text(first)
    (tmp_path / "c.html").write_text(second)
    named = [address for _, address in dead(pages(tmp_path))]
    assert sorted(named) == ["#there", "a.html#gone", "b.png", "d.html"]


def foreign(page: Page) -> list[str]:
    """What a page loads from elsewhere."""
    return [address for address in page.loaded if elsewhere(address) and not address.startswith("data:")]


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    assert {path.name: found for path, page in pages(site).items() if (found := foreign(page))} == {}
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(https?:)?//|@import", path.read_text(encoding="utf-8")), path
    loads = (
        '<script src="https://a.b/c.js"></script><link rel="stylesheet" href="//a.b/c.css"><img src="x.png"/>'
    )
    assert foreign(Page(loads)) == ["https://a.b/c.js", "//a.b/c.css"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


def test_opened_as_files_they_ask_for_nothing_else_and_can_be_searched(site: Path, browser: Any) -> None:
    page = browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    for path in sorted(site.glob("*.html")):
        page.goto(path.as_uri())
    page.goto((site / "index.html").as_uri())
    page.locator("input.md-search__input").fill("quizzes")
    result = page.locator(".md-search-result__item a").first
    expect(result).to_have_attribute("href", re.compile(r"/keqa\.html([?#]|$)"))
    assert len(requests) > 50
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:", "about:"))] == []


def in_menu(menu: Any) -> Iterator[str]:
    """The pages that mkdocs.yml names."""
    if isinstance(menu, str):
        yield menu
    for each in menu.values() if isinstance(menu, dict) else menu if isinstance(menu, list) else ():
        yield from in_menu(each)


def test_no_page_stands_in_the_menu_twice() -> None:
    named = list(in_menu(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    assert len(named) > 20
    assert [page for page in named if named.count(page) > 1] == []


FIELDS: dict[str, type] = {
    "knowwhen.nodes.state.Question": Question,
    "knowwhen.nodes.state.Answer": Answer,
    "knowwhen.nodes.state.Step": Step,
    "knowwhen.tools.passage.Passage": Passage,
    "knowwhen.models.cost.Cost": Cost,
    "knowwhen.models.evidence.Evidence": Evidence,
    "knowwhen.almanac.questions.AlmanacQuestion": AlmanacQuestion,
}


def test_every_field_of_the_data_is_in_the_reference_with_what_is_said_of_it(site: Path) -> None:
    html = (site / "python.html").read_text(encoding="utf-8")
    parts = {part.partition('"')[0]: part for part in html.split('<h3 id="')[1:]}
    for name, data in FIELDS.items():
        shown = " ".join(unescape(re.sub("<[^>]+>", "", parts[name])).split())
        for field, annotation in get_type_hints(data, include_extras=True).items():
            assert re.search(rf"\b{field} \(", shown), f"{name}.{field}"
            for told in getattr(annotation, "__metadata__", ()):
                assert " ".join(told.description.split()) in shown, f"{name}.{field}"
    assert "texts sampled; n for n samples" in parts["knowwhen.models.cost.Cost"]  # a comment in the code
    assert "LOGPROBS" in parts["knowwhen.models.capability.Capability"]


CUT = """tables => tables.filter(table => {
    const frame = table.closest(".md-typeset__scrollwrap");
    return frame.scrollWidth > frame.clientWidth + 1;
}).map(table => table.textContent.trim().slice(0, 60))"""
OF_SETTINGS = "article table:not([class]):has(th:nth-child(4):last-child:empty)"


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("page", ["self_dc", "keqa", "seakr", "taikc", "baselines"])
def test_a_table_of_settings_is_seen_to_its_last_column(
    site: Path, browser: Any, page: str, width: int
) -> None:
    opened = browser.new_page(viewport={"width": width, "height": 900})
    opened.goto((site / f"{page}.html").as_uri())
    tables = opened.locator(OF_SETTINGS)
    expect(tables.first).to_be_visible()
    assert tables.evaluate_all(CUT) == []
    opened.close()


BEHIND = """
from generate import DOCS, filled
pages = ((path.name, path.read_text(encoding="utf-8")) for path in sorted(DOCS.glob("*.md")))
print(*(name for name, page in pages if filled(page) != page), sep=", ")
"""


def test_generated_parts_are_those_of_the_code() -> None:
    command = [sys.executable, "-c", BEHIND]
    ended = subprocess.run(command, cwd=DOCS / "site", capture_output=True, text=True, check=True)
    behind = ended.stdout.strip()
    assert not behind, f"{behind}: behind the code; run `make docs`, or python docs/site/generate.py"


@pytest.mark.parametrize("name", sorted(path.name for path in DOCS.rglob("*.svg")))
def test_a_drawing_can_be_seen_on_a_dark_page(name: str, browser: Any) -> None:
    (path,) = DOCS.rglob(name)
    data = b64encode(path.read_bytes()).decode()
    page = browser.new_page(viewport={"width": 400, "height": 600})
    page.set_content(
        '<body style="margin:0;background:black">'
        f'<img id="drawing" style="width:400px" src="data:image/svg+xml;base64,{data}">'
    )
    shot = Image.open(io.BytesIO(page.locator("#drawing").screenshot())).convert("L")
    dark = sum(shot.histogram()[:100]) / (shot.width * shot.height)
    assert dark < 0.2  # lines and letters
    page.close()


@pytest.mark.parametrize("method", ["self_dc", "keqa", "seakr", "taikc"])
def test_a_drawing_is_that_of_the_graph(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS / "site"))
    draw = importlib.import_module("draw_graphs")
    (said,) = re.findall("<desc>(.*?)</desc>", (draw.GRAPHS / f"{method}.svg").read_text("utf-8"), re.DOTALL)
    assert unescape(said) == draw.edges(draw.graph_of(method)), f"draw it again: {draw.__doc__}"
