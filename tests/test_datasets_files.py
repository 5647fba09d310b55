"""Files of datasets: documents, lines and tables, whole and damaged, large and empty."""

import gzip
import json
import threading
import tracemalloc
from pathlib import Path

import pytest

from knowwhen.evaluation.datasets import GoldQuestion, Skipped, document, read_dataset
from knowwhen.models.errors import KnowwhenError, SettingsError


def record(number: int) -> dict[str, object]:
    return {"id": number, "question": f"Who is {number}?", "golden_answers": [f"“{number}”"]}


def read(path: Path, content: str | bytes, skipped: Skipped | None = None) -> list[GoldQuestion]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_dataset(path, skipped=skipped))


def refusal(path: Path, content: str | bytes, skipped: Skipped | None = None) -> str:
    with pytest.raises(KnowwhenError) as refused:
        read(path, content, skipped)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def ids(questions: list[GoldQuestion]) -> list[str]:
    return [each.id for each in questions]


@pytest.mark.parametrize("piece", [1, 7, 64, 2**20])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_is_read_the_same_in_pieces_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, indent: int | None
) -> None:
    monkeypatch.setattr(document, "PIECE", piece)
    records = [record(number) for number in range(20)]
    for whole in (records, {"version": 1.5e3, "x": [1, {"y": []}], "data": records, "z": -12e-30}):
        for ascii_only in (True, False):
            written = json.dumps(whole, indent=indent, ensure_ascii=ascii_only)
            questions = read(tmp_path / "d.json", f"\ufeff \r\n{written}\n ")
            assert ids(questions) == [str(number) for number in range(20)]
            assert questions[7].golden_answers == ("“7”",)


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        ("[%s, %s", 3, "it ends"),
        ("[%s, %s,", 3, "Expecting value"),
        ("[%s, %s {}]", 3, "'{' stands where , or ] should"),
        ("[%s, %s] []", 3, "more stands behind its end"),
        ('[%s, {"id": ', 2, "Expecting value"),
        ('[%s, {"id": "a\nb"}]', 2, "Invalid control character at"),
        ('{"data": [%s], "x" 3}', 2, "'3' stands where : should"),
        ("[%s, " + "[" * 100_000, 2, "maximum recursion depth exceeded"),
    ],
)
def test_a_damaged_document_says_from_which_record_on(
    tmp_path: Path, content: str, place: int, reason: str
) -> None:
    file = tmp_path / "d.json"
    written = content
    for number in range(content.count("%s")):
        written = written.replace("%s", json.dumps(record(number)), 1)
    for skipped in (None, Skipped()):  # what stands behind the damage cannot be told apart
        complaint = refusal(file, written, skipped)
        assert complaint.startswith(f"{file} is no JSON in UTF-8 from record {place} on ({reason}")
        assert complaint.endswith("; mend it or fetch it again")


def test_the_end_of_a_damaged_record_is_not_sought_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "PIECE", 100)
    long = {**record(1), "question": "Who? " * 200}
    assert len(read(tmp_path / "d.json", json.dumps([long]))) == 1
    monkeypatch.setattr(document, "LONGEST", 500)
    assert "no JSON in UTF-8 from record 1 on" in refusal(tmp_path / "d.json", json.dumps([long]))


def test_a_document_in_another_encoding_is_refused(tmp_path: Path) -> None:
    written = json.dumps([record(1)], ensure_ascii=False)
    latin = written.replace("“", "à").replace("”", "à").encode("latin-1")
    assert "is no JSON in UTF-8 from record 1 on (invalid continuation byte)" in refusal(
        tmp_path / "d.json", latin
    )
    refusal(tmp_path / "d.json", written.encode("utf-16"))


def test_a_document_of_something_else_than_objects_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "d.json"
    assert refusal(file, "[3]") == f"{file}, record 1: this is not a JSON object; mend the record"
    skipped = Skipped()
    assert ids(read(file, json.dumps([3, record(1), None, record(2)]), skipped)) == ["1", "2"]
    assert (skipped.count, skipped.first[1]) == (2, f"{file}, record 3: this is not a JSON object")


@pytest.mark.parametrize(
    "content", ["", " \n\n", "\ufeff", "[]", "[ ]", "{}", '{"data": []}', "id,question,answer_0\n"]
)
def test_a_file_without_a_question_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "d"
    complaint = refusal(file, content)
    assert complaint.startswith(str(file))
    if content != "{}":
        assert complaint == f"{file} holds no question; give a dataset that does"


