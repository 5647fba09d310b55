"""What flows through TAIKC: the tree of a question, and one query of it on its way to an answer."""

import operator
from collections.abc import Sequence
from typing import Annotated, Literal

from typing_extensions import TypedDict

from knowwhen.models.cost import Cost
from knowwhen.nodes.state import Answer, State
from knowwhen.nodes.sub_questions import AskedSubQuestion, DividedState, SubQuestion

Query = SubQuestion  # with the tree in its ids: 1.2.1 is the first child of 1.2


class QueryState(AskedSubQuestion, State, total=False):
    """One query on its way to an answer."""

    source: str  # where the answer is sought (`nodes/choose_source.py`)
    onward: Literal["done", "not there"]  # behind the reading


class AskedChain(State, total=False):
    """One path of the tree with its answers."""

    queries: list[str]  # the ids, from the root's child to the leaf
    asked: list[str]
    answers: list[str]


class Chain(TypedDict):
    """What the questions of one path say with their answers (TAIKC, section 3.3, equation 5)."""

    queries: list[str]  # the ids, from the root's child to the leaf
    text: str  # as it is read: sentences, or the pairs themselves
    summary: str | None  # as the model wrote it; None: none was asked for
    note: str | None  # why it is not what is read
    cost: Cost


class TreeState(DividedState, total=False):
    """A question and its tree."""

    chains: Annotated[dict[str, Chain], operator.or_]  # by their leaves' ids


def paths(queries: Sequence[Query]) -> list[list[Query]]:
    """Each path from the root to a leaf, without the root, in pre-order."""
    by_id = {query["id"]: query for query in queries}
    mothers = {query["parent"] for query in queries}
    found = []
    for query in queries:
        if query["id"] not in mothers:
            path = [query]
            while (mother := path[0]["parent"]) in by_id and mother is not None:
                path.insert(0, by_id[mother])
            found.append(path)
    return found


def unanswered(output: Answer) -> bool:
    """Whether a query was left without an answer: it was not there, and the method does not go on."""
    return any(step["details"].get("ended", False) for step in output["steps"])
