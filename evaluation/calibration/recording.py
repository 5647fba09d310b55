"""Recording: a dataset's questions asked once for a gate; a stopped run goes on from its journal."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from knowwhen.evaluation.asking import Report, ask_missing
from knowwhen.evaluation.calibration.gates import gate_of
from knowwhen.evaluation.calibration.recorders.keqa import keqa_recorder
from knowwhen.evaluation.calibration.recorders.recorder import Recorder
from knowwhen.evaluation.calibration.recorders.seakr import seakr_recorder
from knowwhen.evaluation.calibration.recorders.self_dc import self_dc_recorder
from knowwhen.evaluation.calibration.recorders.taikc import taikc_recorder
from knowwhen.evaluation.calibration.records import Record, write_records
from knowwhen.evaluation.datasets import GoldQuestion, drawn, read_dataset
from knowwhen.evaluation.journal import Finished, JournalKind, open_journal
from knowwhen.models.errors import KnowwhenError
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.tools.resolve import RetrieverLike
from knowwhen.uncertainty.thresholds import OfModel, prompts_hash

RECORDS = "records.jsonl"
QUESTIONS = 500  # of a dataset
AT_ONCE = 16

RECORDERS: dict[str, Callable[[ModelLike, RetrieverLike, str, dict[str, Any]], Recorder]] = {
    "self_dc": self_dc_recorder,
    "keqa": keqa_recorder,
    "seakr": seakr_recorder,
    "taikc": taikc_recorder,
}
OF_ONE_FACT = {"keqa", "seakr", "taikc"}
"""Methods whose gate judges a single fact: it is calibrated on questions of one."""


class Recorded(Finished, frozen=True):
    """A question that is recorded: a line of the journal."""

    record: Record


KIND = JournalKind(Recorded, "knowwhen calibration journal", "calibration's records")


class Origin(BaseModel, frozen=True, extra="forbid"):
    """What the records depend on besides their questions."""

    method: str
    model: str
    weights: str
    corpus: str
    estimator: str
    settings: str
    prompts: str


@dataclass(frozen=True)
class Recording:
    """The records of a dataset, and what they belong to."""

    records: list[Record]
    recorder: Recorder
    model: OfModel
    prompts: str
    left_out: int
    """Questions that take more than one fact, for a gate that judges one."""
    failures: list[str]


def record_dataset(
    dataset: str | Path,
    method: str,
    out: Path,
    *,
    model: ModelLike = "pocket",
    corpus: str = "almanac",
    estimator: str | None = None,
    settings: dict[str, Any] | None = None,
    limit: int = QUESTIONS,
    seed: int = 0,
    report: Report = lambda done, total: None,
) -> Recording:
    """Ask a dataset's questions all that a method's gate needs to be replayed.

    Stopped at any moment and called again with the same folder, it goes on and asks no finished question
    twice. `out` then holds the journal and `records.jsonl`.

    Args:
        dataset: as `read_dataset` takes it.
        method: one of `GATES`.
        out: the folder of the journal and the records.
        model: who is asked.
        corpus: what is looked up in, as `resolve_retriever` takes it.
        estimator: whose scores the gate goes by; None: the method's own.
        settings: of the method.
        limit: how many questions are drawn, at most.
        seed: of the draw.
        report: called with the number of questions done and of all.

    Raises:
        SettingsError: a name is unknown, a setting out of its range, or `out` was begun otherwise.
        CapabilityError: the model does not report what the estimator needs.
        KnowwhenError: the dataset or the folder cannot be used, or the questions failed.
    """
    name = estimator or gate_of(method).estimator
    questions, left_out = _questions(dataset, method, limit, seed)
    chat = resolve_model(model)
    recorder = RECORDERS[method](chat, corpus, name, settings or {})
    of_model, prompts = OfModel.of(chat), prompts_hash(recorder.prompts)
    origin = Origin(
        method=method,
        model=of_model.name,
        weights=of_model.weights,
        corpus=corpus,
        estimator=name,
        settings=json.dumps(settings or {}, sort_keys=True),
        prompts=prompts,
    )

    def ask(question: GoldQuestion) -> Recorded:
        return Recorded(
            question_id=question.id,
            question=question.question,
            golden_answers=question.golden_answers,
            record=recorder.ask(question),
        )

    with open_journal(out, KIND, origin) as journal:
        failures = ask_missing(questions, ask, journal, AT_ONCE, report)
        records = [journal.finished[each.id].record for each in questions if each.id in journal.finished]
        write_records(records, out / RECORDS)
    return Recording(records, recorder, of_model, prompts, left_out, failures)


def _questions(dataset: str | Path, method: str, limit: int, seed: int) -> tuple[list[GoldQuestion], int]:
    left_out = 0

    def suited() -> Iterator[GoldQuestion]:
        nonlocal left_out
        for question in read_dataset(dataset):
            if method not in OF_ONE_FACT or question.metadata.get("hops", 1) == 1:
                yield question
            else:
                left_out += 1

    questions = drawn(suited(), limit, seed)
    if not questions:
        raise KnowwhenError(f"{dataset} holds no question of one fact, by which {method} is calibrated")
    return questions, left_out
