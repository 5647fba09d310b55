"""Methods over datasets: the journal, failures, going on after a kill; by script, server and pocket model."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_openai import ChatOpenAI
from langgraph.graph import START, StateGraph
from openai_server import serve
from processes import started
from scripted import ScriptedChat

from knowwhen.evaluation.arms import Arm, arm
from knowwhen.evaluation.figures.run_figures import run_figures
from knowwhen.evaluation.long_journal import read_journal
from knowwhen.evaluation.outcome import Outcome
from knowwhen.evaluation.question_set import QuestionSet
from knowwhen.evaluation.running import RUN, Ran, compare, run
from knowwhen.evaluation.scoring import Scorer
from knowwhen.graphs import direct, retrieve_then_read
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.nodes.state import Answer, Question, State
from knowwhen.tools.entry import Entry
from knowwhen.tools.index import build_index

direct_module = sys.modules["knowwhen.graphs.direct"]  # `graphs.direct` is the function


def number_of(prompt: str) -> int:
    return int(prompt.split("film ")[1].split("?")[0])


def script(prompt: str) -> str:
    """Knows who directed the even films."""
    return "Velo Taray" if number_of(prompt) % 2 == 0 else "Zed Taray"


def write_dataset(path: Path, count: int) -> Path:
    records = [
        {
            "id": f"q{number}",
            "question": f"Who directed film {number}?",
            "golden_answers": ["Velo Taray"],
            "metadata": {"kind": "one_hop", "hops": 1},
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "d.jsonl", 6)


def direct_of(model: BaseChatModel, **more: Any) -> Arm:
    return arm(direct(model, **more), model=model)


def ask(model: BaseChatModel, dataset: Path, out: Path, **how: Any) -> Ran:
    return run(direct_of(model), QuestionSet(dataset), out, **how)


def outcomes(ran: Ran) -> dict[str, Outcome]:
    return {each.question_id: each for each in read_journal(ran.folder, RUN)}


# What is kept.


def test_every_question_is_kept_with_its_trace_and_its_scores(dataset: Path, tmp_path: Path) -> None:
    ran = ask(ScriptedChat(script), dataset, tmp_path / "e")
    assert ran.folder == tmp_path / "e" / "runs" / "direct"
    kept = outcomes(ran)
    assert set(kept) == {f"q{number}" for number in range(6)}
    one = kept["q1"]
    assert (one.question, one.golden_answers) == ("Who directed film 1?", ("Velo Taray",))
    assert one.metadata == {"kind": "one_hop", "hops": 1}
    assert one.metrics == {"exact_match": 0, "f1": 0.5, "contains": 0}
    assert (one.error, one.seconds > 0) == ("", True)
    assert one.output
    assert one.output["answer"] == "Zed Taray"
    assert [step["route"] for step in one.output["steps"]] == ["direct"]
    assert one.output["cost"]["model_calls"] == 1
    means = ran.tally.means()
    assert (means["exact_match"], means["f1"], means["contains"]) == (0.5, 0.75, 0.5)
    assert (means["model_calls"], means["retrievals"]) == (1, 0)
    assert (ran.tally.done, ran.tally.failed, ran.tally.total) == (6, 0, 6)
    header = json.loads((ran.folder / "journal.jsonl").read_text().splitlines()[0])
    assert header["origin"] | {"prompts": "", "settings": ""} == {
        "method": "direct", "settings": "", "model": "ScriptedChat", "weights": "", "corpus": "",
        "passages": "", "prompts": "", "dataset": str(dataset), "limit": None, "seed": 0,
        "metrics": ["exact_match", "f1", "contains"], "judge": "",
    }  # fmt: skip
    assert json.loads(header["origin"]["settings"]) == {"temperature": 0.1, "top_p": 0.1, "max_tokens": 256}


def test_a_finished_run_asks_nothing_again_and_says_the_same(dataset: Path, tmp_path: Path) -> None:
    first = ask(ScriptedChat(script), dataset, tmp_path / "e")
    journal = (first.folder / "journal.jsonl").read_bytes()
    again = ask(ScriptedChat([]), dataset, tmp_path / "e")
    assert (again.tally.asked, again.tally.means()) == (0, first.tally.means())
    assert (again.folder / "journal.jsonl").read_bytes() == journal


def test_questions_are_asked_side_by_side_within_the_bound(tmp_path: Path) -> None:
    model = ScriptedChat(script, delay=0.02)
    arm_of_8 = direct_of(model, max_concurrency=8)
    run(arm_of_8, QuestionSet(write_dataset(tmp_path / "d.jsonl", 40)), tmp_path / "e", at_once=8)
    assert 4 <= model.most_in_flight <= 8
    one = ScriptedChat(script, delay=0.001)
    run(direct_of(one), QuestionSet(tmp_path / "d.jsonl"), tmp_path / "f", at_once=1)
    assert one.most_in_flight == 1


def test_a_run_can_be_made_where_an_event_loop_runs(dataset: Path, tmp_path: Path) -> None:
    async def as_in_a_notebook() -> Ran:
        return ask(ScriptedChat(script), dataset, tmp_path / "e")

    assert asyncio.run(as_in_a_notebook()).tally.done == 6


def test_a_draw_is_the_same_for_every_method_and_a_larger_one_goes_on(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 30)
    drawn = QuestionSet(dataset, limit=5, seed=3)
    both = [direct_of(ScriptedChat(script)), Arm("other", *parts(direct_of(ScriptedChat(script))))]
    one, other = compare(both, drawn, tmp_path / "e")
    assert set(outcomes(one)) == set(outcomes(other)) == {each.id for each in drawn}
    assert len(outcomes(one)) == 5
    assert other.folder == tmp_path / "e" / "runs" / "other"
    with pytest.raises(SettingsError, match="two methods are called direct; give one another label"):
        compare([both[0], both[0]], drawn, tmp_path / "f")


def parts(whole: Arm) -> tuple[Any, Any]:
    return whole.method, whole.origin


def test_what_is_told_on_the_way_counts_questions_and_scores(dataset: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int, int]] = []
    ask(
        ScriptedChat(script),
        dataset,
        tmp_path / "e",
        watch=lambda tally: told.append((tally.done, tally.asked, len(tally.means()))),
    )
    assert [done for done, _, _ in told] == [0, 1, 2, 3, 4, 5, 6]
    assert told[0] == (0, 0, 0)
    told.clear()
    run(
        direct_of(ScriptedChat([])),
        QuestionSet(dataset),
        tmp_path / "e",
        watch=lambda tally: told.append((tally.done, tally.asked, 0)),
    )
    assert told == [(6, 0, 0)]


def test_more_metrics_and_a_judge_score_each_answer(dataset: Path, tmp_path: Path) -> None:
    judge = ScriptedChat(lambda prompt: "yes" if "Given answer: Zed" in prompt else "no")
    scorer = Scorer(["popqa_accuracy"], judge)
    ran = ask(ScriptedChat(script), dataset, tmp_path / "e", scorer=scorer)
    kept = outcomes(ran)
    assert kept["q1"].metrics == {
        "exact_match": 0, "f1": 0.5, "contains": 0, "popqa_accuracy": 0, "judge": 1,
    }  # fmt: skip
    assert kept["q2"].metrics["judge"] == 0
    assert kept["q2"].output
    assert kept["q2"].output["cost"]["model_calls"] == 1  # the judge's are none of the method's
    with pytest.raises(SettingsError, match="there is no metric 'bleu'; choose from exact_match, f1,"):
        Scorer(["bleu"])
    with pytest.raises(SettingsError, match="was begun with metrics"):
        ask(ScriptedChat([]), dataset, tmp_path / "e")


# What fails.


def failing_at(*numbers: int) -> Callable[[str], str | Exception]:
    def replies(prompt: str) -> str | Exception:
        return ValueError("refused by the filter") if number_of(prompt) in numbers else script(prompt)

    return replies


def test_a_question_that_fails_is_kept_with_its_error_and_retried_only_when_asked(
    dataset: Path, tmp_path: Path
) -> None:
    ran = ask(ScriptedChat(failing_at(2, 4)), dataset, tmp_path / "e")
    assert (ran.tally.finished, ran.tally.failed) == (4, 2)
    assert ran.tally.first_failure.startswith(("q2: ScriptedChat failed", "q4: ScriptedChat failed"))
    failed = outcomes(ran)["q2"]
    assert (failed.output, failed.metrics) == (None, {})
    assert "refused by the filter" in failed.error and "\n" not in failed.error

    again = ask(ScriptedChat([]), dataset, tmp_path / "e")
    assert (again.tally.asked, again.tally.failed, len(again.tally.first_failure) > 0) == (0, 2, True)

    model = ScriptedChat(script)
    mended = ask(model, dataset, tmp_path / "e", retry_failed=True)
    assert sorted(map(number_of, model.prompts)) == [2, 4]
    assert (mended.tally.finished, mended.tally.failed, mended.tally.asked) == (6, 0, 2)
    whole = ask(ScriptedChat(script), dataset, tmp_path / "whole")
    assert {each: out.output for each, out in outcomes(mended).items()} == {
        each: out.output for each, out in outcomes(whole).items()
    }
    assert mended.tally.means()["f1"] == whole.tally.means()["f1"]


class Broken(BaseRetriever):
    """Fails as no retriever should."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        if number_of(query) == 3:
            raise ValueError("the index\nis gone")
        return [Document("Velo Taray")]


