"""Teaching the pocket model tools: what talks show, and that a stopped training goes on where it was."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from knowwhen.graphs import agent
from knowwhen.models.pocket import pocket
from knowwhen.models.tool_weights import FILE, with_tools
from knowwhen.models.weights import load_weights, read_model
from knowwhen.training import asides, open_questions
from knowwhen.training.examples import Examples
from knowwhen.training.follow_ups import referring
from knowwhen.training.lessons import NO_LOSS
from knowwhen.training.tool_lessons import encode, tool_batches
from knowwhen.training.tool_pieces import trained
from knowwhen.training.tool_requests import METHODS, tool_for
from knowwhen.training.tool_talks import Talk, Talks
from knowwhen.training.tools import ToolPlan, ToolTrainer, train_tools

PLAN = ToolPlan(steps=4, tokens=512, warm_up=1, rank=2, embedding_rank=4)


@pytest.fixture(scope="module")
def talks() -> list[Talk]:
    examples = Examples(random.Random(3))
    drawn = Talks(examples)
    return [drawn.talk() for _ in range(150)]


def test_the_loss_is_over_the_replies_alone_and_over_their_ends(talks: list[Talk]) -> None:
    tokenizer = pocket().weights.tokenizer
    for talk in talks[:20]:
        ids, labels = encode(talk, tokenizer)
        assert len(ids) == len(labels) and all(
            label in (token, NO_LOSS) for token, label in zip(ids, labels, strict=True)
        )
        learnt = tokenizer.decode([label for label in labels if label != NO_LOSS])
        assert learnt.count("<|end|>") == len(talk.exchanges)
        assert "<|user|>" not in learnt and "<|tool|>" not in learnt and "<|assistant|>" not in learnt
        for exchange in talk.exchanges:
            said = [exchange.reply.content, *(c["name"] for c in exchange.reply.tool_calls)]
            assert all(str(part) in learnt for part in said)


def test_a_call_copies_its_question_and_a_sentence_what_the_tool_said(talks: list[Talk]) -> None:
    for talk in talks:
        for exchange in talk.exchanges:
            said, reply = str(exchange.said.content), exchange.reply
            if exchange.skill in ("question", "search"):
                (call,) = reply.tool_calls
                (asked,) = call["args"].values()
                assert asked in said and talk.tools[call["name"]] in call["args"]
            if exchange.skill == "answer":
                first, *rest = said.splitlines()
                assert (first in str(reply.content)) != (first == "No answer found")
                assert all(line in str(reply.content) for line in rest)
            if exchange.skill == "error":
                assert said.removeprefix("Error: ") in str(reply.content)
            if exchange.skill == "aside":
                assert not reply.tool_calls


def test_each_kind_of_question_has_its_method() -> None:
    examples = Examples(random.Random(4))
    kinds = {"one_hop": "self_dc", "bridge": "taikc", "four_hop": "taikc", "comparison": "keqa"}
    kinds |= {"yes_no": "keqa", "intersection": "keqa", "bridge_comparison": "keqa"}
    for kind, method in kinds.items():
        question = next(q for q in iter(lambda kind=kind: examples.elsewhere.draw(kind), ()) if q)
        assert tool_for(question) == method and method in METHODS
    assert METHODS == agent.TOOLS


def test_what_is_held_out_is_in_no_talk_that_is_taught() -> None:
    for texts in (asides.GREETINGS, asides.STATEMENTS, open_questions.ONE_FACT):
        taught, held_out = trained(texts, False), trained(texts, True)
        assert set(taught) | set(held_out) == set(texts) and not set(taught) & set(held_out) and held_out


@pytest.mark.parametrize(
    ("wording", "kind", "expected"),
    [
        ("When was {s} born?", "person", {"When was he born?", "When was she born?"}),
        ("What award went to {s}?", "person", {"What award went to him?", "What award went to her?"}),
        ("Who trains {s}?", "team", {"Who trains them?"}),
        ("When did {s} come out?", "film", {"When did it come out?"}),
        (
            "Who is the mayor of {s}?",
            "city",
            {"Who is its mayor?", "Who is the mayor of it?", "Who is the mayor there?"},
        ),
    ],
)
def test_a_follow_up_refers_in_the_right_word(wording: str, kind: str, expected: set[str]) -> None:
    rng = random.Random(5)
    assert {referring(wording, kind, rng) for _ in range(60)} == expected


def test_batches_depend_on_seed_and_step_alone() -> None:
    tokenizer = pocket().weights.tokenizer
    whole = list(tool_batches(1, 0, 40, 512, tokenizer))
    rest = list(tool_batches(1, 35, 40, 512, tokenizer))
    other = next(tool_batches(2, 0, 40, 512, tokenizer))
    assert all(
        a.ids.equal(b.ids) and a.labels.equal(b.labels) for a, b in zip(whole[35:40], rest[:5], strict=True)
    )
    assert not whole[0].ids.equal(other.ids)


@pytest.mark.slow
def test_a_stopped_training_goes_on_and_its_changes_are_those_of_an_unbroken_one(tmp_path: Path) -> None:
    base = Path(pocket().path)
    whole = train_tools(base, tmp_path / "whole", PLAN, compiled=False)
    stream = tool_batches(PLAN.seed, 0, PLAN.steps, PLAN.tokens, pocket().weights.tokenizer)
    stopped = ToolTrainer(base, tmp_path / "stopped", PLAN, compiled=False)
    for _ in range(2):
        stopped.learn(next(stream))
    stopped.save()
    resumed = train_tools(base, tmp_path / "stopped", PLAN, compiled=False)
    assert whole.read_bytes() == resumed.read_bytes()
    assert (tmp_path / "whole" / "loss.png").exists()


def test_exported_changes_make_the_model_that_was_trained(tmp_path: Path) -> None:
    base, folder = Path(pocket().path), tmp_path / "model"
    trainer = ToolTrainer(base, tmp_path / "run", replace(PLAN, rate=1e-2), compiled=False)
    stream = tool_batches(1, 0, 8, 512, trainer.tokenizer)
    for _ in range(3):
        batch = next(stream)
        trainer.learn(batch)
    model, tokenizer = read_model(str(base), "float32")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    assert trainer.export(folder) == folder / FILE
    changed = with_tools(load_weights(str(folder), "float32"), str(folder))
    with torch.no_grad():
        states = trainer.model.model(input_ids=batch.ids).last_hidden_state
        wanted = states @ trainer.model.model.embed_tokens.weight.T
        got = changed.model(input_ids=batch.ids).logits
        plain = model(input_ids=batch.ids).logits
    assert (wanted - got).abs().max() < 0.05 * (wanted - plain).abs().max()  # changes are kept in bfloat16
