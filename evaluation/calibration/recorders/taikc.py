"""TAIKC recorded: a single-fact question asked directly, with its score, and answered from passages."""

from typing import Any

from knowwhen.evaluation.calibration.recorders.recorder import Recorder, chosen, record_of, tokens
from knowwhen.evaluation.calibration.records import Asked, Attempt, Record
from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.graphs.taikc import PROMPTS, TAIKCSettings, taikc
from knowwhen.models.door import Door
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.nodes.gauge import Gauge
from knowwhen.tools.resolve import RetrieverLike, resolve_retriever
from knowwhen.uncertainty.weighing import weigh


def taikc_recorder(
    model: ModelLike, retriever: RetrieverLike, estimator: str, given: dict[str, Any]
) -> Recorder:
    """Records for TAIKC's boundary by an estimator.

    Args:
        model: who is asked.
        retriever: what is looked up in.
        estimator: any that the model allows.
        given: the user's settings of TAIKC.

    Raises:
        SettingsError: a setting is out of its range, or there is no such estimator.
        CapabilityError: the model does not report what the estimator needs.
    """
    settings = TAIKCSettings(**given | {"estimator": estimator, "boundary": "estimator"})
    chat = resolve_model(model)
    door = Door(chat, asked_by="taikc")
    gauge = Gauge(door, settings, "taikc").estimator(settings)
    gauge.require(chat)
    open_book = taikc(chat, resolve_retriever(retriever), **given | {"knowledge": "external"})

    def ask(question: GoldQuestion) -> Record:
        prompt = PROMPTS["direct_qa"].format(question=question.question)
        (closed,) = weigh(door, gauge, [prompt], **settings.sampling())
        opened = open_book.invoke({"question": question.question})
        answer = closed.answer.text.strip()
        score = closed.score.value if closed.score and answer else None
        asked = Asked(
            question=question.question,
            closed_book=Attempt(answer=answer, scores={estimator: score}),
            open_book=(Attempt(answer=opened["answer"], tokens=tokens(opened["cost"])),),
            retrievals=opened["cost"]["retrievals"],
            gate_tokens=tokens(closed.cost),
        )
        return record_of(question, asked)

    return Recorder(ask, estimator, gauge.kind, dict(PROMPTS), gauge.settings, chosen(given, "samples"))
