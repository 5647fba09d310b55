"""Knowledge chains: what the queries of one path and their answers say, in sentences (TAIKC, section 3.3)."""

import re

from langgraph.types import Send
from pydantic import Field

from knowwhen.models.cost import NO_COST
from knowwhen.models.door import Door
from knowwhen.nodes.combine import as_pairs
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.queries import AskedChain, Chain, Query, TreeState, paths
from knowwhen.nodes.references import as_phrase, filled_in
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.sub_questions import answers_of
from knowwhen.uncertainty.normal_form import normal_form

PROMPT = """\
Sum up in a sentence or two what these questions and answers say, and leave nothing out:
{pairs}
Summary:"""


class ChainSettings(Settings):
    """Whether knowledge chains are summarised."""

    summaries: bool = Field(
        default=True, description="Sum every chain up; false: the questions and answers themselves are read"
    )


def each_chain(state: TreeState) -> list[Send]:
    """The paths of the tree with their answers, all at once."""
    return [Send("summarise_chain", asked_chain(state, path)) for path in paths(state["sub_questions"])]


def asked_chain(state: TreeState, path: list[Query]) -> AskedChain:
    """One path's queries as they were asked, and their answers."""
    answers = answers_of(state)
    outputs = state["part_outputs"]
    return AskedChain(
        question=state["question"],
        queries=[query["id"] for query in path],
        asked=[filled_in(query["question"], answers) for query in path],
        answers=[outputs[query["id"]]["answer"] or "unknown" for query in path],
    )


def summarise_chain(door: Door, settings: ChainSettings, prompt: str = PROMPT) -> Node:
    """The node that turns one path into a knowledge chain.

    A summary that drops an answer is not read; the pairs themselves are.
    """

    def summarise_chain(state: AskedChain) -> Update:
        text, now = plain_pairs(state), settings.of_this_run()
        chain = Chain(queries=state["queries"], text=text, summary=None, note=None, cost=NO_COST)
        if now.summaries:
            pairs = as_pairs(state["asked"], state["answers"])
            reply = door.ask(prompt.format(pairs=pairs), **now.sampling())
            summary = " ".join(reply.text.split())
            chain["summary"], chain["cost"] = summary, reply.cost
            dropped = [answer for answer in state["answers"] if not holds(summary, answer)]
            if dropped:
                chain["note"] = f"the summary drops {', '.join(map(repr, dropped))}: its pairs are read"
            else:
                chain["text"] = summary
        return {"chains": {state["queries"][-1]: chain}}

    return as_node(door, summarise_chain)


def plain_pairs(chain: AskedChain) -> str:
    """A chain's questions and answers on one line."""
    pairs = zip(chain["asked"], chain["answers"], strict=True)
    return " ".join(f"{asked} {as_phrase(answer)}." for asked, answer in pairs)


def holds(summary: str, answer: str) -> bool:
    """Whether a summary names an answer, however it writes it; yes and no only in these words."""
    form = normal_form(answer)
    if _within(_as_written(answer), _as_written(summary)):
        return True
    # Of "No, in 1918" the normal form is "no", which is all that would be looked for, or looked through.
    return form not in ("yes", "no") and _within(form, normal_form(f"that {summary}"))


def _as_written(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .")


def _within(part: str, text: str) -> bool:
    """Whether a text has these words: 2 is none of 2.5 and 1,200, nor is 1918-12-05 a dozen."""
    return re.search(rf"(?<![\w.,-]){re.escape(part)}(?!\w|[+#]|[.,]\w)", text) is not None
