"""The instruction-following set (TAIKC, section 4): how a teacher divides, reads and sums up.

The teacher answers questions by TAIKC, and of those whose final answer is right word for word (F1 = 1.0) its
prompts and replies are kept (Appendix F.1, Tables 5 and 12): decompositions, readings, of passages and at the
end of the knowledge chains, and summaries. What it answered from its own knowledge is left out, so that the
student learns the tasks and no facts.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from knowwhen.evaluation.asking import Report, ask_missing
from knowwhen.evaluation.datasets import GoldQuestion, Skipped, drawn, read_dataset
from knowwhen.evaluation.journal import Finished, JournalKind, open_journal
from knowwhen.evaluation.metrics import f1
from knowwhen.graphs.method import Method
from knowwhen.graphs.taikc import PROMPTS, taikc
from knowwhen.models.capability import describe
from knowwhen.models.cost import Cost
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.fingerprint import fingerprint, weights_of
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.nodes.question_tree import NoTree, read_tree
from knowwhen.nodes.read_if_there import not_there
from knowwhen.nodes.state import ROOT
from knowwhen.tools.labelled import Text
from knowwhen.tools.resolve import RetrieverLike
from knowwhen.training.recording import Exchange, Recorder
from knowwhen.training.turns import Turn, TurnCounts, count_turns, measure_of, write_turns

QUESTIONS = 2000  # of each of the paper's two datasets
AT_ONCE = 16
FILE = "instructions.jsonl"
DECOMPOSITION, READING, SUMMARY = "decomposition", "question answering", "summarisation"
KINDS = {
    "make_tree": DECOMPOSITION,
    "read_if_there": READING,
    "summarise_chain": SUMMARY,
    "read_chains": READING,
}
"""What is learnt from each node's exchanges; the other nodes answer from the model's own knowledge."""


class Solved(Finished, frozen=True):
    """A question that the teacher has answered, rightly or wrongly, with everything that was asked for it."""

    answer: Text
    f1: float
    """In [0, 1]."""
    exchanges: tuple[Exchange, ...]
    cost: Cost


class InstructionsOrigin(BaseModel, frozen=True, extra="forbid"):
    """Who answered what, and how."""

    dataset: str
    model: str
    weights: str
    """A fingerprint of a local model's weights; empty for others."""
    corpus: str
    reranker: str
    settings: str
    """Of the method, in JSON."""
    prompts: str
    """A fingerprint of the method's prompts."""


JOURNAL = JournalKind(Solved, "knowwhen instructions journal", "instruction set")


@dataclass(frozen=True)
class InstructionsSummary:
    """What became of the questions."""

    questions: int
    """Answered, now or before."""
    right: int
    """Of them those answered with F1 = 1.0, whose steps are kept."""
    all: TurnCounts
    decomposition: TurnCounts
    question_answering: TurnCounts
    summarisation: TurnCounts
    unit: str
    """What the lengths are counted in: `tokens` of the teacher, or `words`."""
    model_calls: int
    """For all of these questions, now or before."""
    failed: int
    """Left out; the next run asks them again."""
    first_failure: str

    def as_json(self) -> dict[str, object]:
        """The same as plain JSON."""
        return asdict(self)


