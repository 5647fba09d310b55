"""SeaKR recorded: a reasoning that is sure of every step, and one that looks every step up.

The question is as sure as its least sure step. At a threshold between two of its steps the real gate looks
some up and not others; the replay then looks all of them up.
"""

from typing import Any

from knowwhen.evaluation.calibration.recorders.recorder import (
    SURE_OF_ALL,
    Recorder,
    chosen,
    record_of,
    tokens,
)
from knowwhen.evaluation.calibration.records import Asked, Attempt, Record
from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.graphs.seakr import PROMPTS, seakr
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.tools.resolve import RetrieverLike, resolve_retriever
from knowwhen.uncertainty.resolve import ESTIMATORS


def seakr_recorder(
    model: ModelLike, retriever: RetrieverLike, estimator: str, given: dict[str, Any]
) -> Recorder:
    """Records for SeaKR.

    Args:
        model: who is asked.
        retriever: what is looked up in.
        estimator: any that the model allows.
        given: the user's settings of SeaKR.

    Raises:
        SettingsError: a setting is out of its range, or there is no such estimator.
        CapabilityError: the model does not report what the estimator needs.
    """
    chat, found = resolve_model(model), resolve_retriever(retriever)
    base = estimator.partition(":")[0]
    kind = ESTIMATORS[base].kind if base in ESTIMATORS else "confidence"  # seakr refuses what is unknown
    settings = given | {"estimator": estimator, "threshold": SURE_OF_ALL[kind]}
    closed_book = seakr(chat, found, **settings | {"retrieval": "unsure"})
    open_book = seakr(chat, found, **settings | {"retrieval": "always"})

    def ask(question: GoldQuestion) -> Record:
        closed = closed_book.invoke({"question": question.question})
        opened = open_book.invoke({"question": question.question})
        scores = [step["score"] for step in closed["steps"] if step["estimator"] == base]
        least = None
        if scores and None not in scores:
            least = min(scores) if kind == "confidence" else max(scores)
        asked = Asked(
            question=question.question,
            closed_book=Attempt(answer=closed["answer"], scores={estimator: least}),
            open_book=(Attempt(answer=opened["answer"], tokens=tokens(opened["cost"])),),
            retrievals=opened["cost"]["retrievals"],
            gate_tokens=tokens(closed["cost"]),
        )
        return record_of(question, asked)

    return Recorder(ask, estimator, kind, dict(PROMPTS), settings=chosen(given, "samples", "hops"))
