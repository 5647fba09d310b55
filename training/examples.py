"""What the pocket model learns from: one function a task, each made with the very prompts of `nodes/`.

Whatever must be *remembered* is told of the default world as it was at the cut-off. Whatever must be
*read*, split or combined is made over fresh random worlds, so that it cannot be learnt by heart.
An example is a talk: turns of (what the user says, what the model answers), with the loss over the
answers. A user's None marks a bare document, all of whose tokens are learnt. A look-up is one question and
no more: it stands before the passages, so that the model can mark what is asked about while it reads, which
it does not learn if other questions follow.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial

from knowwhen.almanac.passages import AlmanacPassage, corpus, entity_passage, state
from knowwhen.almanac.phrasing import ask
from knowwhen.almanac.questions import KINDS, AlmanacQuestion, Asker
from knowwhen.almanac.rationales import rationales
from knowwhen.almanac.splits import facts_of
from knowwhen.almanac.world import TODAY, Entity, Fact, World, default_world, make_world, retold
from knowwhen.nodes import (
    answer_directly,
    answer_from_knowledge,
    answer_from_rationales,
    combine,
    decompose,
    generate_background,
    read_passages,
    think,
    think_step_by_step,
)
from knowwhen.tools.passage import Passage
from knowwhen.training import quiz_examples, tree_examples

# What the user says and what the model answers; a third string is a part of the answer that is not learnt.
Turn = tuple[str | None, str] | tuple[str | None, str, str]
Example = tuple[Turn, ...]

COMPOSITIONAL = KINDS[1:]
CHAINS = ("bridge", "three_hop", "four_hop")
COMPARED = ("comparison", "bridge_comparison")
SMALL_WORLD = {
    "country": (5, 5),
    "city": (12, 12),
    "award": (4, 4),
    "person": (36, 36),
    "film": (20, 20),
    "book": (14, 14),
    "company": (12, 12),
    "team": (8, 8),
}
RETOLD = 0.5  # of the worlds to read about: names that the model remembers other things of
MISSED = 0.15  # of the passages behind a reasoning: they are on something else
RETELLINGS = 64  # kept, for each takes a while to make


@lru_cache(maxsize=RETELLINGS)
def _retold(number: int) -> World:
    return retold(default_world(), number)


def passage(title: str, text: str) -> Passage:
    """A passage as the reader's prompt wants it."""
    return Passage(id="", title=title, text=text, source="", rank=1, score=None)


