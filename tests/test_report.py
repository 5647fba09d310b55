"""The report of an evaluation, from journals made by hand and by the pocket model."""

import csv
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from outcomes import failure, outcome
from report_runs import three_methods, write_run, write_runs

from knowwhen.cli import main
from knowwhen.evaluation.arms import arm
from knowwhen.evaluation.intervals import Figure
from knowwhen.evaluation.question_set import QuestionSet
from knowwhen.evaluation.report import Written, write_report, writing
from knowwhen.evaluation.report.plot_data import file_name
from knowwhen.evaluation.report.tree import tree_of
from knowwhen.evaluation.running import run
from knowwhen.graphs import direct, self_dc
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.tools.printable import printable

REPORTED = ("report.md", "report.html", "figures", "questions")


def reported(out: Path) -> dict[str, bytes]:
    """All files of a report."""
    files = [path for name in REPORTED for path in ((out / name), *(out / name).rglob("*"))]
    return {str(path.relative_to(out)): path.read_bytes() for path in files if path.is_file()}


def table(written: Written, title: str) -> list[dict[str, str]]:
    """The rows of one of the Markdown tables."""
    section = written.markdown.read_text("utf-8").split(f"## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    cells = [
        [cell.strip().replace("\\", "") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines
    ]
    assert len({len(row) for row in cells}) == 1
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def cell(found: Figure | None, digits: int = 3) -> str:
    assert found is not None
    return f"{found.value:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"


# What is told.


def test_each_method_is_told_with_quality_cost_boundary_and_failures(tmp_path: Path) -> None:
    written = write_report(write_runs(tmp_path))
    rows = {row["method"]: row for row in table(written, "Methods")}
    assert list(rows) == ["direct", "retrieve_then_read", "self_dc"]  # in the order of no journal
    gate, figures = rows["self_dc"], written.comparison.runs["self_dc"]
    boundary, cost = written.comparison.boundary["self_dc"], figures.cost
    assert cost is not None
    expected = {
        "EM": cell(figures.quality["exact_match"]),
        "F1": cell(figures.quality["f1"]),
        "retrieved": cell(figures.retrieved),
        "retrievals": cell(cost.retrievals.mean, 2),
        "passages": cell(cost.passages.mean, 2),
        "model calls": cell(cost.model_calls.mean, 2),
        "sequences": cell(cost.sequences.mean, 2),
        "input tokens": cell(cost.input_tokens.mean, 0),
        "output tokens": cell(cost.output_tokens.mean, 0),
        "seconds": cell(cost.seconds.mean, 2),
        "over-retrieval": cell(boundary.over),
        "under-retrieval": cell(boundary.under),
    }
    assert gate == {"method": "self_dc", **expected, "failed": "1"}
    # Of q1 … q7: five right, three retrieved for, of which q3 was known; q1 and q2 had the need.
    assert [gate[name][:5] for name in ("EM", "retrieved", "over-retrieval")] == ["0.714", "0.429", "0.143"]
    assert (gate["input tokens"][:3], gate["under-retrieval"][:5]) == ("400", "0.000")
    assert rows["direct"]["under-retrieval"].startswith("0.286")
    assert rows["retrieve_then_read"]["over-retrieval"].startswith("0.571")


def test_differences_are_told_with_both_p_values(tmp_path: Path) -> None:
    written = write_report(write_runs(tmp_path))
    rows = table(written, "Differences in EM")
    found = [each for each in written.comparison.differences if each.metric == "exact_match"]
    assert [row["methods"] for row in rows] == [f"{each.one} − {each.other}" for each in found]
    assert [(row["p"], row["p (Holm)"]) for row in rows] == [
        (f"{each.p:.4f}", f"{each.p_holm:.4f}") for each in found
    ]
    assert rows[1]["difference"].startswith("-0.143 [")  # direct has 4 of 7, self_dc 5


def test_need_and_scores_are_told(tmp_path: Path) -> None:
    written = write_report(write_runs(tmp_path))
    need = {row["retrieval is"].split(":")[0]: row for row in table(written, "Need of retrieval")}
    assert [need[name]["questions"] for name in ("needed", "unneeded", "harmful", "neither")] == list("2221")
    assert need["needed"]["self_dc"] == "2 retrieved, 2 right"
    scores = table(written, "Scores")
    assert [(row["method"], row["of"], row["questions"]) for row in scores] == [
        ("self_dc", "own answer", "7"), ("self_dc", "knowing", "7")
    ]  # fmt: skip
    own = written.comparison.runs["self_dc"].score
    assert own is not None
    assert scores[0]["AUROC"] == cell(own.auroc)
    assert [row["hops"] for row in table(written, "By hops") if row["method"] == "direct"] == ["1", "2"]


def test_need_is_told_by_hops_and_by_kind(tmp_path: Path) -> None:
    written = write_report(write_runs(tmp_path))
    hops = table(written, "Need of retrieval by hops")
    shares = [
        [row[name].split()[0] for name in ("hops", "questions", "needed", "unneeded", "harmful", "neither")]
        for row in hops
    ]
    third, quarter = "0.333", "0.250"
    assert shares == [  # q2, q4 and q6 take one hop; q8, which failed a method, is in no figure
        ["1", "3", third, third, third, "0.000"],
        ["2", "4", quarter, quarter, quarter, quarter],
    ]
    assert [row["ideal"].split()[0] for row in hops] == ["1.000", "0.750"]
    assert [row["kind"] for row in table(written, "Need of retrieval by kind of question")] == [
        "bridge", "one_hop"
    ]  # fmt: skip
    of_gate = [row for row in table(written, "By hops") if row["method"] == "self_dc"]
    over = written.comparison.need_by_hops[1].boundary["self_dc"].over
    assert over.value == 0.25  # of two hops it retrieved for q3, which is right without
    assert [row["over-retrieval"] for row in of_gate][1] == cell(over)
    assert [row["under-retrieval"].split()[0] for row in of_gate] == ["0.000", "0.000"]
    html = written.html.read_text("utf-8")
    assert "<summary>Need of retrieval by hops</summary>" in html
    data = {(row["hops"], row["need"]): row for row in rows_of(tmp_path / "figures/need-by-hops.csv")}
    assert len(data) == 3 * 4
    assert float(data["2", "harmful"]["share"]) == 0.25
    assert data["all", "needed"]["questions"] == "7"
    assert (data["1", "needed"]["self_dc_retrieved"], data["1", "harmful"]["self_dc_right"]) == ("1", "1")


def test_how_it_was_run_is_told_in_a_sentence(tmp_path: Path) -> None:
    origin = {"limit": 8, "seed": 3, "judge": "openai:gpt-4o-mini"}
    for label, outcomes in three_methods().items():
        write_run(tmp_path, label, outcomes, corpus="" if label == "direct" else "wiki", **origin)
    told = write_report(tmp_path, seed=5).markdown.read_text("utf-8").splitlines()[2]
    for words in (
        "`almanac:test` (8 drawn with seed 3)", "by `pocket`", "up in `wiki`",
        "judged by `openai:gpt-4o-mini`", "7 questions that all methods finished, leaving out 1", "seed 5",
    ):  # fmt: skip
        assert words in told


def test_one_method_alone_has_no_differences_and_no_boundary(tmp_path: Path) -> None:
    write_run(tmp_path, "self_dc", three_methods()["self_dc"])
    written = write_report(tmp_path)
    assert "over-retrieval" not in table(written, "Methods")[0]
    text = written.markdown.read_text("utf-8")
    assert "Differences" not in text and "Need of retrieval" not in text


def test_a_method_that_failed_throughout_has_a_row_without_figures(tmp_path: Path) -> None:
    write_run(write_runs(tmp_path), "keqa", [failure(f"q{number}") for number in range(1, 9)])
    written = write_report(tmp_path)
    row = next(row for row in table(written, "Methods") if row["method"] == "keqa")
    assert (row["EM"], row["retrievals"], row["failed"]) == ("–", "–", "8")
    assert written.comparison.questions == 7
    assert "the server did not answer" in written.html.read_text("utf-8")


def test_references_are_known_by_their_method_and_not_by_their_label(tmp_path: Path) -> None:
    names = {"direct": "without", "retrieve_then_read": "with", "self_dc": "gate"}
    for method, outcomes in three_methods().items():
        write_run(tmp_path, names[method], outcomes, method=method)
    rows = table(write_report(tmp_path), "Methods")
    assert [row["method"] for row in rows] == ["without", "with", "gate"]
    assert rows[2]["over-retrieval"].startswith("0.143")


# The same journals, the same bytes.


def test_neither_order_nor_time_nor_a_failure_asked_again_changes_the_report(tmp_path: Path) -> None:
    write_runs(tmp_path / "one")
    for label, outcomes in reversed(three_methods().items()):
        later = [each.model_copy(update={"seconds": 7.5}) for each in reversed(outcomes)]
        write_run(tmp_path / "other", label, [failure("q4"), *later])
    for out in (tmp_path / "one", tmp_path / "other"):
        write_report(out, seconds=False)
    one, other = (reported(tmp_path / name) for name in ("one", "other"))
    assert len(one) == 2 + 2 * 8  # both pages; eight figures with their data
    assert one == other
    write_report(tmp_path / "other")
    changed = {name for name, found in reported(tmp_path / "other").items() if found != one[name]}
    assert changed == {"report.md", "report.html"}  # figures have no time in them


def test_a_resumed_run_of_the_pocket_model_has_the_report_of_an_uninterrupted_one(tmp_path: Path) -> None:
    def ask(out: Path) -> None:
        for graph in (direct("pocket"), self_dc("pocket", "almanac")):
            run(arm(graph, model="pocket", corpus="almanac"), QuestionSet("almanac:test", 8, seed=1), out)

    ask(tmp_path / "one")
    (tmp_path / "other/runs").mkdir(parents=True)
    for label in ("direct", "self_dc"):  # killed in the middle of a line
        whole = (tmp_path / f"one/runs/{label}/journal.jsonl").read_bytes().splitlines(keepends=True)
        (tmp_path / f"other/runs/{label}").mkdir()
        cut = b"".join([*whole[:4], whole[4][:50]])
        (tmp_path / f"other/runs/{label}/journal.jsonl").write_bytes(cut)
    ask(tmp_path / "other")
    for name in ("one", "other"):
        written = write_report(tmp_path / name, seconds=False)
        assert written.comparison.questions == 8
    assert reported(tmp_path / "one") == reported(tmp_path / "other")


# Figures.


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_figure_has_its_data_beside_it(tmp_path: Path) -> None:
    written = write_report(write_runs(tmp_path))
    names = [
        "calibration", "calibration-of-knowing", "need-by-hops", "quality-retrievals", "quality-tokens",
        "risk-coverage", "risk-coverage-of-knowing", "routes-self_dc",
    ]  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == sorted(
        f"{name}.{ending}" for name in names for ending in ("csv", "svg")
    )
    html, markdown = written.html.read_text("utf-8"), written.markdown.read_text("utf-8")
    for name in names:
        drawn = ElementTree.parse(tmp_path / f"figures/{name}.svg").getroot()
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
        assert f"figures/{name}.csv" in html and f"figures/{name}.svg" in markdown
    assert html.count('<svg role="img"') == len(names)
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(ids) == len(set(ids))


def test_the_data_are_those_of_the_methods(tmp_path: Path) -> None:
    written = write_report(write_runs(tmp_path))
    against = rows_of(tmp_path / "figures/quality-retrievals.csv")
    assert [(row["method"], row["reference"], row["metric"]) for row in against[::2]] == [
        ("direct", "never", "exact_match"), ("retrieve_then_read", "always", "exact_match"),
        ("self_dc", "", "exact_match"),
    ]  # fmt: skip
    assert [round(float(row["retrievals"]), 3) for row in against[::2]] == [0, 1, 0.429]
    quality = written.comparison.runs["self_dc"].quality["exact_match"]
    assert [float(against[4][f"quality{end}"]) for end in ("", "_low", "_high")] == [
        quality.value, quality.low, quality.high
    ]  # fmt: skip
    assert float(rows_of(tmp_path / "figures/quality-tokens.csv")[4]["tokens"]) == 400
    routes = {
        (row["hops"], row["route"]): row for row in rows_of(tmp_path / "figures/routes-self_dc.csv")
    }  # q2, q4, q6 take one hop, and q2 has three steps
    assert float(routes["1", "generate"]["share_of_steps"]) == 0.6
    assert float(routes["1", "decompose"]["share_of_questions"]) == pytest.approx(1 / 3)
    assert routes["all", "retrieve"]["questions"] == "7"


def test_without_matplotlib_the_report_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report(write_runs(tmp_path))
    monkeypatch.delitem(sys.modules, "knowwhen.evaluation.report.plots")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit, match="0"):
        main_with(monkeypatch, "report", str(tmp_path))
    printed = capsys.readouterr()
    assert printed.err.splitlines() == [writing.NO_PLOTS]
    assert printed.out.split() == [str(tmp_path / "report.md"), str(tmp_path / "report.html")]
    assert "pip install 'knowwhen[report]'" in (tmp_path / "report.md").read_text("utf-8")
    assert "<svg" not in (tmp_path / "report.html").read_text("utf-8")
    figures = {path.suffix for path in (tmp_path / "figures").iterdir()}
    assert figures == {".csv"}  # the plots of the report before are gone


