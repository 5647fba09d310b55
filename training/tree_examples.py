"""What the pocket model learns of TAIKC: question trees, Confident QA, reading what may not be there, chains.

Like the other examples, these are made with the very prompts of `nodes/` and over any world. What the model
is certain of comes from its own right and wrong answers (`training/confidence.py`).
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from knowwhen.almanac.passages import entity_passage, state_plainly
from knowwhen.almanac.phrasing import ask
from knowwhen.almanac.questions import AlmanacQuestion
from knowwhen.nodes import confident_qa, make_tree, read_if_there, read_passages, summarise_chain
from knowwhen.nodes.combine import as_pairs
from knowwhen.nodes.references import filled_in, references_in
from knowwhen.training.quiz_examples import answered, as_passage, helpless

if TYPE_CHECKING:
    from knowwhen.training.examples import Example, Examples

MOST_PASSAGES = 5  # the method's own number
MISSING = 0.25  # of the readings: no passage holds the answer
UNSUMMARISED = 0.15  # of the chains: the pairs themselves, which stand in when a summary drops an answer


def tree(examples: "Examples") -> "Example":
    """A question and its tree."""
    question = examples.any_question()
    steps = question.decomposition if question.hops > 1 else (question.question,)
    prompt = make_tree.PROMPT.format(question=question.question, demonstrations="")
    return ((prompt, json.dumps(nested(steps), ensure_ascii=False)),)


def nested(steps: Sequence[str]) -> dict[str, Any]:
    """The tree of a decomposition: each step below the one that it refers to, numbered in pre-order."""
    parents = [max(references_in(step), default=0) for step in steps]
    below: dict[int, list[int]] = {}
    for number, parent in enumerate(parents, 1):
        below.setdefault(parent, []).append(number)
    names: dict[int, str] = {}

    def branches(parent: int) -> dict[str, Any]:
        written: dict[str, Any] = {}
        for number in below.get(parent, ()):
            names[number] = f"query{len(names) + 1}"
            name, asked = names[number], filled_in(steps[number - 1], {n: f"#{q}" for n, q in names.items()})
            children = branches(number)
            written[name] = {"question": asked, **({"children": children} if children else {})}
        return written

    return branches(0)


def paths(steps: Sequence[str]) -> list[list[int]]:
    """The steps' places on each path from the root to a leaf, in the tree's order."""
    parents = [max(references_in(step), default=0) - 1 for step in steps]
    leaves = [place for place in range(len(steps)) if place not in parents]
    found = []
    for leaf in leaves:
        path = [leaf]
        while parents[path[0]] >= 0:
            path.insert(0, parents[path[0]])
        found.append(path)
    return sorted(found)


def declined_stranger(examples: "Examples") -> "Example":
    """A fact of another world under Confident QA: nobody can be certain of it, and it never comes again."""
    while examples.remembered:
        examples.turn_page()
    own = examples.own.by_name  # a name of one word may be somebody's there, too
    fact = examples.rng.choice([f for f in examples.elsewhere.facts if f.subject.name not in own])
    quiz = ask(fact.relation, fact.subject.name, examples.rng, examples.held_out)
    return ((confident_qa.PROMPT.format(question=quiz), confident_qa.RAG_REQUIRED),)


def read_or_miss(examples: "Examples", passages: int | None = None, missing: bool | None = None) -> "Example":
    """A single fact among passages as a search may find them, or in none of them.

    Args:
        examples: where from.
        passages: how many; None: drawn.
        missing: whether none holds it; None: drawn.
    """
    rng, world = examples.rng, examples.elsewhere.world
    fact = rng.choice(examples.elsewhere.facts)
    missing = rng.random() < MISSING if missing is None else missing
    count = passages or rng.randint(1, MOST_PASSAGES)
    told = [] if missing else [entity_passage(world, fact.subject, rng)]
    while len(told) < count:
        other = helpless(examples, fact)
        if all(other.text != each.text for each in told):
            told.append(other)
    rng.shuffle(told)
    question = ask(fact.relation, fact.subject.name, rng, examples.held_out)
    prompt = read_if_there.PROMPT.format(
        question=question, passages=read_passages.as_text([as_passage(each) for each in told])
    )
    return ((prompt, read_if_there.NOT_FOUND if missing else fact.object),)


def chain_summary(examples: "Examples") -> "Example":
    """The pairs of one path through a question's tree, in sentences."""
    question = examples.any_question()
    path = examples.rng.choice(paths(question.decomposition))
    questions, answers = answered(question)
    pairs = as_pairs([questions[place] for place in path], [answers[place] for place in path])
    return ((summarise_chain.PROMPT.format(pairs=pairs), _summary(question, path)),)


def from_chains(examples: "Examples") -> "Example":
    """A question with its knowledge chains, read like passages."""
    question = examples.compositional()
    questions, answers = answered(question)
    chains = []
    for path in paths(question.decomposition):
        pairs = " ".join(f"{questions[place]} {answers[place]}." for place in path)
        chains.append(pairs if examples.rng.random() < UNSUMMARISED else _summary(question, path))
    shown = "\n".join(f"[{number}] {chain}" for number, chain in enumerate(chains, 1))
    prompt = read_if_there.PROMPT.format(question=question.question, passages=shown)
    return ((prompt, question.answers[0]),)


def _summary(question: AlmanacQuestion, path: Sequence[int]) -> str:
    return " ".join(state_plainly(question.facts[place]) for place in path)
