"""A question with its gold answers: what every dataset is read as."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class GoldQuestion:
    """A question and the answers that count as right."""

    id: str
    question: str
    golden_answers: tuple[str, ...]
    """Of which the best counts. Exactly the empty answer: the dataset says that there is none (SQuAD 2.0)."""
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """JSON. Where the dataset knows: `kind` (its own type of question), `hops` (facts that it takes),
    `decomposition` (the gold sub-questions), `supporting` (ids of the gold passages, as `knowwhen index`
    stores them). `kind` is a text and `hops` a whole number, if they are there at all."""
