"""The gate of a finished run, if a threshold of it can be moved."""

from collections.abc import Sequence

from knowwhen.evaluation.calibration.gates import kind_of
from knowwhen.method_settings import settings_of
from knowwhen.models.door import Door
from knowwhen.nodes.gauge import Gauge, GaugeSettings
from knowwhen.ui.request import Library
from knowwhen.ui.run import Run
from knowwhen.ui.what_if.agreement import Agreement
from knowwhen.ui.what_if.band import Band
from knowwhen.ui.what_if.cut import Boundary, Cut, Doubt
from knowwhen.ui.what_if.turn import Step, WhatIf, place
from knowwhen.uncertainty.resolve import ESTIMATORS


def what_if_of(run: Run, library: Library) -> WhatIf | None:
    """The gate of a run that was answered; None: none of its steps was decided by a threshold.

    Args:
        run: what was answered.
        library: the model, which a preset's threshold belongs to.

    Raises:
        KnowwhenError: the model is not to be had any more.
    """
    steps = sorted(run.output.get("steps", ()), key=place)
    if not steps:
        return None
    settings = settings_of(run.request.method)(**run.request.settings)
    told = settings.model_dump()
    gate: WhatIf | None = None
    if run.request.method == "self_dc":
        gate = Band(steps, told)
    elif run.request.method == "keqa" and told["assess"]:
        gate = Agreement(steps, told)
    elif run.request.method == "seakr" and told["retrieval"] == "unsure":
        assert isinstance(settings, GaugeSettings)
        threshold = Gauge(Door(library.model(run.request.model)), settings, "seakr").threshold(settings)
        gate = Doubt(steps, Cut("δ", threshold.value, threshold.kind))
    elif run.request.method == "taikc":
        gate = _boundary(steps)
    return gate if gate is not None and gate.dials() else None


def _boundary(steps: Sequence[Step]) -> WhatIf | None:
    """Of the steps that an estimator decided, by the threshold that they were held to."""
    for step in steps:
        if "threshold" in step["details"] and step["estimator"]:
            cut = Cut("threshold", step["details"]["threshold"], kind_of(step["estimator"]))
            kind = ESTIMATORS[step["estimator"].partition(":")[0]]
            return Boundary(steps, cut, sampled=hasattr(kind, "k"))
    return None
