"""Self-DC recorded: the whole tree of a question, each node closed book, open book and from its parts."""

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Any

from knowwhen.evaluation.calibration.recorders.recorder import Recorder, record_of, tokens
from knowwhen.evaluation.calibration.records import Asked, Attempt, Combined, Record
from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.graphs.self_dc import PROMPTS, SelfDCSettings
from knowwhen.models.door import Door
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.nodes.combine import as_pairs
from knowwhen.nodes.decompose import read_parts, why_not
from knowwhen.nodes.read_passages import as_text
from knowwhen.nodes.score_confidence import NEEDS
from knowwhen.tools.passage import Passage, as_passages
from knowwhen.tools.resolve import RetrieverLike, resolve_retriever
from knowwhen.uncertainty.probability import mean_probability
from knowwhen.uncertainty.verbalised import verbalised

COMBINED = 64
"""Answers combined from parts, of one question; where the parts have more, one stands for all."""


def self_dc_recorder(
    model: ModelLike, retriever: RetrieverLike, estimator: str, given: dict[str, Any]
) -> Recorder:
    """Records for Self-DC.

    Args:
        model: who is asked.
        retriever: what is looked up in.
        estimator: `probability` or `verbalised`.
        given: the user's settings of Self-DC.

    Raises:
        SettingsError: a setting is out of its range.
        CapabilityError: the model does not report what the confidence needs.
    """
    settings = SelfDCSettings(**given | {"confidence": estimator})
    door = Door(
        resolve_model(model),
        resolve_retriever(retriever),
        needs=NEEDS[settings.confidence],
        asked_by=f"self_dc's confidence={estimator!r}",
    )
    asker = _Asker(door, settings, PROMPTS)

    def ask(question: GoldQuestion) -> Record:
        return record_of(question, asker.asked(question.question, 0))

    return Recorder(ask, settings.confidence, "confidence", dict(PROMPTS))


class _Asker:
    """Asks as Self-DC's nodes do, but every way at every node."""

    def __init__(self, door: Door, settings: SelfDCSettings, prompts: Mapping[str, str]) -> None:
        self._door = door
        self._settings = settings
        self._prompts = prompts

    def asked(self, question: str, depth: int) -> Asked:
        """Everything about one question of the tree."""
        confidence, gate_tokens = self._confidence(question)
        parts, split_tokens = self._parts(question, depth)
        below = tuple(self.asked(part, depth + 1) for part in parts)
        closed = self._closed_book(question)
        return Asked(
            question=question,
            closed_book=Attempt(
                answer=closed.answer, scores={self._settings.confidence: confidence}, tokens=closed.tokens
            ),
            open_book=(self._open_book(question),),
            gate_tokens=gate_tokens,
            split_tokens=split_tokens,
            parts=below,
            combined=self._combined(question, below),
        )

    def _ask(self, prompt: str, **places: str) -> tuple[str, int]:
        reply = self._door.ask(self._prompts[prompt].format(**places), **self._settings.sampling())
        return reply.text.strip(), tokens(reply.cost)

    def _confidence(self, question: str) -> tuple[float | None, int]:
        if self._settings.confidence == "verbalised":
            said, spent = self._ask("score_confidence", question=question)
            return verbalised(said), spent
        asked = self._prompts["answer_directly"].format(question=question)
        reply = self._door.ask(asked, logprobs=True, **self._settings.sampling())
        read = [token.logprob for token in (reply.token_logprobs or ((),))[0]]
        return mean_probability(read), tokens(reply.cost)

    def _closed_book(self, question: str) -> Attempt:
        text, spent = self._ask("generate_background", question=question)
        written = Passage(id="background", title="", text=text, source="the model", rank=1, score=None)
        return self._read(question, [written] if text else [], spent)

    def _open_book(self, question: str) -> Attempt:
        found = self._door.retrieve(question, self._settings.passages)
        return self._read(question, as_passages(found.documents), 0)

    def _read(self, question: str, passages: list[Passage], before: int) -> Attempt:
        if passages:
            answer, spent = self._ask("read_passages", question=question, passages=as_text(passages))
        else:
            answer, spent = self._ask("answer_directly", question=question)
        return Attempt(answer=answer, tokens=before + spent)

    def _parts(self, question: str, depth: int) -> tuple[list[str], int]:
        if depth >= self._settings.max_depth:
            return [], 0
        reply, spent = self._ask("decompose", question=question)
        parts = read_parts(reply)
        return ([] if why_not(question, parts, reply) else parts), spent

    def _combined(self, question: str, parts: tuple[Asked, ...]) -> tuple[Combined, ...]:
        """An answer for each choice of the parts' answers, equal ones asked once."""
        if not parts:
            return ()
        possible = [
            list(dict.fromkeys(a.answer for a in (part.closed_book, *part.open_book, *part.combined)))
            for part in parts
        ]
        if prod(map(len, possible)) > COMBINED:
            opened = tuple(part.open_book[0].answer for part in parts)
            return (self._combine(question, parts, opened).model_copy(update={"of": None}),)
        return tuple(self._combine(question, parts, answers) for answers in product(*possible))

    def _combine(self, question: str, parts: tuple[Asked, ...], answers: tuple[str, ...]) -> Combined:
        pairs = as_pairs([part.question for part in parts], answers)
        answer, spent = self._ask("combine", question=question, pairs=pairs)
        return Combined(answer=answer, tokens=spent, of=answers)