def test_a_search_and_a_graph_of_the_users_own_may_fail_too(dataset: Path, tmp_path: Path) -> None:
    graph = retrieve_then_read(ScriptedChat(script), Broken())
    ran = run(arm(graph), QuestionSet(dataset), tmp_path / "e")
    assert outcomes(ran)["q3"].error.startswith("Broken failed (ValueError: the index is gone);")
    assert ran.tally.failed == 1

    def answer(state: dict[str, Any]) -> dict[str, Any]:
        if number_of(state["question"]) == 1:
            raise ZeroDivisionError("by\nme")
        return {"answer": "Velo Taray"}

    own = StateGraph(State, input_schema=Question, output_schema=Answer)
    own.add_node("answer", cast(Any, answer))
    own.add_edge(START, "answer")
    ran = run(arm(cast(Any, own.compile(name="mine"))), QuestionSet(dataset), tmp_path / "e")
    assert ran.folder.name == "mine"
    assert outcomes(ran)["q1"].error == "ZeroDivisionError: by me"
    assert (ran.tally.finished, ran.tally.means()["exact_match"]) == (5, 1)


def test_a_server_that_is_down_is_not_asked_all_questions(tmp_path: Path) -> None:
    model = ScriptedChat(lambda prompt: ValueError("down"))
    dataset = write_dataset(tmp_path / "d.jsonl", 500)
    with pytest.raises(
        KnowwhenError, match=r"10 questions failed one after the other, .*: ScriptedChat fail"
    ):
        ask(model, dataset, tmp_path / "e")
    assert len(model.prompts) <= 10 + 16
    kept = (tmp_path / "e" / "runs" / "direct" / "journal.jsonl").read_bytes().count(b"\n") - 1
    assert 10 <= kept <= len(model.prompts)
    healthy = ScriptedChat(script)
    assert ask(healthy, dataset, tmp_path / "e", retry_failed=True).tally.finished == 500
    assert len(healthy.prompts) == 500


