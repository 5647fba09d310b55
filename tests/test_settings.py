"""Settings: defaults from keyword arguments, changes per run, and one line for whatever is out of range."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from scripted import ScriptedChat
from self_dc_script import Shelf, World, routes, tasks_of
from typing_extensions import TypedDict

from knowwhen.graphs import (
    METHODS,
    Method,
    chain_of_thought,
    direct,
    generate_then_read,
    retrieve_then_read,
    self_dc,
)
from knowwhen.graphs.self_dc import SelfDCSettings
from knowwhen.models.capability import Capability
from knowwhen.models.errors import CapabilityError, SettingsError

HALF_KNOWN = World({"root": 0.6, "left": 0.3, "right": 0.3}, {"root": ["left", "right"]})


def build(script: Any = HALF_KNOWN, shelf: Shelf | None = None, **settings: Any) -> Any:
    return self_dc(ScriptedChat(script), shelf or Shelf(), **{"confidence": "verbalised", **settings})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"beta": -0.1}, "beta=-0.1 is out of range: input should be greater than or equal to 0"),
        ({"beta": 1.1}, "beta=1.1 is out of range"),
        ({"alpha": 1.1}, "alpha=1.1 is out of range: input should be less than or equal to 1"),
        ({"alpha": float("nan")}, "alpha=nan is out of range"),
        ({"alpha": "high\nup"}, "alpha='high\\nup' is out of range"),
        ({"alpha": "x" * 10_000}, "alpha='xxx"),
        ({"alpha": None}, "alpha=None is out of range"),
        ({"max_depth": -1}, "max_depth=-1 is out of range"),
        ({"max_depth": 11}, "max_depth=11 is out of range"),
        ({"max_depth": 1.5}, "max_depth=1.5 is out of range"),
        ({"passages": 0}, "passages=0 is out of range"),
        ({"temperature": -1}, "temperature=-1 is out of range"),
        ({"top_p": 0}, "top_p=0 is out of range"),
        ({"max_tokens": 0}, "max_tokens=0 is out of range"),
        ({"confidence": "gut"}, "confidence='gut' is out of range: input should be 'verbalised' or"),
        ({"delta": 1}, "there is no setting 'delta'; choose from temperature, top_p, max_tokens"),
    ],
)
def test_a_setting_out_of_range_is_one_line_when_built_and_when_run(
    settings: dict[str, Any], said: str
) -> None:
    def built() -> None:
        build(**settings)

    def run() -> None:
        build().invoke({"question": "root"}, context=settings)

    for attempt in (built, run, lambda: SelfDCSettings(**settings)):
        with pytest.raises(SettingsError) as refused:
            attempt()
        assert said in str(refused.value)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 400


@pytest.mark.parametrize("name", METHODS)
def test_every_method_refuses_what_it_does_not_know(name: str) -> None:
    with pytest.raises(SettingsError, match="no setting 'alhpa'"):
        METHODS[name](ScriptedChat([]), alhpa=0.5)  # type: ignore[operator]


@pytest.mark.parametrize("bound", [0, -1])
def test_a_bound_below_one_is_refused(bound: int) -> None:
    with pytest.raises(SettingsError, match="max_concurrency"):
        build(max_concurrency=bound)


def test_keyword_arguments_are_the_defaults() -> None:
    model, shelf = ScriptedChat(HALF_KNOWN), Shelf()
    method = self_dc(
        model, shelf, confidence="verbalised", passages=1, temperature=0.5, top_p=0.6, max_tokens=7
    )
    method.invoke({"question": "root"})
    assert sorted(shelf.queries) == [("left", 1), ("right", 1)]
    told = {name: {call[name] for call in model.calls} for name in ("temperature", "top_p", "max_tokens")}
    assert told == {"temperature": {0.5}, "top_p": {0.6}, "max_tokens": {7}}


@pytest.mark.parametrize(
    "run", [Method.invoke, lambda *asked, **how: asyncio.run(Method.ainvoke(*asked, **how))]
)
@pytest.mark.parametrize("kind", ["dict", "the graph's own class", "the method's class"])
def test_a_run_may_change_settings_down_to_the_last_sub_question(kind: str, run: Any) -> None:
    model, shelf = ScriptedChat(HALF_KNOWN), Shelf()
    method = self_dc(model, shelf, confidence="verbalised", passages=5, max_tokens=50)
    changed = {"passages": 2, "temperature": 0.9}
    make: Any = {
        "dict": dict,
        "the graph's own class": method.context_schema,
        "the method's class": SelfDCSettings,
    }
    output = run(
        method,
        {"question": "root"},
        context=make[kind](**changed),
    )
    assert routes(output) == {"1.1": "retrieve", "1.2": "retrieve", "1": "decompose"}
    assert sorted(shelf.queries) == [("left", 2), ("right", 2)]
    assert {call["temperature"] for call in model.calls} == {0.9}
    assert {call["max_tokens"] for call in model.calls} == {50}  # a default of the graph's own


def test_a_run_may_change_the_band_the_depth_and_the_estimator() -> None:
    method = build()
    alone = method.invoke({"question": "root"})
    assert routes(method.invoke({"question": "root"}, context={"max_depth": 0})) == {"1": "retrieve"}
    assert routes(method.invoke({"question": "root"}, context={"alpha": 0, "beta": 0})) == {"1": "generate"}
    assert routes(method.invoke({"question": "root"}, context={"alpha": 1, "beta": 0})) == {"1": "retrieve"}
    other = method.invoke({"question": "root"}, context={"confidence": "probability"})
    assert {step["estimator"] for step in other["steps"]} == {"probability"}
    assert method.invoke({"question": "root"}) == alone


def test_runs_beside_each_other_keep_their_own_settings() -> None:
    method = self_dc(ScriptedChat(HALF_KNOWN, delay=0.02), Shelf(), confidence="verbalised")
    depths = [0, 3] * 5

    async def all_at_once() -> list[dict[str, Any]]:
        runs = [method.ainvoke({"question": "root"}, context={"max_depth": depth}) for depth in depths]
        return await asyncio.gather(*runs)

    outputs = asyncio.run(all_at_once())
    assert [len(output["steps"]) for output in outputs] == [3 if depth else 1 for depth in depths]


@dataclass
class Foreign:
    """Another graph's context, whose names happen to be ours."""

    alpha: float = 0.0
    beta: float = 0.0
    passages: int = 9


