"""What talks with tools are made of: wordings, names and answers, drawn at random."""

from collections.abc import Sequence

from knowwhen.almanac.world import Entity, name_words
from knowwhen.training.examples import Examples
from knowwhen.training.invented import invented

HELD_OUT_OF = 20  # wordings, at least: of fewer each is missed


def trained(texts: Sequence[str], held_out: bool) -> list[str]:
    """Of wordings those that are trained on, or every fifth, which is held out; of a few all."""
    if len(texts) < HELD_OUT_OF:
        return list(texts)
    return [text for place, text in enumerate(texts) if (place % 5 == 4) == held_out]


class Pieces:
    """Draws pieces about the worlds of `examples`."""

    def __init__(self, examples: Examples) -> None:
        self.examples, self.rng = examples, examples.rng

    def one(self, texts: Sequence[str]) -> str:
        """One of these wordings that may be drawn."""
        return self.rng.choice(trained(texts, self.examples.held_out))

    def names(self, count: int) -> list[str]:
        """Names of the world at hand, or of nobody in it."""
        world = self.examples.elsewhere.world
        drawn = [entity.name for entity in self.rng.sample(list(world.entities.values()), count)]
        if self.rng.random() < 0.15:
            words = name_words()
            drawn = [" ".join(self.rng.sample(words, self.rng.randint(1, 3))) for _ in drawn]
        return drawn

    def entity(self, name: str) -> Entity | None:
        """Who or what bears a name in the world at hand."""
        return self.examples.elsewhere.world.by_name.get(name)

    def any_answer(self) -> str:
        """An answer that nothing said before leads to."""
        return self.rng.choice(
            (
                self.names(1)[0],
                str(self.rng.randint(1, 2100)),
                invented(self.rng),
                self.rng.choice(("yes", "no", "red", "three", "about 300 people", "a film", "in the north")),
            )
        )
