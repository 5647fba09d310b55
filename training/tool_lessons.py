"""From talks with tools to batches: tokens as a `ChatTransformers` sends them, the loss over the replies."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from knowwhen.models.tool_messages import template_turns
from knowwhen.training.examples import Examples
from knowwhen.training.lessons import NO_LOSS
from knowwhen.training.tokenizer import ASSISTANT, END
from knowwhen.training.tool_talks import Talk, Talks

LENGTHS = (64, 128, 192, 256, 320, 384, 512)
GROUP = 32  # steps drawn together
FOLLOW_UPS = 0.7  # of the talks: shorter ones, that end with one


@dataclass(frozen=True)
class ToolBatch:
    """Talks put together, each tensor (rows, length): what is read, and what is learnt of it."""

    ids: torch.Tensor
    labels: torch.Tensor


def encode(talk: Talk, tokenizer: Any) -> tuple[list[int], list[int]]:
    """A talk as token ids and labels, each of the talk's length."""
    text = tokenizer.apply_chat_template(template_turns(talk.messages), tools=talk.schemas, tokenize=False)
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    assistant, end = (tokenizer.convert_tokens_to_ids(mark) for mark in (ASSISTANT, END))
    labels, replying = [], False
    for token in ids:
        labels.append(token if replying else NO_LOSS)
        replying = token == assistant or (replying and token != end)
    return ids, labels


def tool_batches(seed: int, first: int, last: int, tokens: int, tokenizer: Any) -> Iterator[ToolBatch]:
    """The batches of steps `first` to `last`, each of `tokens` in all, padding included.

    They depend on the seed and the step alone, so that a resumed training sees what an unbroken one would.
    """
    for group in range(first // GROUP, (last + GROUP - 1) // GROUP):
        drawn = _group(random.Random(f"tools {seed} {group}"), tokens, tokenizer)
        yield from drawn[max(0, first - group * GROUP) :]


def _group(rng: random.Random, tokens: int, tokenizer: Any) -> list[ToolBatch]:
    examples = Examples(rng)
    talks = Talks(examples)
    waiting: dict[int, list[tuple[list[int], list[int]]]] = {length: [] for length in LENGTHS}
    done: list[ToolBatch] = []
    drawn = 0
    while len(done) < GROUP:
        drawn += 1
        if drawn % 40 == 0:
            examples.turn_page()
        ids, labels = encode(talks.follow_up() if rng.random() < FOLLOW_UPS else talks.talk(), tokenizer)
        length = next((length for length in LENGTHS if length >= len(ids)), None)
        if length is None:
            continue
        waiting[length].append((ids, labels))
        if len(waiting[length]) == tokens // length:
            done.append(_padded(waiting[length], length))
            waiting[length] = []
    rng.shuffle(done)
    return done


def _padded(rows: list[tuple[list[int], list[int]]], length: int) -> ToolBatch:
    # The padding stands on the right, where a causal model's real tokens never see it.
    ids, labels = torch.zeros((len(rows), length), dtype=torch.long), torch.full((len(rows), length), NO_LOSS)
    for row, (read, learnt) in enumerate(rows):
        ids[row, : len(read)] = torch.tensor(read)
        labels[row, : len(learnt)] = torch.tensor(learnt)
    return ToolBatch(ids, labels)
