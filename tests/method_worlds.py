"""One question for every method, in a world where it takes several calls, side by side where it can.

    world = WORLDS["keqa"]
    graph = world.build(world.model(world.script))
    graph.invoke({"question": world.question})["answer"] == world.answer

Every script is a function of what is asked, so that it says the same to whoever asks, and when.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import keqa_script
import seakr_script
import taikc_script
from scripted import ScriptedChat
from self_dc_script import SEVEN

from knowwhen.graphs import Method, chain_of_thought, direct, generate_then_read, retrieve_then_read, self_dc
from knowwhen.nodes.think_step_by_step import ANSWER_MARK


@dataclass(frozen=True)
class MethodWorld:
    """What a method is asked in it, and what comes of it.

    Attributes:
        build: from a model and a shelf to the method; takes settings.
        script: what the model says.
        model: the kind of model that the script is for.
        calls: how many of the model.
        looked_up: how many retrievals.
    """

    question: str
    answer: str
    build: Callable[..., Method]
    script: Any
    calls: int
    looked_up: int = 0
    model: type[ScriptedChat] = ScriptedChat


def _seven(model: Any, shelf: Any, **settings: Any) -> Method:
    return self_dc(model, shelf, **{"confidence": "verbalised", "alpha": 0.6, "beta": 0.1, **settings})


def _taikc(model: Any, shelf: Any, **settings: Any) -> Method:
    from knowwhen.graphs import taikc

    return taikc(model, shelf, **{"demonstrations": (), **settings})


TREE = taikc_script.Story(
    "Which of the two films has the older director, Karn or Belo?",
    {
        "query1": {
            "question": "Who directed Karn?",
            "children": {"query2": {"question": "When was #query1 born?"}},
        },
        "query3": {
            "question": "Who directed Belo?",
            "children": {"query4": {"question": "When was #query3 born?"}},
        },
    },
    certain={"Who directed Belo?": "Mavi", "When was Mavi born?": "1934"},
    read={"Who directed Karn?": "Alba", "When was Alba born?": "1918"},
    answer="Karn",
)

WORLDS = {
    "direct": MethodWorld(
        "Where is Alba?",
        "Zeno",
        lambda model, shelf, **given: direct(model, **given),
        lambda prompt: "Zeno",
        1,
    ),
    "chain_of_thought": MethodWorld(
        "Where is Alba?",
        "Zeno",
        lambda model, shelf, **given: chain_of_thought(model, **given),
        lambda prompt: f"Alba lies by the river. {ANSWER_MARK} Zeno.",
        1,
    ),
    "generate_then_read": MethodWorld(
        "Where is Alba?",
        "Zeno",
        lambda model, shelf, **given: generate_then_read(model, **given),
        lambda prompt: "Zeno" if "Alba is in Zeno." in prompt else "Alba is in Zeno.",
        2,
    ),
    "retrieve_then_read": MethodWorld(
        "Where is Alba?", "Zeno", retrieve_then_read, lambda prompt: "Zeno", 1, looked_up=1
    ),
    "self_dc": MethodWorld("root", "the answer to root", _seven, SEVEN, 19, looked_up=2),
    "keqa": MethodWorld(
        keqa_script.Q,
        "Zeno",
        keqa_script.build,
        keqa_script.Story(),
        25,
        looked_up=1,
        model=keqa_script.Pupil,
    ),
    "seakr": MethodWorld(
        seakr_script.Q,
        "Zeno",
        seakr_script.build,
        seakr_script.LOOKED_UP,
        16,
        looked_up=1,
        model=seakr_script.Thinker,
    ),
    "taikc": MethodWorld(TREE.question, "Karn", _taikc, TREE, 10, looked_up=2),
}
