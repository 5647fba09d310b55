"""Mean token probability: how probable the model found the answer that it gave.

Formula: (1/n) · Σ exp(log p_i) over the n tokens of the answer. Range: [0, 1]; higher is surer. Cost: one
call with log-probabilities. Source: Self-DC, section 4.2 (probability-based confidence).
"""

import math
from collections.abc import Sequence


def mean_probability(logprobs: Sequence[float]) -> float | None:
    """The mean of the tokens' probabilities; None for an answer without a token or with a NaN.

    Args:
        logprobs: natural logarithms of the probabilities of the answer's tokens; above 0, as rounding leaves
            some servers' certain tokens, counts as 0.
    """
    if not logprobs or any(math.isnan(logprob) for logprob in logprobs):
        return None
    return min(1.0, math.fsum(math.exp(min(0.0, logprob)) for logprob in logprobs) / len(logprobs))
