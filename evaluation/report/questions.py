"""A question of the report: what each method made of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from knowwhen.evaluation.figures.retrieval_need import NEEDS, Need, needs
from knowwhen.evaluation.figures.run_figures import RIGHT_FROM
from knowwhen.evaluation.outcome import Outcome
from knowwhen.evaluation.report.headings import heading
from knowwhen.evaluation.report.runs import RunRead
from knowwhen.evaluation.report.summary import Summary
from knowwhen.evaluation.report.tree import Branch, tree_of

Verdict = Literal["right", "wrong", "failed", "not asked"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
MOST = 3000  # characters of a passage or of what else a step holds; the journal has the rest


@dataclass(frozen=True)
class Answered:
    """One method's answer."""

    label: str
    verdict: Verdict
    answer: str
    explanation: str
    error: str
    score: str
    """Of the question as asked."""
    metrics: str
    cost: str
    route: str
    """Of the question as asked."""
    tree: Sequence[Branch]


@dataclass(frozen=True)
class QuestionRead:
    """A question and its answers."""

    number: int
    """From 1."""
    id: str
    question: str
    golden_answers: Sequence[str]
    kind: str
    hops: str
    need: Need | Literal[""]
    """Whether retrieval was needed; empty without both reference runs."""
    answers: Sequence[Answered]

    @property
    def wrong(self) -> list[int]:
        """Which methods did not get it right, counted from 1."""
        return [place for place, each in enumerate(self.answers, 1) if each.verdict in ("wrong", "failed")]


def question_of(number: int, name: str, runs: Sequence[RunRead], summary: Summary) -> QuestionRead:
    """Read a question from the journals.

    Args:
        number: its place among all.
        name: its id.
        runs: the methods, of which one at least was asked it.
        summary: of the runs.

    Raises:
        KnowwhenError: a journal is damaged.
    """
    outcomes = {run.label: run.journal[name] for run in runs if name in run.journal}
    asked = next(iter(outcomes.values()))
    answers = [_answered(run.label, outcomes.get(run.label), summary) for run in runs]
    return QuestionRead(
        number=number,
        id=name,
        question=asked.question,
        golden_answers=asked.golden_answers,
        kind=_text(asked.metadata.get("kind")),
        hops=_text(asked.metadata.get("hops")),
        need=_need({each.label: each.verdict for each in answers}, summary),
        answers=answers,
    )


def _answered(label: str, outcome: Outcome | None, summary: Summary) -> Answered:
    output = (outcome and outcome.output) or {}
    steps = output.get("steps") or []
    score = next(
        (
            f"{name} {output[name]:.3f}"
            for name in ("confidence", "uncertainty")
            if output.get(name) is not None
        ),
        "",
    )
    cost: Mapping[str, Any] = output.get("cost") or {}
    spent = [f"{cost[name]:,} {heading(name)}" for name in cost]
    if outcome is not None and summary.seconds:
        spent.append(f"{outcome.seconds:.2f} seconds")
    return Answered(
        label=label,
        verdict=_verdict(outcome, summary.right),
        answer=_text(output.get("answer")),
        explanation=_text(output.get("explanation")),
        error=outcome.error if outcome else "",
        score=score,
        metrics=", ".join(
            f"{heading(name)} {value:.3g}" for name, value in (outcome.metrics if outcome else {}).items()
        ),
        cost=", ".join(spent),
        route=next((_text(step.get("route")) for step in steps if step.get("parent") is None), ""),
        tree=tree_of(steps),
    )


def _verdict(outcome: Outcome | None, right: str) -> Verdict:
    if outcome is None:
        return "not asked"
    if outcome.output is None:
        return "failed"
    return "right" if outcome.metrics[right] >= RIGHT_FROM else "wrong"


def _need(verdicts: Mapping[str, Verdict], summary: Summary) -> Need | Literal[""]:
    without, with_it = (verdicts.get(label or "", "not asked") for label in (summary.never, summary.always))
    if not {without, with_it} <= {"right", "wrong"}:
        return ""
    (place,) = needs(np.array([without == "right"]), np.array([with_it == "right"]))
    return NEEDS[int(place)]


def shortened(text: str) -> str:
    """The beginning of a long text, and how much is missing."""
    missing = len(text) - MOST
    return text if missing <= 0 else f"{text[:MOST]}… ({missing:,} characters more in the journal)"


def as_lines(details: Mapping[str, Any]) -> str:
    """What else a method saw, a line for each name."""
    lines = (f"{name}: {json.dumps(details[name], ensure_ascii=False)}" for name in sorted(details))
    return shortened("\n".join(lines))


def _text(value: object) -> str:
    return "" if value is None else str(value)
