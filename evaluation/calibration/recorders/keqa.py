"""KEQA recorded: a single-fact question answered N_c times, the answers clustered, and once from passages."""

from typing import Any

from knowwhen.evaluation.calibration.recorders.recorder import Recorder, record_of, tokens
from knowwhen.evaluation.calibration.records import Asked, Attempt, Record, Samples
from knowwhen.evaluation.calibration.replays.keqa import largest
from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.graphs.keqa import PROMPTS, KEQASettings, keqa
from knowwhen.models.capability import Capability
from knowwhen.models.cost import NO_COST, add_costs
from knowwhen.models.door import Door
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.tools.resolve import RetrieverLike, resolve_retriever
from knowwhen.uncertainty.clusters import by_normal_form
from knowwhen.uncertainty.judge import SAME, Judge
from knowwhen.uncertainty.judges import resolve_judge

SAMPLES = 10
"""Twice the paper's N_c, so that a larger one can be chosen."""


def keqa_recorder(
    model: ModelLike, retriever: RetrieverLike, estimator: str, given: dict[str, Any]
) -> Recorder:
    """Records for KEQA.

    Args:
        model: who is asked, and judges whether answers mean the same.
        retriever: what is looked up in.
        estimator: `consistency`, which the clusters are.
        given: the user's settings of KEQA; `tries` is how many answers are drawn.

    Raises:
        SettingsError: a setting is out of its range, or there is another estimator.
        CapabilityError: the model does not draw several samples in one request.
    """
    settings = KEQASettings(**{"tries": SAMPLES} | given)
    chat = resolve_model(model)
    door = Door(chat, needs=[Capability.SAMPLES], asked_by="keqa's assessment of quizzes")
    judge = resolve_judge("model", door)
    open_book = keqa(chat, resolve_retriever(retriever), **given | {"assess": False})

    def ask(question: GoldQuestion) -> Record:
        prompt = PROMPTS["assess"].format(question=question.question)
        reply = door.ask(prompt, n=settings.tries, **settings.quiz_sampling())
        answers = tuple(text.strip() for text in reply.texts)
        clusters, judging = clustered(question.question, answers, judge)
        samples = Samples(answers=answers, clusters=clusters, tokens=tokens(reply.cost) + judging)
        known, size = largest(samples, len(answers))
        opened = open_book.invoke({"question": question.question})
        asked = Asked(
            question=question.question,
            closed_book=Attempt(answer=known or "", scores={estimator: size / len(answers)}),
            open_book=(Attempt(answer=opened["answer"], tokens=tokens(opened["cost"])),),
            retrievals=opened["cost"]["retrievals"],
            samples=samples,
        )
        return record_of(question, asked)

    return Recorder(ask, estimator, "confidence", dict(PROMPTS))


def clustered(question: str, answers: tuple[str, ...], judge: Judge) -> tuple[tuple[int | None, ...], int]:
    """The cluster of each answer as Algorithm 1 makes them, and the tokens that the judging took.

    All pairs are judged, not only those that can make the largest cluster of all answers: of fewer answers
    another may be the largest.
    """
    groups, _ = by_normal_form(answers)
    firsts = [answers[group[0]] for group in groups]
    pairs = [(later, first) for later in range(len(groups)) for first in range(later)]
    spent, same = NO_COST, set()
    if pairs:
        judged = judge(question, [(firsts[later], firsts[first]) for later, first in pairs])
        same = {pair for pair, alike in zip(pairs, judged.alike, strict=True) if alike >= SAME}
        spent = add_costs(spent, judged.cost)
    founders: list[int] = []
    cluster_of: dict[int, int] = {}
    for group, places in enumerate(groups):
        number = next((n for n, founder in enumerate(founders) if (group, founder) in same), len(founders))
        if number == len(founders):
            founders.append(group)
        cluster_of |= dict.fromkeys(places, number)
    return tuple(cluster_of.get(place) for place in range(len(answers))), tokens(spent)
