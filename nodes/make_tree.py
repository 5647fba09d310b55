"""Construction of the question tree: a question becomes a tree of single facts (TAIKC, section 3.1).

A question whose tree cannot be used is looked up whole.
"""

from pydantic import Field

from knowwhen.models.door import Door
from knowwhen.nodes.listing import bare
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.progress import report_progress
from knowwhen.nodes.queries import TreeState
from knowwhen.nodes.question_tree import NoTree, read_tree
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import ROOT, noted, spent
from knowwhen.nodes.sub_questions import undivided

# Demonstrations stand first: what prompts have in common is computed once.
PROMPT = """\
Break the last question into the facts it takes: a tree of questions, in JSON.
Call them query1, query2 and so on, each with its "question" and, in "children", those that follow from it.
#query1 in a question stands for the answer of query1. Leave out what only compares or combines answers.
{demonstrations}Question: {question}"""


class TreeSettings(Settings):
    """How long a tree may be."""

    tree_tokens: int = Field(default=1024, ge=1, description="Longest tree that the model writes, in tokens")


def make_tree(door: Door, settings: TreeSettings, prompt: str = PROMPT, demonstrations: str = "") -> Node:
    """The node that writes the tree of a question.

    Args:
        door: to the model.
        settings: how the model is sampled.
        prompt: with the places `{question}` and `{demonstrations}`.
        demonstrations: questions with their trees, as text.
    """

    def make_tree(state: TreeState) -> Update:
        now, question = settings.of_this_run(), state["question"]
        reply = door.ask(
            prompt.format(question=question, demonstrations=demonstrations),
            **{**now.sampling(), "max_tokens": now.tree_tokens},
        )
        cost = spent(state, reply.cost)
        try:
            queries = read_tree(reply.text, question, state.get("id", ROOT))
        except NoTree as error:
            note = f"not divided, {error}: looked up whole"
            return {
                "sub_questions": undivided(state),
                "whole": True,
                "notes": noted(state, note),
                "cost": cost,
            }
        if len(queries) == 1 and bare(queries[0]["question"]) == bare(question):
            return {"sub_questions": undivided(state), "whole": False, "notes": [], "cost": cost}
        report_progress(state, "decompose", None)
        return {
            "route": "decompose",
            "sub_questions": queries,
            "whole": False,
            "confidence": None,  # not that of an earlier question in the same thread
            "notes": [],
            "cost": cost,
        }

    return as_node(door, make_tree)
