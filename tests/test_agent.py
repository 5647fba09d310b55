"""The chat agent: its tools, its conversation, and what goes wrong; by script, with real methods."""

import asyncio
import json
import sqlite3
import warnings
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from scripted import ScriptedChat
from tool_calling import ToolCaller, call

from knowwhen import agent
from knowwhen.graphs.agent import MODEL_CALLS
from knowwhen.models.errors import CapabilityError, ModelError, SettingsError
from knowwhen.nodes.answered_calls import NO_ANSWER, STOPPED, UNREADABLE

QUESTION = "Who directed Thimis Plolm?"


def turn(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def asking(name: str, **arguments: Any) -> ToolCaller:
    """Calls a tool, answers within a method in one word, and then tells what the tool said."""

    def script(messages: list[BaseMessage]) -> AIMessage:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            return AIMessage(f"It is {last.content}")
        if messages[0].type != "system":  # a method's own request
            return AIMessage("Velo")
        return call(name, **arguments)

    return ToolCaller(script)


def test_a_question_goes_to_a_method_whose_answer_and_output_come_back() -> None:
    model = asking("taikc", question=QUESTION)
    ended = agent(model).invoke(turn(QUESTION))
    *_, answered, last = ended["messages"]
    assert isinstance(answered, ToolMessage)
    assert (answered.name, answered.status) == ("taikc", "success")
    assert answered.content.splitlines()[0] == answered.artifact["answer"] == "Velo"
    assert answered.artifact["cost"]["model_calls"] > 0
    assert answered.artifact["steps"]
    assert last.text.startswith("It is Velo")
    assert model.bound == ["self_dc", "taikc", "search"]


def test_passages_are_searched_for() -> None:
    ended = agent(asking("search", query="Thimis Plolm")).invoke(turn("Search for Thimis Plolm"))
    found = ended["messages"][-2]
    assert found.artifact[0]["title"] == "Thimis Plolm"
    assert found.content.splitlines()[-1].startswith("Sources: Thimis Plolm")


def test_methods_that_the_model_is_too_poor_for_are_left_out_with_a_warning() -> None:
    with pytest.warns(UserWarning) as told:
        agent(asking("search"))
    said = [str(each.message) for each in told]
    assert any(each.startswith("the agent goes without seakr: estimator='gram' needs") for each in said)
    assert any(each.startswith("the agent goes without keqa") and "shown='none'" in each for each in said)
    model = asking("search")
    agent(model, methods=["keqa"], settings={"keqa": {"shown": "none"}})
    assert model.bound == ["keqa", "search"]
    with pytest.raises(SettingsError, match="a reference set"):  # set, so wanted
        agent(asking("search"), settings={"keqa": {"tries": 3}})
    with pytest.raises(CapabilityError, match="hidden states"):
        agent(asking("search"), methods=["seakr"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent(asking("search"), methods=["taikc", "retrieve_then_read", "direct"])


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"methods": ["self_cd"]}, "there is no method 'self_cd'; choose from direct"),
        ({"settings": {"self_cd": {}}}, "there is no method 'self_cd'"),
        ({"methods": [], "search": False}, "an agent needs a tool; give a method, or search=True"),
        ({"methods": ["taikc"], "settings": {"taikc": {"alpha": 1}}}, "alpha"),
    ],
)
def test_what_an_agent_cannot_be_made_of_is_said(how: dict[str, Any], error: str) -> None:
    with pytest.raises(SettingsError, match=error):
        agent(asking("search"), **how)


def test_a_model_that_calls_no_tools_is_refused() -> None:
    with pytest.raises(
        CapabilityError, match=r"calls tools, and ScriptedChat does not; use pocket, openai:…"
    ):
        agent(ScriptedChat([]), methods=["taikc"])


def test_settings_reach_the_methods() -> None:
    model = asking("retrieve_then_read", question=QUESTION)
    made = agent(model, methods=["retrieve_then_read"], settings={"retrieve_then_read": {"passages": 2}})
    (step,) = made.invoke(turn(QUESTION))["messages"][-2].artifact["steps"]
    assert len(step["passages"]) == 2


def test_a_failure_in_a_tool_is_told_to_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowwhen.models.retrying.FIRST_PAUSE", 0.001)

    def script(messages: list[BaseMessage]) -> AIMessage | Exception:
        if messages[0].type != "system":
            return ConnectionRefusedError("no server")
        return AIMessage("It failed") if messages[-1].type == "tool" else call("direct", question=QUESTION)

    *_, failed, last = agent(ToolCaller(script), methods=["direct"]).invoke(turn(QUESTION))["messages"]
    assert failed.status == "error"
    assert failed.content.startswith("Error: ToolCaller")
    assert last.text == "It failed"


def test_the_models_own_failure_is_one_error_after_some_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowwhen.models.retrying.FIRST_PAUSE", 0.001)
    model = ToolCaller([ConnectionRefusedError("down"), AIMessage("Hello. What would you like to know?")])
    assert agent(model, methods=["direct"]).invoke(turn("Hi"))["messages"][-1].text.startswith("Hello")
    assert len(model.asked) == 2
    for invoke in (ended, aended):
        model = ToolCaller([ConnectionRefusedError("down")] * 9)
        with pytest.raises(ModelError, match="ToolCaller could not be reached"):
            invoke(agent(model, methods=["direct"]), "Hi")
        assert len(model.asked) == 5


def ended(made: Any, text: str, **config: Any) -> list[AnyMessage]:
    messages: list[AnyMessage] = made.invoke(turn(text), config)["messages"]
    return messages


def aended(made: Any, text: str, **config: Any) -> list[AnyMessage]:
    messages: list[AnyMessage] = asyncio.run(made.ainvoke(turn(text), config))["messages"]
    return messages


