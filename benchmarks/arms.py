"""One method after another over the same questions: how good, and what it cost. Shared by the benchmarks."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from knowwhen.almanac.questions import AlmanacQuestion
from knowwhen.evaluation.metrics import exact_match, f1

SCREEN = Console(stderr=True)


def answered(name: str, method: Any, questions: Sequence[AlmanacQuestion]) -> dict[str, Any]:
    """One method's means, the questions one after the other, as a user waits for each."""
    kinds: dict[str, list[float]] = defaultdict(list)
    rows: list[dict[str, float]] = []
    for question in track(questions, name, console=SCREEN):
        began = time.perf_counter()
        output = method.invoke({"question": question.question})
        seconds = time.perf_counter() - began
        hit = exact_match(output["answer"], question.answers)
        kinds[question.kind].append(hit)
        rows.append(
            {
                "exact match": hit,
                "f1": f1(output["answer"], question.answers),
                "retrievals": output["cost"]["retrievals"],
                "passages read": sum(len(step["passages"]) for step in output["steps"]),
                "model calls": output["cost"]["model_calls"],
                "sequences": output["cost"]["sequences"],
                "input tokens": output["cost"]["input_tokens"],
                "seconds": seconds,
            }
        )
    figures: dict[str, Any] = {column: mean(row[column] for row in rows) for column in list(rows[0])[:-1]}
    figures["median seconds"] = median(row["seconds"] for row in rows)
    figures["most seconds"] = max(row["seconds"] for row in rows)
    figures["by kind"] = {kind: mean(hits) for kind, hits in kinds.items()}
    return figures


def table_of(arms: Mapping[str, Mapping[str, Any]], columns: Sequence[str]) -> Table:
    """The figures of several methods, a row each."""
    table = Table("arm", *columns)
    for name, row in arms.items():
        table.add_row(name, *(f"{row[column]:.2f}" for column in columns))
    return table