# Questions.


def test_more_questions_than_a_page_holds_get_pages_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "QUESTIONS", 3)
    written = write_report(write_runs(tmp_path))
    *pages, find = sorted((tmp_path / "questions").iterdir())
    assert [page.name for page in [*pages, find]] == ["0001.html", "0002.html", "0003.html", "find.html"]
    asked = [re.findall(r"<bdi>What is (q\d)\?</bdi></span>", page.read_text("utf-8")) for page in pages]
    assert asked == [["q1", "q2", "q3"], ["q4", "q5", "q6"], ["q7", "q8"]]
    html = written.html.read_text("utf-8")
    assert "What is q1?" not in html
    assert 'href="questions/0003.html">7–8 (2)</a>' in html  # of which both were answered wrong by some
    links = re.findall(r'data-page href="(.*?)"', pages[1].read_text("utf-8"))
    assert links == ["find.html", "0001.html", "0003.html"] * 2
    monkeypatch.undo()
    assert "What is q1?" in write_report(tmp_path).html.read_text("utf-8")
    assert list((tmp_path / "questions").iterdir()) == []  # no page is left over from before


def test_a_page_also_ends_when_it_is_heavy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "WEIGHT", 1)
    write_report(write_runs(tmp_path))
    assert len(list((tmp_path / "questions").glob("0*.html"))) == 8


