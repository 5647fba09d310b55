"""How sure is the model: one estimator, one file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knowwhen.uncertainty.drawing import drawn
    from knowwhen.uncertainty.entailment import EntailmentJudge
    from knowwhen.uncertainty.estimator import Estimator, Needs
    from knowwhen.uncertainty.judge import Judge, Judged, ModelJudge
    from knowwhen.uncertainty.judges import resolve_judge
    from knowwhen.uncertainty.matching import MatchJudge
    from knowwhen.uncertainty.resolve import NAMES, resolve_estimator
    from knowwhen.uncertainty.score import EvidenceError, Score, Threshold

__all__ = [
    "NAMES",
    "EntailmentJudge",
    "Estimator",
    "EvidenceError",
    "Judge",
    "Judged",
    "MatchJudge",
    "ModelJudge",
    "Needs",
    "Score",
    "Threshold",
    "drawn",
    "resolve_estimator",
    "resolve_judge",
]

# Each name's module is loaded when the name is first asked for: most bring LangChain and numpy.
_HOMES = {
    "NAMES": "resolve",
    "EntailmentJudge": "entailment",
    "Estimator": "estimator",
    "EvidenceError": "score",
    "Judge": "judge",
    "Judged": "judge",
    "MatchJudge": "matching",
    "ModelJudge": "judge",
    "Needs": "estimator",
    "Score": "score",
    "Threshold": "score",
    "drawn": "drawing",
    "resolve_estimator": "resolve",
    "resolve_judge": "judges",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
