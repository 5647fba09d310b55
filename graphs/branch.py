"""A branch of sub-questions as a graph: round by round, in each all that are ready, every one by a graph."""

from collections.abc import Callable, Hashable

from langgraph.graph import END, START, StateGraph

from knowwhen.graphs.method import Graph
from knowwhen.models.door import Door
from knowwhen.nodes.branch import answer_branch, each_ready, next_round
from knowwhen.nodes.node import Node
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.solve import solve
from knowwhen.nodes.state import Answer
from knowwhen.nodes.sub_questions import BranchState


def branch(
    door: Door, settings: Settings, answer: Graph, ends: Callable[[Answer], bool] = lambda output: False
) -> Node:
    """The node `answer_branch` of a method.

    Args:
        door: to the model.
        settings: the method's.
        answer: the graph that answers one sub-question.
        ends: whether an answer ends its branch.
    """
    ways: dict[Hashable, str] = {"each that is ready": "answer_question", "all answered": END}
    graph = StateGraph(BranchState, context_schema=type(settings))
    graph.add_node("answer_question", solve(answer))
    graph.add_node("next_round", next_round(door, ends))
    graph.add_conditional_edges(START, each_ready, ways)
    graph.add_edge("answer_question", "next_round")
    graph.add_conditional_edges("next_round", each_ready, ways)
    return answer_branch(graph.compile(name="answer_branch"))
