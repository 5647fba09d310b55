"""The boundary-awareness set (TAIKC, section 4): what the model knows it says, the rest it declines.

A question that the model answers rightly under Direct QA becomes the prompt of Confident QA with the model's
own answer; one that it answers wrongly, the same prompt with RAG_REQUIRED (Appendix F.1, Tables 6 and 13).
The set belongs to the model that was asked.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import BaseModel

from knowwhen.evaluation.asking import Report, ask_missing
from knowwhen.evaluation.datasets import GoldQuestion, Skipped, drawn, read_dataset
from knowwhen.evaluation.journal import Finished, JournalKind, open_journal
from knowwhen.evaluation.metrics import exact_match
from knowwhen.models.capability import describe
from knowwhen.models.cost import Cost
from knowwhen.models.door import Door
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.fingerprint import fingerprint, weights_of
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.nodes import answer_directly, confident_qa
from knowwhen.tools.labelled import Text
from knowwhen.training.turns import Turn, TurnCounts, count_turns, measure_of, write_turns

QUESTIONS = 1000  # of each of the paper's three datasets
MAX_TOKENS = 256  # of an answer, as the methods' settings have it
FILE = "boundary.jsonl"
CONFIDENT, GAP = "confident knowledge", "knowledge gap"


class DirectAnswer(Finished, frozen=True):
    """What a model answered a question under Direct QA, and whether that is right."""

    answer: Text
    right: bool
    cost: Cost


class BoundaryOrigin(BaseModel, frozen=True, extra="forbid"):
    """Who answered what."""

    dataset: str
    model: str
    weights: str
    """A fingerprint of a local model's weights; empty for others."""
    prompts: str
    """A fingerprint of Direct QA's prompt."""


JOURNAL = JournalKind(DirectAnswer, "knowwhen boundary set journal", "boundary set")


@dataclass(frozen=True)
class BoundarySummary:
    """What became of the questions."""

    all: TurnCounts
    confident_knowledge: TurnCounts
    knowledge_gap: TurnCounts
    unit: str
    """What the lengths are counted in: `tokens` of the model, or `words`."""
    left_out: int
    """Questions of the dataset that take more than one fact."""
    model_calls: int
    """For all of these questions, now or before."""
    failed: int
    """Left out; the next run asks them again."""
    first_failure: str

    def as_json(self) -> dict[str, object]:
        """The same as plain JSON."""
        return asdict(self)


def build_boundary(
    dataset: str | Path,
    out: Path,
    *,
    model: ModelLike = "pocket",
    limit: int = QUESTIONS,
    seed: int = 0,
    kind: str | None = None,
    skipped: Skipped | None = None,
    report: Report = lambda done, total: None,
) -> BoundarySummary:
    """Write what a model is to say and to decline under Confident QA, by what it answers under Direct QA.

    An answer is right that is a gold answer word for word, normalised (`exact_match`). Stopped at any moment,
    it goes on when it is called again with the same folder, and asks no finished question twice; its result
    is then the same as without the stop.

    Args:
        dataset: single-fact questions, as `read_dataset` takes them (`almanac:train`); those whose metadata
            has other `hops` than 1 are left out.
        out: the folder of the set, `boundary.jsonl`, and of its journal with all answers.
        model: who is to learn its boundary.
        limit: how many questions are drawn, at most.
        seed: of the draw.
        kind: the form of the dataset's records, where it is not to be recognised.
        skipped: counts its bad records, and the reading goes on without them; None: the first ends it.
        report: called with the number of questions done and of all, at the beginning and after each.

    Raises:
        SettingsError: a name or number is unknown or out of its range, or `out` was begun otherwise.
        KnowwhenError: the dataset or the folder cannot be used, or every question failed.
        ModelError: the model is not to be had.
    """
    if limit < 1:
        raise SettingsError("limit must be at least 1")
    single = SingleFact(read_dataset(dataset, kind, skipped))
    questions = drawn(single, limit, seed)
    if not questions:
        raise KnowwhenError(f"{dataset} holds no single-fact question; give a dataset that does")
    answering = resolve_model(model)
    door = Door(answering, asked_by="knowwhen train boundary")
    origin = BoundaryOrigin(
        dataset=Path(dataset).name,
        model=model if isinstance(model, str) else describe(model),
        weights=weights_of(answering),
        prompts=fingerprint([answer_directly.PROMPT.encode()]),
    )
    with open_journal(out, JOURNAL, origin) as journal:
        failures = ask_missing(
            questions, lambda question: direct_answer(door, question), journal, door.max_concurrency, report
        )
        finished = [journal.finished[each.id] for each in questions if each.id in journal.finished]
        turns = [as_turn(answered) for answered in finished]
        write_turns(out / FILE, turns)
    unit, length = measure_of(answering)
    return BoundarySummary(
        all=count_turns(turns, length),
        confident_knowledge=count_turns([turn for turn in turns if turn.kind == CONFIDENT], length),
        knowledge_gap=count_turns([turn for turn in turns if turn.kind == GAP], length),
        unit=unit,
        left_out=single.left_out,
        model_calls=sum(answered.cost["model_calls"] for answered in finished),
        failed=len(failures),
        first_failure=failures[0] if failures else "",
    )


def direct_answer(door: Door, question: GoldQuestion) -> DirectAnswer:
    """Ask a question under Direct QA, greedily.

    Raises:
        ModelError: the model failed.
    """
    prompt = answer_directly.PROMPT.format(question=question.question)
    reply = door.ask(prompt, temperature=0.0, max_tokens=MAX_TOKENS)
    answer = reply.text.strip()
    return DirectAnswer(
        question_id=question.id,
        question=question.question,
        golden_answers=question.golden_answers,
        answer=answer,
        right=exact_match(answer, question.golden_answers) == 1.0,
        cost=reply.cost,
    )


def as_turn(answered: DirectAnswer) -> Turn:
    """What the model is to learn from its answer."""
    return Turn(
        CONFIDENT if answered.right else GAP,
        answered.question_id,
        confident_qa.PROMPT.format(question=answered.question),
        answered.answer if answered.right else confident_qa.RAG_REQUIRED,
    )


class SingleFact:
    """The questions that take one fact, as far as their metadata tell, and how many were left out."""

    def __init__(self, questions: Iterable[GoldQuestion]) -> None:
        self.questions = questions
        self.left_out = 0

    def __iter__(self) -> Iterator[GoldQuestion]:
        for question in self.questions:
            if question.metadata.get("hops", 1) == 1:
                yield question
            else:
                self.left_out += 1