def build_instructions(
    dataset: str | Path,
    out: Path,
    *,
    model: ModelLike,
    corpus: RetrieverLike = "almanac",
    limit: int = QUESTIONS,
    seed: int = 0,
    reranker: str | None = None,
    settings: dict[str, Any] | None = None,
    kind: str | None = None,
    skipped: Skipped | None = None,
    report: Report = lambda done, total: None,
) -> InstructionsSummary:
    """Write what a teacher's right answers took, step by step.

    Stopped at any moment, it goes on when it is called again with the same folder, and asks no finished
    question twice.

    Args:
        dataset: as `read_dataset` takes it (`almanac:train`).
        out: the folder of the set, `instructions.jsonl`, and of its journal with every prompt and reply.
        model: the teacher.
        corpus: where it looks things up.
        limit: how many questions are drawn, at most.
        seed: of the draw.
        reranker: what reorders the passages found (`taikc`); the paper's is `intfloat/e5-base-v2`.
        settings: of TAIKC (`TAIKCSettings`), where not the defaults.
        kind: the form of the dataset's records, where it is not to be recognised.
        skipped: counts its bad records, and the reading goes on without them; None: the first ends it.
        report: called with the number of questions done and of all, at the beginning and after each.

    Raises:
        SettingsError: a name or number is unknown or out of its range, or `out` was begun otherwise.
        KnowwhenError: the dataset or the folder cannot be used, or every question failed.
        RetrievalError: the corpus is not to be had.
        ModelError: the model is not to be had.
    """
    if limit < 1:
        raise SettingsError("limit must be at least 1")
    questions = drawn(read_dataset(dataset, kind, skipped), limit, seed)
    if not questions:
        raise KnowwhenError(f"{dataset} holds no question; give a dataset that does")
    teacher = resolve_model(model)
    method = taikc(teacher, corpus, reranker=reranker, max_concurrency=AT_ONCE, **(settings or {}))
    origin = InstructionsOrigin(
        dataset=Path(dataset).name,
        model=model if isinstance(model, str) else describe(model),
        weights=weights_of(teacher),
        corpus=str(corpus) if isinstance(corpus, str | Path) else type(corpus).__name__,
        reranker=reranker or "",
        settings=json.dumps(settings or {}, sort_keys=True),
        prompts=fingerprint(PROMPTS[name].encode() for name in sorted(PROMPTS)),
    )
    with open_journal(out, JOURNAL, origin) as journal:
        failures = ask_missing(questions, lambda asked: solve(method, asked), journal, AT_ONCE, report)
        finished = [journal.finished[each.id] for each in questions if each.id in journal.finished]
        turns = [turn for solved in finished for turn in turns_of(solved)]
        write_turns(out / FILE, turns)
    unit, length = measure_of(teacher)

    def counts(kind: str) -> TurnCounts:
        return count_turns([turn for turn in turns if turn.kind == kind], length)

    return InstructionsSummary(
        questions=len(finished),
        right=sum(solved.f1 == 1.0 for solved in finished),
        all=count_turns(turns, length),
        decomposition=counts(DECOMPOSITION),
        question_answering=counts(READING),
        summarisation=counts(SUMMARY),
        unit=unit,
        model_calls=sum(solved.cost["model_calls"] for solved in finished),
        failed=len(failures),
        first_failure=failures[0] if failures else "",
    )


def solve(method: Method, question: GoldQuestion) -> Solved:
    """Answer a question and keep what was asked for it, in an order that does not hang on who was faster.

    Raises:
        ModelError: the model failed.
        RetrievalError: the search failed.
    """
    recorder = Recorder()
    output = method.invoke({"question": question.question}, {"callbacks": [recorder]})
    order = list(KINDS)
    exchanges = sorted(
        recorder.exchanges,
        key=lambda each: (order.index(each.node) if each.node in order else -1, each.node, each.prompt),
    )
    return Solved(
        question_id=question.id,
        question=question.question,
        golden_answers=question.golden_answers,
        answer=output["answer"],
        f1=f1(output["answer"], question.golden_answers),
        exchanges=tuple(exchanges),
        cost=output["cost"],
    )


def turns_of(solved: Solved) -> Sequence[Turn]:
    """What is to be learnt from a question: nothing, unless its answer is right.

    Left out too are trees that could not be used, readings that found nothing, and summaries that dropped an
    answer, so that the method read the pairs instead.
    """
    if solved.f1 < 1.0:
        return ()
    read_at_the_end = [each.prompt for each in solved.exchanges if each.node == "read_chains"]

    def kept(each: Exchange) -> bool:
        if each.node == "make_tree":
            return _is_tree(each.reply, solved.question)
        if each.node == "summarise_chain":
            return any(" ".join(each.reply.split()) in prompt for prompt in read_at_the_end)
        return each.node in KINDS and not not_there(each.reply)

    return [
        Turn(KINDS[each.node], solved.question_id, each.prompt, each.reply.strip())
        for each in solved.exchanges
        if each.reply.strip() and kept(each)
    ]


def _is_tree(reply: str, question: str) -> bool:
    try:
        read_tree(reply, question, ROOT)
    except NoTree:
        return False
    return True
