"""Every estimator scores what a real model, of random weights, lets be seen."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tiny_models import tiny_llama  # noqa: F401
from transformers import AutoModelForCausalLM, AutoTokenizer

from knowwhen.models import ChatTransformers, Door
from knowwhen.uncertainty.drawing import drawn
from knowwhen.uncertainty.energy import Energy
from knowwhen.uncertainty.judge import ModelJudge
from knowwhen.uncertainty.perplexity import Perplexity
from knowwhen.uncertainty.resolve import NAMES, resolve_estimator

PROMPT = "Which of the two films has the older director?"


class Lengths:
    """Encodes a text by its length and its first character."""

    name = "lengths"

    def queries(self, texts: Any) -> NDArray[np.float64]:
        return np.array([[len(text), ord(text[0]), 1.0] for text in texts], dtype=np.float64)


@pytest.mark.parametrize("name", NAMES)
def test_every_estimator_scores_a_real_models_evidence(name: str, tiny_llama: Path) -> None:  # noqa: F811
    door = Door(ChatTransformers(path=str(tiny_llama)))
    # A model of random weights states no confidence when it is asked for one.
    asked_again = None if name == "verbalised" else door
    estimator = resolve_estimator(name, door=asked_again, judge=ModelJudge(door), encoder=Lengths())
    estimator.require(door.model)
    needs = estimator.needs.sampling()
    if name == "yes_no":
        needs["greedy"] = True  # there is always something to ask for
    seeds = iter(range(9))

    def draw(k: int) -> Any:
        asked = {**needs, "k": k, "temperature": 1.0, "max_tokens": 6, "seed": next(seeds)}
        return door.sample([PROMPT], **asked)[0]

    evidence = drawn(draw, needs["k"]) if needs["k"] else draw(0)
    if name == "verbalised":
        evidence = type(evidence)(PROMPT, type(evidence.greedy)(evidence.greedy.text + "\nConfidence: 80"))
    score = estimator.score(evidence)
    assert json.loads(json.dumps(score.as_json())) == score.as_json()
    assert score.meets(estimator.threshold(score.value))
    assert score.estimator == name.partition(":")[0] and score.settings.items() >= estimator.settings.items()


def test_scores_of_the_greedy_answer_are_those_of_a_plain_forward_pass(tiny_llama: Path) -> None:  # noqa: F811
    (evidence,) = Door(ChatTransformers(path=str(tiny_llama))).sample(
        [PROMPT], 0, logprobs=True, max_tokens=8
    )
    tokenizer = AutoTokenizer.from_pretrained(tiny_llama)
    model = AutoModelForCausalLM.from_pretrained(tiny_llama)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": PROMPT}],
        add_generation_prompt=True,
        return_dict=True,
        return_tensors="pt",
    )
    whole = model.generate(**prompt, max_new_tokens=8, do_sample=False)
    answer = whole[0, prompt["input_ids"].shape[1] :]
    with torch.inference_mode():
        logits = model(whole).logits[0, -len(answer) - 1 : -1]
    nats = torch.nn.functional.cross_entropy(logits, answer)
    assert Perplexity().score(evidence).value == pytest.approx(float(nats.exp()), rel=1e-4)
    assert Energy().score(evidence).value == pytest.approx(-float(logits.logsumexp(-1).mean()), abs=1e-4)
