"""A model with a seed of its own: methods that draw samples give the same run again."""

from collections.abc import Callable

import pytest

from knowwhen import Method, keqa, resolve_model, seakr

QUESTION = "Which person starred in Skirn Vlurk and directed Thimis Plolm?"


@pytest.mark.parametrize("build", [keqa, seakr])
def test_the_same_seed_gives_the_same_run(build: Callable[..., Method]) -> None:
    _, first, again, other = (
        drawn(build, seed) for seed in (0, 0, 0, 1)
    )  # the first keeps what prompts share
    assert first == again
    assert first != other  # or nothing was drawn


def drawn(build: Callable[..., Method], seed: int) -> list[object]:
    """What depends on the samples: KEQA's themselves, or else the scores."""
    method = build(model=resolve_model("pocket").model_copy(update={"seed": seed}))
    steps = method.invoke({"question": QUESTION})["steps"]
    return [step["details"].get("samples") or round(step["score"] or 0, 2) for step in steps]
