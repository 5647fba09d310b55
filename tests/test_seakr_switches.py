"""SeaKR's switches: Table 3's parts, one hop, any estimator, any model, and what is refused when built."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.messages import BaseMessage
from numpy.typing import NDArray
from scripted import ScriptedChat
from seakr_script import END, FIRST, LOOKED_UP, SECOND, K, Q, Said, Story, Thinker, ask, build, spent
from self_dc_script import Shelf, notes, routes

from knowwhen.graphs import seakr
from knowwhen.graphs.seakr import SeaKRSettings
from knowwhen.models import pocket
from knowwhen.models.capability import Capability
from knowwhen.models.chat_with_states import ChatWithStates
from knowwhen.models.door import Door
from knowwhen.models.errors import CapabilityError, SettingsError
from knowwhen.models.evidence import Answer, HiddenStates, StatesAt
from knowwhen.nodes.step_demonstrations import DEFAULT, as_text
from knowwhen.uncertainty.presets import PRESETS
from knowwhen.uncertainty.resolve import NAMES, resolve_estimator
from knowwhen.uncertainty.thresholds import OfEstimator, OfModel, Thresholds

SAMPLED = frozenset({Capability.TEXT, Capability.SAMPLES})
LOGPROBS = frozenset({Capability.TEXT, Capability.LOGPROBS})
BARE = {"rerank": "first", "reasoning": "rationales"}
PERPLEXITY = {"estimator": "perplexity", "samples": None}


@pytest.mark.parametrize(
    ("switched", "calls", "retrievals"),
    [
        # Requests of one greedy answer and of K samples; of a question whose first step is unsure.
        ({}, (8, 8), 1),  # three thoughts, the first again with three passages, two answers
        ({"retrieval": "never"}, (4, 0), 0),  # three thoughts, one answer: nothing is decided by a score
        ({"retrieval": "always", "max_retrievals": 2}, (10, 8), 2),  # thoughts without scores
        ({"rerank": "first"}, (6, 5), 1),  # one passage, which needs no score
        ({"passages": 1}, (6, 5), 1),
        ({"reasoning": "rationales"}, (7, 7), 1),
        ({"reasoning": "knowledge"}, (7, 7), 1),
        (
            {"retrieval": "always", "max_retrievals": 1, "rerank": "first", "reasoning": "rationales"},
            (3, 0),
            1,
        ),
    ],
)
def test_each_switch_spends_what_it_needs_to_the_call(
    switched: dict[str, Any], calls: tuple[int, int], retrievals: int
) -> None:
    model, shelf = Thinker(LOOKED_UP), Shelf()
    output = ask(model, shelf, **switched)
    greedy, sampled = calls
    assert len(model.greedy) == greedy and len(model.prompts) == greedy + sampled
    assert spent(output) == (greedy + sampled, greedy + K * sampled, retrievals)
    assert len(shelf.queries) == retrievals


def test_looking_up_always_asks_for_no_score_of_a_thought() -> None:
    output = ask(Story([FIRST, SECOND]), retrieval="always", max_retrievals=2)
    assert routes(output)["1.1"] == routes(output)["1.2"] == "retrieve"
    assert [step["score"] for step in output["steps"][:2]] == [None, None]


def test_looking_up_never_keeps_every_thought() -> None:
    output = ask(LOOKED_UP, retrieval="never")
    assert [step["answer"] for step in output["steps"]][:2] == ["Karn was directed by Nobody.", SECOND]
    assert set(routes(output).values()) == {"confident", "direct"}
    assert output["confidence"] is None and output["uncertainty"] is None


def test_the_first_passage_is_kept_without_a_comparison() -> None:
    output = ask(LOOKED_UP, rerank="first")
    assert [passage["rank"] for passage in output["steps"][0]["passages"]] == [1]
    assert output["steps"][0]["answer"] == "Karn is a film."


@pytest.mark.parametrize(
    ("reasoning", "question"), [("rationales", "From the steps"), ("knowledge", "From the passages kept")]
)
def test_one_kind_of_reasoning_gives_one_final_answer(reasoning: str, question: str) -> None:
    *_, final, root = ask(LOOKED_UP, reasoning=reasoning)["steps"]
    assert final["id"] == "1.4" and final["question"] == f"{question}: {Q}"
    assert root["answer"] == final["answer"] == "Zeno"


@pytest.mark.parametrize(
    ("query", "looked_up"),
    [
        ("surer_tokens", "Karn was directed by"),
        ("thought", "Karn was directed by Nobody"),
        ("question", Q),
    ],
)
def test_what_is_looked_up_can_be_chosen(query: str, looked_up: str) -> None:
    model, shelf = Thinker(LOOKED_UP), Shelf()
    ask(model, shelf, query=query)
    assert shelf.queries == [(looked_up, 3)]
    assert any(call.get("logprobs") for call in model.calls) == (query == "surer_tokens")


def test_more_doubt_is_allowed_in_a_query() -> None:
    shelf = Shelf()
    ask(LOOKED_UP, shelf, query_doubt=0.8)
    assert shelf.queries == [("Karn was directed by Nobody", 3)]


def test_in_one_hop_a_sure_answer_is_given_as_it_is() -> None:
    model, shelf = Thinker(Story(finals={"answer_directly": "**Zeno**\n"})), Shelf()
    output = ask(model, shelf, hops="one")
    assert [each.task for each in model.greedy] == ["answer_directly"] and shelf.queries == []
    assert [(step["id"], step["route"], step["answer"]) for step in output["steps"]] == [
        ("1.1", "confident", "Zeno"),
        ("1", "confident", "Zeno"),
    ]
    assert output["explanation"] == "from the model's own knowledge" and notes(output) == {}
    assert spent(output) == (2, 1 + K, 0) and output["confidence"] == 1.0


HOP = Story(
    finals={
        "answer_directly": Said("Old ?Alba", 0.2),
        "read_passages 1": Said("Beda", 0.4),
        "read_passages 2": Said("Zeno", 0.8),
        "read_passages 3": Said("Ceno", 0.6),
    }
)


@pytest.mark.parametrize(
    ("switched", "answer", "calls", "sequences"),
    [
        ({}, "Zeno", 8, 4 * (1 + K)),
        ({"max_retrievals": 1, "max_steps": 1}, "Zeno", 8, 4 * (1 + K)),
        ({"retrieval": "always"}, "Zeno", 7, 1 + 3 * (1 + K)),
        ({"retrieval": "always", "rerank": "first"}, "Beda", 3, 1 + 1 + K),
    ],
)
def test_in_one_hop_an_unsure_answer_is_looked_up_once(
    switched: dict[str, Any], answer: str, calls: int, sequences: int
) -> None:
    model, shelf = Thinker(HOP), Shelf()
    output = ask(model, shelf, hops="one", **switched)
    assert {each.task for each in model.greedy} == {"answer_directly", "read_passages"}
    assert len(shelf.queries) == 1
    assert output["answer"] == answer and [step["id"] for step in output["steps"]] == ["1.1", "1"]
    assert output["steps"][1]["notes"] == [] and output["steps"][1]["route"] == "retrieve"
    rank = {"Zeno": 2, "Beda": 1}[answer]
    assert output["explanation"] == f"from [1] Title {rank}"
    assert output["confidence"] == output["steps"][1]["score"] == {"Zeno": 0.8, "Beda": 0.4}[answer]
    assert spent(output) == (calls, sequences, 1)


def test_in_one_hop_without_look_ups_the_answer_has_its_score() -> None:
    output = ask(HOP, hops="one", retrieval="never")
    assert output["answer"] == "Old Alba" and output["confidence"] == 0.2
    assert spent(output) == (2, 1 + K, 0)


def test_a_model_that_samples_text_alone_runs_by_consistency_and_the_whole_thought() -> None:
    shelf = Shelf()
    output = ask(Thinker(LOOKED_UP, reports=SAMPLED), shelf, query="thought")
    assert shelf.queries == [("Karn was directed by Nobody", 3)]
    assert output["steps"][0]["answer"] == FIRST


def test_a_model_with_log_probabilities_alone_runs_by_perplexity() -> None:
    model, shelf = Thinker(LOOKED_UP, reports=LOGPROBS), Shelf()
    output = ask(model, shelf, estimator="perplexity", samples=None, threshold=1.2)
    assert shelf.queries == [("Karn was directed by", 3)]
    # Four of five tokens at 0.95 and one at 0.3.
    assert output["steps"][0]["score"] == pytest.approx((0.95**4 * 0.3) ** -0.2)
    assert output["steps"][0]["estimator"] == "perplexity"
    assert output["confidence"] is None and output["uncertainty"] == pytest.approx(1 / 0.95)
    assert spent(output) == (8, 8, 1)


@pytest.mark.parametrize(
    ("reports", "settings", "words"),
    [
        (
            SAMPLED,
            {},
            ["query='surer_tokens'", "log-probabilities", "use query='thought' or query='question'"],
        ),
        (LOGPROBS, {}, ["estimator='consistency'", "n samples"]),
        (
            SAMPLED,
            {"estimator": "perplexity", "samples": None, "query": "thought"},
            ["'perplexity'", "log-prob"],
        ),
        (SAMPLED | LOGPROBS, {"estimator": "gram"}, ["estimator='gram'", "hidden states", "'consistency'"]),
        (LOGPROBS, {"retrieval": "always"}, ["estimator='consistency'"]),
        (LOGPROBS, {"retrieval": "never", "hops": "one"}, ["estimator='consistency'"]),
        (LOGPROBS, BARE | {"retrieval": "never", "hops": "one"}, ["estimator='consistency'"]),
    ],
)
def test_a_model_that_cannot_report_what_is_read_is_refused_when_the_graph_is_built(
    reports: frozenset[Capability], settings: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(CapabilityError) as refused:
        build(Thinker(Story(), reports=reports), **settings)
    assert all(word in str(refused.value) for word in words)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"retrieval": "never"},
        BARE | {"retrieval": "always", "query": "question"},
    ],
)
def test_what_no_part_reads_is_not_asked_of_a_model(settings: dict[str, Any]) -> None:
    model = Thinker(Story([FIRST]), reports=frozenset({Capability.TEXT}))
    output = ask(model, estimator="gram", threshold=None, **settings)
    assert output["answer"] == "Zeno"
    assert all(call.get("n", 1) == 1 for call in model.calls)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"threshold": None}, ["no threshold for estimator='consistency' on Thinker", "thresholds=FILE"]),
        ({"threshold": float("nan")}, ["threshold=nan"]),
        ({"threshold": float("inf")}, ["threshold=inf"]),
        ({"estimator": "gramm"}, ["no estimator 'gramm'", "perplexity"]),
        ({"estimator": "gramm", "retrieval": "never"}, ["no estimator 'gramm'"]),
        ({"estimator": "embedding_gram"}, ["embedding_gram needs its encoder", "encoder="]),
        ({"samples": 1}, ["samples=1 is out of range"]),
        ({"max_steps": 0}, ["max_steps=0 is out of range"]),
        ({"max_steps": 21}, ["max_steps=21 is out of range"]),
        ({"max_retrievals": 0}, ["max_retrievals=0"]),
        ({"hops": "two"}, ["hops='two'", "'many' or 'one'"]),
        ({"temperature": 0}, ["temperature=0"]),
        ({"delta": 1}, ["no setting 'delta'", "threshold"]),
        ({"preset": "pockett"}, ["no preset 'pockett'", "pocket"]),
        ({"thresholds": "/nowhere/x.json"}, ["/nowhere/x.json cannot be read"]),
        ({"preset": "pocket", "threshold": None}, ["found on pocket", "not for consistency (k=5"]),
        ({"demonstrations": "/nowhere/x.jsonl"}, ["/nowhere/x.jsonl cannot be read"]),
        ({"prompts": {"thinks": ""}}, ["no prompt 'thinks'", "think"]),
        ({"prompts": {"think": "{question}"}}, ["the prompt 'think' must hold", "{passage}"]),
    ],
)
@pytest.mark.filterwarnings("ignore:the threshold")
def test_settings_that_make_no_sense_are_refused_in_one_line(
    settings: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(SettingsError) as refused:
        build(Thinker(Story()), **settings)
    assert all(word in str(refused.value) for word in words), refused.value
    assert "\n" not in str(refused.value)


class Told:
    """States that are told, a row each time one is asked for."""

    def __init__(self, rows: Sequence[Sequence[float]]) -> None:
        self.rows = rows

    def states(
        self, prompts: Sequence[list[BaseMessage]], answers: Sequence[Sequence[Answer]], at: StatesAt
    ) -> list[HiddenStates]:
        return [HiddenStates(np.array(self.rows, dtype=np.float32), 2, at[1]) for _ in prompts]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_states_that_are_no_numbers_count_as_unsure_and_the_step_says_so(bad: float) -> None:
    rows = [[1.0, 2.0, 4.0]] * (K - 1) + [[1.0, bad, 0.0]]
    model = ChatWithStates(answers=Thinker(Story([FIRST])), source=Told(rows))
    output = build(model, estimator="gram", threshold=1000.0).invoke({"question": Q})
    assert routes(output)["1.1"] == "retrieve" and output["steps"][0]["score"] is None
    assert any("taken for unsure" in note for note in notes(output)["1.1"])
    assert any("taken for unsure" in note for note in notes(output)["1"])
    assert output["uncertainty"] is None


def test_states_of_one_mind_are_sure() -> None:
    model = ChatWithStates(answers=Thinker(Story([FIRST])), source=Told([[1.0, 2.0, 4.0]] * K))
    output = build(model, estimator="gram", threshold=-4.0).invoke({"question": Q})
    assert routes(output)["1.1"] == "confident"
    assert output["uncertainty"] < -4 and output["confidence"] is None


class Lengths:
    """Encodes a text by its length and its first character."""

    name = "lengths"

    def queries(self, texts: Any) -> NDArray[np.float64]:
        return np.array([[len(text), ord(text[0]), 1.0] for text in texts], dtype=np.float64)


@pytest.mark.parametrize("name", NAMES)
def test_every_estimator_runs_the_graph_on_a_real_model(name: str) -> None:
    encoder = Lengths()
    estimator = resolve_estimator(name, door=Door(pocket.pocket()), encoder=encoder)
    samples = 3 if hasattr(estimator, "k") else None
    graph = seakr(
        "pocket",
        Shelf(),
        estimator=name,
        samples=samples,
        encoder=encoder,
        threshold=0.5,
        max_steps=1,
        max_tokens=8,
        passages=2,
    )
    output = graph.invoke({"question": Q})
    first, *_, root = output["steps"]
    for step in (first, root):
        assert step["estimator"] == estimator.name or any("taken for unsure" in n for n in step["notes"])
    assert (output["confidence"] is None) or estimator.kind == "confidence"
    assert (output["uncertainty"] is None) or estimator.kind == "uncertainty"
    drawn = samples or (estimator.needs.k or 0)
    answers = len(output["steps"]) - 1 + 2 * output["cost"]["retrievals"] - (first["answer"] == "")
    assert output["cost"]["sequences"] >= (1 + drawn) * max(answers, 1)


def test_an_estimator_and_its_threshold_can_be_changed_for_a_run() -> None:
    graph = build(Thinker(LOOKED_UP))
    output = graph.invoke(
        {"question": Q}, context={"estimator": "perplexity", "threshold": 9, "samples": None}
    )
    assert output["steps"][0]["estimator"] == "perplexity" and output["cost"]["retrievals"] == 0
    output = graph.invoke({"question": Q}, context=SeaKRSettings(threshold=0.1))
    assert output["steps"][0]["estimator"] == "consistency" and output["cost"]["retrievals"] == 0
    output = graph.invoke({"question": Q}, context={"samples": 10, "threshold": 0.1})
    assert output["cost"]["sequences"] == 4 * 11
    assert graph.invoke({"question": Q})["cost"]["retrievals"] == 1


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (PERPLEXITY, "was given for estimator='consistency', samples=5"),
        ({"samples": 10}, "pass the threshold of estimator='consistency', samples=10"),
        ({"threshold": float("nan")}, "threshold=nan"),
        ({"threshold": None}, "no threshold for estimator='consistency'"),
        ({"estimator": "embedding_gram", "threshold": 1}, "embedding_gram needs its encoder"),
    ],
)
def test_a_threshold_is_not_carried_over_to_another_estimator(context: dict[str, Any], words: str) -> None:
    model = Thinker(LOOKED_UP)
    with pytest.raises(SettingsError) as refused:
        build(model).invoke({"question": Q}, context=context)
    assert words in str(refused.value) and model.prompts == []


def test_a_run_that_asks_for_what_the_model_does_not_report_is_refused() -> None:
    graph = build(Thinker(LOOKED_UP, reports=SAMPLED), query="thought")
    with pytest.raises(CapabilityError, match="log-probabilities"):
        graph.invoke({"question": Q}, context={"query": "surer_tokens"})


def test_a_preset_of_another_model_warns_once_where_the_graph_is_built() -> None:
    model = ChatWithStates(answers=Thinker(LOOKED_UP), source=Told([[1.0, 2.0, 4.0]] * 20))
    with pytest.warns(UserWarning, match="found on Llama-2-7b-chat, not on ChatWithStates") as warned:
        graph = seakr(model, Shelf(), preset="llama-2-7b-chat", query="thought")
    assert [Path(each.filename).name for each in warned] == ["test_seakr_switches.py"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        output = graph.invoke({"question": Q})
    assert output["steps"][0]["estimator"] == "gram"


def test_the_pocket_model_needs_no_threshold() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert seakr(retriever=Shelf()).name == "seakr"


def test_a_thresholds_file_is_read_once_when_the_graph_is_built(tmp_path: Path) -> None:
    file = tmp_path / "thresholds.json"
    Thresholds(
        method="seakr",
        thresholds={"threshold": 0.1},
        settings={"estimator": "consistency", "samples": K},
        estimator=OfEstimator(name="consistency", kind="confidence", settings={"k": K}),
        model=OfModel(name="Thinker"),
    ).save(file)
    graph = build(Thinker(LOOKED_UP), threshold=None, thresholds=file)
    file.unlink()
    assert graph.invoke({"question": Q})["cost"]["retrievals"] == 0


def test_demonstrations_are_the_projects_own_but_for_the_pocket_model(tmp_path: Path) -> None:
    model = Thinker(LOOKED_UP)
    ask(model, demonstrations=None)
    shown = {each.demonstrations for each in model.greedy if each.task == "think"}
    assert shown == {as_text(DEFAULT)}
    file = tmp_path / "shown.jsonl"
    file.write_text('{"question": "Who?", "steps": ["{Alba} did."], "answer": "Alba"}\n')
    model = Thinker(LOOKED_UP)
    ask(model, demonstrations=file)
    shown = {each.demonstrations for each in model.greedy if each.task == "think"}
    assert shown == {"Question: Who?\nSteps:\n- {Alba} did.\n- So the final answer is Alba.\n\n"}
    model = Thinker(LOOKED_UP)
    ask(model)
    assert {each.demonstrations for each in model.greedy} == {""}


def test_a_prompt_can_be_the_users_own() -> None:
    model = ScriptedChat([END] * 2)
    prompts = {
        "think": "Mine: {demonstrations}{question}{rationales}{passage}",
        "answer_from_rationales": "{question} {rationales}",
    }
    ask(model, prompts=prompts, retrieval="never")
    assert model.prompts == [f"Mine: {Q} none", f"{Q} - {END}"]


def test_the_presets_estimators_exist() -> None:
    for preset in PRESETS.values():
        assert preset.threshold.estimator in NAMES
