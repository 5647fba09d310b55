"""What the pocket model learns of KEQA: quizzes, whether answers mean the same, utility, summaries.

Like the other examples, these are made with the very prompts of `nodes/` and over any world, so that nothing
of them can be learnt by heart.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from knowwhen.almanac.passages import AlmanacPassage, state_plainly
from knowwhen.almanac.phrasing import ask
from knowwhen.almanac.questions import AlmanacQuestion
from knowwhen.almanac.rationales import rationales
from knowwhen.almanac.relations import BY_NAME
from knowwhen.almanac.world import BEGINNING, TODAY, Fact
from knowwhen.nodes import answer_directly, extract_sentences, make_quizzes, pick, summarise
from knowwhen.nodes.combine import as_pairs
from knowwhen.nodes.references import filled_in
from knowwhen.nodes.think import FINAL_MARK
from knowwhen.tools.passage import Passage
from knowwhen.uncertainty import judge

if TYPE_CHECKING:
    from knowwhen.training.examples import Example, Examples, Turn

HELPFUL = 0.45  # of the passages shown
SHOWN = (0, 0, 0, 0, 1, 1, 2, 3, 8)  # labelled passages before the one to judge, as often as they stand here


def quizzes(examples: "Examples") -> "Example":
    """A question and its quizzes; of a single fact, the question again."""
    question = examples.any_question()
    steps = question.decomposition if question.hops > 1 else (question.question,)
    written = "\n".join(f"#{number}: {quiz}" for number, quiz in enumerate(steps, 1))
    return ((make_quizzes.PROMPT.format(question=question.question, demonstrations=""), written),)


def same_answer(examples: "Examples") -> "Example":
    """Whether two answers to a quiz mean the same."""
    rng, asker = examples.rng, examples.elsewhere
    fact = rng.choice(asker.facts)
    quiz = ask(fact.relation, fact.subject.name, rng, examples.held_out)
    same = rng.random() < 0.5
    pair = [fact.object, _said_again(examples, fact) if same else _another(examples, fact)]
    rng.shuffle(pair)
    asked = answer_directly.PROMPT.format(question=quiz) if rng.random() < 0.15 else quiz
    prompt = judge.PROMPT.format(prompt=asked, first=pair[0], second=pair[1])
    return ((prompt, "yes" if same else "no"),)


def _said_again(examples: "Examples", fact: Fact) -> str:
    first, *_, last = [*fact.object.split(), *fact.object.split()]
    year = BY_NAME[fact.relation].object == "year"
    ways = [f"It is {fact.object}.", state_plainly(fact)]
    ways += [f"in {fact.object}", f"In the year {fact.object}"] if year else [first, last]
    return examples.rng.choice(ways)


def _another(examples: "Examples", fact: Fact) -> str:
    rng, asker = examples.rng, examples.elsewhere
    if BY_NAME[fact.relation].object == "year":
        year = rng.choice([y for y in range(BEGINNING, TODAY) if str(y) != fact.object])
        return rng.choice([f"{year}", f"in {year}"])
    words = set(fact.object.split())
    like = [e.name for e in asker.world.entities.values() if words & set(e.name.split())]
    alike = [f.object for f in asker.by_relation[fact.relation]]
    others = [name for name in rng.choice([like, alike]) + alike if name != fact.object]
    if not others:
        return "unknown"
    other = rng.choice(others)
    return rng.choice([other, other, f"It is {other}."])


def utility(examples: "Examples", shown: int | None = None) -> "Example":
    """Whether a passage helps to answer a quiz, behind others of which it is told.

    Args:
        examples: where from.
        shown: how many others; None: drawn.
    """
    rng, asker = examples.rng, examples.elsewhere
    last = rng.choice(asker.facts)
    count = rng.choice(SHOWN) if shown is None else shown
    alike = asker.by_relation[last.relation]
    facts = [rng.choice(alike if rng.random() < 0.7 else asker.facts) for _ in range(count)]
    return tuple(_judged(examples, fact) for fact in [*facts, last])


def _judged(examples: "Examples", fact: Fact) -> "Turn":
    quiz = ask(fact.relation, fact.subject.name, examples.rng, examples.held_out)
    helps = examples.telling.get(fact.key, [])
    helpful = bool(helps) and examples.rng.random() < HELPFUL
    told = examples.rng.choice([helps[0], *helps]) if helpful else helpless(examples, fact)
    return pick.as_prompt(quiz, as_passage(told)), "yes" if helpful else "no"


def helpless(examples: "Examples", fact: Fact) -> AlmanacPassage:
    """A passage that a search may find for a quiz and that does not hold the answer."""
    name, words = fact.subject.name, set(fact.subject.name.split())
    others = [p for p in examples.corpus if fact.key not in p.states]
    on_it = [p for p in others if name in p.title]  # old editions and rumours
    naming = [p for p in others if name in p.text]
    like = [p for p in others if words & set(p.title.split())]
    kind = [p for p in others if p.id in examples.same_kind(fact.subject)]
    pools = [pool for pool in (on_it, on_it, naming, naming, like, kind, others) if pool]
    return examples.rng.choice(examples.rng.choice(pools))


def extraction(examples: "Examples") -> "Example":
    """The sentence of a passage that holds the answer."""
    rng = examples.rng
    while True:
        fact = rng.choice(examples.elsewhere.facts)
        told = next(iter(examples.telling.get(fact.key, [])), None)
        if told is None:
            continue
        sentences = [f"{s.strip('.')}." for s in told.text.split(". ")]
        holding = [s for s in sentences if fact.object in s]
        if len(holding) == 1:
            quiz = ask(fact.relation, fact.subject.name, rng, examples.held_out)
            prompt = extract_sentences.as_prompt(quiz, as_passage(told))
            return ((prompt, holding[0]),)


def summary(examples: "Examples") -> "Example":
    """A question with its quizzes answered: what follows, and the answer."""
    question = examples.compositional()
    prompt = summarise.PROMPT.format(question=question.question, pairs=as_pairs(*answered(question)))
    return ((prompt, f"{' '.join(rationales(question))} {FINAL_MARK} {question.answers[0]}."),)


def answered(question: AlmanacQuestion) -> tuple[Sequence[str], Sequence[str]]:
    """A question's quizzes with all references filled in, and their answers."""
    answers = {number: fact.object for number, fact in enumerate(question.facts, 1)}
    return [filled_in(quiz, answers) for quiz in question.decomposition], list(answers.values())


def stranger(examples: "Examples") -> "Example":
    """A fact of another world, asked directly.

    Nobody can know it, and it never comes again: what the model learns of many of them is that of a stranger
    anything may be true. A large model has read much that it could not keep.
    """
    if examples.remembered:
        examples.turn_page()
        return examples.direct()
    own = examples.own.by_name  # a name of one word may be somebody's there, too
    fact = examples.rng.choice([f for f in examples.elsewhere.facts if f.subject.name not in own])
    quiz = ask(fact.relation, fact.subject.name, examples.rng, examples.held_out)
    return ((answer_directly.PROMPT.format(question=quiz), fact.object),)


def as_passage(told: AlmanacPassage) -> Passage:
    """The passage as a prompt shows it."""
    return Passage(id=told.id, title=told.title, text=told.text, source="", rank=1, score=None)
