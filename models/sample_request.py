"""What one call of a door's `sample` asks for."""

from collections.abc import Sequence
from dataclasses import dataclass

from knowwhen.models.evidence import StatesAt
from knowwhen.models.gathering import Prompt
from knowwhen.models.sampling import Sampling
from knowwhen.models.tape import Call


@dataclass(frozen=True)
class SampleRequest:
    """Greedy answers and samples of some prompts; see `Door.sample`."""

    prompts: Sequence[Prompt]
    k: int  # samples of each prompt
    greedy: bool
    states: StatesAt | None
    sampling: Sampling  # of the samples
    stop: Sequence[str] | None

    @property
    def call(self) -> Call:
        """What tells it from other calls."""
        told = {"k": self.k, "greedy": self.greedy, "states": self.states, **self.sampling.given()}
        return Call("sample", tuple(self.prompts), told | stopping(self.stop))


def stopping(stop: Sequence[str] | None) -> dict[str, list[str]]:
    """What a call tells of its stop strings."""
    return {} if stop is None else {"stop": list(stop)}
