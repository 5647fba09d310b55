"""The running scores of a run: sums, so that they take the same memory however many questions there are."""

from collections import Counter
from dataclasses import dataclass, field

from knowwhen.evaluation.outcome import Outcome


@dataclass
class Tally:
    """What the questions done so far have come to."""

    total: int
    """Questions of the run."""
    finished: int = 0
    failed: int = 0
    asked: int = 0
    """Of both, those asked since this process began."""
    first_failure: str = ""
    """Of those that this process knows of."""
    _metrics: Counter[str] = field(default_factory=Counter, repr=False)
    _costs: Counter[str] = field(default_factory=Counter, repr=False)
    _seconds: float = field(default=0.0, repr=False)

    @property
    def done(self) -> int:
        """Finished and failed questions."""
        return self.finished + self.failed

    def add(self, outcome: Outcome) -> None:
        """Count a question."""
        if outcome.output is None:
            self.failed += 1
            self.first_failure = self.first_failure or f"{outcome.question_id}: {outcome.error}"
            return
        self.finished += 1
        self._metrics.update(outcome.metrics)  # type: ignore[arg-type]  # a Counter adds floats, too
        self._costs.update(outcome.output.get("cost") or {})
        self._seconds += outcome.seconds

    def means(self) -> dict[str, float]:
        """Of the finished questions: each metric, count of the cost, and the seconds; empty without any."""
        if not self.finished:
            return {}
        sums = {**self._metrics, **self._costs, "seconds": self._seconds}
        return {name: value / self.finished for name, value in sums.items()}
