"""Evidence as models report it, made by hand."""

from collections.abc import Sequence

import numpy as np

from knowwhen.models.evidence import Answer, Evidence, HiddenStates, Site
from knowwhen.models.reply import TokenLogprob


def answer(
    logprobs: Sequence[float] | None = None,
    text: str = "Wedo Kleko",
    tops: Sequence[Sequence[float]] | None = None,
) -> Answer:
    """An answer with these log-probabilities, and `tops` the log-probabilities of the best at each place."""
    if logprobs is None:
        return Answer(text)
    tokens = []
    for at, logprob in enumerate(logprobs):
        best = tops[at] if tops else ()
        tokens.append(
            TokenLogprob(f"t{at}", logprob, tuple((f"o{n}", other) for n, other in enumerate(best)))
        )
    return Answer(text, tuple(tokens))


def greedy(
    logprobs: Sequence[float] | None = None,
    text: str = "Wedo Kleko",
    tops: Sequence[Sequence[float]] | None = None,
) -> Evidence:
    """Evidence with a greedy answer only."""
    return Evidence("Who directed it?", answer(logprobs, text, tops))


def texts(*samples: str, greedy: Answer | None = None) -> Evidence:
    """Evidence with sampled texts only."""
    return Evidence("Who directed it?", greedy, tuple(Answer(sample) for sample in samples))


def sampled(*logprobs: Sequence[float]) -> Evidence:
    """Evidence with a sample for each list of log-probabilities."""
    return Evidence("Who directed it?", None, tuple(answer(each) for each in logprobs))


def states(rows: Sequence[Sequence[float]] | np.ndarray, site: Site = "mlp", layer: int = 2) -> Evidence:
    """Evidence with hidden states, and a sample for each of them."""
    values = np.asarray(rows)
    samples = tuple(Answer(f"answer {number}") for number in range(len(values)))
    return Evidence("Who directed it?", None, samples, HiddenStates(values, layer, site))
