"""Killed, stopped or out of space in the middle: the index is what it was before, or refused."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import started

from knowwhen.models.errors import RetrievalError
from knowwhen.tools import Entry, add_to_index, build_index, check_index, open_index

PARIS = Entry("paris", "Paris", "The capital of France.", "")
# A corpus without end; "begun" is said when the first thousand passages are written.
CHILD = """
import sys
from itertools import count
from pathlib import Path
from knowwhen.tools import Entry, add_to_index, build_index

def endless():
    for number in count():
        if number == 1000:
            print("begun", flush=True)
        yield Entry(str(number), "Title", f"some text {number} " * 20, "")

CHANGE(endless(), Path(sys.argv[1]))
"""


def interrupt(folder: Path, change: str, stop: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Begin to build or add in another process and end it in the middle."""
    code = CHILD.replace("CHANGE", change)
    command = [sys.executable, "-c", code, str(folder)]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.3)
        child.send_signal(stop)
        out, error = child.communicate(timeout=60)
    return subprocess.CompletedProcess(child.args, child.returncode, out, error)


def generations(folder: Path) -> int:
    return len(list(folder.glob("generation-*")))


def test_a_first_build_that_was_killed_is_refused_and_can_be_repeated(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    assert interrupt(folder, "build_index", signal.SIGKILL).returncode == -signal.SIGKILL
    assert generations(folder) == 1
    with pytest.raises(RetrievalError, match="is incomplete, its building was interrupted; rebuild it"):
        open_index(folder)
    build_index([PARIS], folder)
    assert open_index(folder).invoke("capital")[0].metadata["id"] == "paris"
    assert generations(folder) == 1


@pytest.mark.parametrize("change", ["build_index", "add_to_index"])
def test_an_index_survives_a_change_that_was_killed(tmp_path: Path, change: str) -> None:
    folder = tmp_path / "index"
    build_index([PARIS], folder)
    interrupt(folder, change, signal.SIGKILL)
    assert generations(folder) == 2
    check_index(folder)
    assert open_index(folder).invoke("capital")[0].metadata["id"] == "paris"
    assert add_to_index([PARIS._replace(id="again")], folder).passages == 2
    assert generations(folder) == 1


def test_ctrl_c_cleans_up_behind_itself(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    assert "KeyboardInterrupt" in interrupt(folder, "build_index", signal.SIGINT).stderr
    assert not folder.exists()
    build_index([PARIS], folder)
    interrupt(folder, "build_index", signal.SIGINT)
    assert generations(folder) == 1
    check_index(folder)


def test_a_bad_entry_in_the_middle_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build_index([PARIS], folder)
    with pytest.raises(RetrievalError, match="already taken"):
        build_index([PARIS._replace(id="x"), PARIS._replace(id="x")], folder)
    assert generations(folder) == 1
    assert open_index(folder).invoke("capital")[0].metadata["id"] == "paris"


def test_two_processes_do_not_build_the_same_index_at_once(tmp_path: Path) -> None:
    def while_another_builds() -> Iterator[Entry]:
        with pytest.raises(RetrievalError, match="is being changed by another process; wait for it"):
            build_index([PARIS], tmp_path / "index")
        yield PARIS

    build_index(while_another_builds(), tmp_path / "index")
    assert open_index(tmp_path / "index").invoke("capital")


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX limits")
@pytest.mark.parametrize("change", ["build_index", "add_to_index"])
def test_a_disk_that_is_full_is_one_line_and_the_index_stays(tmp_path: Path, change: str) -> None:
    folder = tmp_path / "index"
    build_index([PARIS], folder)
    # A file may not grow beyond 100 kB: the kernel refuses the write as it does on a full disk.
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n" + CHILD.replace("CHANGE", change)
    ).replace("count()", "range(20_000)")
    ended = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("knowwhen.models.errors.RetrievalError: ")
    assert "written" in last
    assert generations(folder) == 1
    check_index(folder)
