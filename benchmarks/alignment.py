"""What boundary tuning gives: confident answers and the gap, before and after (TAIKC, Figure 5).

The model is asked single facts of another almanac, of which it has read nothing, and of the own one's train
split. On what it should have answered and declined it is tuned by LoRA at the paper's hyperparameters, and at
a higher rate: 5e-5 hardly moves a model as small as the package's. Then it is measured on the own almanac's
test split, as `knowwhen evaluate boundary` does.

Run without arguments to tune the package's model, or with the folder of another one.
"""

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from knowwhen.almanac import world_of, write_files
from knowwhen.evaluation.boundary import boundary_report
from knowwhen.evaluation.boundary_figures import Boundary
from knowwhen.evaluation.intervals import Figure as Interval
from knowwhen.training.boundary import build_boundary
from knowwhen.training.tune import tune_model

OTHER_WORLD, QUESTIONS, ASKED = 8, 600, 450
RATES = {"the paper's rate, 5e-5": 5e-5, "rate 1e-3": 1e-3}


def alignment(model: str, folder: Path) -> dict[str, Boundary]:
    """The boundary's figures of the model as it is, and tuned at each rate."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("")

        def done(number: int, of: int, loss: float = 0.0) -> None:
            progress.update(bar, completed=number, total=of)

        def measured(name: str, weights: str) -> Boundary:
            progress.update(bar, description=f"asking {name}")
            return boundary_report(weights, ["almanac:test"], limit=ASKED, report=done).datasets[0]

        (folder / "other").mkdir()
        write_files(world_of(OTHER_WORLD), folder / "other")
        datasets = ("almanac:train", folder / "other" / "questions-train.jsonl")
        for place, dataset in enumerate(datasets):
            progress.update(bar, description=f"boundary of {dataset}")
            build_boundary(dataset, folder / f"set{place}", model=model, limit=QUESTIONS, report=done)
        found = {"before": measured("before", model)}
        for name, rate in RATES.items():
            progress.update(bar, description=f"tuning at {name}")
            out = folder / f"tuned-{rate}"
            tuned = tune_model(model, [folder / "set0", folder / "set1"], out, rate=rate, report=done)
            found[name] = measured(name, tuned.model)
    return found


def told(figure: Interval | None) -> str:
    """A figure with its interval."""
    if figure is None:
        return "–"
    return f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"


def rows_of(found: dict[str, Boundary]) -> dict[str, list[str]]:
    """The table: confident answers, the gap, and how often answering or declining was right."""
    return {
        name: [
            str(each.confident.number),
            told(each.confident.f1),
            told(each.knowledge_gap.f1),
            told(each.difference.f1),
            told(each.declines_right),
        ]
        for name, each in found.items()
    }


def plot(found: dict[str, Boundary], file: Path) -> None:
    """Confident Knowledge beside Knowledge Gap, before and after."""
    figure = Figure(figsize=(6, 3.2), layout="constrained")
    axes = figure.subplots()
    for shift, label in ((-0.2, "Confident Knowledge"), (0.2, "Knowledge Gap")):
        for place, each in enumerate(found.values()):
            group = each.confident if shift < 0 else each.knowledge_gap
            if group.f1 is None:
                continue
            value, low, high = group.f1.value, group.f1.low or group.f1.value, group.f1.high or group.f1.value
            error = [[max(0.0, value - low)], [max(0.0, high - value)]]
            bars = axes.bar(
                place + shift,
                value,
                0.4,
                yerr=error,
                capsize=3,
                color="C0" if shift < 0 else "C1",
                label=label if place == 0 else None,
            )
            axes.bar_label(bars, [str(group.number)], label_type="center")
    axes.set_xticks(range(len(found)), list(found))
    axes.set(ylabel="F1", ylim=(0, 1), title="almanac:test, with the number of questions")
    axes.legend()
    figure.savefig(file, dpi=120)


def main() -> None:
    """Tune, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", nargs="?", help="a folder of weights; default: the package's")
    parser.add_argument("--plot", type=Path, help="a PNG to write")
    given = parser.parse_args()
    model = f"transformers:{given.model}" if given.model else "pocket"
    with TemporaryDirectory() as folder:
        found = alignment(model, Path(folder))
    columns = ("answered", "Confident Knowledge", "Knowledge Gap", "difference", "declines right")
    table = Table("F1", *columns)
    rows = rows_of(found)
    for name, row in rows.items():
        table.add_row(name, *row)
    Console().print(table)
    if given.plot:
        plot(found, given.plot)
    figures: dict[str, Any] = {name: each.model_dump() for name, each in found.items()}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
