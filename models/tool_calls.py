"""Reading the tool calls in a local model's reply, in the forms that model families write.

- Hermes and Qwen: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`
- Qwen3-Coder: `<tool_call><function=name><parameter=key>value</parameter></function></tool_call>`
- Llama 3: the whole reply, or what follows `<|python_tag|>`, is `{"name": …, "parameters": {…}}`, or several
  of them; or `<function=name>{…}</function>`
- Mistral: `[TOOL_CALLS][{"name": …, "arguments": {…}}, …]`, or `[TOOL_CALLS]name[ARGS]{…}`
"""

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import InvalidToolCall, ToolCall
from langchain_core.messages.tool import invalid_tool_call, tool_call

from knowwhen.models.stopping import overlap

HERMES, FUNCTION, MISTRAL, PYTHON = "<tool_call>", "<function=", "[TOOL_CALLS]", "<|python_tag|>"
MARKS = (HERMES, FUNCTION, MISTRAL, PYTHON)
SPECIAL_MARKS = (*MARKS, "</tool_call>", "[ARGS]", "[CALL_ID]")
"""What a tokenizer may hold as special tokens, which are otherwise left out of a reply's text."""

_THOUGHT = "</think>"
_HERMES = re.compile(r"<tool_call>(.*?)(?:</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)(?:</function>|(?=<function=)|\Z)", re.DOTALL)
# One space or line end on either side belongs to the form.
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>\s?(.*?)\s?(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
_MISTRAL = re.compile(r"([\w.-]+)\s*(?:\[CALL_ID\]\s*(\w+)\s*)?(?:\[ARGS\]\s*)?(?=\{)")
_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL)
_BETWEEN = " \t\r\n;,"
FAULTS = (ValueError, RecursionError)  # of JSON, that is none or too deep
_DECODER = json.JSONDecoder(strict=False)  # models break lines within strings


@dataclass
class Read:
    """A reply taken apart: what is said beside the calls, the calls, and those that cannot be made."""

    text: str
    calls: list[ToolCall] = field(default_factory=list)
    faulty: list[InvalidToolCall] = field(default_factory=list)


def read_calls(reply: str, tools: Sequence[Mapping[str, Any]], cut: bool = False) -> Read:
    """Take a reply apart; one without calls stays as it is.

    Args:
        reply: what the model wrote; thoughts up to `</think>` are text.
        tools: the schemas of the bound tools, in OpenAI's layout, for the types of values that are not JSON.
        cut: whether the reply was cut off; a call that has no end is then none that can be made.
    """
    if _thinks_on(reply):
        return Read(reply)
    thought, mark, said = reply.rpartition(_THOUGHT)
    read = Read("")
    rest = _Reader(tools, read, cut).read(said)
    if not read.calls and not read.faulty:
        return Read(reply)
    read.text = (thought + mark + rest).rstrip() if mark else rest
    return read


def text_before_calls(reply: str) -> str:
    """Of a reply under way, what can be shown already: it stands before any call."""
    if _thinks_on(reply):
        return reply
    begin = reply.rfind(_THOUGHT) + len(_THOUGHT) if _THOUGHT in reply else 0
    said = reply[begin:]
    if said.lstrip()[:1] in ("{", "[", "`", ""):
        return reply[:begin]
    places = [place for place in map(said.find, MARKS) if place >= 0]
    end = min(places) if places else len(said) - max(overlap(said, mark) for mark in MARKS)
    return (reply[:begin] + said[:end]).rstrip()


def _thinks_on(reply: str) -> bool:
    """Whether all of a reply is a thought that has no end."""
    return reply.lstrip().startswith("<think>") and _THOUGHT not in reply


