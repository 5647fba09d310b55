"""Whether a model knows what it knows: the figures of TAIKC's pilot study (appendix C, Table 4, Figures 8-9).

Confident Knowledge is what Confident QA answers, the Knowledge Gap what it declines. All figures are shares
in [0, 1], differences of two in [-1, 1].
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from knowwhen.evaluation.both_answers import BothAnswers
from knowwhen.evaluation.figures.resampling import weighted_means
from knowwhen.evaluation.intervals import Figure
from knowwhen.evaluation.metrics import contains, exact_match, f1

Measures = tuple[float, float, float]  # F1, exact match, accuracy


class Scores(BaseModel, frozen=True, extra="forbid"):
    """How good the answers to some questions are; None where there are none."""

    number: int
    """Of the questions."""
    f1: Figure | None = None
    exact_match: Figure | None = None
    accuracy: Figure | None = None
    mean: float | None = None
    """Of the three."""


class Verdicts(BaseModel, frozen=True, extra="forbid"):
    """How many questions Confident QA answered or declined, by whether Direct QA is right (exact match)."""

    answered_right: int
    answered_wrong: int
    declined_right: int
    declined_wrong: int


class Boundary(BaseModel, frozen=True, extra="forbid"):
    """The figures of one dataset, or the average of several, each dataset counting alike.

    Of an average the counts are sums, and a dataset without such questions is left out of a mean of theirs.
    """

    dataset: str
    direct: Scores
    """Direct QA on all questions."""
    confident: Scores
    """Confident QA on those that it answered: Confident Knowledge."""
    knowledge_gap: Scores
    """Direct QA on those that Confident QA declined: the Knowledge Gap."""
    consistency: Scores
    """The Confident QA answer held against the Direct QA answer, where there are both (Figure 8)."""
    difference: Scores
    """Confident Knowledge less Knowledge Gap (Figure 9)."""
    declines_right: Figure | None
    """Share of all questions that were answered and Direct QA is right, or declined and it is wrong."""
    verdicts: Verdicts
    empty: int
    """Questions to which Confident QA said nothing at all; they count as declined."""
    unread: int
    """Replies of the judge that were neither yes nor no; they count as no."""
    failed: int
    """Questions that failed, and are in no figure."""
    left_out: int
    """Questions of the dataset that take more than one fact, and were not asked."""


@dataclass(frozen=True)
class Measured:
    """What every answer to the questions of one dataset is worth, in the groups that the figures are of."""

    direct: list[Measures]
    confident: list[Measures]
    knowledge_gap: list[Measures]
    consistency: list[Measures]
    right: list[tuple[bool, bool]]
    """Of each question whether it was answered, and whether the Direct QA answer matches exactly."""
    empty: int
    unread: int
    failed: int
    left_out: int


def measured(records: Sequence[BothAnswers], failed: int = 0, left_out: int = 0) -> Measured:
    """Score the answers to a dataset's questions.

    Accuracy is what the judge said where one was asked, else whether a right answer is contained.

    Args:
        records: both answers to each question.
        failed: how many more questions failed.
        left_out: how many more questions the dataset has that are not single-hop.
    """
    answered = [each for each in records if not each.declined]
    direct = [_direct(each) for each in records]
    return Measured(
        direct=direct,
        confident=list(map(_confident, answered)),
        knowledge_gap=[score for each, score in zip(records, direct, strict=True) if each.declined],
        consistency=list(map(_consistency, answered)),
        right=[(not each.declined, exact == 1) for each, (_, exact, _) in zip(records, direct, strict=True)],
        empty=sum(not each.confident for each in records),
        unread=sum(each.judgement.unread for each in records if each.judgement),
        failed=failed,
        left_out=left_out,
    )


def boundary(dataset: str, parts: Sequence[Measured], seed: int = 0) -> Boundary:
    """The figures of one dataset, or of several their average.

    Args:
        dataset: its name.
        parts: each dataset's answers.
        seed: of the intervals' resamples.
    """
    verdicts = [verdict for part in parts for verdict in part.right]
    agreeing = [[float(answered == right) for answered, right in part.right] for part in parts if part.right]
    both = [(part.confident, part.knowledge_gap) for part in parts if part.confident and part.knowledge_gap]
    return Boundary(
        dataset=dataset,
        direct=_mean([part.direct for part in parts], seed),
        confident=_mean([part.confident for part in parts], seed),
        knowledge_gap=_mean([part.knowledge_gap for part in parts], seed),
        consistency=_mean([part.consistency for part in parts], seed),
        difference=_scores(
            [group for pair in both for group in pair],
            [sign / len(both) for _ in both for sign in (1, -1)],
            seed,
        ),
        declines_right=weighted_means(agreeing, [1 / len(agreeing)] * len(agreeing), seed)
        if agreeing
        else None,
        verdicts=Verdicts(
            answered_right=verdicts.count((True, True)),
            answered_wrong=verdicts.count((True, False)),
            declined_right=verdicts.count((False, True)),
            declined_wrong=verdicts.count((False, False)),
        ),
        empty=sum(part.empty for part in parts),
        unread=sum(part.unread for part in parts),
        failed=sum(part.failed for part in parts),
        left_out=sum(part.left_out for part in parts),
    )


def _direct(record: BothAnswers) -> Measures:
    judged = record.judgement.direct if record.judgement else None
    return _measures(record.direct, record.golden_answers, judged)


def _confident(record: BothAnswers) -> Measures:
    judged = record.judgement.confident if record.judgement else None
    return _measures(record.confident, record.golden_answers, judged)


def _consistency(record: BothAnswers) -> Measures:
    judged = record.judgement.consistent if record.judgement else None
    return _measures(record.confident, (record.direct,), judged)


def _measures(answer: str, right: Sequence[str], judged: float | None) -> Measures:
    return (
        f1(answer, right),
        exact_match(answer, right),
        contains(answer, right) if judged is None else judged,
    )


def _mean(groups: Sequence[Sequence[Measures]], seed: int) -> Scores:
    """Of the groups' means, those without questions left out."""
    filled = [group for group in groups if group]
    return _scores(filled, [1 / len(filled) for _ in filled], seed)


def _scores(groups: Sequence[Sequence[Measures]], weights: Sequence[float], seed: int) -> Scores:
    if not groups:
        return Scores(number=0)
    f1, exact_match, accuracy = (
        weighted_means([[measures[place] for measures in group] for group in groups], weights, seed)
        for place in range(3)
    )
    return Scores(
        number=sum(map(len, groups)),
        f1=f1,
        exact_match=exact_match,
        accuracy=accuracy,
        mean=(f1.value + exact_match.value + accuracy.value) / 3,
    )
