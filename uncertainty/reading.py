"""What estimators take out of evidence, each thing checked once and here."""

import math

from knowwhen.models.errors import CapabilityError
from knowwhen.models.evidence import Answer, Evidence
from knowwhen.uncertainty.score import EvidenceError

ROUNDING = 1e-3  # by which probabilities computed in half precision miss 1


def greedy_answer(evidence: Evidence, reader: str) -> Answer:
    """The most probable answer.

    Args:
        evidence: where it is to be.
        reader: the estimator that reads it, for the errors.

    Raises:
        CapabilityError: there is none.
    """
    if evidence.greedy is None:
        raise CapabilityError(f"{reader} needs the most probable answer, which was not asked for; ask for it")
    return evidence.greedy


def sampled_answers(evidence: Evidence, k: int, reader: str) -> tuple[Answer, ...]:
    """All `k` samples.

    Raises:
        EvidenceError: there are more or fewer, or some are empty; a score over fewer would be another score.
    """
    number = len(evidence.samples)
    if number != k:
        raise EvidenceError(f"{reader} needs {k} samples and got {number}; draw as many as its k says")
    empty = sum(not sample.text.strip() for sample in evidence.samples)
    if empty:
        raise EvidenceError(
            f"{reader} needs {k} samples with text in them, and {empty} are empty; draw those again"
        )
    return evidence.samples


def token_logprobs(answer: Answer, reader: str) -> list[float]:
    """The log-probabilities of an answer's tokens, at most 0: what rounding leaves above counts as 0.

    Raises:
        CapabilityError: the model reported none.
        EvidenceError: the answer has no tokens, or one's log-probability is NaN or infinite.
    """
    if answer.tokens is None:
        raise CapabilityError(f"{reader} needs log-probabilities, and the model reported none")
    if not answer.tokens:
        raise EvidenceError(f"{reader} needs an answer with tokens, and this one has none")
    logprobs = [token.logprob for token in answer.tokens]
    for logprob in logprobs:
        if not math.isfinite(logprob):
            raise EvidenceError(f"{reader} cannot be had of a token with log-probability {logprob}")
    return [min(0.0, logprob) for logprob in logprobs]


def mean(numbers: list[float]) -> float:
    """The mean, rounded once, so that the order of the numbers does not show."""
    return math.fsum(numbers) / len(numbers)


def top_logprobs(answer: Answer, m: int, reader: str) -> list[list[float]]:
    """The log-probabilities of the `m` most probable tokens at each place, best first.

    A place may have fewer if they are all that the model could have said.

    Raises:
        CapabilityError: the model reported none, or fewer than `m` at a place.
        EvidenceError: the answer has no tokens, or a log-probability is NaN.
    """
    token_logprobs(answer, reader)  # the same tokens, with the same refusals
    tops = []
    for token in answer.tokens or ():
        if any(math.isnan(logprob) for _, logprob in token.top):
            raise EvidenceError(f"{reader} cannot be had of tokens with log-probability nan")
        best = sorted((min(0.0, logprob) for _, logprob in token.top), reverse=True)[:m]
        if len(best) < m and math.fsum(map(math.exp, best)) < 1 - ROUNDING:
            raise CapabilityError(
                f"{reader} needs the {m} most probable tokens at each place, and the model reported "
                f"{len(best)}; use a model that reports as many, or an estimator that reads fewer"
            )
        tops.append(best)
    return tops
