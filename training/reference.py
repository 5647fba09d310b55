"""Builds KEQA's utility reference set: what each retrieved passage did to the F1 of an answer (section 3.4).

The answer without passages is asked for as `nodes/answer_directly.py` asks, one from passages as
`nodes/read_passages.py` does, greedily.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from pathlib import Path

from knowwhen.evaluation.asking import Report, ask_missing
from knowwhen.evaluation.datasets import GoldQuestion, Skipped, drawn, read_dataset
from knowwhen.evaluation.metrics import f1
from knowwhen.models.capability import describe
from knowwhen.models.cost import NO_COST, add_costs
from knowwhen.models.door import Door
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.fingerprint import fingerprint, weights_of
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.nodes import answer_directly, read_passages
from knowwhen.tools.labelled import HARMFUL, HELPFUL, Labelled, Origin, Utility
from knowwhen.tools.letters import LETTERS, resolve_encoder
from knowwhen.tools.passage import Passage, as_passages
from knowwhen.tools.reference import write_reference
from knowwhen.tools.resolve import RetrieverLike, resolve_retriever
from knowwhen.training.journal import QuestionLabels, open_journal

QUESTIONS, PASSAGES = 500, 5  # the paper's
MAX_TOKENS = 256  # of an answer, as the methods' settings have it


@dataclass(frozen=True)
class ReferenceSummary:
    """What became of the questions."""

    questions: int
    """Labelled, now or before."""
    helpful: int
    harmful: int
    neutral: int
    model_calls: int
    """For all of these questions, now or before."""
    failed: int
    """Left out; the next run asks them again."""
    first_failure: str

    def as_json(self) -> dict[str, object]:
        """The same as plain JSON."""
        return asdict(self)


def build_reference(
    dataset: str | Path,
    out: Path,
    *,
    model: ModelLike = "pocket",
    corpus: RetrieverLike = "almanac",
    limit: int = QUESTIONS,
    passages: int = PASSAGES,
    encoder: str = LETTERS,
    seed: int = 0,
    kind: str | None = None,
    skipped: Skipped | None = None,
    report: Report = lambda done, total: None,
) -> ReferenceSummary:
    """Label the passages retrieved for the questions of a dataset, and write those that changed an answer.

    Stopped at any moment, it goes on when it is called again with the same folder, and asks no finished
    question twice; its result is then the same as without the stop. A later call may draw more questions,
    draw others or take another encoder.

    Args:
        dataset: as `read_dataset` takes it; not the questions that KEQA is to be measured on.
        out: the folder of the set and of its journal, which holds every label with its two answers.
        model: who answers: the model that is to read the picked passages later.
        corpus: where the passages are retrieved.
        limit: how many questions are drawn, at most.
        passages: how many are labelled for each question, at most.
        encoder: of questions with passages: `letters`, or a sentence-transformers model's folder or hub id.
        seed: of the draw.
        kind: the form of the dataset's records, where it is not to be recognised.
        skipped: counts its bad records, and the reading goes on without them; None: the first ends it.
        report: called with the number of questions done and of all, at the beginning and after each.

    Raises:
        SettingsError: a name or number is unknown or out of its range, or `out` was begun otherwise.
        KnowwhenError: the dataset or the folder cannot be used, or every question failed.
        RetrievalError: the corpus, or the encoder, is not to be had.
        ModelError: the model is not to be had.
    """
    if limit < 1 or passages < 1:
        raise SettingsError("limit and passages must be at least 1")
    questions = drawn(read_dataset(dataset, kind, skipped), limit, seed)
    if not questions:
        raise KnowwhenError(f"{dataset} holds no question; give a dataset that does")
    answering = resolve_model(model)
    door = Door(answering, resolve_retriever(corpus), asked_by="knowwhen train reference")
    encoding = resolve_encoder(encoder)
    origin = Origin(
        dataset=Path(dataset).name,
        model=model if isinstance(model, str) else describe(model),
        weights=weights_of(answering),
        corpus=str(corpus) if isinstance(corpus, str | Path) else type(corpus).__name__,
        passages=passages,
        prompts=fingerprint([answer_directly.PROMPT.encode(), read_passages.PROMPT.encode()]),
    )
    with open_journal(out, origin) as journal:
        failures = ask_missing(
            questions,
            lambda question: label_question(door, question, passages),
            journal,
            door.max_concurrency,
            report,
        )
        finished = [journal.finished[each.id] for each in questions if each.id in journal.finished]
        labels = [label for question in finished for label in question.labels]
        manifest = write_reference(out, labels, encoding, origin)
    return ReferenceSummary(
        questions=len(finished),
        **manifest.labels.model_dump(),
        model_calls=sum(question.cost["model_calls"] for question in finished),
        failed=len(failures),
        first_failure=failures[0] if failures else "",
    )


def label_question(door: Door, question: GoldQuestion, passages: int = PASSAGES) -> QuestionLabels:
    """Label what is retrieved for a question, best first; what is found helpful stays for those after it.

    Raises:
        ModelError: the model failed.
        RetrievalError: the search failed.
    """
    retrieved = door.retrieve(question.question, passages)
    found = as_passages(retrieved.documents)
    costs = [retrieved.cost]

    def answer_from(read: Sequence[Passage]) -> tuple[str, float]:
        reply = door.ask(_prompt(question.question, read), temperature=0.0, max_tokens=MAX_TOKENS)
        costs.append(reply.cost)
        answer = reply.text.strip()
        return answer, f1(answer, question.golden_answers)

    helpful: list[Passage] = []
    labels: list[Labelled] = []
    without = answer_from(helpful) if found else ("", 0.0)
    for passage in found:
        with_it = answer_from([*helpful, passage])
        labels.append(
            Labelled(
                question=question.question,
                title=passage["title"],
                text=passage["text"],
                utility=utility_of(without[1], with_it[1]),
                passage_id=passage["id"],
                rank=passage["rank"],
                question_id=question.id,
                golden_answers=question.golden_answers,
                already_helpful=tuple(each["id"] for each in helpful),
                answer_without=without[0],
                answer_with=with_it[0],
                f1_without=without[1],
                f1_with=with_it[1],
            )
        )
        if labels[-1].utility == HELPFUL:
            helpful.append(passage)
            without = with_it
    return QuestionLabels(
        question_id=question.id,
        question=question.question,
        golden_answers=question.golden_answers,
        labels=tuple(labels),
        cost=reduce(add_costs, costs, NO_COST),
    )


def utility_of(without: float, with_it: float) -> Utility:
    """The sign of the change of F1; shares that are equal but for rounding are equal."""
    if math.isclose(without, with_it):
        return 0
    return HELPFUL if with_it > without else HARMFUL


def _prompt(question: str, read: Sequence[Passage]) -> str:
    if not read:
        return answer_directly.PROMPT.format(question=question)
    return read_passages.PROMPT.format(question=question, passages=read_passages.as_text(read))
