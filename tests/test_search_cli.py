"""`knowwhen index` and `knowwhen search` as a user types them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from knowwhen.cli import app, main

LINES = [
    {"id": "1", "title": "Paris", "text": "The capital of France [bold]lies[/bold] on the Seine."},
    {"id": "2", "title": "Cats", "text": "A cat purrs."},
]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def refused(*arguments: str | Path, capsys: pytest.CaptureFixture[str], status: int = 1) -> str:
    """Run the whole front door; it must end with one line on stderr and nothing on stdout."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", ["knowwhen", *map(str, arguments)])
        main()
    assert ended.value.code == status
    out, error = capsys.readouterr()
    assert out == ""
    lines = [line for line in error.splitlines() if line.strip() and not line.startswith("indexing")]
    assert len(lines) == 1
    return lines[0]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    file = tmp_path / "corpus.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in LINES))
    return file


@pytest.fixture
def index(corpus: Path, tmp_path: Path) -> Path:
    assert run("index", "build", corpus, "--out", tmp_path / "index").exit_code == 0
    return tmp_path / "index"


def test_building_says_what_there_is_and_shows_progress_on_stderr(corpus: Path, tmp_path: Path) -> None:
    result = run("index", "build", corpus, "--out", tmp_path / "index")
    assert result.stdout.startswith(f"{tmp_path / 'index'}: 2 passages, bm25, ")
    assert "100%" in result.stderr
    assert "2 passages, " in result.stderr


def test_search_prints_ranked_passages_as_they_are(index: Path) -> None:
    result = run("search", "capital France Seine cat", "--corpus", index)
    first, text, second, _ = result.stdout.splitlines()
    assert first.startswith("1. Paris  (")
    assert text.strip() == LINES[0]["text"]
    assert second.startswith("2. Cats  (")


def test_search_prints_one_json_object(index: Path) -> None:
    result = run("search", "capital France Seine cat", "--corpus", index, "--k", "1", "--json")
    answer = json.loads(result.stdout)
    assert (answer["query"], answer["corpus"]) == ("capital France Seine cat", str(index))
    assert [(passage["id"], passage["rank"]) for passage in answer["passages"]] == [("1", 1)]


def test_finding_nothing_is_no_error(index: Path) -> None:
    result = run("search", "zebra", "--corpus", index)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "nothing found\n")
    assert json.loads(run("search", "", "--corpus", index, "--json").stdout)["passages"] == []


def test_index_add_and_check(index: Path, tmp_path: Path) -> None:
    (tmp_path / "dogs.txt").write_text("A dog barks.")
    assert ": 3 passages, bm25, " in run("index", "add", tmp_path / "dogs.txt", "--corpus", index).stdout
    assert "1. dogs" in run("search", "barking", "--corpus", index).stdout
    assert ": sound; 3 passages" in run("index", "check", index).stdout


def test_bad_lines_end_the_build_or_are_counted(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus.write_text(corpus.read_text() + "\nrubbish\n")
    out = tmp_path / "index"
    assert f"{corpus}:3: this is no JSON" in refused("index", "build", corpus, "--out", out, capsys=capsys)
    assert not out.exists()
    result = run("index", "build", corpus, "--out", out, "--skip-bad")
    assert "2 passages" in result.stdout
    assert f"1 bad entries left out, the first: {corpus}:3: this is no JSON" in result.stderr


def test_errors_are_one_line(index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unknown = refused("search", "x", "--corpus", "nowhere", capsys=capsys, status=2)
    assert "no retriever is called 'nowhere'" in unknown
    missing = refused("index", "build", tmp_path / "no.jsonl", "--out", index, capsys=capsys)
    assert "no.jsonl does not exist" in missing
    next(index.rglob("*.store")).unlink()
    assert "is damaged" in refused("index", "check", index, capsys=capsys)


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "x", "--k", "0"],
        ["search"],
        ["index", "build", "x.jsonl"],
        ["index", "build", "x.jsonl", "--out", "y", "--kind", "sparse"],
        ["index", "build", "x.jsonl", "--out", "y", "--encoder", "e"],
    ],
)
def test_wrong_use_ends_with_two(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_naming_the_commands_loads_no_heavy_package() -> None:
    heavy = ["torch", "transformers", "langchain_core", "langgraph", "tantivy", "faiss", "numpy", "pyarrow"]
    code = f"import sys, knowwhen.cli; print([name for name in {heavy} if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_a_search_by_words_loads_neither_faiss_nor_torch(index: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from knowwhen.tools import open_index\n"
        f"open_index(Path({str(index)!r})).invoke('cat')\n"
        "print([name for name in ('torch', 'faiss', 'sentence_transformers') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
