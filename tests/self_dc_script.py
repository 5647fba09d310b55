"""A scripted world for Self-DC: what a model is sure of, how it divides questions, what it answers.

    world = World({"q": 0.6, "a": 0.9, "b": 0.1}, {"q": ["a", "b"]})
    graph = self_dc(ScriptedChat(world), Shelf(), alpha=0.6, beta=0.1)

The script tells prompts apart by the wording of `knowwhen.graphs.self_dc.PROMPTS`, so it also notices when
a prompt is not what its template makes of it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr
from scripted import ScriptedReply

from knowwhen.graphs.self_dc import PROMPTS

Task = tuple[str, str]  # a prompt's name and its question


def as_pattern(prompt: str) -> re.Pattern[str]:
    """What matches every text that the prompt's template makes."""
    pattern, seen = "", set()
    for literal, field, _, _ in Formatter().parse(prompt):
        pattern += re.escape(literal)
        if field is not None:
            pattern += f"(?P={field})" if field in seen else f"(?P<{field}>.*)"
            seen.add(field)
    return re.compile(pattern, re.DOTALL)


PATTERNS = {name: as_pattern(prompt) for name, prompt in PROMPTS.items()}


def task_of(prompt: str) -> Task:
    """Which of Self-DC's prompts this is, and the question it puts."""
    found = {name: pattern.fullmatch(prompt) for name, pattern in PATTERNS.items()}
    matching = [(name, match["question"]) for name, match in found.items() if match]
    assert len(matching) == 1, f"{prompt!r} is made from {[name for name, _ in matching]}"
    return matching[0]


def tasks_of(prompts: Sequence[str]) -> list[Task]:
    return [task_of(prompt) for prompt in prompts]


class World:
    """A script for `ScriptedChat`, by question.

    Args:
        sure: the model's confidence, 0 to 1; the default 0.9 is one of a known question.
        parts: the sub-questions, or the whole reply that is to be read for them.
        replies: a reply by (prompt's name, question), before all else.
    """

    def __init__(
        self,
        sure: Mapping[str, float] | None = None,
        parts: Mapping[str, Sequence[str] | str] | None = None,
        replies: Mapping[Task, ScriptedReply] | None = None,
    ) -> None:
        self.sure, self.parts, self.replies = sure or {}, parts or {}, replies or {}

    def __call__(self, prompt: str) -> ScriptedReply:
        task, question = task_of(prompt)
        if (task, question) in self.replies:
            return self.replies[task, question]
        sure = self.sure.get(question, 0.9)
        if task == "score_confidence":
            return f"Answer: {question}\nConfidence: {100 * sure:.10g}"
        if task == "answer_directly":
            return (f"the direct answer to {question}", sure)
        if task == "generate_background":
            return f"All about {question}"
        if task == "decompose":
            parts = self.parts.get(question, question)
            return parts if isinstance(parts, str) else as_reply(parts)
        return f"the answer to {question}"


def as_reply(parts: Sequence[str]) -> str:
    return "\n".join(f"#{i}: {part}" for i, part in enumerate(parts, 1))


class Shelf(BaseRetriever):
    """Finds as many passages as it is asked for, or what it is told to; remembers the queries."""

    find: Callable[[str], list[Document]] | None = None
    _queries: list[tuple[str, int]] = PrivateAttr(default_factory=list)

    @property
    def queries(self) -> list[tuple[str, int]]:
        return self._queries

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int = 3
    ) -> list[Document]:
        self._queries.append((query, k))
        if self.find is not None:
            return self.find(query)
        return [
            Document(f"Passage {i} on {query}", metadata={"title": f"Title {i}"}) for i in range(1, k + 1)
        ]


def routes(output: Mapping[str, Any]) -> dict[str, str]:
    """The route of each question by its id."""
    return {step["id"]: step["route"] for step in output["steps"]}


def notes(output: Mapping[str, Any]) -> dict[str, list[str]]:
    """The notes on each question that has some, by its id."""
    return {step["id"]: step["notes"] for step in output["steps"] if step["notes"]}


SEVEN = World(  # the root in two, each half in two; two leaves known, two unknown
    {"root": 0.6, "left": 0.6, "right": 0.6, "right a": 0.1, "right b": 0.1},
    {"root": ["left", "right"], "left": ["left a", "left b"], "right": ["right a", "right b"]},
)