def test_questions_come_by_the_numbers_in_their_ids(tmp_path: Path) -> None:
    names = ["b-10", "b-9", "a-100", "b-009x", "b-" + "9" * 5000, "b"]
    write_run(tmp_path, "direct", [outcome(name, routes=("direct",)) for name in names])
    html = write_report(tmp_path).html.read_text("utf-8")
    found = re.findall(r"<bdi>What is (.*?)\?</bdi></span>", html)
    assert found == ["a-100", "b", "b-9", "b-009x", "b-10", "b-" + "9" * 5000]


def test_a_tree_loses_no_step_whatever_its_parents_are() -> None:
    def names(steps: list[tuple[str, str | None]]) -> list[object]:
        def shape(branches: list) -> list:  # type: ignore[type-arg]
            return [(branch.step["id"], shape(branch.parts)) for branch in branches]

        return shape(tree_of([{"id": name, "parent": parent} for name, parent in steps]))

    tree = [("1.10", "1"), ("1.2", "1"), ("1.2.1", "1.2"), ("1", None)]
    assert names(tree) == [("1", [("1.2", [("1.2.1", [])]), ("1.10", [])])]
    assert names([("a", "gone"), ("b", "b")]) == [("a", []), ("b", [])]
    circle = names([("a", "b"), ("b", "a"), ("c", "a")])
    assert sorted(re.findall(r"'(\w)'", str(circle))) == ["a", "b", "c"]


