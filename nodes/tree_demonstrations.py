"""Questions with their trees, shown before the one asked (TAIKC, Table 16)."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from knowwhen.nodes.question_tree import NoTree, read_tree

Line = Annotated[str, Field(min_length=1, pattern=r"^[^\n]+$")]


class TreeDemonstration(BaseModel):
    """A question and its tree, in which `#query1` stands for the answer of query1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: Line
    tree: dict[str, Any]

    @field_validator("tree")
    @classmethod
    def _is_a_tree(cls, tree: dict[str, Any]) -> dict[str, Any]:
        try:
            read_tree(json.dumps(tree), "")
        except NoTree as error:
            raise ValueError(f"this is no tree: {error}") from None
        return tree


# One of each way in which facts come together: side by side, after one another, both, and not at all.
DEFAULT = (
    TreeDemonstration(
        question="Which mountain is higher, Mont Blanc or Kilimanjaro?",
        tree={
            "query1": {"question": "How high is Mont Blanc?"},
            "query2": {"question": "How high is Kilimanjaro?"},
        },
    ),
    TreeDemonstration(
        question="In which country was the author of Frankenstein born?",
        tree={
            "query1": {
                "question": "Who wrote Frankenstein?",
                "children": {"query2": {"question": "In which country was #query1 born?"}},
            }
        },
    ),
    TreeDemonstration(
        question="Were the composers of Carmen and of Tosca born in the same city?",
        tree={
            "query1": {
                "question": "Who composed Carmen?",
                "children": {"query2": {"question": "In which city was #query1 born?"}},
            },
            "query3": {
                "question": "Who composed Tosca?",
                "children": {"query4": {"question": "In which city was #query3 born?"}},
            },
        },
    ),
    TreeDemonstration(
        question="Who painted the Girl with a Pearl Earring?",
        tree={"query1": {"question": "Who painted the Girl with a Pearl Earring?"}},
    ),
)


def as_text(demonstrations: Sequence[TreeDemonstration]) -> str:
    """The demonstrations as they stand before the question; each ends in an empty line."""
    return "".join(
        f"Question: {shown.question}\n{json.dumps(shown.tree, ensure_ascii=False)}\n\n"
        for shown in demonstrations
    )
