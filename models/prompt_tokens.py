"""From chat messages to the tokens a local model reads."""

from collections.abc import Sequence
from typing import Any

from jinja2 import TemplateError
from langchain_core.messages import BaseMessage

from knowwhen.models.errors import ModelError
from knowwhen.models.tool_messages import template_turns
from knowwhen.models.tool_offer import Offer, rendered

NO_TOOLS = Offer()


def prompt_tokens(tokenizer: Any, messages: Sequence[BaseMessage], offer: Offer = NO_TOOLS) -> list[int]:
    """Token ids of `messages`, ready to be answered.

    With the tokenizer's chat template if it has one; otherwise the contents joined by blank lines, with the
    special tokens that the tokenizer puts around any text.

    Args:
        tokenizer: the model's.
        messages: the conversation.
        offer: the tools that the template is to show, and how the reply is to begin.

    Raises:
        ModelError: the messages are empty, the template refuses them (some know no system message), or one
            holds something other than text.
    """
    turns = [_as_text(tokenizer, turn) for turn in template_turns(messages)]
    if tokenizer.chat_template is None:
        text = "\n\n".join(turn["content"] for turn in turns)
        ids: list[int] = tokenizer(text, verbose=False)["input_ids"]
    else:
        try:
            text = rendered(tokenizer, turns, offer.tools) + offer.beginning
        except TemplateError as error:
            raise ModelError(f"the model's chat template refuses these messages: {error}") from error
        ids = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    if not ids:
        raise ModelError("the prompt is empty; give the model at least one message with text")
    return ids


def _as_text(tokenizer: Any, turn: dict[str, Any]) -> dict[str, Any]:
    """A turn of others in which nothing is a special token, such as the end of a turn or the next one's role.

    What a passage or a user writes is text. The whole prompt is tokenized at once, so the spelling is broken.
    """
    if turn["role"] == "assistant":
        return turn
    content = turn["content"]
    for added in tokenizer.added_tokens_decoder.values():
        if added.special and len(added.content) > 1:
            content = content.replace(added.content, f"{added.content[0]} {added.content[1:]}")
    return turn | {"content": content}
