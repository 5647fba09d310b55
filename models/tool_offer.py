"""The tools of one call: shown by the chat template, forced on request, and read off the reply."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from jinja2 import TemplateError
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk

from knowwhen.models.errors import CapabilityError, SettingsError
from knowwhen.models.tool_calls import SPECIAL_MARKS, read_calls, text_before_calls
from knowwhen.models.tool_messages import template_turns

Schema = Mapping[str, Any]
NONE, ANY = "none", "any"


@dataclass(frozen=True)
class Offer:
    """The tools that one call shows to a model.

    Attributes:
        tools: in OpenAI's layout.
        choice: which must be called: `any`, or one by its name; None leaves it to the model.
        beginning: what a reply begins with that must be a call.
    """

    tools: Sequence[Schema] = ()
    choice: str | None = None
    beginning: str = ""

    @property
    def names(self) -> list[str]:
        """The tools' names."""
        return [tool["function"]["name"] for tool in self.tools]

    def begun(self, tokenizer: Any, messages: Sequence[BaseMessage]) -> Self:
        """The offer with the beginning of a reply to these messages, if it must be a call.

        Raises:
            CapabilityError: the template writes past calls unlike a reply under way.
        """
        if self.choice is None or not self.tools:
            return self
        return replace(self, beginning=_beginning(tokenizer, template_turns(messages), self))

    def shown_tokens(self, tokenizer: Any) -> frozenset[int]:
        """The special tokens that mark calls, which belong to the reply's text while tools are bound."""
        added = tokenizer.added_tokens_decoder if self.tools else {}
        return frozenset(token for token, what in added.items() if what.content in SPECIAL_MARKS)

    def message(self, reply: str, **fields: Any) -> AIMessage:
        """A finished reply as a message."""
        if not self.tools:
            return AIMessage(content=reply, **fields)
        metadata = fields.get("response_metadata", {})
        read = read_calls(self._whole(reply), self.tools, cut=metadata.get("finish_reason") == "length")
        return AIMessage(
            content=read.text,
            tool_calls=read.calls,
            invalid_tool_calls=read.faulty,
            **_ended(fields, read.calls),
        )

    def shown(self, reply: str) -> str:
        """Of a reply under way, the text that a stream has shown."""
        return text_before_calls(self._whole(reply)) if self.tools else reply

    def _whole(self, reply: str) -> str:
        # The space before the first word is of the token and not of the message, which people are shown.
        return (self.beginning + reply).lstrip()

    def last_chunk(self, reply: str, shown: str, **fields: Any) -> AIMessageChunk:
        """What a stream ends with: the rest of the text, and the calls.

        Args:
            reply: the whole reply.
            shown: its beginning, which earlier chunks held.
            fields: of the chunk.
        """
        message = self.message(reply, **fields)
        # Chunks hold arguments as JSON, which merging mends: as a string, a fault stays one.
        calls = (*message.tool_calls, *message.invalid_tool_calls)
        return AIMessageChunk(
            content=str(message.content)[len(shown) :],
            tool_call_chunks=[
                tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=place)
                for place, call in enumerate(calls)
            ],
            response_metadata=message.response_metadata,
            usage_metadata=message.usage_metadata,
            chunk_position="last",
        )


def _ended(fields: dict[str, Any], calls: Sequence[Any]) -> dict[str, Any]:
    metadata = fields.get("response_metadata", {})
    if not calls or metadata.get("finish_reason") == "length":
        return fields
    return fields | {"response_metadata": metadata | {"finish_reason": "tool_calls"}}


def taken_from(keywords: dict[str, Any]) -> tuple[Offer, dict[str, Any]]:
    """The offer among a call's keywords, and the other keywords."""
    rest = {name: value for name, value in keywords.items() if name not in ("tools", "tool_choice")}
    offer = Offer(keywords.get("tools") or ())
    choice = checked_choice(keywords.get("tool_choice"), offer.names)
    return Offer() if choice == NONE else replace(offer, choice=choice), rest


def checked_choice(choice: object, names: Sequence[str]) -> str | None:
    """What a caller may write for `tool_choice`, in one spelling.

    Raises:
        SettingsError: it is none of them.
    """
    if choice is None or choice == "auto" or choice is False:
        return None
    if choice in (True, ANY, "required"):
        return names[0] if len(names) == 1 else ANY
    if isinstance(choice, Mapping):  # as OpenAI writes it, or as Anthropic does
        named = choice.get("function", choice)
        name = (named.get("name") or named.get("type")) if isinstance(named, Mapping) else None
        if isinstance(name, str):
            return checked_choice(name, names)
    if isinstance(choice, str) and choice in (NONE, *names):
        return choice
    raise SettingsError(f"tool_choice={choice!r} is unknown; choose from auto, none, any, {', '.join(names)}")


def require_tools(tokenizer: Any, tools: Sequence[Schema], path: str) -> None:
    """Refuse a model whose chat template does not show its tools.

    Raises:
        CapabilityError: it shows none, or there is no template.
    """
    asked = [{"role": "user", "content": "?"}]
    try:
        without, with_ = (rendered(tokenizer, asked, offered) for offered in ((), tools))
    except (TemplateError, ValueError, TypeError, KeyError) as error:
        raise CapabilityError(f"the chat template of {path} refuses these tools: {error}") from error
    if with_ == without or not all(tool["function"]["name"] in with_ for tool in tools):
        raise CapabilityError(
            f"{path} cannot be given tools: its chat template shows none; use a model that calls tools, such "
            "as pocket, transformers:Qwen/Qwen3-0.6B, ollama:qwen3 or openai:gpt-4o-mini"
        )


def rendered(tokenizer: Any, turns: Sequence[Schema], tools: Sequence[Schema]) -> str:
    """The conversation as the chat template writes it, ready to be answered."""
    if tokenizer.chat_template is None:
        return ""
    text: str = tokenizer.apply_chat_template(
        list(turns), tools=list(tools) or None, tokenize=False, add_generation_prompt=True
    )
    return text


def _beginning(tokenizer: Any, turns: Sequence[Schema], offer: Offer) -> str:
    """How the template writes a call, up to where the model has a choice: what two such calls begin with."""
    before = rendered(tokenizer, turns, offer.tools)
    calls = [("a", "a"), ("b", "b")] if offer.choice == ANY else [(offer.choice, "a"), (offer.choice, "b")]
    written = []
    for name, argument in calls:
        function = {"name": name, "arguments": {argument: argument}}
        call = {"id": "000000000", "type": "function", "function": function}
        turn = {"role": "assistant", "content": "", "tool_calls": [call]}
        written.append(tokenizer.apply_chat_template([*turns, turn], tools=list(offer.tools), tokenize=False))
    common = _shared(*written)
    if not common.startswith(before) or common == before:
        raise CapabilityError(
            f"tool_choice={offer.choice!r} cannot be forced with this model's chat template; leave it out"
        )
    return common[len(before) :]


def _shared(one: str, other: str) -> str:
    """What both begin with."""
    pairs = zip(one, other, strict=False)
    return one[: next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))]
