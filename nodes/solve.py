"""Recursion: a sub-question is answered by the whole method again (Self-DC, Figure 3)."""

from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.types import Send

from knowwhen.nodes.node import Node, Update
from knowwhen.nodes.state import ROOT, Asked, State, part_ids


class Itself(Runnable[State, dict[str, Any]]):
    """Stands in a graph that calls itself for that graph, until it is built.

    LangGraph does not look inside, so a drawing of the graph ends here.
    """

    graph: Runnable[State, dict[str, Any]]

    def invoke(self, input: State, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Run the graph."""
        return self.graph.invoke(input, config, **kwargs)

    async def ainvoke(
        self, input: State, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Run the graph."""
        return await self.graph.ainvoke(input, config, **kwargs)


def each_part(state: State) -> list[Send]:
    """The sub-questions of a decomposed question, each on its own way, all at once."""
    mother, depth = state.get("id", ROOT), state.get("depth", 0) + 1
    return [
        Send("solve", Asked(question=part, id=id, parent=mother, depth=depth))
        for id, part in zip(part_ids(state), state["parts"], strict=True)
    ]


def solve(solver: Runnable[Any, Any]) -> Node:
    """The node that answers one sub-question with a graph of its own.

    Args:
        solver: the graph, from what is `Asked`.
    """

    def solve(state: State) -> Update:
        return {"part_outputs": {state["id"]: solver.invoke(state)}}

    async def asolve(state: State) -> Update:
        return {"part_outputs": {state["id"]: await solver.ainvoke(state)}}

    return Node(solve, asolve, "solve")
