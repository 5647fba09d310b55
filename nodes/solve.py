"""Recursion: a sub-question is answered by the whole method again (Self-DC, Figure 3)."""

from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.types import Send

from knowwhen.nodes.node import Node, Update
from knowwhen.nodes.state import ROOT, State


def each_part(state: State) -> list[Send]:
    """The sub-questions of a decomposed question, each on its own way, all at once."""
    mother, depth = state.get("id", ROOT), state.get("depth", 0)
    return [
        Send("solve", State(question=part, id=f"{mother}.{i}", parent=mother, depth=depth + 1))
        for i, part in enumerate(state["parts"], 1)
    ]


def solve(solver: Runnable[Any, Any]) -> Node:
    """The node that answers one sub-question with a graph of its own.

    Args:
        solver: the graph, from a `State` with a question, its id, its parent's and its depth.
    """

    def solve(state: State, config: RunnableConfig) -> Update:
        return _answered(solver.invoke(state, config))

    async def asolve(state: State, config: RunnableConfig) -> Update:
        return _answered(await solver.ainvoke(state, config))

    return RunnableLambda(solve, afunc=asolve, name="solve")


def _answered(child: dict[str, Any]) -> Update:
    return {"part_answers": [child["answer"]], "steps": child["steps"], "cost": child["cost"]}
