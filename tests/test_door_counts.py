"""Each question gets exactly its own cost, however many run beside it."""

import asyncio
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from scripted import ScriptedChat
from typing_extensions import TypedDict

from knowwhen.models import NO_COST, Capability, Cost, Door, add_costs
from knowwhen.models.errors import CapabilityError, SettingsError

QUESTIONS = 50


class Shelf(BaseRetriever):
    """Finds as many passages as the query has words, at most k."""

    k: int = 100

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return [Document(word) for word in query.split()][: k or self.k]


class State(TypedDict, total=False):
    question: str
    depth: int
    cost: Annotated[Cost, add_costs]


def tree(door: Door) -> Any:
    """A graph that asks, looks up, and solves two sub-questions by invoking itself, `depth` levels down."""

    def ask(state: State) -> State:
        return {"cost": door.ask(state["question"], n=2, temperature=1.0).cost}

    def look_up(state: State) -> State:
        return {"cost": door.retrieve(state["question"], k=3).cost}

    def divide(state: State) -> list[Send]:
        if not state["depth"]:
            return []
        parts = [state["question"] + " left", state["question"] + " right side"]
        return [Send("solve", {"question": part, "depth": state["depth"] - 1}) for part in parts]

    def solve(state: State) -> State:
        return {"cost": solver.invoke(state)["cost"]}

    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_node("look_up", look_up)
    builder.add_node("solve", solve)
    builder.add_edge(START, "ask")
    builder.add_edge(START, "look_up")
    builder.add_conditional_edges("ask", divide, ["solve", END])
    solver = builder.compile()
    return solver


def echo(prompt: str) -> str:
    """As many words as the prompt."""
    return prompt


def expected(question: str, depth: int) -> Cost:
    words = len(question.split())
    cost = Cost(
        model_calls=1,
        sequences=2,
        input_tokens=words,
        output_tokens=2 * words,
        retrievals=1,
        passages=min(words, 3),
    )
    if depth:
        for part in (question + " left", question + " right side"):
            cost = add_costs(cost, expected(part, depth - 1))
    return cost


def inputs() -> list[State]:
    return [{"question": "word " * (1 + i % 7), "depth": i % 3} for i in range(QUESTIONS)]


def test_batch_gives_every_question_its_own_cost() -> None:
    outputs = tree(Door(ScriptedChat(echo), Shelf())).batch(inputs(), {"max_concurrency": QUESTIONS})
    assert [output["cost"] for output in outputs] == [
        expected(asked["question"], asked["depth"]) for asked in inputs()
    ]


def test_abatch_gives_every_question_its_own_cost() -> None:
    outputs = asyncio.run(tree(Door(ScriptedChat(echo), Shelf())).abatch(inputs()))
    assert [output["cost"] for output in outputs] == [
        expected(asked["question"], asked["depth"]) for asked in inputs()
    ]


def test_the_bound_holds_and_is_reached_over_nested_graphs_and_fifty_questions() -> None:
    model = ScriptedChat(echo, delay=0.03)
    graph = tree(Door(model, Shelf(), max_concurrency=5))
    graph.batch(inputs(), {"max_concurrency": QUESTIONS})
    assert model.most_in_flight == 5


def test_the_bound_holds_and_is_reached_in_the_doors_threads() -> None:
    model = ScriptedChat(echo, delay=0.05)
    door = Door(model, max_concurrency=12)

    async def ask_all() -> list[Cost]:
        loop = asyncio.get_running_loop()
        asked = [loop.run_in_executor(door.threads, door.ask, "one two") for _ in range(QUESTIONS)]
        return [(await reply).cost for reply in asked]

    costs = asyncio.run(ask_all())
    assert model.most_in_flight == 12
    assert all(cost["input_tokens"] == 2 for cost in costs)


def test_retrievals_are_bounded_on_their_own() -> None:
    model = ScriptedChat(lambda prompt: door.retrieve(prompt, k=1).documents[0].page_content)
    door = Door(model, Shelf(), max_concurrency=1)
    assert door.ask("found while asking").text == "found"


