"""The query: what of an unsure thought is looked up (SeaKR, section 3.2; after FLARE).

The paper removes "tokens indicating high uncertainty", without saying which; the authors' code keeps those
with 1 - p of at most 0.1. Here a word leaves with any of its tokens, as a search engine looks for words. If
nothing is left to look for, the question is looked up.
"""

import math
import re
from collections.abc import Sequence

from knowwhen.models.door import Door
from knowwhen.nodes.conclusion import mark_in, without_mark
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.reasoning import ReasoningSettings, ReasoningState
from knowwhen.nodes.state import noted

_AROUND = " .,;:*_`\"'“”"  # punctuation, emphasis, quotation marks
_WORD = re.compile(r"\w")
_TELLING = re.compile(r"[^\W_]{4,}|\d|(?<=\s)[A-Z]\w|[^\x00-\x7F]")  # a name, a number, a word of some length


def make_query(door: Door, settings: ReasoningSettings) -> Node:
    """The node that makes a query, or ends the reasoning if the same one was looked up before."""

    def make_query(state: ReasoningState) -> Update:
        now = settings.of_this_run()
        thought = state["thought"]
        query = {
            "surer_tokens": surer_words(thought["words"], now.query_doubt),
            "thought": without_mark(thought["text"]).strip(_AROUND),
            "question": state["question"],
        }[now.query]
        notes = noted(state)
        if now.query != "question" and not _TELLING.search(query):
            notes.append("no word of the thought was sure enough to be looked up: the question was")
            query = state["question"]
        if query in state["queries"]:
            halted = f"{query!r} was looked up before: nothing more is"
            return {"query": "", "halted": halted, "notes": [*notes, halted]}
        return {"query": query, "queries": [*state["queries"], query], "notes": notes}

    return as_node(door, make_query)


def surer_words(words: Sequence[tuple[str, float]], doubt: float) -> str:
    """The words whose probability is at least 1 - `doubt`, in their order; not those that conclude."""
    bare = [word.strip(_AROUND) for word, _ in words]
    concluding = mark_in(" ".join(bare))
    kept, begins = [], 0
    for word, (_, logprob) in zip(bare, words, strict=True):
        sure = 1 - math.exp(min(0.0, logprob)) <= doubt
        if sure and _WORD.search(word) and begins not in concluding:
            kept.append(word)
        begins += len(word) + 1
    return " ".join(kept)
