"""The page's parts without a browser: the form, what is kept, a run left early, an evaluation."""

import asyncio
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from outcomes import outcome
from report_runs import write_run, write_runs

from knowwhen.graphs import METHODS
from knowwhen.method_settings import settings_of
from knowwhen.models.errors import KnowwhenError
from knowwhen.ui.kept import Kept
from knowwhen.ui.request import Library, Request
from knowwhen.ui.run import answering
from knowwhen.ui.run_folder import open_folder

pytest.importorskip("gradio")


@pytest.mark.parametrize("method", list(METHODS))
def test_a_form_holds_every_setting_with_its_bounds_and_gives_back_what_differs(method: str) -> None:
    import gradio as gr

    from knowwhen.ui.form import names_of, setting_inputs, settings_from

    inputs, names, fields = setting_inputs(method, "here"), names_of(method), settings_of(method).model_fields
    assert set(names) == set(fields) and len(inputs) == len(names) == len(set(names))
    assert names[-3:] == ["temperature", "top_p", "max_tokens"]  # what all have comes last
    values = [each.value for each in inputs]
    assert settings_from(method, values) == {}
    for name, each in zip(names, inputs, strict=True):
        assert str(fields[name].description) in each.info and each.interactive
        bounds = [
            getattr(bound, side) for bound in fields[name].metadata for side in BOUNDS if hasattr(bound, side)
        ]
        assert all(f"{bound:g}" in each.info for bound in bounds)
    emptied = ["" if isinstance(each, gr.Textbox) else each.value for each in inputs]
    assert settings_from(method, emptied) == {}


BOUNDS = ("ge", "gt", "le", "lt")


def test_a_number_is_a_text_which_the_settings_check() -> None:
    from knowwhen.ui.form import names_of, setting_inputs, settings_from

    at = names_of("seakr").index("threshold")
    values = [each.value for each in setting_inputs("seakr", "here")]
    assert values[at] == ""
    for text, expected in ((" -5.5 ", -5.5), ("often", "often")):  # the settings themselves refuse the latter
        values[at] = text
        assert settings_from("seakr", values) == {"threshold": expected}
    values[at] = " "
    assert settings_from("seakr", values) == {}


def test_what_many_ask_for_at_once_is_made_once_and_others_do_not_wait() -> None:
    kept: Kept[object] = Kept(2)
    made: list[str] = []
    go_on = threading.Event()

    def slow() -> object:
        made.append("slow")
        assert go_on.wait(30)
        return object()

    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(kept.get("slow", slow))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert kept.get("other", lambda: "there") == "there"  # while the first is still being made
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert made == ["slow"] and len(found) == 4 and len(set(map(id, found))) == 1


def test_who_waits_for_what_failed_and_who_comes_then_do_not_make_it_at_once() -> None:
    kept: Kept[object] = Kept(2)
    at_work, most, fail = [], [], [threading.Event(), threading.Event()]

    def make() -> object:
        at_work.append(1)
        most.append(len(at_work))
        turn = len(most) - 1
        assert fail[min(turn, 1)].wait(30)
        at_work.pop()
        if turn == 0:
            raise ZeroDivisionError
        return object()

    def ask() -> None:
        with suppress(ZeroDivisionError):
            kept.get("it", make)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads[:2]:
        thread.start()
    while not most:
        time.sleep(0.01)
    time.sleep(0.1)  # the second waits for the first
    fail[0].set()
    while len(most) < 2:
        time.sleep(0.01)
    threads[2].start()  # while the second makes it
    time.sleep(0.2)
    fail[1].set()
    for thread in threads:
        thread.join(30)
    assert most == [1, 1]


def test_the_last_used_are_kept_and_what_failed_is_tried_again() -> None:
    kept: Kept[int] = Kept(2)
    made: list[str] = []

    def get(key: str) -> int:
        return kept.get(key, lambda: made.append(key) or len(made))

    for key in ("a", "b", "a", "c", "a", "b"):
        get(key)
    assert made == ["a", "b", "c", "b"]
    with pytest.raises(ZeroDivisionError):
        kept.get("bad", lambda: 1 // 0)
    assert kept.get("bad", lambda: 7) == 7


def test_a_run_left_early_begins_no_further_node() -> None:
    async def leave() -> tuple[str, int]:
        runs = answering(Library(), Request("Who is it?", "keqa", "pocket", "almanac"))
        async for (run,) in runs:
            if run.state == "asking":
                break
        await runs.aclose()
        await asyncio.sleep(0.5)
        return run.state, len(run.rows)

    assert asyncio.run(leave()) == ("stopped", 0)


def test_a_folder_is_read_anew_when_its_journals_have_grown(tmp_path: Path) -> None:
    write_runs(tmp_path)
    first = open_folder(str(tmp_path))
    assert open_folder(f" {tmp_path}/") is first
    assert len(first.found(None, "", "")) == 8 and first.labels == ["direct", "retrieve_then_read", "self_dc"]
    assert first.found("", "", "") == [f"q{n}" for n in (1, 2, 5, 6, 7, 8)]
    assert first.found("self_dc", "", "") == ["q5", "q7", "q8"]
    assert first.found(None, "needed", " WHAT is") == ["q1", "q2"]
    write_run(tmp_path, "direct", [outcome("q9", routes=("direct",))])
    assert len(open_folder(str(tmp_path)).found(None, "", "")) == 9


@pytest.mark.parametrize(
    "name", ["", "  ", "no/such/folder", "~nobody-of-that-name/runs", "a\0b", "x" * 5000]
)
def test_what_is_no_folder_of_an_evaluation_is_refused_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KnowwhenError) as refused:
        open_folder(name)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400
    assert name.strip() or "write the one that knowwhen evaluate wrote to" in str(refused.value)


def test_a_foreign_journal_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "mine"
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_text('{"secret": "of mine"}\n')
    with pytest.raises(KnowwhenError) as refused:
        open_folder(str(tmp_path))
    assert "no run's journal" in str(refused.value) and "secret" not in str(refused.value)


def test_a_run_without_exact_match_is_judged_by_its_own_metric(tmp_path: Path) -> None:
    from report_runs import three_methods

    outcomes = three_methods()["direct"]
    only = [each.model_copy(update={"metrics": {"f1": each.metrics.get("f1", 0.0)}}) for each in outcomes]
    write_run(tmp_path, "direct", only, metrics=["f1"])
    opened = open_folder(str(tmp_path))
    assert opened.right == "f1" and opened.found("", "", "") == ["q1", "q2", "q7", "q8"]
