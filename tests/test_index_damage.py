"""Whatever is wrong with an index is said in one line when it is opened."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knowwhen.models.errors import RetrievalError
from knowwhen.tools import Entry, build_index, check_index, manifest, open_index
from knowwhen.tools.manifest import Manifest, read_manifest

ENTRIES = [Entry(str(number), f"Title {number}", f"text of passage {number}", "") for number in range(50)]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    build_index(ENTRIES, tmp_path / "index")
    return tmp_path / "index"


def generation(index: Path) -> Path:
    return index / read_manifest(index).generation


def a_file(index: Path, suffix: str = ".idx") -> Path:
    return next(generation(index).rglob(f"*{suffix}"))


def flip_a_byte(path: Path, place: int = -1) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)


def change_manifest(index: Path, change: Callable[[dict[str, Any]], object], seal: bool) -> None:
    """Change the manifest, and its checksum with it if it is to be sealed again."""
    path = index / "manifest.json"
    record = json.loads(path.read_text())
    change(record)
    if seal:
        del record["checksum"]
        record["checksum"] = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(record))


def refusal(index: Path) -> str:
    with pytest.raises(RetrievalError) as refused:
        open_index(index)
    assert "\n" not in str(refused.value)
    assert "knowwhen index build" in str(refused.value)
    return str(refused.value)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert "nowhere does not exist" in refusal(tmp_path / "nowhere")


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    assert "holds no index (manifest.json is missing)" in refusal(tmp_path)


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").touch()
    assert "is a file, not an index" in refusal(tmp_path / "corpus.jsonl")


def test_an_unfinished_build_is_refused(index: Path) -> None:
    (index / "manifest.json").unlink()
    assert "is incomplete, its building was interrupted" in refusal(index)


def test_a_manifest_of_another_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "a web app"}')
    assert "holds a manifest.json that is not knowwhen's" in refusal(tmp_path)


def test_a_newer_format_is_refused(index: Path) -> None:
    change_manifest(index, lambda record: record.update(version=2), seal=True)
    assert "is an index of format 2, this knowwhen reads format 1" in refusal(index)


@pytest.mark.parametrize("content", ["", "{", '{"format": "knowwhen in', "[]", "\0" * 500])
def test_a_broken_manifest_is_refused(index: Path, content: str) -> None:
    (index / "manifest.json").write_text(content)
    assert "manifest.json" in refusal(index)


def test_a_manifest_that_was_edited_is_refused(index: Path) -> None:
    change_manifest(index, lambda record: record["analyzer"].update(title_weight=1), seal=False)
    assert "manifest.json was changed" in refusal(index)


def test_an_analyzer_that_is_not_known_is_refused(index: Path) -> None:
    change_manifest(index, lambda record: record["analyzer"].update(stemmer="klingon"), seal=True)
    assert "manifest.json has a wrong analyzer" in refusal(index)


def test_a_missing_file_of_the_index_is_refused(index: Path) -> None:
    path = a_file(index)
    path.unlink()
    assert f"{path.name} is missing" in refusal(index)


def test_a_truncated_file_is_refused(index: Path) -> None:
    path = a_file(index, ".store")
    path.write_bytes(path.read_bytes()[:-1])
    assert "bytes instead of" in refusal(index)


@pytest.mark.parametrize("suffix", [".idx", ".term", ".store", ".fast", ".fieldnorm", "meta.json"])
def test_one_flipped_byte_is_refused(index: Path, suffix: str) -> None:
    flip_a_byte(a_file(index, suffix), place=3)
    assert "have changed" in refusal(index)


def test_a_flipped_byte_in_a_large_file_is_found_by_index_check(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "CHECKED_ON_OPENING", 10)
    check_index(index)
    path = a_file(index, ".store")
    flip_a_byte(path, place=3)
    manifest.check_files(index, read_manifest(index))
    with pytest.raises(RetrievalError, match=r"the contents of .*\.store have changed"):
        check_index(index)


def test_a_damaged_index_can_be_built_anew(index: Path) -> None:
    a_file(index).unlink()
    build_index(ENTRIES, index)
    assert open_index(index).invoke("passage 7", k=1)[0].metadata["id"] == "7"


def test_an_index_may_be_moved(index: Path, tmp_path: Path) -> None:
    shutil.move(index, tmp_path / "elsewhere")
    assert isinstance(check_index(tmp_path / "elsewhere"), Manifest)
    assert open_index(tmp_path / "elsewhere").invoke("passage 7", k=1)[0].metadata["id"] == "7"


def test_no_file_of_an_index_is_a_pickle(index: Path) -> None:
    for path in index.rglob("*"):
        assert not path.is_file() or not path.read_bytes().startswith((b"\x80\x04", b"\x80\x05"))
