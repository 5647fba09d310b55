"""The house: every folder is installed under one name, floors are kept, and the front door is light."""

import ast
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOT_INSTALLED = {"tests", "notebooks", "benchmarks", "docs"}
FLOORS = (
    {"almanac", "models"},
    {"uncertainty", "tools"},
    {"nodes"},
    {"graphs"},
    {"evaluation"},
    {"training", "knowwhen"},
)
PAGE = ("knowwhen", "ui")  # loads gradio, and is itself loaded by its command alone
ALONE = (PAGE, ("knowwhen", "chat"))  # what one command loads, and nothing else
LIGHT = {"typer", "rich", "typing_extensions", *sys.stdlib_module_names}
HEAVY = (
    "torch", "transformers", "sentence_transformers", "numpy", "faiss", "tantivy", "pyarrow", "httpx",
    "pydantic", "langgraph", "langsmith", "openai", "langchain",
)  # fmt: skip
HERE = (re.escape(f"{folder}/") for folder in (ROOT, Path.home(), Path.cwd()))
OF_THIS_MACHINE = re.compile("|".join([*HERE, "[f]ile:///"]))  # brackets, so as not to find itself


def repository() -> list[PurePosixPath]:
    """Every file of the repository, as git sees it: tracked, or new and not ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no git checkout")
    return [PurePosixPath(name) for name in sorted(set(listed.stdout.split("\0"))) if (ROOT / name).is_file()]


FILES = repository()


def package_of(folder: PurePosixPath) -> str:
    """The name under which a folder of the repository is installed."""
    inner = folder.parts[1:] if folder.parts[0] == "knowwhen" else folder.parts
    return ".".join(("knowwhen", *inner))


def with_python(files: list[PurePosixPath]) -> set[PurePosixPath]:
    """The folders that are to be installed."""
    folders = {file.parent for file in files if file.suffix == ".py" and len(file.parts) > 1}
    return {
        folder
        for folder in folders
        if folder.parts[0] not in NOT_INSTALLED and not any(part.startswith(".") for part in folder.parts)
    }


def unlisted(files: list[PurePosixPath], setuptools: dict[str, Any]) -> list[str]:
    """Folders with Python in them that pyproject.toml does not install, or installs from elsewhere."""
    wrong = []
    for folder in with_python(files):
        name = package_of(folder)
        base = name
        while base not in setuptools["package-dir"] and "." in base:
            base = base.rpartition(".")[0]
        below = name.removeprefix(base).strip(".").replace(".", "/")
        source = PurePosixPath(setuptools["package-dir"].get(base, ""), below)
        if name not in setuptools["packages"] or source != folder:
            wrong.append(str(folder))
    return wrong


def test_every_folder_with_python_is_installed_under_its_name() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert unlisted(FILES, setuptools) == []
    assert {package_of(folder) for folder in with_python(FILES)} == set(setuptools["packages"])
    added = [PurePosixPath(name) for name in ("agents/chat.py", "graphs/parts/a.py", "tests/new/test_a.py")]
    assert sorted(unlisted([*FILES, *added], setuptools)) == ["agents", "graphs/parts"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names in a wheel built from a copy: a build folder left in the tree must not help."""
    copy = tmp_path_factory.mktemp("copy")
    for file in FILES:
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, copy / file)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    built = subprocess.run([*command, "-w", "wheels", "."], cwd=copy, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (path,) = (copy / "wheels").glob("knowwhen-*.whl")
    return zipfile.ZipFile(path).namelist()


def test_the_wheel_has_one_top_level_name(wheel: list[str]) -> None:
    top = {name.split("/")[0] for name in wheel}
    assert {name for name in top if not name.endswith(".dist-info")} == {"knowwhen"}


def test_the_wheel_holds_every_module_and_everything_they_read(wheel: list[str]) -> None:
    folders = with_python(FILES)
    expected = {file for file in FILES if file.suffix == ".py" and file.parent in folders}
    expected |= {
        file for file in FILES if file.parts[:2] in (("models", "pocket"), ("tools", "pocket_reference"))
    }
    expected |= {PurePosixPath("almanac/words.txt"), PurePosixPath("knowwhen/py.typed")}
    expected |= {file for file in FILES if file.parts[:2] in (("evaluation", "report"), PAGE)}
    installed = {f"{package_of(file.parent).replace('.', '/')}/{file.name}" for file in expected}
    assert installed <= set(wheel)
    assert {name for name in wheel if name.endswith(".py")} <= installed


Import = tuple[str, bool, bool]  # the module, whether at import time, whether for types only


def imports(source: str) -> Iterator[Import]:
    """Every import of a module, also those within functions."""
    tree = ast.parse(source)
    lazy: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lazy |= set(ast.walk(node))
    typing_only: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            typing_only |= {inner for statement in node.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        when = (node not in lazy, node in typing_only)
        if isinstance(node, ast.Import):
            yield from ((alias.name, *when) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "write imports in full"
            for alias in node.names:
                yield (
                    f"{node.module}.{alias.name}" if node.module == "knowwhen" else str(node.module),
                    *when,
                )


def part(module: str) -> str | None:
    """The part of the house that a module is in; None if it is no module of ours."""
    first, *rest = module.split(".")
    if first != "knowwhen":
        return None
    return rest[0] if rest and any(rest[0] in floor for floor in FLOORS) else "knowwhen"


def height(name: str) -> int:
    return next(number for number, floor in enumerate(FLOORS) if name in floor)


def edges(home: str, source: str) -> set[tuple[str, str]]:
    """Which other parts of the house a module of `home` imports from."""
    targets = {part(module) for module, _, _ in imports(source)}
    return {(home, target) for target in targets if target and target != home}


def modules() -> list[PurePosixPath]:
    return [file for file in FILES if file.suffix == ".py" and file.parent in with_python(FILES)]


def test_no_import_points_up_or_both_ways_on_a_floor() -> None:
    found: dict[tuple[str, str], PurePosixPath] = {}
    for file in modules():
        for edge in edges(file.parts[0], (ROOT / file).read_text(encoding="utf-8")):
            found[edge] = file
    assert len(found) >= 8  # the house has as many stairs as this at the least
    up = {str(file): edge for edge, file in found.items() if height(edge[1]) > height(edge[0])}
    assert up == {}
    assert [edge for edge in found if edge[::-1] in found] == []


@pytest.mark.parametrize(
    "source",
    [
        "from knowwhen.graphs import self_dc",
        "import knowwhen.graphs.self_dc as method",
        "from knowwhen import graphs",
        "def later():\n    from knowwhen.graphs.method import Method",
        "if TYPE_CHECKING:\n    from knowwhen.graphs import Method",
    ],
)
def test_an_import_that_points_up_would_be_noticed(source: str) -> None:
    assert edges("nodes", source) == {("nodes", "graphs")}
    assert height("graphs") > height("nodes")


def heavy_at_the_door(source: str) -> list[str]:
    """What a module of the front door loads at once and should not."""
    return [
        module
        for module, at_once, typing_only in imports(source)
        if at_once
        and not typing_only
        and module.split(".")[0] not in LIGHT
        and (part(module) != "knowwhen" or tuple(module.split(".")[:2]) in ALONE)
    ]


def test_the_front_door_loads_the_floors_below_only_when_used() -> None:
    for file in modules():
        if file.parts[0] == "knowwhen" and file.parts[:2] not in ALONE:
            assert heavy_at_the_door((ROOT / file).read_text(encoding="utf-8")) == [], file
    at_once = "import torch\nfrom knowwhen.graphs import self_dc\nfrom knowwhen.commands import ask\n"
    at_once += "from knowwhen.ui.serving import served\nfrom knowwhen.chat.running import run"
    heavy = ["torch", "knowwhen.graphs", "knowwhen.ui.serving", "knowwhen.chat.running"]
    assert heavy_at_the_door(at_once) == heavy
    assert heavy_at_the_door("def use():\n    import torch") == []


def loaded_by(code: str) -> set[str]:
    """The heavy packages that a fresh process has loaded after running some code."""
    show = f"{code}\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", f"import sys\n{show}"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    top = {name.split(".")[0] for name in ended.stderr.split()}
    assert "knowwhen" in top
    return {name for name in top if name.startswith(HEAVY)}


def test_importing_knowwhen_loads_nothing_heavy() -> None:
    assert loaded_by("import knowwhen") == set()
    assert {"torch", "transformers"} <= loaded_by("import knowwhen, knowwhen.models.transformers_chat")


def test_no_help_page_loads_anything_heavy() -> None:
    code = """
import contextlib
from typer.main import get_command
from knowwhen.cli import app
def pages(command, path):
    yield path
    for name, below in getattr(command, 'commands', {}).items():
        yield from pages(below, [*path, name])
for path in pages(get_command(app), []):
    with contextlib.suppress(SystemExit):
        app([*path, '--help'])
"""
    assert loaded_by(code) <= {"pydantic", "pydantic_core"}  # typer's newer versions load them themselves


def seconds(code: str) -> float:
    """Processor time of a fresh process, which other processes do not lengthen as they do the clock's."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_importing_knowwhen_takes_at_most_three_times_as_long_as_nothing() -> None:
    rounds = [(seconds("pass"), seconds("import knowwhen")) for _ in range(9)]
    nothing, knowwhen = (statistics.median(times) for times in zip(*rounds, strict=True))
    assert knowwhen <= 3 * nothing, f"{knowwhen:.3f} s against {nothing:.3f} s"


def test_no_file_names_a_place_of_the_machine_it_was_written_on() -> None:
    named = []
    for file in FILES:
        data = (ROOT / file).read_bytes()
        if b"\0" not in data and OF_THIS_MACHINE.search(data.decode("utf-8", errors="replace")):
            named.append(str(file))
    assert named == []
    assert OF_THIS_MACHINE.search(f"see {ROOT}/README.md") and not OF_THIS_MACHINE.search("see README.md")
