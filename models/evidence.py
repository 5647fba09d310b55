"""What a model lets be seen of how sure it is: its answer, samples of it, and the states behind them."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from knowwhen.models.cost import Cost
from knowwhen.models.reply import TokenLogprob

Site = Literal["residual", "mlp"]
StatesAt = tuple[int | None, Site]  # where states are asked for: a layer, None for the middle one, and a site


@dataclass(frozen=True)
class Answer:
    """One text that the model gave, and the log-probabilities of its tokens; None: not reported."""

    text: str
    tokens: tuple[TokenLogprob, ...] | None = None
    log_normalisers: tuple[float, ...] | None = None  # ln Σ exp(z) over the logits z at each token


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """The hidden states at the end-of-sequence token behind k samples, fed to the model as its input.

    Two sites exist, which differ in scale: `residual` is the residual stream behind layer `layer`
    (`hidden_states[layer]` in transformers, as INSIDE and lm-polygraph read it), `mlp` the output of that
    layer's feed-forward block before it is added (as the authors of SeaKR read it).
    """

    values: NDArray[np.float32]  # (k, width), a row a sample, in the samples' order
    layer: int  # counted from 1
    site: Site


@dataclass(frozen=True)
class Evidence:
    """All that was asked of a model about one prompt; estimators make their scores of it."""

    prompt: str
    greedy: Answer | None  # the most probable answer
    samples: tuple[Answer, ...] = ()
    states: HiddenStates | None = None
    cost: Cost | None = None