class ForeignDict(TypedDict):
    alpha: float


class Passed(TypedDict, total=False):
    question: str
    answer: str


@pytest.mark.parametrize("schema", [Foreign, ForeignDict, None])
def test_the_context_of_a_foreign_parent_is_not_ours(schema: Any) -> None:
    shelf = Shelf()
    parent: Any = StateGraph(Passed, context_schema=schema)
    parent.add_node("self_dc", build(shelf=shelf, passages=2))
    parent.add_edge(START, "self_dc")
    parent.add_edge("self_dc", END)
    context = {Foreign: Foreign(), ForeignDict: {"alpha": 0.0}, None: None}[schema]
    output = parent.compile().invoke({"question": "root"}, context=context)
    assert output["answer"] == "the answer to root"
    assert sorted(shelf.queries) == [("left", 2), ("right", 2)]


def test_the_settings_of_another_method_are_not_ours() -> None:
    others = retrieve_then_read(ScriptedChat([]), Shelf()).context_schema
    assert others is not None
    with pytest.raises(SettingsError, match=r"a context is settings by name, .* not RetrieveThenRead"):
        build().invoke({"question": "root"}, context=others(passages=7, temperature=1.5))


def test_a_server_is_shown_every_setting_with_bounds_description_and_the_changed_default() -> None:
    schema = build(alpha=0.4, max_depth=2).get_context_jsonschema()
    assert schema is not None
    shown = schema["properties"]
    assert set(shown) == {
        "alpha",
        "beta",
        "confidence",
        "max_depth",
        "passages",
        "temperature",
        "top_p",
        "max_tokens",
    }
    assert all(field["description"] for field in shown.values())
    assert shown["alpha"]["default"] == 0.4
    assert (shown["alpha"]["minimum"], shown["alpha"]["maximum"]) == (0, 1)
    assert shown["max_depth"]["default"] == 2
    assert (shown["max_depth"]["minimum"], shown["max_depth"]["maximum"]) == (0, 10)
    assert shown["confidence"]["default"] == "verbalised"
    assert shown["confidence"]["enum"] == ["verbalised", "probability"]
    assert (shown["passages"]["minimum"], shown["passages"]["default"]) == (1, 3)
    assert (shown["top_p"]["exclusiveMinimum"], shown["top_p"]["maximum"]) == (0, 1)
    assert schema["title"] == "SelfDCSettings"


