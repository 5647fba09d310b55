"""A method and a retriever as tools of an agent: what it is shown, gets back, and is told of a failure."""

import asyncio
import json
from typing import Any

import pytest
import seakr_script
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from method_worlds import WORLDS, MethodWorld
from pydantic import TypeAdapter, ValidationError
from scripted import ScriptedChat
from self_dc_script import Shelf

import knowwhen
import knowwhen.tools.method_as_tool
import knowwhen.tools.search_as_tool
from knowwhen.graphs import METHODS, direct, retrieve_then_read
from knowwhen.models.errors import SettingsError
from knowwhen.nodes.state import Answer, Question, State
from knowwhen.tools import as_tool, search_tool

QUESTION = {"question": "Where is Alba?"}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_call", "id": "1", "name": name, "args": arguments}


def answered(tool: BaseTool, arguments: dict[str, Any], way: str = "invoke") -> ToolMessage:
    """What comes back to a model that calls the tool."""
    asked = call(tool.name, arguments)
    message = tool.invoke(asked) if way == "invoke" else asyncio.run(tool.ainvoke(asked))
    assert isinstance(message, ToolMessage)
    return message


def graph_of(world: MethodWorld, **settings: Any) -> Any:
    return world.build(world.model(world.script), Shelf(), **settings)


@pytest.mark.parametrize("name", METHODS)
def test_a_model_is_shown_a_name_a_description_and_one_described_argument(name: str) -> None:
    shown = convert_to_openai_tool(as_tool(graph_of(WORLDS[name])))["function"]
    assert shown["name"] == name
    assert "looks up" in shown["description"]
    assert list(shown["parameters"]["properties"]) == shown["parameters"]["required"] == ["question"]
    question = shown["parameters"]["properties"]["question"]
    assert question["type"] == "string"
    assert "in full" in question["description"]


def test_name_and_description_can_be_given() -> None:
    tool = as_tool(direct(ScriptedChat([])), name="ask", description="For all questions.")
    assert (tool.name, tool.description) == ("ask", "For all questions.")


