"""The log-determinant of a regularised Gram matrix: how far k vectors spread.

The mean of ln(λ + α) over the eigenvalues λ of the k × k matrix Z J Zᵀ, Z the vectors as rows and J the
centring of each row over its features: the same number as (1/k) · ln det(Z J Zᵀ + α I), in float64, and the
width × width matrix of the covariance is never built.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowwhen.models.errors import SettingsError
from knowwhen.uncertainty.score import EvidenceError

Vectors = NDArray[np.floating[Any]]  # (k, width)


@dataclass(frozen=True)
class Spread:
    """How far k vectors spread.

    Attributes:
        value: the determinant, at least ln α.
        floor: what k times one vector of the same mean squared norm would give.
        squared_norm: the mean over the centred vectors.
    """

    value: float
    floor: float
    squared_norm: float

    def as_json(self) -> dict[str, Any]:
        """What stands beside the value in a score."""
        return {"floor": self.floor, "squared_norm": self.squared_norm}


def gram_determinant(vectors: Vectors, alpha: float = 1e-3) -> float:
    """(1/k) · ln det(Z J Zᵀ + α I) of k vectors, the rows of Z.

    Raises:
        EvidenceError: there are not two vectors or more, or a number is NaN, infinite or overflows.
        SettingsError: alpha is not a number above 0.
    """
    return spread(vectors, alpha).value


def spread(vectors: Vectors, alpha: float) -> Spread:
    """The determinant of k vectors, and what helps to read it.

    Raises:
        EvidenceError: there are not two vectors or more, or a number is NaN, infinite or overflows.
        SettingsError: alpha is not a number above 0.
    """
    above_zero(alpha)
    gram = _gram(vectors)
    k = len(gram)
    eigenvalues = np.linalg.eigvalsh(gram).clip(min=0.0)  # rounding leaves some just below 0
    squared_norm = float(np.trace(gram)) / k
    return Spread(
        value=float(np.log(eigenvalues + alpha).mean()),
        floor=((k - 1) * math.log(alpha) + math.log(k * squared_norm + alpha)) / k,
        squared_norm=squared_norm,
    )


def above_zero(alpha: float) -> None:
    """Refuse a regulariser that regularises nothing.

    Raises:
        SettingsError: alpha is not above 0, or not finite.
    """
    if not (alpha > 0 and math.isfinite(alpha)):
        raise SettingsError(f"alpha must be a number above 0, not {alpha}")


def _gram(vectors: Vectors) -> NDArray[np.float64]:
    """Z J Zᵀ, (k, k)."""
    rows = np.asarray(vectors, dtype=np.float64)  # in float32 identical rows come to -inf or NaN
    if rows.ndim != 2 or len(rows) < 2:
        raise EvidenceError(
            f"a Gram determinant needs two vectors or more, not an array of shape {rows.shape}"
        )
    if not np.isfinite(rows).all():
        raise EvidenceError(
            "a hidden state or embedding is NaN or infinite, so it says nothing of how sure the model is; "
            "load the model with dtype='float32' or dtype='bfloat16'"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        centred = rows - rows.mean(axis=1, keepdims=True)
        gram: NDArray[np.float64] = centred @ centred.T
    if not np.isfinite(gram).all():
        raise EvidenceError("the hidden states or embeddings are too large to be multiplied")
    return gram