@pytest.mark.parametrize("name", METHODS)
def test_every_methods_settings_question_and_answer_are_described(name: str) -> None:
    retrieves = name in ("retrieve_then_read", "self_dc", "keqa", "seakr", "taikc")
    given: dict[str, Any] = {"retriever": Shelf()} if retrieves else {}
    if name == "keqa":
        given["shown"] = "none"
    if name == "seakr":
        given |= {"estimator": "consistency", "query": "thought", "threshold": 0.5}
    method = METHODS[name](ScriptedChat([]), **given)  # type: ignore[operator]
    context = method.get_context_jsonschema()
    assert all(field["description"] for field in context["properties"].values())
    assert method.get_input_jsonschema()["required"] == ["question"]
    answer = method.get_output_jsonschema()["properties"]
    assert set(answer) == {"answer", "explanation", "confidence", "uncertainty", "steps", "cost"}
    assert all(field["description"] for field in answer.values())


def test_a_replaced_prompt_is_what_the_model_is_asked() -> None:
    model = ScriptedChat(lambda prompt: "Confidence: 10" if prompt.startswith("How") else "ok")
    prompts = {"score_confidence": "How {{sure}}? {question}", "read_passages": "{question} in {passages}"}
    method = self_dc(model, Shelf(), confidence="verbalised", passages=1, prompts=prompts)
    method.invoke({"question": "q {x}"})
    assert model.prompts == ["How {sure}? q {x}", "q {x} in [1] Title 1: Passage 1 on q {x}"]


def test_a_replaced_direct_prompt_is_asked_wherever_there_are_no_passages() -> None:
    empty = Shelf(find=lambda query: [])
    prompts = {"answer_directly": "Just {question}"}
    for method in (retrieve_then_read, self_dc):
        model = ScriptedChat([("x", 0.1), "y"] if method is self_dc else ["y"])
        method(model, empty, prompts=prompts).invoke({"question": "q"})
        assert set(model.prompts) == {"Just q"}
    model = ScriptedChat(["", "y"])
    generate_then_read(model, prompts=prompts).invoke({"question": "q"})
    assert model.prompts[-1] == "Just q"
    model = ScriptedChat(["y"])
    direct(model, prompts=prompts).invoke({"question": "q"})
    assert model.prompts == ["Just q"]


@pytest.mark.parametrize(
    ("prompts", "said"),
    [
        ({"combine": "{question}"}, "the prompt 'combine' must hold {pairs}, {question} and no other"),
        ({"combine": "{question} {pairs} {passages}"}, "must hold {pairs}, {question} and no other"),
        ({"decompose": "Split it"}, "the prompt 'decompose' must hold {question} and no other"),
        ({"decompose": "Split {}"}, "must hold {question} and no other"),
        ({"decompose": "{question.__class__}"}, "must hold {question} and no other"),
        ({"decompose": 'As {"json": {question}}'}, "must hold {question} and no other"),
        ({"decompose": "Split {question} }"}, "is no template"),
        ({"decompose": "Split {question"}, "is no template"),
        ({"retrieve": "{question}"}, "there is no prompt 'retrieve'; choose from answer_directly,"),
        ({"decompose": 3}, "the prompt 'decompose' is a text, not 3"),
        (["decompose"], "prompts are texts by name, such as {'answer_directly': '…'}, not ['decompose']"),
    ],
)
def test_a_prompt_with_other_placeholders_is_refused_in_one_line(prompts: Any, said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        build(prompts=prompts)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_prompt_may_use_a_placeholder_as_often_as_it_likes() -> None:
    model = ScriptedChat(["y"])
    chain_of_thought(model, prompts={"think_step_by_step": "{question} {question:>3}"}).invoke(
        {"question": "q"}
    )
    assert model.prompts == ["q   q"]


TEXT_ONLY = frozenset({Capability.TEXT})


def test_probabilities_of_a_text_only_model_are_refused_when_the_graph_is_built() -> None:
    model = ScriptedChat(World(), reports=TEXT_ONLY)
    with pytest.raises(CapabilityError) as refused:
        self_dc(model, Shelf(), confidence="probability")
    said = str(refused.value)
    assert said.startswith("self_dc's confidence='probability' needs log-probabilities, which ScriptedChat")
    assert "transformers:<folder>" in said
    assert "\n" not in said
    assert model.prompts == []


def test_a_text_only_model_can_state_its_confidence() -> None:
    model = ScriptedChat(World({"q": 0.9}), reports=TEXT_ONLY)
    output = self_dc(model, Shelf(), confidence="verbalised").invoke({"question": "q"})
    assert tasks_of(model.prompts)[0][0] == "score_confidence"
    assert routes(output) == {"1": "generate"}


def test_probabilities_of_a_text_only_model_are_refused_in_the_run_that_asks_for_them() -> None:
    method = self_dc(ScriptedChat(World(), reports=TEXT_ONLY), Shelf(), confidence="verbalised")
    with pytest.raises(CapabilityError, match="confidence='probability' needs log-probabilities"):
        method.invoke({"question": "q"}, context={"confidence": "probability"})