class _Reader:
    def __init__(self, tools: Sequence[Mapping[str, Any]], read: Read, cut: bool) -> None:
        self._properties = {
            tool["function"]["name"]: tool["function"].get("parameters", {}).get("properties", {})
            for tool in tools
        }
        self._read = read
        self._cut = cut

    def read(self, said: str) -> str:
        """Keep the calls; returns the text beside them."""
        if MISTRAL in said:
            before, _, calls = said.partition(MISTRAL)
            return _joined(before, self._mistral(calls))
        if PYTHON in said:
            before, _, calls = said.partition(PYTHON)
            return _joined(before, self._objects(calls.strip()))
        if HERMES in said:
            return _joined(*self._beside(_HERMES, said))
        if FUNCTION in said:
            return _joined(*self._beside(_FUNCTION, said))
        return self._bare(said)

    def _beside(self, form: re.Pattern[str], said: str) -> Iterator[str]:
        end = 0
        for found in form.finditer(said):
            yield said[end : found.start()]
            end = found.end()
            if form is _FUNCTION:
                self._function(found)
            elif functions := list(_FUNCTION.finditer(found[1])):
                for function in functions:
                    self._function(function)
            else:
                self._object(found[1].strip())
        yield said[end:].replace("</tool_call>", "")

    def _function(self, found: re.Match[str]) -> None:
        name, body = found[1], found[2].strip()
        if self._cut and not found[0].endswith("</function>"):
            self._fault(name, body, "the call was cut off")
            return
        if body.startswith("{"):
            self._call(name, body)
            return
        types = self._properties.get(name, {})
        self._call(
            name, {key: _value(text, types.get(key, {})) for key, text in _PARAMETER.findall(found[2])}
        )

    def _mistral(self, calls: str) -> str:
        if calls.lstrip().startswith("["):
            return self._list(calls.strip())
        rest = []
        for part in calls.split(MISTRAL):
            named = _MISTRAL.match(part.lstrip())
            if named is None:
                self._fault(None, part.strip(), "there is no name with arguments")
                continue
            body = part.lstrip()[named.end() :]
            end = _end_of_object(body)
            self._call(named[1], body[:end], named[2])
            rest.append(body[end:])
        return _joined(*rest)

    def _list(self, text: str) -> str:
        try:
            calls, end = _DECODER.raw_decode(text)
        except FAULTS:
            self._fault(None, text, "the calls are no JSON")
            return ""
        for call in calls:
            self._taken(call)
        return text[end:]

    def _objects(self, text: str) -> str:
        """Calls one behind the other; returns what follows them."""
        while text.startswith("{"):
            end = _end_of_object(text)
            self._object(text[:end])
            text = text[end:].lstrip(_BETWEEN)
        if text.startswith("["):
            return self._list(text)
        if text and not self._read.calls and not self._read.faulty:
            self._fault(None, text, "the call is no JSON")
            return ""
        return text

    def _bare(self, said: str) -> str:
        """A reply that is nothing but calls; any other JSON is an answer."""
        body = said.strip()
        if fenced := _FENCED.fullmatch(body):
            body = fenced[1]
        try:
            first, _ = _DECODER.raw_decode(body)
        except FAULTS:
            if re.match(r'\{\s*"(?:name|function)"\s*:\s*"[^"]*"\s*,\s*"(?:parameters|arguments)"', body):
                self._object(body)
                return ""
            return said
        firsts = first if isinstance(first, list) else [first]
        if not firsts or not all(_is_call(each) for each in firsts):
            return said
        return self._objects(body)

    def _object(self, text: str) -> None:
        try:
            call = _DECODER.decode(text)
        except FAULTS as error:
            self._fault(None, text, f"the call is no JSON: {error}")
            return
        self._taken(call)

    def _taken(self, call: object) -> None:
        if isinstance(call, dict) and isinstance(call.get("function"), dict):  # OpenAI's own layout
            call = call["function"]
        name = (call.get("name") or call.get("function")) if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(name, str):
            self._fault(None, json.dumps(call, ensure_ascii=False), "the call names no tool")
            return
        given = call.get("id")
        self._call(
            name,
            call["arguments"] if "arguments" in call else call.get("parameters", {}),
            given if isinstance(given, str) else None,
        )

    def _call(self, name: str, arguments: object, given: str | None = None) -> None:
        if isinstance(arguments, str):
            text = arguments
            try:
                arguments = _DECODER.decode(text)
            except FAULTS as error:
                self._fault(name, text, f"the arguments are no JSON: {error}")
                return
        arguments = {} if arguments is None else arguments
        if not isinstance(arguments, dict):
            self._fault(name, json.dumps(arguments, ensure_ascii=False), "the arguments are no object")
            return
        self._read.calls.append(tool_call(name=name, args=arguments, id=given or _id()))

    def _fault(self, name: str | None, args: str, error: str) -> None:
        self._read.faulty.append(invalid_tool_call(name=name, args=args, id=_id(), error=error))


def _is_call(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    inner = value.get("function")
    call: dict[str, Any] = inner if isinstance(inner, dict) else value
    named = isinstance(call.get("name") or call.get("function"), str)
    return named and ("arguments" in call or "parameters" in call)


def _end_of_object(text: str) -> int:
    """Where the JSON object at the beginning of a text ends; all of the text where it does not."""
    try:
        return _DECODER.raw_decode(text)[1]
    except FAULTS:
        return len(text)


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    """A value that is written without quotes: what its type says, or else the text itself."""
    if schema.get("type") == "string":
        return text
    try:
        return _DECODER.decode(text)
    except FAULTS:
        return text


def _joined(*parts: str) -> str:
    """The text around calls, a line for each piece."""
    kept = [part.rstrip() for part in parts if part.strip()]
    return "\n".join([kept[0], *(part.lstrip() for part in kept[1:])]) if kept else ""


def _id() -> str:
    """Nine letters and digits, as Mistral's templates want them."""
    return secrets.token_hex(5)[:9]
