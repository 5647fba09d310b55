"""What the outcomes of a run depend on: written in the first line of its journal and of its recording."""

from knowwhen.evaluation.arms import ArmOrigin


class RunOrigin(ArmOrigin, frozen=True, extra="forbid"):
    """Who answered which questions, and how the answers were scored."""

    dataset: str
    limit: int | None
    """Questions drawn, at most; None: all."""
    seed: int
    metrics: list[str]
    judge: str
    """The model that judged the answers; empty: none."""
