"""The loss curve of a training, as a picture."""

import json
from pathlib import Path

from knowwhen.models.errors import KnowwhenError


def plot_curve(logs: dict[str, Path], out: Path) -> None:
    """Draw loss and accuracy over the steps of one or more parts of a training.

    Args:
        logs: `log.jsonl` of each part, by the part's name, in order.
        out: the PNG to write.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise KnowwhenError("no matplotlib for the loss curve; pip install 'knowwhen[training]'") from None
    figure = Figure(figsize=(8, 3), layout="constrained")
    loss, accuracy = figure.subplots(1, 2)
    begin = 0
    for part, log in logs.items():
        rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        rows = list({row["step"]: row for row in rows}.values())  # what was trained again after a kill
        steps = [begin + row["step"] for row in rows]
        loss.plot(steps, [row["loss"] for row in rows], label=part)
        accuracy.plot(steps, [row["accuracy"] for row in rows], label=part)
        begin = steps[-1] if steps else begin
    loss.set(xlabel="step", ylabel="loss (nats)")
    accuracy.set(xlabel="step", ylabel="learnt tokens that came first", ylim=(0, 1))
    loss.legend()
    figure.savefig(out, dpi=120)