def test_costs_add_up_from_the_empty_dict_that_a_channel_starts_with() -> None:
    one = Door(ScriptedChat(["a b"])).ask("q").cost
    assert add_costs({}, one) == one
    assert add_costs(one, NO_COST) == one
    assert add_costs(one, one)["output_tokens"] == 4
    assert set(NO_COST.values()) == {0}


def test_five_samples_are_one_call_and_their_usage_is_taken_once() -> None:
    model = ScriptedChat([["a", "b", "c d", "e", "f"]])
    reply = Door(model).ask("three words here", n=5, temperature=1.0)
    assert reply.texts == ("a", "b", "c d", "e", "f")
    assert reply.cost == {**NO_COST, "model_calls": 1, "sequences": 5, "input_tokens": 3, "output_tokens": 6}
    assert len(model.prompts) == 1


def test_a_conversation_is_sent_as_it_is() -> None:
    model = ScriptedChat(["ok"])
    Door(model).ask([SystemMessage("Be brief."), HumanMessage("Why?")], stop=["\n"], max_tokens=9, seed=4)
    assert model.prompts == ["Be brief.\nWhy?"]
    assert model.calls == [{"stop": ["\n"], "max_tokens": 9, "seed": 4}]


def test_a_model_that_cannot_report_what_is_needed_is_refused_when_the_door_is_built() -> None:
    plain = ScriptedChat([], reports={Capability.TEXT})
    with pytest.raises(CapabilityError, match="KEQA's quiz needs n samples"):
        Door(plain, needs=[Capability.SAMPLES], asked_by="KEQA's quiz")


@pytest.mark.parametrize("asked", [{"n": 3}, {"logprobs": True}])
def test_what_the_model_does_not_report_is_refused_before_it_is_asked(asked: dict[str, Any]) -> None:
    plain = ScriptedChat(["never"], reports={Capability.TEXT})
    with pytest.raises(CapabilityError):
        Door(plain).ask("q", **asked)
    assert plain.prompts == []


def test_a_reply_without_the_log_probabilities_asked_for_is_refused_with_a_way_out() -> None:
    with pytest.raises(CapabilityError, match=r"vLLM.*confidence='verbalised'") as refused:
        Door(ScriptedChat(["no numbers"])).ask("q", logprobs=True)
    assert "\n" not in str(refused.value)


def test_callbacks_tags_and_metadata_of_the_graph_reach_model_and_retriever() -> None:
    seen: list[tuple[str, str, bool]] = []

    class Listener(BaseCallbackHandler):
        def on_chat_model_start(self, *args: Any, **run: Any) -> None:
            seen.append(("model", run["metadata"]["langgraph_node"], "mine" in run["tags"]))

        def on_retriever_start(self, *args: Any, **run: Any) -> None:
            seen.append(("retriever", run["metadata"]["langgraph_node"], "mine" in run["tags"]))

    graph = tree(Door(ScriptedChat(echo), Shelf()))
    graph.invoke({"question": "q", "depth": 0}, {"callbacks": [Listener()], "tags": ["mine"]})
    assert sorted(seen) == [("model", "ask", True), ("retriever", "look_up", True)]


@pytest.mark.parametrize("bound", [0, -1, 1.5, "3", None, True])
@pytest.mark.parametrize("name", ["max_concurrency", "max_attempts"])
def test_a_bound_that_is_no_whole_number_from_one_on_is_refused(name: str, bound: Any) -> None:
    with pytest.raises(SettingsError, match=f"{name} must be a whole number of at least 1, not "):
        Door(ScriptedChat([]), **{name: bound})


@pytest.mark.parametrize("asked", [{"n": 0}, {"max_tokens": 0}])
def test_a_count_below_one_is_refused(asked: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match="at least 1"):
        Door(ScriptedChat(["never"])).ask("q", **asked)
