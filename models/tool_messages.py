"""Messages and tools as chat templates take them."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, ToolMessage

from knowwhen.models.errors import ModelError

ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}


def template_turns(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """The messages as dictionaries in the layout of Hugging Face's chat templates, with calls and results.

    Templates have no place for a failed tool's status, so its content begins with "Error".

    Raises:
        ModelError: a message holds something other than text.
    """
    return [_turn(message) for message in messages]


def _turn(message: BaseMessage) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": _role(message), "content": text_of(message)}
    if isinstance(message, AIMessage) and message.tool_calls:
        turn["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["args"]},
            }
            for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        turn["tool_call_id"] = message.tool_call_id
        if message.name:
            turn["name"] = message.name
        if message.status == "error" and not turn["content"].lower().startswith("error"):
            turn["content"] = f"Error: {turn['content']}"
    return turn


def _role(message: BaseMessage) -> str:
    return message.role if isinstance(message, ChatMessage) else ROLES.get(message.type, message.type)


def text_of(message: BaseMessage) -> str:
    """The message's text.

    Raises:
        ModelError: there is something other than text in it.
    """
    blocks = [] if isinstance(message.content, str) else message.content
    for block in blocks:
        if isinstance(block, dict) and block.get("type", "text") != "text":
            raise ModelError(f"a local model reads text only, not {block.get('type')}; leave that part out")
    return str(message.text)
