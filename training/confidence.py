"""Teaches the pocket model to say how sure it is, from its own right and wrong answers.

The model is asked the train and the calibration split, whose facts it knows, does not know or knows wrongly,
and single facts of other worlds, of which it has read nothing: else it would learn the few strangers of the
splits by name. How often it is right at each probability of its answers is fitted (isotonic regression), and
it then learns to state that share behind its own answer. The almanac's labels of what is known are never
looked at.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from sklearn.isotonic import IsotonicRegression

from knowwhen.almanac.phrasing import ask
from knowwhen.almanac.questions import KINDS, Asker
from knowwhen.almanac.splits import facts_of
from knowwhen.almanac.world import default_world, make_world
from knowwhen.evaluation.metrics import exact_match
from knowwhen.models.door import Door
from knowwhen.nodes import answer_directly, confident_qa, score_confidence
from knowwhen.training.examples import Example
from knowwhen.uncertainty.probability import mean_probability

WORDINGS = 4  # how often each single fact is asked, each time in other words
ELSEWHERE = (120, 80)  # other worlds, and facts of each
COMPOSITIONAL = 120  # questions of every other kind


@dataclass(frozen=True)
class OwnAnswer:
    """The model's answer to a question, how probable it found it, and whether it was right."""

    question: str
    answer: str
    probability: float
    right: bool


def own_answers(door: Door, seed: int) -> list[OwnAnswer]:
    """The model's greedy answers to both splits' questions and about other worlds, in trained wordings."""
    world, rng = default_world(), random.Random(f"own answers {seed}")
    asker = Asker(world, rng, [*facts_of(world, "train"), *facts_of(world, "calibration")])
    asked: list[tuple[str, tuple[str, ...]]] = [
        (ask(fact.relation, fact.subject.name, rng), (fact.object,))
        for fact in asker.facts
        for _ in range(WORDINGS)
    ]
    for kind in KINDS[1:]:
        asked += [(q.question, q.answers) for q in asker.many(kind, COMPOSITIONAL)]
    worlds, facts = ELSEWHERE
    for _ in range(worlds):
        stranger = Asker(make_world(rng.getrandbits(40)), rng)
        asked += [(q.question, q.answers) for q in stranger.many("one_hop", facts)]
    return [_answer(door, question, gold) for question, gold in asked]


def _answer(door: Door, question: str, gold: Sequence[str]) -> OwnAnswer:
    reply = door.ask(
        answer_directly.PROMPT.format(question=question), logprobs=True, temperature=0, max_tokens=24
    )
    answer = reply.text.strip()
    probability = mean_probability([token.logprob for token in (reply.token_logprobs or ((),))[0]])
    return OwnAnswer(question, answer, probability or 0.0, exact_match(answer, gold) == 1)


def stated_confidences(answers: Sequence[OwnAnswer]) -> list[Example]:
    """Examples that state behind each answer how often the model is right when it finds one so probable.

    Shares are stated in steps of 5 out of 100. A wrong answer stands there without being learnt: a model that
    learnt its own guesses by heart would find them the more probable.
    """
    fit = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    shares = fit.fit_transform([a.probability for a in answers], [float(a.right) for a in answers])
    return [_stated(given, float(share)) for given, share in zip(answers, shares, strict=True)]


def _stated(given: OwnAnswer, share: float) -> Example:
    prompt = score_confidence.PROMPT.format(question=given.question)
    answered = f"Answer: {given.answer}\nConfidence: {5 * round(20 * share)}"
    return ((prompt, answered),) if given.right else ((prompt, answered, given.answer),)


def certain_answers(answers: Sequence[OwnAnswer]) -> dict[str, list[Example]]:
    """Examples of Confident QA: what the model has right it says again, for the rest it asks for a look-up.

    Returns:
        The right ones as `certain`, the others as `uncertain`: a course can balance them.
    """
    pools: dict[str, list[Example]] = {"certain": [], "uncertain": []}
    for given in answers:
        prompt = confident_qa.PROMPT.format(question=given.question)
        said = given.answer if given.right else confident_qa.RAG_REQUIRED
        pools["certain" if given.right else "uncertain"].append(((prompt, said),))
    return pools