def test_if_all_questions_fail_the_run_does(dataset: Path, tmp_path: Path) -> None:
    model = ScriptedChat(lambda prompt: ValueError("down"))
    with pytest.raises(KnowwhenError, match=r"all questions failed, the first was q\d: .*--retry-failed"):
        ask(model, dataset, tmp_path / "e")


def test_a_real_servers_faults_are_waited_out_or_kept(dataset: Path, tmp_path: Path) -> None:
    with serve(ScriptedChat(script), statuses=[429, 503, 400], retry_after="0.01") as server:
        model = ChatOpenAI(
            base_url=server.base_url, api_key="x", model="tiny", max_retries=0, use_responses_api=False
        )
        ran = ask(model, dataset, tmp_path / "e")
        assert (ran.tally.finished, ran.tally.failed) == (5, 1)
        assert "status 400 was ordered" in ran.tally.first_failure
        assert len(server.requests) == 6 + 2
        mended = ask(model, dataset, tmp_path / "e", retry_failed=True)
        assert (mended.tally.finished, len(server.requests)) == (6, 9)


# What is refused.


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"limit": 3}, "was begun with limit None, which is now 3"),
        ({"seed": 3}, "was begun with seed 0, which is now 3"),
    ],
)
def test_a_run_begun_otherwise_is_refused(
    dataset: Path, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    ask(ScriptedChat(script), dataset, tmp_path / "e")
    with pytest.raises(SettingsError) as refused:
        run(direct_of(ScriptedChat([])), QuestionSet(dataset, **change), tmp_path / "e")
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_other_settings_models_prompts_and_questions_are_refused(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(ScriptedChat(script), dataset, tmp_path / "e")
    model = ScriptedChat([])
    with pytest.raises(SettingsError, match=r"was begun with settings temperature 0.1, which is now 0.5;"):
        run(direct_of(model, temperature=0.5), QuestionSet(dataset), tmp_path / "e")
    with pytest.raises(SettingsError, match="was begun with model 'ScriptedChat', which is now 'pocket'"):
        run(arm(direct(model), model="pocket"), QuestionSet(dataset), tmp_path / "e")
    with monkeypatch.context() as changed:
        changed.setattr(direct_module, "PROMPT", direct_module.PROMPT + " ")
        with pytest.raises(SettingsError, match="was begun with prompts '"):
            ask(model, dataset, tmp_path / "e")
    dataset.write_text(dataset.read_text().replace("Velo Taray", "Velo"))
    with pytest.raises(SettingsError, match="question q0 was another one, or had other answers, when"):
        ask(model, dataset, tmp_path / "e")


def test_another_corpus_is_told_by_its_passages(tmp_path: Path) -> None:
    one, other = (arm(direct("pocket"), corpus=build(tmp_path / name, name)) for name in ("one", "other"))
    assert one.origin.passages and other.origin.passages
    assert one.origin.passages != other.origin.passages
    assert arm(direct("pocket"), corpus="almanac").origin.passages
    assert arm(direct("pocket"), model="pocket").origin.weights


def build(folder: Path, text: str) -> Path:
    build_index([Entry("1", "a title", text, "here")], folder)
    return folder


@pytest.mark.parametrize("label", ["", "a/b", "..", "-x", "a b"])
def test_a_label_must_be_a_folders_name(label: str) -> None:
    whole = direct_of(ScriptedChat([]))
    with pytest.raises(SettingsError, match="cannot be a folder's name"):
        Arm(label, *parts(whole))


def test_numbers_out_of_range_and_empty_datasets_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(SettingsError, match="limit must be at least 1 question"):
        QuestionSet("almanac:test", limit=0)
    with pytest.raises(SettingsError, match="concurrency must be at least 1"):
        run(direct_of(ScriptedChat([])), QuestionSet("almanac:test"), tmp_path / "e", at_once=0)
    with pytest.raises(KnowwhenError, match="holds no question; give a dataset that does"):
        ask(ScriptedChat([]), tmp_path / "empty.jsonl", tmp_path / "e")
    assert not (tmp_path / "e").exists()


def test_bad_records_end_a_run_before_anything_is_asked_or_are_counted(dataset: Path, tmp_path: Path) -> None:
    dataset.write_text(dataset.read_text() + "{}\n")
    with pytest.raises(KnowwhenError, match=r"d.jsonl:7: "):
        ask(ScriptedChat([]), dataset, tmp_path / "e")
    assert not (tmp_path / "e").exists()
    questions = QuestionSet(dataset, skip_bad=True)
    ran = run(direct_of(ScriptedChat(script)), questions, tmp_path / "e")
    assert (ran.tally.done, questions.skipped.count) == (6, 1)


# Stopped at any moment.

# Each answer takes 20 ms; what was asked is told on stdout.
CHILD = """
import sys
sys.path.insert(0, HERE)
from pathlib import Path
from test_running import *

def told(prompt):
    print(number_of(prompt), flush=True)
    return script(prompt)

ask(ScriptedChat(told, delay=0.02), Path(sys.argv[1]), Path(sys.argv[2]), record=Path(sys.argv[3]))
"""


def child(*arguments: Path) -> list[str]:
    here = repr(str(Path(__file__).parent))
    return [sys.executable, "-c", CHILD.replace("HERE", here), *map(str, arguments)]


def wait_for_lines(path: Path, count: int, process: "subprocess.Popen[str]") -> None:
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def test_killed_again_and_again_it_asks_nothing_finished_twice_and_comes_to_the_same(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "d.jsonl", 200)
    journal = tmp_path / "e" / "runs" / "direct" / "journal.jsonl"
    for lines in (20, 70, 120):
        before = set(finished_in(journal))
        with started(
            child(dataset, tmp_path / "e", tmp_path / "t"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            wait_for_lines(journal, lines, process)
            process.send_signal(signal.SIGKILL)
            out, _ = process.communicate()
        asked = {f"q{number}" for number in out.split()}
        assert not asked & before
        assert len(finished_in(journal)) == len(set(finished_in(journal)))
    before = set(finished_in(journal))
    assert 110 <= len(before) < 200
    model = ScriptedChat(script)
    went_on = ask(model, dataset, tmp_path / "e", record=tmp_path / "t")
    assert {f"q{number_of(prompt)}" for prompt in model.prompts} == {f"q{n}" for n in range(200)} - before
    whole = ask(ScriptedChat(script), dataset, tmp_path / "whole")
    assert same(went_on) == same(whole)
    assert figures(went_on) == figures(whole)

    # The recording has every question, too, also those that a process was killed with.
    replayed = ask(ScriptedChat([]), dataset, tmp_path / "again", replay=tmp_path / "t")
    assert outcomes(replayed) == outcomes(went_on)


def finished_in(journal: Path) -> list[str]:
    if not journal.exists():
        return []
    return [json.loads(line)["question_id"] for line in journal.read_bytes().split(b"\n")[1:-1]]


def same(ran: Ran) -> dict[str, Outcome]:
    """What must not depend on when a question was asked."""
    return {name: each.model_copy(update={"seconds": 0.0}) for name, each in outcomes(ran).items()}


def figures(ran: Ran) -> dict[str, Any]:
    return run_figures(same(ran).values()).model_dump()


@pytest.mark.parametrize("cut", [1, 20, "header", "line and a half", "all but one"])
def test_wherever_the_journal_was_cut_off_it_goes_on(dataset: Path, tmp_path: Path, cut: int | str) -> None:
    whole = ask(ScriptedChat(script), dataset, tmp_path / "whole")
    content = (whole.folder / "journal.jsonl").read_bytes()
    header, first, *_ = content.splitlines(keepends=True)
    places = {
        "header": len(header),
        "line and a half": len(header) + len(first) + 30,
        "all but one": len(content) - 1,
    }
    end = places[cut] if isinstance(cut, str) else cut
    out = tmp_path / "e" / "runs" / "direct"
    out.mkdir(parents=True)
    (out / "journal.jsonl").write_bytes(content[:end])
    model = ScriptedChat(script)
    assert same(ask(model, dataset, tmp_path / "e")) == same(whole)
    assert len(model.prompts) == 6 - max(0, content[:end].count(b"\n") - 1)


def test_a_damaged_line_is_named(dataset: Path, tmp_path: Path) -> None:
    ran = ask(ScriptedChat(script), dataset, tmp_path / "e")
    file = ran.folder / "journal.jsonl"
    lines = file.read_bytes().splitlines()
    lines[2] = b"{}"
    file.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(KnowwhenError, match=r"journal.jsonl:3 is damaged; delete the line"):
        ask(ScriptedChat([]), dataset, tmp_path / "e")


def test_half_a_letter_in_an_answer_is_kept_as_far_as_it_is_text(dataset: Path, tmp_path: Path) -> None:
    ran = ask(ScriptedChat(lambda prompt: "Velo \ud83d Taray"), dataset, tmp_path / "e")
    answers = {each.output["answer"] for each in outcomes(ran).values() if each.output}
    assert answers == {"Velo ? Taray"}


@pytest.mark.slow
def test_memory_does_not_grow_with_the_questions(tmp_path: Path) -> None:
    """What a run holds after 40 questions and after 200, each with an answer of 50 kB."""
    held = []
    for count in (40, 200):
        dataset = write_dataset(tmp_path / f"{count}.jsonl", count)
        command = [sys.executable, "-c", HOLDING.replace("HERE", repr(str(Path(__file__).parent)))]
        ended = subprocess.run(
            [*command, str(dataset), str(tmp_path / str(count))], capture_output=True, text=True, check=True
        )
        held.append(int(ended.stdout))
    assert held[1] - held[0] < 0.3 * 160 * 50_000


HOLDING = """
import gc, sys, tracemalloc
sys.path.insert(0, HERE)
from pathlib import Path
from test_running import *

model = direct_of(Long())
tracemalloc.start()
run(model, QuestionSet(Path(sys.argv[1])), Path(sys.argv[2]))
gc.collect()
print(tracemalloc.get_traced_memory()[0])
"""


class Long(BaseChatModel):
    """Answers at length, and remembers nothing."""

    @property
    def _llm_type(self) -> str:
        return "long"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        usage: Any = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        message = AIMessage(f"{messages[0].content} "[:50] * 1000, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])