# What others wrote.


def test_no_text_of_others_breaks_the_markdown(tmp_path: Path) -> None:
    odd = "<script>alert(1)</script> | *x* [y](z)\n## `` \u202e"
    write_run(tmp_path, "<img src=x> | a`b", three_methods()["self_dc"], dataset=odd, model=odd, settings=odd)
    written = write_report(tmp_path)
    (row,) = table(written, "Methods")
    assert row["method"] == "<img src=x> | a`b"
    text = written.markdown.read_text("utf-8")
    outside = re.sub(r"(`+) ?.*?[^`] ?\1(?!`)", "", text)
    assert not re.search(r"(?<!\\)<|\u202e|^## *`", outside, re.MULTILINE)
    drawn = file_name("<img src=x> | a`b")
    assert re.fullmatch(r"[\w.-]+", drawn)
    assert (tmp_path / f"figures/routes-{drawn}.svg").exists()


def test_a_datasets_names_are_no_formulas_and_no_markup_in_plots(tmp_path: Path) -> None:
    steps = {"routes": ("decompose", "generate"), "kind": "$\\frac{<b>&\x00$"}
    write_run(tmp_path, "self_dc", [outcome(f"q{number}", **steps) for number in range(3)])  # type: ignore[arg-type]
    write_report(tmp_path)
    drawn = ElementTree.parse(tmp_path / "figures/routes-self_dc.svg").getroot()
    assert "$\\frac{<b>&\ufffd$" in "".join(drawn.itertext())


