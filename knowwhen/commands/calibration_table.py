"""What a calibration found, on stdout."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knowwhen.evaluation.calibration.calibrate import Calibration
    from knowwhen.evaluation.intervals import Figure


def show_calibration(found: "Calibration", as_json: bool) -> None:
    """Print what was found on stdout: a table and what it comes to, or one JSON object."""
    if as_json:
        _print_json(found)
        return
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    inner = found.found
    screen = Console(highlight=False)
    told = ", ".join(f"{name} {value:.6g}" for name, value in inner.thresholds.items())
    screen.print(f"{found.method} by {found.gauge.estimator}, {found.budget}: {told}", markup=False)
    table = Table("", found.metric, "retrievals", "tokens", box=SIMPLE, pad_edge=False)
    for name, outcomes in (
        ("never retrieving", found.replay.never),
        ("always retrieving", found.replay.always),
    ):
        table.add_row(
            name,
            *(
                f"{each.mean():.{places}f}"
                for each, places in ((outcomes.quality, 3), (outcomes.retrievals, 2), (outcomes.tokens, 0))
            ),
        )
    quality, retrievals, tokens = inner.seen
    table.add_row("these thresholds", f"{quality:.3f}", f"{retrievals:.2f}", f"{tokens:.0f}")
    expected = inner.expected
    table.add_row(
        "expected of new questions",
        _cell(expected.quality, 3),
        _cell(expected.retrievals, 2),
        _cell(expected.tokens, 0),
    )
    screen.print(table)
    if found.unmet:
        screen.print(found.unmet, markup=False)
    if found.precision:
        screen.print(str(found.precision), markup=False)
    screen.print(f"\n{found.verdict}" if found.unmet or found.precision else found.verdict, markup=False)


def _print_json(found: "Calibration") -> None:
    import json
    from dataclasses import asdict

    inner = found.found
    told = {
        "method": found.method,
        "estimator": found.gauge.estimator,
        "metric": found.metric,
        "budget": found.budget.model_dump(exclude_none=True),
        "questions": found.questions,
        "thresholds": inner.thresholds,
        "expected": inner.expected.model_dump(),
        "precision": found.precision.model_dump() if found.precision else None,
        "gain": inner.gain.model_dump(),
        "never": {name: float(each.mean()) for name, each in asdict(found.replay.never).items()},
        "always": {name: float(each.mean()) for name, each in asdict(found.replay.always).items()},
        "unmet": found.unmet,
        "verdict": found.verdict,
    }
    print(json.dumps(told))


def _cell(figure: "Figure", places: int) -> str:
    if figure.low is None or figure.high is None:
        return f"{figure.value:.{places}f}"
    return f"{figure.value:.{places}f}\n[{figure.low:.{places}f},{figure.high:.{places}f}]"