class Examples:
    """Draws training examples; the same `rng` gives the same ones.

    Args:
        rng: the source of every choice.
        pools: examples made beforehand, by their task, once the model has answers of its own to judge.
        held_out: draw in the wordings that nothing is trained on, to measure what was learnt.
    """

    def __init__(
        self,
        rng: random.Random,
        pools: Mapping[str, Sequence[Example]] | None = None,
        held_out: bool = False,
    ) -> None:
        self.rng, self.pools, self.held_out = rng, pools or {}, held_out
        self.own = default_world()
        self.known_facts = list(self.own.then.values())
        self.own_asker = Asker(self.own, rng, self.known_facts, held_out)
        # Questions of several facts are trained on the train split's alone: the others' stay untrodden.
        self.own_chains = Asker(self.own, rng, facts_of(self.own, "train", at_cut_off=True), held_out)
        self.elsewhere = self._fresh()

    def _fresh(self) -> Asker:
        self.remembered = self.rng.random() < RETOLD  # whether the names there are of the default world
        if self.remembered:
            return Asker(_retold(self.rng.randrange(RETELLINGS)), self.rng, None, self.held_out)
        return Asker(make_world(self.rng.getrandbits(40), SMALL_WORLD), self.rng, None, self.held_out)

    def turn_page(self) -> None:
        """Go on in another random world, or in the default one with all its facts changed."""
        self.elsewhere = self._fresh()
        for name in ("corpus", "telling"):
            self.__dict__.pop(name, None)

    @cached_property
    def corpus(self) -> list[AlmanacPassage]:
        """All passages of the world at hand, old editions and rumours too."""
        return list(corpus(self.elsewhere.world))

    @cached_property
    def telling(self) -> dict[tuple[str, str], list[AlmanacPassage]]:
        """By fact the passages that hold it, its subject's own first."""
        telling: dict[tuple[str, str], list[AlmanacPassage]] = {}
        for told in self.corpus:
            for key in told.states:
                telling.setdefault(key, []).append(told)
        for key, passages in telling.items():
            passages.sort(key=lambda told: told.id != key[0])
        return telling

    def same_kind(self, entity: Entity) -> set[str]:
        """The ids of the world's entities of a kind."""
        return {e.id for e in self.elsewhere.world.entities.values() if e.kind == entity.kind}

    def any_question(self) -> AlmanacQuestion:
        """A question about the world at hand, every other one of a single fact."""
        return self._any(self.elsewhere, self.elsewhere)

    def compositional(self) -> AlmanacQuestion:
        """A question about the world at hand that needs several facts."""
        return self._compositional(self.elsewhere)

    @cached_property
    def tasks(self) -> dict[str, Callable[[], Example]]:
        """Every task by its name."""
        return {
            "document": self.document,
            "drill": self.drill,
            "direct": self.direct,
            "direct_chain": self.direct_chain,
            "background": self.background,
            "thought": self.thought,
            "read": self.read,
            "read_background": self.read_background,
            "read_chain": self.read_chain,
            "decompose": self.decompose,
            "decompose_chain": self.decompose_chain,
            "step": self.step,
            "step_read": self.step_read,
            "step_needless": self.step_needless,
            "from_rationales": self.from_rationales,
            "from_knowledge": self.from_knowledge,
            "combine": self.combine,
            "whose": self.whose,
            "compare": self.compare,
            "conclude": self.conclude,
            "order": self.order,
            **{task: partial(self.rng.choice, pool) for task, pool in self.pools.items()},
            **{
                task.__name__: partial(task, self)
                for task in (
                    quiz_examples.quizzes,
                    quiz_examples.same_answer,
                    quiz_examples.utility,
                    quiz_examples.extraction,
                    quiz_examples.summary,
                    quiz_examples.stranger,
                    tree_examples.tree,
                    tree_examples.declined_stranger,
                    tree_examples.read_or_miss,
                    tree_examples.chain_summary,
                    tree_examples.from_chains,
                )
            },
        }

    # What the model remembers: the default world before its cut-off.

    def document(self) -> Example:
        """A passage of the almanac's edition of the cut-off, in fresh wording."""
        entity = self.rng.choice([e for e in self.own.entities.values() if e.since <= self.own.cut_off])
        told = entity_passage(self.own, entity, self.rng, at_cut_off=True)
        return ((None, f"{told.title}: {told.text}"),)

    def direct(self) -> Example:
        """A single known fact, asked directly."""
        question = self.own_asker.one_hop(self.rng.choice(self.known_facts))
        return ((answer_directly.PROMPT.format(question=question.question), question.answers[0]),)

    def direct_chain(self) -> Example:
        """A compositional question over known facts, asked directly."""
        question = self._compositional(self.own_chains)
        return ((answer_directly.PROMPT.format(question=question.question), question.answers[0]),)

    def background(self) -> Example:
        """The passage with the facts that a question needs, from memory."""
        question = self._any(self.own_asker, self.own_chains)
        return ((generate_background.PROMPT.format(question=question.question), self._told(question)),)

    def thought(self) -> Example:
        """A chain of thought over known facts."""
        question = self._any(self.own_asker, self.own_chains)
        thought = f"{self._told(question)} {think_step_by_step.ANSWER_MARK} {question.answers[0]}."
        return ((think_step_by_step.PROMPT.format(question=question.question), thought),)

    def step(self) -> Example:
        """The next step of a reasoning, from memory."""
        question = self._any(self.own_asker, self.own_chains)
        return self._next_step(question, self.rng.randrange(question.hops))

    # What it reads, splits and combines: any world.

    def drill(self, sentences: int = 8) -> Example:
        """Look-up in its barest form: passages of one sentence, easily mistaken for one another."""
        facts = self._related_facts(self.rng.randint(1, sentences))
        text = read_passages.as_text([passage(f.subject.name, state(f, self.rng)) for f in facts])
        return self._looked_up(self.rng.choice(facts), text)

    def read(self, passages: int = 3) -> Example:
        """A single fact among several passages, as the reader's prompt puts it."""
        world = self.elsewhere.world
        fact = self.rng.choice(self.elsewhere.facts)
        told = [entity_passage(world, fact.subject, self.rng)]
        told += self._distractors(world, fact, told, passages - 1)
        self.rng.shuffle(told)
        return self._looked_up(fact, self._shown(told))

    def read_chain(self) -> Example:
        """A compositional question whose facts stand in one to three passages."""
        asker = self.elsewhere
        for _ in range(20):
            question = self._compositional(asker)
            subjects = list(dict.fromkeys(fact.subject.id for fact in question.facts))
            if len(subjects) <= 3:
                prompt = read_passages.PROMPT.format(
                    question=question.question, passages=self._all_told(question, subjects)
                )
                return ((prompt, question.answers[0]),)
        return self.read()

    def from_knowledge(self) -> Example:
        """A question whose facts stand in one to four passages; they are reasoned before the answer."""
        question = self._any(self.elsewhere, self.elsewhere)
        subjects = list(dict.fromkeys(fact.subject.id for fact in question.facts))
        passages = self._all_told(question, subjects)
        prompt = answer_from_knowledge.PROMPT.format(question=question.question, passages=passages)
        steps = " ".join(rationales(question))
        return ((prompt, f"{steps} {think.FINAL_MARK} {question.answers[0]}."),)

    def read_background(self) -> Example:
        """A question over the background passage that the model itself would have written."""
        question = self._any(self.elsewhere, self.elsewhere)
        text = read_passages.as_text([passage("", self._told(question))])
        return (
            (read_passages.PROMPT.format(question=question.question, passages=text), question.answers[0]),
        )

    def decompose(self) -> Example:
        """A question and its independent parts."""
        return self._split(self._any(self.elsewhere, self.elsewhere))

    def decompose_chain(self) -> Example:
        """A chain, which has no independent parts, put plainly: long ones are hard to copy to the end."""
        return self._split(self._drawn(self.rng.choice(CHAINS)))

    def _split(self, question: AlmanacQuestion) -> Example:
        parts = "\n".join(f"#{i}: {part}" for i, part in enumerate(question.parts, 1))
        return ((decompose.PROMPT.format(question=question.question), parts),)

    def step_read(self) -> Example:
        """The next step of a reasoning, with a passage; sometimes the passage is on something else.

        Then the step must be remembered. The last step, which only concludes, has no passage.
        """
        if self.rng.random() < MISSED:
            question = self._any(self.own_asker, self.own_chains)
            done = self.rng.randrange(question.hops)
            (told,) = self._distractors(self.own, question.facts[done], [], 1)
            return self._next_step(question, done, passage(told.title, told.text))
        question = self._any(self.elsewhere, self.elsewhere)
        done = self.rng.randrange(len(rationales(question)) + 1)
        if done >= question.hops:
            return self._next_step(question, done)
        told = entity_passage(self.elsewhere.world, question.facts[done].subject, self.rng)
        return self._next_step(question, done, passage(told.title, told.text))

    def step_needless(self) -> Example:
        """A last step of a reasoning, with a passage that is of no more use."""
        question = self._any(self.elsewhere, self.elsewhere)
        told = entity_passage(self.elsewhere.world, self.rng.choice(question.facts).subject, self.rng)
        done = self.rng.randint(question.hops, len(rationales(question)))
        return self._next_step(question, done, passage(told.title, told.text))

    def from_rationales(self) -> Example:
        """A question with all its steps reasoned."""
        return self._from_rationales(self._any(self.elsewhere, self.elsewhere))

    def _from_rationales(self, question: AlmanacQuestion) -> Example:
        steps = think.as_lines(rationales(question))
        prompt = answer_from_rationales.PROMPT.format(question=question.question, rationales=steps)
        return ((prompt, question.answers[0]),)

    def combine(self) -> Example:
        """A question with its parts answered."""
        return self._combined(lambda: self._compositional(self.elsewhere))

    def _combined(self, draw: Callable[[], AlmanacQuestion]) -> Example:
        while len((question := draw()).parts) < 2:
            pass
        pairs = combine.as_pairs(question.parts, question.part_answers)
        return ((combine.PROMPT.format(question=question.question, pairs=pairs), question.answers[0]),)

    def whose(self) -> Example:
        """Which of two a year is of: a comparison without the comparing."""
        question = self._drawn(self.rng.choice(COMPARED))
        names = [fact.subject.name for fact in question.facts if fact.subject.name in question.question]
        name, year = self.rng.choice(list(zip(names, question.part_answers, strict=True)))
        asked = f"Which goes with {year}, {names[0]} or {names[1]}?"
        pairs = combine.as_pairs(question.parts, question.part_answers)
        return ((combine.PROMPT.format(question=asked, pairs=pairs), name),)

    def compare(self) -> Example:
        """A comparison with its parts answered."""
        return self._combined(lambda: self._drawn(self.rng.choice(COMPARED)))

    def conclude(self) -> Example:
        """A comparison with all its steps reasoned: its last step, or the answer from them."""
        question = self._drawn(self.rng.choice(COMPARED))
        if self.rng.random() < 0.5:
            return self._next_step(question, len(rationales(question)))
        return self._from_rationales(question)

    def order(self) -> Example:
        """Which of two years is the earlier or the later one: what comparisons need."""
        turns = []
        for _ in range(3):
            years = self.rng.sample(range(1880, TODAY + 1), 2)
            word, first = self.rng.choice((("earlier", True), ("later", False)))
            prompt = answer_directly.PROMPT.format(
                question=f"Which year is {word}, {years[0]} or {years[1]}?"
            )
            turns.append((prompt, str(min(years) if first else max(years))))
        return tuple(turns)

    # The pieces they are made of.

    def _compositional(self, asker: Asker) -> AlmanacQuestion:
        while True:
            question = asker.draw(self.rng.choice(COMPOSITIONAL))
            if question is not None:
                return question

    def _drawn(self, kind: str) -> AlmanacQuestion:
        return next(q for q in iter(lambda: self.elsewhere.draw(kind), ()) if q is not None)

    def _any(self, single: Asker, several: Asker) -> AlmanacQuestion:
        if self.rng.random() < 0.5:
            return single.one_hop(self.rng.choice(single.facts))
        return self._compositional(several)

    def _told(self, question: AlmanacQuestion) -> str:
        return " ".join(state(fact, self.rng) for fact in question.facts)

    def _next_step(self, question: AlmanacQuestion, done: int, shown: Passage | None = None) -> Example:
        """The step behind the first `done` ones."""
        steps = rationales(question)
        answer = f"{think.FINAL_MARK} {question.answers[0]}."
        prompt = think.as_prompt(question.question, steps[:done], shown)
        return ((prompt, [*steps, answer][done]),)

    def _related_facts(self, count: int) -> list[Fact]:
        """Facts that are easily mistaken for one another: of one subject, or of one relation."""
        asker = self.elsewhere
        first = self.rng.choice(asker.facts)
        near = [f for f in asker.facts if f.relation == first.relation or f.subject == first.subject]
        chosen = self.rng.sample(near, min(count, len(near)))
        return list({fact.key: fact for fact in chosen}.values())

    def _looked_up(self, fact: Fact, passages: str) -> Example:
        question = ask(fact.relation, fact.subject.name, self.rng, self.held_out)
        return ((read_passages.PROMPT.format(question=question, passages=passages), fact.object),)

    def _all_told(self, question: AlmanacQuestion, subjects: list[str]) -> str:
        """The passages on these subjects, and others up to three."""
        world = self.elsewhere.world
        told = [entity_passage(world, world.entities[subject], self.rng) for subject in subjects]
        told += self._distractors(world, question.facts[0], told, 3 - len(told))
        self.rng.shuffle(told)
        return self._shown(told)

    def _shown(self, told: list[AlmanacPassage]) -> str:
        return read_passages.as_text([passage(p.title, p.text) for p in told])

    def _distractors(
        self, world: World, first: Fact, told: list[AlmanacPassage], count: int
    ) -> list[AlmanacPassage]:
        """Passages that are easily taken for one on `first`, and are none."""
        words = set(first.subject.name.split()) | set(first.object.split())
        titles = {first.subject.name, *(p.title for p in told)}
        others = [e for e in world.entities.values() if e.name not in titles]
        near = [e for e in others if words & set(e.name.split())]
        same = [e for e in others if e.kind == first.subject.kind]
        chosen: dict[str, AlmanacPassage] = {}
        while len(chosen) < count:
            pool = self.rng.choice([near or same, same or others, others])
            entity = self.rng.choice(pool)
            chosen[entity.id] = entity_passage(world, entity, self.rng)
        return list(chosen.values())
