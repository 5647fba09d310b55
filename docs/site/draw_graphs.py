"""Draws the methods' graphs as docs/graphs/<method>.svg, with Mermaid in a browser, without a network.

    npm pack mermaid@11 && tar xzf mermaid-*.tgz
    python docs/site/draw_graphs.py package/dist/mermaid.min.js

Needs playwright and Chromium. A drawing's description lists the edges that were drawn, by which a test tells
whether it is still that of the graph.
"""

import re
import shutil
import sys
from html import escape
from pathlib import Path
from typing import Any

from knowwhen.graphs import METHODS

GRAPHS = Path(__file__).resolve().parents[1] / "graphs"
DRAWN = ("self_dc", "keqa", "seakr", "taikc")
_CONFIG = """{
    startOnLoad: false, htmlLabels: false, flowchart: {htmlLabels: false, curve: "basis"},
    theme: "base",
    themeVariables: {clusterBkg: "#fafafa", clusterBorder: "#bbbbbb", fontFamily: "sans-serif"},
}"""


def graph_of(method: str) -> Any:
    """A method's graph; one that calls itself is drawn once, all others with the graphs inside them."""
    return METHODS[method]().get_graph(xray=method != "self_dc")


def edges(graph: Any) -> str:
    """Every edge on a line, with its label."""
    lines = (f"{edge.source} -> {edge.target}{f': {edge.data}' if edge.data else ''}" for edge in graph.edges)
    return "\n".join(sorted(lines))


def labelled(mermaid: str) -> str:
    """The Mermaid text with plain labels, as SVG without HTML shows them."""
    text = re.sub(r"^---\n.*?^---\n", "", mermaid, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"\(\[?<p>__(\w+)__</p>\]?\)", r"(\1)", text).replace("&nbsp;", "")


def slim(svg: str) -> str:
    """A drawing without what only an editor needs, and with a tenth of a pixel as its finest measure."""
    svg = re.sub(r' data-(?:points|look|id|et|edge)="[^"]*"', "", svg)
    return re.sub(r"\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}", svg)


def on_paper(svg: str) -> str:
    """A drawing with a white ground under it, as its lines are black and some pages are dark."""
    ground = '<rect x="0" y="0" width="100%" height="100%" fill="#ffffff"/>'
    return re.sub(
        r"<svg[^>]*>(<desc>.*?</desc>)?", lambda opening: opening[0] + ground, svg, count=1, flags=re.DOTALL
    )


def main(mermaid_js: Path) -> None:
    """Draw all of them."""
    from playwright.sync_api import sync_playwright

    GRAPHS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_content("<body></body>")
        page.add_script_tag(content=mermaid_js.read_text(encoding="utf-8"))
        page.evaluate(f"mermaid.initialize({_CONFIG})")
        for method in DRAWN:
            graph = graph_of(method)
            drawn = page.evaluate(
                "async ([name, text]) => (await mermaid.render(name, text)).svg",
                [method, labelled(graph.draw_mermaid())],
            )
            said = f"<desc>{escape(edges(graph))}</desc>"
            svg = re.sub(r"(<svg[^>]*>)", lambda tag, said=said: tag[1] + said, slim(drawn), count=1)
            (GRAPHS / f"{method}.svg").write_text(on_paper(svg) + "\n", encoding="utf-8")
            print(method, f"{len(svg):,} bytes")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
