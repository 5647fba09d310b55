"""From chat messages to the tokens a local model reads."""

from collections.abc import Sequence
from typing import Any

from jinja2 import TemplateError
from langchain_core.messages import BaseMessage, ChatMessage

from knowwhen.models.errors import ModelError

ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}


def prompt_tokens(tokenizer: Any, messages: Sequence[BaseMessage]) -> list[int]:
    """Token ids of `messages`, ready to be answered.

    With the tokenizer's chat template if it has one; otherwise the contents joined by blank lines, with the
    special tokens that the tokenizer puts around any text.

    Raises:
        ModelError: the messages are empty, the template refuses them (some know no system message), or one
            holds something other than text.
    """
    if tokenizer.chat_template is None:
        text = "\n\n".join(_text(message) for message in messages)
        ids: list[int] = tokenizer(text, verbose=False)["input_ids"]
    else:
        turns = [{"role": _role(message), "content": _text(message)} for message in messages]
        try:
            text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        except TemplateError as error:
            raise ModelError(f"the model's chat template refuses these messages: {error}") from error
        ids = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    if not ids:
        raise ModelError("the prompt is empty; give the model at least one message with text")
    return ids


def _role(message: BaseMessage) -> str:
    return message.role if isinstance(message, ChatMessage) else ROLES.get(message.type, message.type)


def _text(message: BaseMessage) -> str:
    blocks = [] if isinstance(message.content, str) else message.content
    for block in blocks:
        if isinstance(block, dict) and block.get("type", "text") != "text":
            raise ModelError(f"a local model reads text only, not {block.get('type')}; leave that part out")
    return str(message.text)
