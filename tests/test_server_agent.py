"""The chat agent as a server sees it: what goes in and out, its drawing, settings that a run may change."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from tool_calling import ToolCaller, call

from knowwhen import agent
from knowwhen.graphs.agent import Agent
from knowwhen.models.errors import SettingsError

QUESTION = "Who directed Thimis Plolm?"


def script(messages: list[BaseMessage]) -> AIMessage:
    if isinstance(messages[-1], ToolMessage):
        return AIMessage("It is Velo")
    if messages[0].type != "system":  # a method's own request
        return AIMessage("Velo")
    return call("retrieve_then_read", question=QUESTION)


def built() -> tuple[Agent, ToolCaller]:
    model = ToolCaller(script)
    return agent(model, methods=["retrieve_then_read", "direct"]), model


def asked(made: Agent, given: Any, way: str, context: Any = None) -> list[Any]:
    if way == "invoke":
        messages: list[Any] = made.invoke(given, context=context)["messages"]
    else:
        messages = asyncio.run(made.ainvoke(given, context=context))["messages"]
    return messages


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize(
    "given",
    [{}, {"question": QUESTION}, {"messages": []}, {"messages": [HumanMessage("Hi"), AIMessage("Hello")]}],
)
def test_a_turn_in_which_the_user_says_nothing_is_refused_before_the_model_is_asked(
    given: Any, way: str
) -> None:
    made, model = built()
    with pytest.raises(SettingsError, match=r'must be the user\'s; give \{"messages": \[\{"role": "user"'):
        asked(made, given, way)
    assert model.asked == []


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_run_may_change_the_methods_settings(way: str) -> None:
    made, _ = built()
    given = {"messages": [HumanMessage(QUESTION)]}
    for context, passages in (
        (None, 3),
        ({"retrieve_then_read": {"passages": 1}}, 1),
        ({"direct": {"temperature": 0}}, 3),
    ):
        answered = asked(made, given, way, context)[2]
        assert answered.artifact["cost"]["passages"] == passages


@pytest.mark.parametrize(
    ("context", "error"),
    [
        ({"retrieve_then_read": {"passages": 0}}, "retrieve_then_read: passages=0 is out of range: input"),
        ({"direct": {"passages": 3}}, "direct: there is no setting 'passages'; choose from temperature"),
        ({"keqa": {}}, "no method 'keqa' with settings; choose from retrieve_then_read, direct"),
    ],
)
def test_a_setting_that_is_none_is_refused_in_one_line(context: Any, error: str) -> None:
    made, model = built()
    with pytest.raises(SettingsError, match=error) as refused:
        asked(made, {"messages": [HumanMessage(QUESTION)]}, "invoke", context)
    assert "\n" not in str(refused.value)
    assert model.asked == []


def test_what_goes_in_and_out_is_described() -> None:
    made, _ = built()
    for schema in (made.get_input_jsonschema(), made.get_output_jsonschema()):
        assert list(schema["properties"]) == ["messages"]
        assert "artifact" in schema["properties"]["messages"]["description"]


def test_every_choice_in_its_drawing_is_labelled_and_nodes_are_named_as_elsewhere() -> None:
    made, _ = built()
    for graph in (made.get_graph(xray=True), asyncio.run(made.aget_graph()), made.copy().get_graph()):
        chosen = {edge.data for edge in graph.edges if edge.conditional}
        assert chosen == {"tool calls", "unreadable call", "answer", "told"}
        assert all(name == name.lower() for name in graph.nodes)