def test_a_record_of_no_known_kind_is_named_with_its_fields(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    line = json.dumps({"prompt": "Who?", "completion": "Bo"})
    reason = "with the fields prompt, completion it is of no kind that is recognised; give the kind"
    assert refusal(file, line) == f"{file}:1: {reason}; mend the record"
    skipped = Skipped()
    assert ids(read(file, f"{line}\n{json.dumps(record(5))}", skipped)) == ["5"]
    assert skipped.first == [f"{file}:1: {reason}"]
    assert refusal(file, line, Skipped()) == f"{file} holds no question; give a dataset that does"


def test_bad_lines_are_counted_and_the_first_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    lines: list[str] = []
    for number in range(10):
        lines += [json.dumps(record(number)), "{", json.dumps({**record(number), "id": None})]
    skipped = Skipped()
    assert str(skipped) == ""
    assert len(read(file, "\n".join(lines), skipped)) == 10
    assert skipped.count == 20
    assert len(skipped.first) == 5
    assert skipped.first[0].startswith(f"{file}:2: this is no JSON in UTF-8")
    assert skipped.first[1] == f"{file}:3: its id is neither text nor a number"
    assert str(skipped) == f"bad records left out: 20; the first: {skipped.first[0]}"


def test_an_id_that_was_there_before_is_a_bad_record(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    lines = "\n".join(json.dumps({**record(number), "id": number % 3}) for number in range(5))
    assert refusal(file, lines) == f"{file}:4: its id '0' is an earlier question's; mend the record"
    skipped = Skipped()
    questions = read(file, lines, skipped)
    assert [each.question for each in questions] == ["Who is 0?", "Who is 1?", "Who is 2?"]
    assert skipped.count == 2


def test_a_dataset_may_be_taken_from_by_several_threads_in_turn(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text("\n".join(json.dumps(record(number)) for number in range(4)))
    reading = read_dataset(file)
    taken: list[str] = []
    for _ in range(4):
        thread = threading.Thread(target=lambda: taken.append(next(reading).id))
        thread.start()
        thread.join()
    assert taken == ["0", "1", "2", "3"]


def test_a_packed_file_is_read_like_the_file_and_refused_if_cut(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(record(number)) for number in range(1000)).encode()
    packed = gzip.compress(lines)
    assert len(read(tmp_path / "d.jsonl.gz", packed)) == 1000
    assert "cannot be read: " in refusal(tmp_path / "d.jsonl.gz", packed[:-100])
    assert "cannot be read: " in refusal(tmp_path / "d.jsonl.gz", lines)
    broken = bytearray(packed)
    broken[100:120] = bytes(20)
    assert "cannot be read: " in refusal(tmp_path / "d.jsonl.gz", bytes(broken))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("2,x", "this row has 2 cells for 4 columns"),
        ("2,Who?,[],TRUE,x", "this row has 5 cells for 4 columns"),
        ("2,Who\udcff?,Bo,TRUE", "this is not UTF-8"),
        (f'2,"{"x" * 2**20}x",Bo,TRUE', "this is no row (field larger than field limit"),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_may_be_left_out(tmp_path: Path, row: str, reason: str) -> None:
    file = tmp_path / "d.csv"
    header = "WARNING: old\r\nid,question,answer_0,false_premise"
    written = "\r\n".join([header, '1,"Who\r\nis?",Bo,TRUE', row, "3,A?,B,x"]).encode(
        errors="surrogateescape"
    )
    assert refusal(file, written).startswith(f"{file}:5: {reason}")
    skipped = Skipped()
    assert ids(read(file, written, skipped)) == ["1", "3"]
    assert skipped.count == 1


def test_what_is_no_dataset_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "d"
    for content in (b"some prose, no questions", bytes(range(256)), b"name,text\nA,B\n"):
        assert refusal(file, content).startswith(
            f"{file} is neither JSON nor a table with a column 'question'"
        )
    with pytest.raises(SettingsError, match="no dataset is called"):
        read_dataset(tmp_path)


def test_a_file_that_may_not_be_read_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text(json.dumps(record(1)))

    def denied(path: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(KnowwhenError, match=f"{file} cannot be read: Permission denied"):
        list(read_dataset(file))


@pytest.mark.parametrize("form", ["document", "lines", "table"])
def test_memory_does_not_grow_with_the_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(document, "PIECE", 2**14)

    def peak(count: int) -> int:
        file = tmp_path / f"{form}-{count}"
        if form == "table":
            rows = (f"{number},Who is {number}?,Bo,TRUE" for number in range(count))
            file.write_text("\n".join(["id,question,answer_0,false_premise", *rows]))
        else:
            written = [json.dumps(record(number)) for number in range(count)]
            file.write_text(f"[{','.join(written)}]" if form == "document" else "\n".join(written))
            del written
        tracemalloc.start()
        assert sum(1 for _ in read_dataset(file)) == count
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    peak(100)  # imports
    assert peak(20_000) < 1.3 * peak(2_000)
