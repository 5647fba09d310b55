"""Every notebook runs from top to bottom, says what it is there to show, and is kept with small outputs."""

import importlib.util
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import nbformat
import pytest

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
PLOT, DRAWING = 60_000, 64_000  # bytes

# What a notebook's outputs must say, on whatever machine; and how many plots they hold.
SHOWN: dict[str, tuple[int, tuple[str, ...]]] = {
    "agent": (0, ("Thudo Rake", "self_dc success", "messages are kept")),
    "00-quick-start": (0, ("Thudo Rake", "[decompose at probability 0.69]", "'retrievals': 1", "self_dc ")),
    "self_dc": (2, ("[generate at probability 0.99]", "[retrieve at probability 0.08]", "[decompose at ")),
    "keqa": (1, ("[confident at consistency 1.00]", "passages retrieved 10", "α = 0.8: taken for known")),
    "seakr": (2, ("Thudo Rake", "[confident  U = -6", "AUROC of gram:seakr 0.9", "AUROC of perplexity 0.9")),
    "taikc": (1, ("-> RAG_REQUIRED", "[confident]", "answered_right=", "internal  right", "look-ups 0.00")),
    "choosing_a_threshold": (2, ("{'threshold': 0.", "The gate gains", "are for taikc, not for seakr")),
    "own_model_and_corpus": (
        0,
        (
            "2 passages",
            "needs log-probabilities, which Clerk does not report",
            "Stanislaw Lem | generate 0.95",
            "1628 | retrieve 0.05",
            "hidden states, log-probabilities",
            "seakr has no threshold for estimator='verbalised' on Clerk",
        ),
    ),
}


DRAWN = ("keqa", "seakr")  # whose samples are by a seed and by the last places of the machine's numbers
NUMBER = re.compile(r"[-+]?\d[\d.]*(?:e-?\d+)?")  # whose last places are by the machine


@pytest.fixture(scope="module")
def run() -> Any:
    """The module by which the outputs were kept."""
    spec = importlib.util.spec_from_file_location("run", NOTEBOOKS / "run.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outputs(notebook: nbformat.NotebookNode) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


def text_of(notebook: nbformat.NotebookNode) -> str:
    """All that the cells printed, or ended in."""
    found = outputs(notebook)
    return "\n".join(each.get("text") or each.get("data", {}).get("text/plain", "") for each in found)


def plots(notebook: nbformat.NotebookNode) -> list[bytes]:
    data = (each.get("data", {}).get("image/png") for each in outputs(notebook))
    return [b64decode(png) for png in data if png]


def check_shown(notebook: nbformat.NotebookNode, name: str) -> None:
    number, said = SHOWN[name]
    text = text_of(notebook)
    assert [each for each in said if each not in text] == []
    assert len(plots(notebook)) == number
    drawings = [each for each in outputs(notebook) if "image/svg+xml" in each.get("data", {})]
    assert len(drawings) == (name in ("self_dc", "keqa", "seakr", "taikc"))
    assert not [each for each in outputs(notebook) if each.get("name") == "stderr"]


def test_every_notebook_is_known_here() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_it_runs_from_top_to_bottom_and_says_what_is_kept(name: str, run: Any) -> None:
    executed = run.executed(NOTEBOOKS / f"{name}.ipynb")
    check_shown(executed, name)
    if name not in DRAWN:
        kept = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
        assert NUMBER.sub("#", text_of(executed)) == NUMBER.sub("#", text_of(kept))


@pytest.mark.parametrize("name", SHOWN)
def test_it_is_kept_with_its_outputs(name: str) -> None:
    kept = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    nbformat.validate(kept)
    check_shown(kept, name)
    assert all(len(png) <= PLOT for png in plots(kept))
    assert all(len(str(each)) <= max(DRAWING, 2 * PLOT) for each in outputs(kept))
    counts = [cell.execution_count for cell in kept.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert "://" not in text_of(kept) and "/site-packages/" not in text_of(kept)
    assert kept.cells[0].cell_type == "markdown" and kept.cells[0].source.startswith("# ")
