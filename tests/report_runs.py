"""Journals of runs, made by hand, for the tests of the report."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from outcomes import failure, outcome

from knowwhen.evaluation.long_journal import open_long_journal
from knowwhen.evaluation.outcome import Outcome
from knowwhen.evaluation.run_origin import RunOrigin
from knowwhen.evaluation.running import RUN, RUNS


def write_run(out: Path, label: str, outcomes: Iterable[Outcome], **origin: Any) -> None:
    """The journal of a method, in the order given."""
    given = {
        "method": label, "settings": '{"alpha": 0.6}', "model": "pocket", "weights": "", "corpus": "almanac",
        "passages": "", "prompts": "", "dataset": "almanac:test", "limit": None, "seed": 0,
        "metrics": ["exact_match", "f1"], "judge": "", **origin,
    }  # fmt: skip
    with open_long_journal(out / RUNS / label, RUN, RunOrigin(**given)) as journal:
        for each in outcomes:
            journal.add(each)


def three_methods() -> dict[str, list[Outcome]]:
    """Eight questions of each need twice; the gate retrieves for q1, q2 and q3, and q8 failed it."""
    gate = {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 0.0, 6: 1.0, 7: 0.0}
    return {
        "self_dc": [
            *(
                _asked(
                    number,
                    right,
                    routes=("decompose", "generate", "retrieve") if number < 4 else ("generate",),
                    retrievals=number < 4,
                    confidence=number / 10,
                    input_tokens=100 * number,
                )
                for number, right in gate.items()
            ),
            failure("q8"),
        ],
        "direct": [
            _asked(number, float(number in (3, 4, 5, 6)), routes=("direct",)) for number in range(1, 9)
        ],
        "retrieve_then_read": [
            _asked(number, float(number in (1, 2, 3, 4)), routes=("retrieve",), retrievals=1)
            for number in range(1, 9)
        ],
    }


def _asked(number: int, right: float, **more: Any) -> Outcome:
    return outcome(
        f"q{number}", right, hops=1 + number % 2, kind="bridge" if number % 2 else "one_hop", **more
    )


def write_runs(out: Path) -> Path:
    """The journals of `three_methods`."""
    for label, outcomes in three_methods().items():
        write_run(out, label, outcomes)
    return out
