"""Reading a corpus: every kind of file, bad lines, and memory that does not grow."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from knowwhen.models.errors import RetrievalError
from knowwhen.tools import BadEntries, Corpus, Entry


def read(path: Path, text: str | bytes) -> list[Entry]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(Corpus([path]))


def brief(entries: list[Entry]) -> list[tuple[str, str, str]]:
    return [(entry.id, entry.title, entry.text) for entry in entries]


def test_jsonl_gives_id_title_text_and_the_line_it_stands_in(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    entries = read(
        file, '{"id": 7, "title": "Paris", "text": "A city."}\n\n{"_id": "x", "text": "No title."}\n'
    )
    assert brief(entries) == [("7", "Paris", "A city."), ("x", "", "No title.")]
    assert [entry.where for entry in entries] == [f"{file}:1", f"{file}:3"]
    assert entries[0].source == str(file)


def test_flashrag_contents_are_title_and_text(tmp_path: Path) -> None:
    lines = ['{"id": "0", "contents": "\\"Aaron\\"\\nAaron was a prophet.\\nHe"}', '{"contents": "one line"}']
    entries = read(tmp_path / "a.jsonl", "\n".join(lines))
    assert brief(entries) == [("0", "Aaron", "Aaron was a prophet.\nHe"), ("a.jsonl:2", "", "one line")]


def test_contents_keep_their_first_line_when_it_is_not_the_title(tmp_path: Path) -> None:
    line = json.dumps({"id": "0", "title": "Aaron", "contents": "He was a prophet.\nHe spoke."})
    assert brief(read(tmp_path / "a.jsonl", line)) == [("0", "Aaron", "He was a prophet.\nHe spoke.")]


def test_a_web_address_is_the_source(tmp_path: Path) -> None:
    line = json.dumps({"id": "0", "text": "A city.", "url": "https://example.org/paris"})
    assert read(tmp_path / "a.jsonl", line)[0].source == "https://example.org/paris"


def test_the_dpr_dump_is_read_with_its_quotation_marks(tmp_path: Path) -> None:
    text = 'id\ttext\ttitle\n1\t"Aaron, ""the"" prophet\t x"\tAaron\n2\tplain, with commas\t"B"\n'
    expected = [("1", "Aaron", 'Aaron, "the" prophet\t x'), ("2", "B", "plain, with commas")]
    assert brief(read(tmp_path / "psgs.tsv", text)) == expected


def test_csv_cells_may_span_lines(tmp_path: Path) -> None:
    entries = read(tmp_path / "a.csv", '\ufefftitle,text\r\nA,"first\r\nsecond"\r\nB,third\r\n')
    assert brief(entries) == [("a.csv:3", "A", "first\r\nsecond"), ("a.csv:4", "B", "third")]


def test_parquet_rows_are_entries(tmp_path: Path) -> None:
    rows = [{"id": number, "title": "T", "text": f"text {number}"} for number in range(3000)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    entries = list(Corpus([tmp_path / "a.parquet"]))
    assert len(entries) == 3000
    assert brief(entries)[2999] == ("2999", "T", "text 2999")


def test_a_gzipped_file_is_read_like_the_file(tmp_path: Path) -> None:
    packed = gzip.compress(b"id\ttext\ttitle\n1\tA city.\tParis\n")
    assert brief(read(tmp_path / "psgs.tsv.gz", packed)) == [("1", "Paris", "A city.")]


def test_a_truncated_gzip_file_is_one_line(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"text": "A city."}\n' * 1000)[:-20]
    with pytest.raises(RetrievalError, match=r"a.jsonl.gz cannot be read: ") as refused:
        read(tmp_path / "a.jsonl.gz", packed)
    assert "\n" not in str(refused.value)


def test_markdown_passages_are_titled_by_the_nearest_heading(tmp_path: Path) -> None:
    text = "Before.\n\n# One\nFirst *paragraph*\nstill first.\n\nSecond.\n## Two ##\n```\n# no heading\n```\n"
    entries = read(tmp_path / "notes.md", text)
    expected = ["First *paragraph* still first.\nSecond.", "``` # no heading ```"]
    assert [(entry.title, entry.text) for entry in entries] == [
        ("notes", "Before."),
        ("One", expected[0]),
        ("Two", expected[1]),
    ]
    assert [entry.line for entry in entries] == [1, 4, 9]


def test_prose_is_cut_between_paragraphs_at_about_a_hundred_words(tmp_path: Path) -> None:
    paragraphs = [" ".join([f"w{number}"] * 30) for number in range(10)]
    entries = read(tmp_path / "book.txt", "\n\n".join(paragraphs))
    assert [len(entry.text.split()) for entry in entries] == [90, 90, 90, 30]
    assert "\n".join(entry.text for entry in entries) == "\n".join(paragraphs)


def test_a_long_paragraph_is_cut_between_sentences_and_loses_no_word(tmp_path: Path) -> None:
    sentences = [" ".join([f"s{number}"] * 39) + " end." for number in range(6)] + ["x " * 250]
    entries = read(tmp_path / "book.txt", " ".join(sentences))
    assert " ".join(entry.text for entry in entries).split() == " ".join(sentences).split()
    assert all(len(entry.text.split()) <= 100 for entry in entries)
    assert entries[0].text.endswith("s1 end.")


def test_a_folder_is_read_in_the_order_of_its_names_without_hidden_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.txt", "a.md", "sub/c.txt", ".hidden.txt", "picture.png"):
        (tmp_path / name).write_text(name)
    assert [entry.text for entry in Corpus([tmp_path])] == ["a.md", "b.txt", "sub/c.txt"]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.jsonl", '{"text": "fine"}\n{"text": \n', "a.jsonl:2: this is no JSON"),
        ("a.jsonl", "[1]\n", "a.jsonl:1: this is not a JSON object"),
        ("a.jsonl", '{"question": "Who?"}', "a.jsonl:1: it has no text"),
        ("a.jsonl", '{"text": "   "}', "a.jsonl:1: it has no text"),
        ("a.jsonl", '{"text": ["x"]}', "a.jsonl:1: its text is neither text nor a number"),
        ("a.jsonl", '{"text": "half a pair \\ud800"}', "a.jsonl:1: this is not UTF-8"),
        ("a.jsonl", b'{"text": "\xff"}', "a.jsonl:1: this is no JSON in UTF-8"),
        ("a.jsonl", "[" * 100_000, "a.jsonl:1: this is no JSON"),
        ("a.tsv", "id\ttext\ttitle\n1\tone\tA\n2\ttwo\n", "a.tsv:3: this row has 2 cells for 3 columns"),
        ("a.csv", b"text\nfine\n\xff\n", "a.csv:3: this is not UTF-8"),
        ("a.txt", b"fine\n\xff\n", "a.txt:2: this is not UTF-8"),
    ],
)
def test_a_bad_line_is_named_by_file_and_line(
    tmp_path: Path, name: str, text: str | bytes, complaint: str
) -> None:
    with pytest.raises(RetrievalError) as refused:
        read(tmp_path / name, text)
    assert f"{tmp_path}/{complaint}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_bad_lines_can_be_left_out_and_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\nrubbish\n{"text": 3.5}\n{"text": "two"}\n')
    bad = BadEntries(skip=True)
    assert [entry.text for entry in Corpus([tmp_path / "a.jsonl"], bad)] == ["one", "two"]
    assert bad.count == 2
    assert "a.jsonl:2: this is no JSON" in bad.first


def test_an_open_quotation_mark_does_not_swallow_the_file(tmp_path: Path) -> None:
    rows = "".join(f"{number}\tsome words that go on and on\tT\n" for number in range(60_000))
    with pytest.raises(RetrievalError, match="this is no row"):
        read(tmp_path / "a.tsv", f'id\ttext\ttitle\nx\t"never closed\tT\n{rows}')


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.csv", "name,body\nA,B\n", "names no column text or contents, but 'name, body'"),
        ("a.tsv", "", "names no column text or contents"),
        ("a.docx", "x", "is of no kind that can be indexed"),
        ("a.parquet", "x", "cannot be read as Parquet"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, name: str, text: str, complaint: str
) -> None:
    with pytest.raises(RetrievalError) as refused:
        read(tmp_path / name, text)
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_and_an_empty_folder_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match=r"nowhere.jsonl does not exist"):
        Corpus([tmp_path / "nowhere.jsonl"])
    with pytest.raises(RetrievalError, match="holds nothing to index"):
        Corpus([tmp_path])


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt", "a.parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, name: str) -> None:
    def peak(count: int) -> int:
        file = tmp_path / f"{count}-{name}"
        rows = [{"id": str(number), "text": f"{number} " + "word " * 50} for number in range(count)]
        if name.endswith("parquet"):
            parquet.write_table(pyarrow.Table.from_pylist(rows), file, row_group_size=1000)
        elif name.endswith("jsonl"):
            file.write_text("\n".join(json.dumps(row) for row in rows))
        elif name.endswith("csv"):
            file.write_text("id,text\n" + "\n".join(f"{row['id']},{row['text']}" for row in rows))
        else:
            file.write_text("\n\n".join(row["text"] for row in rows))
        del rows
        tracemalloc.start()
        assert sum(1 for _ in Corpus([file])) >= count
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    peak(100)  # imports
    assert peak(9_000) < 1.3 * peak(1_500)


def test_the_bytes_read_end_at_the_total(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"text": "one"}\n' * 10)
    corpus = Corpus([tmp_path])
    seen = [corpus.bytes_read for _ in corpus]
    assert seen == sorted(seen)
    assert corpus.bytes_read == corpus.total_bytes == 320
