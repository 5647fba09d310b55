"""What the pages say can be done can be done: commands, Python, files named, links between pages."""

import ast
import importlib
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import typer
from typer.main import get_command

from knowwhen.chat.session import AUTO
from knowwhen.cli import app
from knowwhen.graphs import METHODS
from knowwhen.method_settings import known_to

ROOT = Path(__file__).resolve().parents[1]
WRONG_USE: Any = typer.BadParameter.__bases__  # of click, or of the click within typer
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in PAGES}
named = pytest.mark.parametrize("page", TEXTS)

FENCED = re.compile(r"^[ \t]*```(\w*)\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """The fenced blocks of a page, each with its language."""
    return ((found[1], found[2]) for found in FENCED.finditer(page))


def command_lines(page: str) -> list[str]:
    """What is typed into a shell in the fenced blocks of a page; usages, with [OPTIONS] in them, are not."""
    lines = []
    for language, block in blocks(page):
        if language not in ("", "sh", "bash", "console"):
            continue
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            typed = re.sub(r"\s+(?:#|[<>|]\s).*$", "", line.strip().removeprefix("$ "))
            if typed.startswith("knowwhen ") and "[OPTIONS]" not in typed:
                lines.append(typed)
    return lines


def below(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words name, and the words behind its name."""
    command: Any = get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    return command, words


def why_not(line: str) -> str | None:
    """What is wrong with a command line; None if the program takes it."""
    words = shlex.split(line.replace('"…"', '"a question"'))[1:]
    if re.search(r"(?<=\s)…(?=\s|$)", line):  # for what was shown before, unless it is an option's value
        words = [word for before, word in pairwise(["", *words]) if word != "…" or before.startswith("--")]
    command, words = below(words)
    try:
        context = command.make_context(command.name, list(words))
    except WRONG_USE as error:
        return error.message or repr(error)
    if left := [*context.args, *getattr(context, "_protected_args", ())]:
        return f"{left} are too many"
    method = context.params.get("method")
    if method not in (None, "…", AUTO, *METHODS):
        return f"there is no method {method}"
    for pair in context.params.get("settings") or ():
        name = pair.partition("=")[0].rpartition(".")[2]
        if not any(name in known_to(each) for each in ([method] if method in METHODS else METHODS)):
            return f"{method} has no setting {name}"
    return None


@named
def test_every_command_line_is_one_that_the_program_takes(page: str) -> None:
    assert {line: why for line in command_lines(TEXTS[page]) if (why := why_not(line))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "knowwhen fly",
        "knowwhen ask",
        'knowwhen ask "…" --methods keqa',
        'knowwhen ask "…" --method kequa',
        'knowwhen ask "…" --method keqa --set alhpa=1',
        "knowwhen index build corpus.jsonl",
        "knowwhen search this and that",
        "knowwhen evaluate almost",
    ],
)
def test_a_wrong_command_line_would_be_noticed(line: str) -> None:
    assert why_not(line)


def test_command_lines_are_found() -> None:
    assert sum(len(command_lines(text)) for text in TEXTS.values()) > 30
    assert command_lines("```\n$ knowwhen ask a \\\n    --json  # b\nknowwhen: no\n```\n") == [
        "knowwhen ask a --json"
    ]


@named
def test_every_command_and_option_named_in_passing_exists(page: str) -> None:
    wrong = []
    for code in CODE.findall(FENCED.sub("", TEXTS[page])):
        if not code.startswith("knowwhen ") or "[OPTIONS]" in code:
            continue
        command, words = below(code.replace("…", " ").split()[1:])
        options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
        group = bool(getattr(command, "commands", {}))
        bad = [word for word in words if word.startswith("--") and word not in options]
        if bad or (group and words and not words[0].startswith(("-", "…")) and words[0].islower()):
            wrong.append(code)
    assert wrong == []


def python_blocks(page: str) -> list[ast.Module]:
    return [ast.parse(dedent(block)) for language, block in blocks(page) if language == "python"]


def untrue(tree: ast.Module) -> list[str]:
    """Names that knowwhen does not have, and keywords that a method does not take."""
    wrong = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "knowwhen":
            module = importlib.import_module(str(node.module))
            wrong += [alias.name for alias in node.names if not hasattr(module, alias.name)]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "knowwhen":
                    importlib.import_module(alias.name)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in METHODS:
            known = known_to(node.func.id)
            wrong += [word.arg for word in node.keywords if word.arg and word.arg not in known]
    return wrong


@named
def test_python_that_is_shown_has_names_that_exist(page: str) -> None:
    for tree in python_blocks(TEXTS[page]):
        assert untrue(tree) == [], ast.unparse(tree)


def test_a_wrong_name_would_be_noticed() -> None:
    shown = "```python\nfrom knowwhen import self_dc, selfdc\nself_dc(alpha=1, gamma=2)\n```\n"
    assert untrue(*python_blocks(shown)) == ["selfdc", "gamma"]


def defined(path: Path) -> set[str]:
    """What a module defines at its top level."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


FILE = re.compile(r"`((?:[a-z_]+/)+[\w-]+\.(?:py|ipynb))(?::(\w+))?`")


def lost(page: str) -> list[str]:
    """Files, and functions in them, that a page names and that there are not."""
    return [
        found[0]
        for found in FILE.finditer(FENCED.sub("", page))
        if not (ROOT / found[1]).is_file() or (found[2] and found[2] not in defined(ROOT / found[1]))
    ]


@named
def test_files_and_functions_that_are_named_exist(page: str) -> None:
    assert lost(TEXTS[page]) == []
    assert lost("`nodes/decompose.py:why_not` `nodes/decompose.py:why` `nodes/lost.py`") == [
        "`nodes/decompose.py:why`",
        "`nodes/lost.py`",
    ]


@pytest.mark.parametrize("method", ["self_dc", "keqa", "seakr", "taikc", "baselines"])
def test_every_page_of_a_method_leads_from_the_paper_to_the_code(method: str) -> None:
    page = TEXTS[f"{method}.md"]
    assert len(re.findall(r"`\w+/\w+\.py:\w+`", page)) >= 6
    for title in ("## Settings", "<!-- settings of"):
        assert title in page


@named
def test_links_to_files_lead_somewhere(page: str) -> None:
    home = (ROOT / page if page == "README.md" else ROOT / "docs" / page).parent
    addresses = [each for each in LINK.findall(FENCED.sub("", TEXTS[page])) if "://" not in each]
    dead = [each for each in addresses if each[:1] != "#" and not (home / each.partition("#")[0]).exists()]
    assert dead == []