def test_a_model_that_calls_on_and_on_is_stopped() -> None:
    model = ToolCaller(lambda messages: call("search", id=str(len(messages)), query="Velo"))
    for invoke in (ended, aended):
        model.asked.clear()
        with pytest.raises(ModelError, match=f"after {MODEL_CALLS} model calls there was no answer"):
            invoke(agent(model, methods=[]), QUESTION)
        assert len(model.asked) == MODEL_CALLS


@pytest.mark.parametrize("invoke", [ended, aended])
def test_a_call_that_cannot_be_read_is_answered_and_the_model_is_asked_again(invoke: Any) -> None:
    broken = {"name": "search", "args": '{"query": ', "id": "7", "error": None, "type": "invalid_tool_call"}
    model = ToolCaller(
        [AIMessage("", invalid_tool_calls=[broken]), call("search", query="Velo"), AIMessage("!")]
    )
    messages = invoke(agent(model, methods=[]), QUESTION)
    assert [each.type for each in messages] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert (messages[2].content, messages[2].tool_call_id, messages[2].status) == (UNREADABLE, "7", "error")
    assert messages[4].status == "success"
    again = messages[1].invalid_tool_calls  # as the model's server is shown it
    assert [(each["name"], json.loads(each["args"])) for each in again] == [
        ("search", {"unreadable": '{"query": '})
    ]


def test_of_two_calls_the_one_that_can_be_read_is_made() -> None:
    broken = {"name": "search", "args": "{", "id": "7", "error": None, "type": "invalid_tool_call"}
    both = AIMessage(
        "",
        invalid_tool_calls=[broken],
        tool_calls=[{"name": "search", "args": {"query": "Velo"}, "id": "8"}],
    )
    messages = ended(agent(ToolCaller([both, AIMessage("!")]), methods=[]), QUESTION)
    tools = {each.tool_call_id: each.status for each in messages if isinstance(each, ToolMessage)}
    assert tools == {"7": "error", "8": "success"}


def test_a_conversation_is_kept_in_sqlite(tmp_path: Path) -> None:
    model = ToolCaller(lambda messages: AIMessage(f"{len(messages)} messages"))
    thread: Any = {"configurable": {"thread_id": "one"}}
    for expected in ("2 messages", "4 messages"):  # with the prompt
        with sqlite3.connect(tmp_path / "chats.sqlite", check_same_thread=False) as file:
            made = agent(model, methods=["direct"], checkpointer=SqliteSaver(file))
            assert ended(made, "Hi", **thread)[-1].text == expected
            other = made.invoke(turn("Hi"), {"configurable": {"thread_id": expected}})
            assert other["messages"][-1].text == "2 messages"


@pytest.mark.parametrize("invoke", [ended, aended])
def test_a_turn_that_was_stopped_leaves_a_conversation_that_goes_on(invoke: Any) -> None:
    stopped = [HumanMessage("Who?"), call("search", id="9", query="Velo")]
    model = ToolCaller([AIMessage("Hello again")])
    made = agent(model, methods=["direct"])
    messages = (
        made.invoke({"messages": [*stopped, HumanMessage("Hi")]})["messages"]
        if invoke is ended
        else asyncio.run(made.ainvoke({"messages": [*stopped, HumanMessage("Hi")]}))["messages"]
    )
    assert [each.type for each in messages] == ["human", "ai", "tool", "ai", "human", "ai"]
    assert (messages[2].content, messages[2].tool_call_id, messages[3].text) == (STOPPED, "9", NO_ANSWER)
    assert [each.type for each in model.asked[0]] == ["system", "human", "ai", "tool", "ai", "human"]


def test_a_turn_without_an_answer_is_closed_as_templates_want_turns_to_take_turns() -> None:
    model = ToolCaller(lambda messages: AIMessage("Hello"))
    said = [HumanMessage("Who?"), HumanMessage("When?"), AIMessage("In 1901"), HumanMessage("Hi")]
    messages = agent(model, methods=["direct"]).invoke({"messages": said})["messages"]
    assert [each.text for each in messages] == ["Who?", NO_ANSWER, "When?", "In 1901", "Hi", "Hello"]


@pytest.mark.parametrize("id", [None, "", "same"])
def test_calls_without_an_id_of_their_own_are_told_apart(id: str | None) -> None:
    def script(messages: list[BaseMessage]) -> AIMessage:
        if isinstance(messages[-1], ToolMessage):
            return AIMessage("!")
        queries = ("Thimis Plolm", "Skirn Vlurk")
        calls = [{"name": "search", "args": {"query": query}, "id": id} for query in queries]
        return AIMessage("", tool_calls=calls)

    made = agent(ToolCaller(script), methods=[])
    messages = ended(made, "One")
    messages = made.invoke({"messages": [*messages, HumanMessage("Two")]})["messages"]
    found = [each for each in messages if isinstance(each, ToolMessage)]
    of = ["Thimis Plolm" if "Thimis Plolm" in str(each.artifact) else "Skirn Vlurk" for each in found]
    assert of == ["Thimis Plolm", "Skirn Vlurk"] * 2
    assert len({each.tool_call_id for each in found}) == 4
    calls = [call["id"] for each in messages if isinstance(each, AIMessage) for call in each.tool_calls]
    assert calls == [each.tool_call_id for each in found]


def test_what_is_in_the_middle_of_a_turn_is_left_alone() -> None:
    """A run that goes on from a checkpoint has calls under way that will be answered."""
    model = ToolCaller([call("search", query="Velo"), AIMessage("Done")])
    messages = ended(agent(model, methods=[]), "Hi")
    assert [each.type for each in messages] == ["human", "ai", "tool", "ai"]
    assert STOPPED not in [each.content for each in messages]
