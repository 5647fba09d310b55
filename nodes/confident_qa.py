"""Confident QA: an answer only if the model is certain, else it asks for a look-up (TAIKC, 3.2, Table 17)."""

import re

from knowwhen.models.door import Door
from knowwhen.models.faults import shortened
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.progress import report_progress
from knowwhen.nodes.queries import QueryState
from knowwhen.nodes.quotations import unquoted
from knowwhen.nodes.settings import Settings
from knowwhen.nodes.state import noted, spent, step_of
from knowwhen.uncertainty.unknown import means_unknown

PROMPT = """\
Answer the question with just a few words, but only if you are certain of the answer.
If you have the slightest doubt, write RAG_REQUIRED instead.
Question: {question}
Answer:"""

RAG_REQUIRED = "RAG_REQUIRED"

_MARK = re.compile(r"(?<![^\W_])rag[\s_\-‐‑–.\\]*(?:is\s+)?required(?![^\W_])", re.IGNORECASE)
_NEEDLESS = re.compile(
    r"\b(?:no|not|without|non|isn['’]t)(?:[ \t]+|[-_])(?:(?:any|a|need (?:for|of))[ \t]+)?$", re.IGNORECASE
)
_NOT_NEEDED = re.compile(
    r"[*_]*(?:[ \t]+(?:(?:is|was|does)(?: not|n['’]t)|not (?:needed|necessary))\b"
    r"|\s*[:=]\s*(?:no|false)\b(?! \w))",
    re.IGNORECASE,
)
_NO_TEXT = re.compile(r"[\s.,;:?…*_\"'`–—-]*")


def declines(reply: str) -> bool:
    """Whether a reply asks for a look-up, or says in other words that the answer is not known.

    RAG_REQUIRED is recognised however it is spelled and wherever it stands, but not within a quotation and
    not where it is said to be needless. A reply without text declines, too.
    """
    said = unquoted(reply, _MARK)
    asked = any(
        not _NEEDLESS.search(said[: mark.start()]) and not _NOT_NEEDED.match(said[mark.end() :])
        for mark in _MARK.finditer(said)
    )
    return asked or means_unknown(reply) or bool(_NO_TEXT.fullmatch(reply))


def confident_qa(door: Door, settings: Settings, prompt: str = PROMPT) -> Node:
    """The node that answers a question if the model is certain of the answer."""

    def confident_qa(state: QueryState) -> Update:
        reply = door.ask(prompt.format(question=state["question"]), **settings.of_this_run().sampling())
        answer = reply.text.strip()
        certain = not declines(answer)
        update: Update = {
            "route": "confident" if certain else "retrieve",
            "details": {"confident_qa": answer},
            "cost": spent(state, reply.cost),
        }
        if not certain and not _MARK.search(answer):
            told = f"no {RAG_REQUIRED} in {shortened(answer)!r}, and no answer: retrieved"
            update["notes"] = noted(state, told)
        report_progress(state, update["route"], None)
        if certain:
            answered: QueryState = {**state, **update}  # type: ignore[typeddict-item]
            update |= {
                "answer": answer,
                "explanation": "the model was certain of it",
                "steps": [step_of(answered, "confident", answer)],
            }
        return update

    return as_node(door, confident_qa)
