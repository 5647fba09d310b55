"""From a turn to the tokens that a model learns it from: asked as it will be, and only the reply counts."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from jinja2 import TemplateError
from langchain_core.messages import HumanMessage

from knowwhen.models.errors import ModelError
from knowwhen.models.prompt_tokens import prompt_tokens
from knowwhen.training.turns import Turn

NO_LOSS = -100  # PyTorch's mark for a token that is read and not learnt


@dataclass(frozen=True)
class Lesson:
    """The tokens of a prompt and its reply, and of each what is learnt: itself, or nothing."""

    ids: list[int]
    labels: list[int]
    """As many as `ids`; `NO_LOSS` over the prompt."""


def lesson(tokenizer: Any, turn: Turn, ends: Collection[int]) -> Lesson:
    """The prompt as a `ChatTransformers` sends it, the reply as the chat template writes it, and an end.

    Chat templates mark the assistant's words in many ways or not at all, so none of their marks is relied on:
    the reply is what the whole conversation has more than the prompt.

    Args:
        tokenizer: the model's.
        turn: prompt and reply.
        ends: tokens that end an answer; where the template writes none behind the reply, the tokenizer's own
            end-of-sequence token is added, or the model would not learn to stop.

    Raises:
        ModelError: the chat template refuses the conversation, or the tokenizer has no end-of-sequence token.
    """
    prompt = prompt_tokens(tokenizer, [HumanMessage(turn.prompt)])
    reply = _reply(tokenizer, turn, prompt)
    last = max((place for place, token in enumerate(reply) if token in ends), default=None)
    if last is None:
        if tokenizer.eos_token_id is None:
            raise ModelError("the model's tokenizer has no end-of-sequence token; it cannot learn to stop")
        reply = [*reply, tokenizer.eos_token_id]
    else:  # some templates write a line break behind the end, which is never asked for
        reply = reply[: last + 1]
    return Lesson(prompt + reply, [NO_LOSS] * len(prompt) + reply)


def _reply(tokenizer: Any, turn: Turn, prompt: list[int]) -> list[int]:
    """The reply's tokens behind those of the prompt."""
    asked, written = turn.prompt, turn.prompt + turn.reply
    if tokenizer.chat_template is not None:
        user = {"role": "user", "content": turn.prompt}
        assistant = {"role": "assistant", "content": turn.reply}
        try:
            asked = tokenizer.apply_chat_template([user], tokenize=False, add_generation_prompt=True)
            written = tokenizer.apply_chat_template([user, assistant], tokenize=False)
        except TemplateError as error:
            raise ModelError(f"the model's chat template refuses these messages: {error}") from error
    if not written.startswith(asked):  # the template writes a past reply unlike one that is under way
        written = asked + turn.reply
    special = tokenizer.chat_template is None
    whole: list[int] = tokenizer(written, add_special_tokens=special, verbose=False)["input_ids"]
    if whole[: len(prompt)] == prompt:
        return whole[len(prompt) :]
    # Prompt and reply grow together into one token, or a token of its own closes the prompt.
    alone: list[int] = tokenizer(written[len(asked) :], add_special_tokens=False, verbose=False)["input_ids"]
    return alone
