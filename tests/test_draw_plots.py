"""The report's plots: methods can be told apart, and what stands at the axis can be read."""

import re

import pytest

from knowwhen.evaluation.report.plot_data import PlotData, Row

pytest.importorskip("matplotlib", reason="the extra 'report' is not installed")

from knowwhen.evaluation.report import plots


def tokens(*paid: float) -> PlotData:
    """A trade-off of as many methods as costs."""
    labels = [f"m{place}" for place in range(len(paid))]
    rows: list[Row] = [
        {
            "method": label,
            "reference": "",
            "metric": "f1",
            "quality": 0.5,
            "quality_low": 0.4,
            "quality_high": 0.6,
            "tokens": cost,
            "tokens_low": None,
            "tokens_high": None,
        }
        for label, cost in zip(labels, paid, strict=True)
    ]
    return PlotData("quality-tokens", "trade-off", "", rows, tuple(labels), "f1", "tokens")


def test_no_two_methods_look_alike() -> None:
    data = tokens(*range(1, 65))
    looks = [plots._look(data, label) for label in data.methods]
    assert len(set(looks)) == len(looks)


def test_thousands_are_short_so_that_labels_of_a_wide_axis_keep_apart() -> None:
    drawn = plots.draw(tokens(0.5, 30, 10_000)).decode()
    said = re.findall(r">([\d.,]+k?)</text>", drawn)
    assert {"0.5", "50", "5k", "10k"} <= set(said)
    assert not any("," in each for each in said)