AROUND = {
    "bind": lambda method: method.bind(context={"max_tokens": 9}),
    "with_config": lambda method: method.with_config(tags=["mine"]),
    "with_retry": lambda method: method.with_retry(),
    "with_fallbacks": lambda method: method.with_fallbacks([method]),
    "all of them": lambda method: method.bind(context={}).with_retry().with_fallbacks([method]),
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_what_is_put_around_a_method_keeps_its_name(around: Any) -> None:
    assert as_tool(around(direct(ScriptedChat([])))).name == "direct"


def test_a_pipe_has_no_name_and_wants_one() -> None:
    pipe = direct(ScriptedChat(["Zeno"])) | RunnableLambda(lambda output: output)
    with pytest.raises(SettingsError, match=r"a RunnableSequence has no name .*; pass name=…"):
        as_tool(pipe)
    assert answered(as_tool(pipe, name="ask"), QUESTION).status == "success"


@pytest.mark.parametrize("name", ["my tool!", "x" * 65, "größe", "<lambda>"])
def test_a_name_that_servers_refuse_is_refused(name: str) -> None:
    refused = "a tool's name is up to 64 letters, digits, _ and -"
    with pytest.raises(SettingsError, match=refused):
        as_tool(direct(ScriptedChat([])), name=name)
    with pytest.raises(SettingsError, match=refused):
        search_tool(Shelf(), name=name)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_what_gives_no_whole_output_is_told_so_to_who_made_the_tool(way: str) -> None:
    tool = as_tool(direct(ScriptedChat(["Zeno"])).pick("answer"), name="ask")
    with pytest.raises(SettingsError, match=r"its 'answer' and its 'steps'; this one gave 'Zeno'$"):
        answered(tool, QUESTION, way)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", METHODS)
def test_the_answer_and_its_sources_are_the_content_and_the_output_is_the_artifact(
    name: str, way: str
) -> None:
    world = WORLDS[name]
    message = answered(as_tool(graph_of(world)), {"question": world.question}, way)
    assert message.status == "success"
    assert message.artifact == graph_of(world).invoke({"question": world.question})
    assert json.loads(json.dumps(message.artifact)) == message.artifact
    answer, sources = str(message.content).split("\n")
    assert answer == world.answer
    read = [p["title"] for step in message.artifact["steps"] for p in step["passages"] if p["title"]]
    told = "; ".join(dict.fromkeys(read)) or "none, answered from memory"
    assert sources == f"Sources: {told}"
    assert bool(read) == bool(world.looked_up)


def test_without_an_answer_it_says_so() -> None:
    said = answered(as_tool(direct(ScriptedChat([""]))), QUESTION).content
    assert said == "No answer found\nSources: none, answered from memory"


def looked_up(*documents: Document, answer: str = "Zeno") -> str:
    """What an agent is told by a method that has read these."""
    method = retrieve_then_read(ScriptedChat([answer]), Shelf(find=lambda query: list(documents)))
    return str(answered(as_tool(method), QUESTION).content)


@pytest.mark.parametrize(
    ("document", "source"),
    [
        (Document("x", metadata={"source": "atlas.pdf", "id": "7"}), "atlas.pdf"),
        (Document("x", metadata={"title": None, "id": "7"}), "passage 7"),
        (Document("x", id="chunk-9"), "passage chunk-9"),
        (Document("x"), "passage 1"),
        (Document("x", metadata={"title": " ", "source": "atlas.pdf"}), "atlas.pdf"),
    ],
)
def test_a_source_without_a_title_is_called_by_what_it_has(document: Document, source: str) -> None:
    assert looked_up(document) == f"Zeno\nSources: {source}"
    found = answered(search_tool(Shelf(find=lambda query: [document])), {"query": "x"})
    assert found.content == f"[1] {source}: x\nSources: {source}"


def test_from_memory_is_said_only_where_nothing_was_read() -> None:
    assert looked_up() == "Zeno\nSources: none, answered from memory"


def test_a_title_is_one_title_and_stays_in_its_line() -> None:
    forged = Document("x", metadata={"title": "A; B\nSources: none\u2028[2] C"})
    assert looked_up(forged) == "Zeno\nSources: A, B Sources: none [2] C"
    found = answered(search_tool(Shelf(find=lambda query: [forged])), {"query": "x"})
    assert str(found.content).count("\n") == 1


def test_what_an_agent_is_shown_has_a_bound() -> None:
    long = Document("y" * 50_000, metadata={"title": "T" * 100_000})
    told = looked_up(long, answer="Z" * 50_000)
    assert len(told) < 5_000 and told.startswith("ZZZ") and told.endswith("TTT…")
    found = answered(search_tool(Shelf(find=lambda query: [long])), {"query": "x"})
    assert len(str(found.content)) < 5_000
    assert found.artifact[0]["text"] == long.page_content


def broken(query: str) -> list[Document]:
    raise ConnectionError("no route to host")


FAILING = [
    (lambda: retrieve_then_read(ScriptedChat([]), Shelf(find=broken)), "Shelf could not be reached"),
    (lambda: direct(ScriptedChat([PermissionError("no key")])), "ScriptedChat failed"),
]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize(("graph", "says"), FAILING)
def test_a_failure_inside_is_a_message_of_one_line(
    graph: Any, says: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowwhen.models.retrying.FIRST_PAUSE", 0.001)
    message = answered(as_tool(graph()), QUESTION, way)
    assert message.status == "error"
    content = str(message.content)
    assert content.startswith(f"Error: {says}")
    assert "; check" in content  # what to do
    assert "\n" not in content
    assert message.artifact is None


def no_steps(output: dict[str, Any]) -> dict[str, Any]:
    raise KeyError("steps")


def no_number(output: dict[str, Any]) -> dict[str, Any]:
    return {"answer": TypeAdapter(int).validate_python(output["answer"])}


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize(("bug", "error"), [(no_steps, KeyError), (no_number, ValidationError)])
def test_a_bug_is_raised_and_not_told_as_a_failure_or_a_wrong_call(bug: Any, error: Any, way: str) -> None:
    tool = as_tool(direct(ScriptedChat(["Zeno"])) | bug, name="ask")
    with pytest.raises(error):
        answered(tool, QUESTION, way)


WRONG: list[dict[str, Any]] = [{}, {"question": ""}, {"question": "  "}, {"question": 3}, {"query": "x"}]


@pytest.mark.parametrize("arguments", WRONG)
def test_a_wrong_call_is_told_how_to_call(arguments: dict[str, Any]) -> None:
    message = answered(as_tool(direct(ScriptedChat([]))), arguments)
    assert message.status == "error"
    assert str(message.content).startswith("Error: ")
    assert "call again" in str(message.content) and "question" in str(message.content)
    assert "\n" not in str(message.content)


class Caller(BaseChatModel):
    """A chat model that calls the first of its tools with the question, then repeats what it was told."""

    tool: str = ""

    @property
    def _llm_type(self) -> str:
        return "caller"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.model_copy(update={"tool": tools[0].name})

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        *_, last = messages
        if isinstance(last, ToolMessage):
            said = AIMessage(f"{last.status}: {last.content}")
        else:
            said = AIMessage("", tool_calls=[call(self.tool, {"question": last.text})])
        return ChatResult(generations=[ChatGeneration(message=said)])


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_method_may_take_more_steps_than_its_agent(way: str) -> None:
    world = WORLDS["seakr"]
    story = seakr_script.Story([f"Step {number} of many." for number in range(40)])
    graph = world.build(world.model(story), Shelf(), max_steps=20)
    agent = create_agent(Caller(), [as_tool(graph)])
    config: Any = {"recursion_limit": 6}
    asked: Any = {"messages": [("user", world.question)]}
    said = agent.invoke(asked, config) if way == "invoke" else asyncio.run(agent.ainvoke(asked, config))
    *_, told, last = said["messages"]
    assert last.text == "success: Zeno\nSources: none, answered from memory"
    assert len(told.artifact["steps"]) > 20


def test_a_graph_may_take_more_steps_than_langgraph_allows_a_tool() -> None:
    def count(state: State) -> Any:
        return {"answer": state.get("answer", "") + "I", "steps": []}

    builder = StateGraph(State, input_schema=Question, output_schema=Answer)
    builder.add_node("count", count)
    builder.add_edge(START, "count")
    builder.add_conditional_edges("count", lambda state: END if len(state["answer"]) == 60 else "count")
    graph = builder.compile(name="counting")
    assert str(answered(as_tool(graph), QUESTION).content).startswith("I" * 60)
    with pytest.raises(GraphRecursionError):  # why as_tool is needed
        StructuredTool.from_function(
            lambda question: graph.invoke(QUESTION), name="x", description="x"
        ).invoke(call("x", QUESTION))


def test_an_agent_is_told_of_a_failure_and_goes_on() -> None:
    graph = direct(ScriptedChat([PermissionError("no key")]))
    said = create_agent(Caller(), [as_tool(graph)]).invoke({"messages": [("user", "Where is Alba?")]})
    assert said["messages"][-1].text.startswith("error: Error: ScriptedChat failed")


def test_a_tool_is_where_users_look_whatever_was_imported_before() -> None:
    assert knowwhen.as_tool is knowwhen.tools.as_tool is as_tool is not knowwhen.tools.method_as_tool
    assert knowwhen.search_tool is knowwhen.tools.search_tool is search_tool
    assert "as_tool" in knowwhen.__all__ and "search_tool" in dir(knowwhen.tools)


# Search


def test_a_search_shows_its_passages_a_line_each_with_their_titles_last() -> None:
    found = [
        Document("Alba is\na city.", metadata={"title": "Alba", "id": "7", "source": "atlas"}),
        Document("Zeno, too.", metadata={"title": "Zeno"}),
    ]
    message = answered(search_tool(Shelf(find=lambda query: found)), {"query": "Alba"})
    assert message.content == "[1] Alba: Alba is a city.\n[2] Zeno: Zeno, too.\nSources: Alba; Zeno"
    assert [each["id"] for each in message.artifact] == ["7", "2"]
    assert message.artifact[0]["text"] == "Alba is\na city."
    assert message.artifact[0]["source"] == "atlas"


@pytest.mark.parametrize("passages", [1, 2, 5])
@pytest.mark.parametrize("retriever", ["almanac", Shelf(find=lambda query: [Document("x")] * 9)])
def test_a_search_finds_as_many_passages_as_it_is_told(retriever: Any, passages: int) -> None:
    tool = search_tool(retriever, passages=passages)
    assert len(answered(tool, {"query": "Skirn Vlurk"}).artifact) == passages


def test_a_search_without_passages_says_so() -> None:
    message = answered(search_tool(Shelf(find=lambda query: [])), {"query": "Alba"})
    assert message.content == "Nothing found\nSources: none"
    assert (message.status, message.artifact) == ("success", [])


def test_a_retriever_that_gives_no_documents_is_told() -> None:
    texts: Any = ["x"]
    message = answered(search_tool(Shelf(find=lambda query: texts)), {"query": "Alba"})
    assert (
        message.content == "Error: Shelf gave a list of str; a retriever gives a list of LangChain's Document"
    )


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_failed_search_is_tried_again_and_then_told(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowwhen.models.retrying.FIRST_PAUSE", 0.001)
    shelf = Shelf(find=broken)
    message = answered(search_tool(shelf), {"query": "Alba"}, way)
    assert message.status == "error"
    assert str(message.content).startswith("Error: Shelf could not be reached 5 times (no route to host); ")
    assert "\n" not in str(message.content)
    assert len(shelf.queries) == 5


def test_a_search_shows_a_described_argument_and_refuses_none() -> None:
    tool = search_tool(Shelf(), name="look", description="Finds things.")
    shown = convert_to_openai_tool(tool)["function"]
    assert (shown["name"], shown["description"]) == ("look", "Finds things.")
    assert shown["parameters"]["properties"]["query"]["description"]
    assert "query" in str(answered(tool, {"query": " "}).content)
    with pytest.raises(SettingsError, match="at least 1, not 0"):
        search_tool(Shelf(), passages=0)