def test_control_and_turning_characters_are_replaced_and_letters_stay() -> None:
    assert printable("a\x00\x1b\x7f\x9b\u202e\u2066\ud800b") == "a" + "\ufffd" * 7 + "b"
    stays = "שלום\tمرحبا\n\u200f…é"
    assert printable(stays) == stays


# What is refused.


def test_a_folder_that_holds_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KnowwhenError, match="holds no run; give the folder"):
        write_report(tmp_path)
    (tmp_path / "runs/direct").mkdir(parents=True)
    (tmp_path / "runs/direct/journal.jsonl").write_text('{"format": "other"}\n')
    with pytest.raises(KnowwhenError, match="is no run's journal; remove it"):
        write_report(tmp_path)
    assert not (tmp_path / "report.md").exists()


def test_a_damaged_or_newer_journal_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path, "direct", three_methods()["direct"])
    path = tmp_path / "runs/direct/journal.jsonl"
    header, *lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text(header + "{}\n" + "".join(lines))
    with pytest.raises(KnowwhenError, match=r"journal.jsonl:2 is damaged; delete the line"):
        write_report(tmp_path)
    path.write_text(header.replace('"version": 1', '"version": 99') + "".join(lines))
    with pytest.raises(KnowwhenError, match="of format 99, this knowwhen reads format 1; install"):
        write_report(tmp_path)
    path.write_text(header.replace('"origin"', '"begin"') + "".join(lines))
    with pytest.raises(KnowwhenError, match=r"journal.jsonl:1 is damaged; begin the run anew"):
        write_report(tmp_path)


def test_nothing_finished_and_nothing_in_common_are_refused(tmp_path: Path) -> None:
    write_run(tmp_path / "a", "direct", [failure("q1")])
    with pytest.raises(KnowwhenError, match="no question was finished by any method; run again with --retry"):
        write_report(tmp_path / "a")
    write_run(tmp_path / "b", "direct", [outcome("q1")])
    write_run(tmp_path / "b", "self_dc", [outcome("q2")])
    with pytest.raises(KnowwhenError, match="no question was finished by all methods"):
        write_report(tmp_path / "b")


def test_a_metric_that_is_not_there_is_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_runs(tmp_path)
    with pytest.raises(SettingsError, match="'judge'; choose one of exact_match, f1"):
        write_report(tmp_path, right="judge")
    with pytest.raises(SystemExit, match="2"):
        main_with(monkeypatch, "report", str(tmp_path), "--right", "judge")
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_folder_that_cannot_be_written_is_told_in_a_line(tmp_path: Path) -> None:
    write_runs(tmp_path)
    shutil.rmtree(tmp_path / "figures", ignore_errors=True)
    (tmp_path / "figures").write_text("in the way")
    with pytest.raises(KnowwhenError, match="could not be written"):
        write_report(tmp_path)


def main_with(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["knowwhen", *arguments])
    main()
