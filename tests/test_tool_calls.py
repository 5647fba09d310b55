"""Reading calls off replies in the forms of model families, and what a stream may show before them."""

import pytest

from knowwhen.models.tool_calls import read_calls, text_before_calls

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "parameters": {"properties": {"query": {"type": "string"}, "k": {"type": "integer"}}},
        },
    }
]


def calls(reply: str) -> list[tuple[str, dict]]:
    read = read_calls(reply, TOOLS)
    assert not read.faulty
    return [(call["name"], call["args"]) for call in read.calls]


ONE = '{"name": "search", "arguments": {"query": "Velo Harn"}}'
TWO = '{"name": "keqa", "arguments": {"question": "Who?"}}'
LLAMA = ONE.replace("arguments", "parameters")
FOUND = ("search", {"query": "Velo Harn"})
ASKED = ("keqa", {"question": "Who?"})


@pytest.mark.parametrize(
    "reply",
    [
        f"<tool_call>\n{ONE}\n</tool_call>",
        f"<tool_call>{ONE}",  # the end token came before the closing tag
        '<tool_call>{"name": "search", "arguments": "{\\"query\\": \\"Velo Harn\\"}"}</tool_call>',
        "<tool_call><function=search><parameter=query> Velo Harn</parameter></function></tool_call>",
        "<tool_call>\n<function=search>\n<parameter=query>\nVelo Harn\n</parameter>\n</function>\n",
        '<function=search>{"query": "Velo Harn"}</function>',
        LLAMA,
        f"<|python_tag|>{LLAMA}",
        f"```json\n{LLAMA}\n```",
        '{"type": "function", "function": ' + ONE + "}",
        f"[TOOL_CALLS] [{ONE}]",
        '[TOOL_CALLS]search[ARGS]{"query": "Velo Harn"}',
        f"[{ONE}]",
    ],
)
def test_each_familys_call_is_read(reply: str) -> None:
    assert calls(reply) == [FOUND]
    assert read_calls(reply, TOOLS).text == ""


@pytest.mark.parametrize(
    "reply",
    [
        f"<tool_call>{ONE}</tool_call>\n<tool_call>\n{TWO}\n</tool_call>",
        f"{LLAMA}; {TWO}",
        f"[TOOL_CALLS][{ONE}, {TWO}]",
        '[TOOL_CALLS]search[ARGS]{"query": "Velo Harn"}[TOOL_CALLS]keqa[ARGS]{"question": "Who?"}',
        "<tool_call><function=search><parameter=query>Velo Harn</parameter></function>"
        "<function=keqa><parameter=question>Who?</parameter></function></tool_call>",
    ],
)
def test_several_calls_in_one_reply_are_all_read(reply: str) -> None:
    assert calls(reply) == [FOUND, ASKED]


def test_ids_differ_and_are_what_mistrals_templates_take() -> None:
    ids = [call["id"] for call in read_calls(f"[{ONE}, {TWO}]", TOOLS).calls]
    assert len(set(ids)) == 2 and all(len(i) == 9 and i.isalnum() for i in ids if i is not None)
    (named,) = read_calls('[TOOL_CALLS]search[CALL_ID]abc123def[ARGS]{"query": "x"}', TOOLS).calls
    assert named["id"] == "abc123def"


def test_text_beside_calls_is_kept() -> None:
    read = read_calls(f"Let me look.\n<tool_call>{ONE}</tool_call>\nOne moment.", TOOLS)
    assert (read.text, len(read.calls)) == ("Let me look.\nOne moment.", 1)
    thinking = f"<think>\nI could write <tool_call>.\n</think>\n\n<tool_call>{ONE}</tool_call>"
    assert calls(thinking) == [FOUND]
    assert read_calls(thinking, TOOLS).text == "<think>\nI could write <tool_call>.\n</think>"


def test_values_without_quotes_have_the_type_of_their_argument() -> None:
    reply = "<function=search><parameter=query>42</parameter><parameter=k>\n3\n</parameter></function>"
    assert calls(reply) == [("search", {"query": "42", "k": 3})]


@pytest.mark.parametrize(
    ("reply", "name", "error"),
    [
        ('<tool_call>{"name": "search", "arguments": {"query": "x"</tool_call>', None, "no JSON"),
        ('<tool_call>{"name": "search", "arguments": ["x"]}</tool_call>', "search", "no object"),
        ('<tool_call>{"name": "search", "arguments": "x"}</tool_call>', "search", "no JSON"),
        ('<tool_call>{"arguments": {}}</tool_call>', None, "no tool"),
        ('{"name": "search", "parameters": {"query": "x', None, "no JSON"),
        ('<|python_tag|>brave_search.call(query="x")', None, "no JSON"),
        ("[TOOL_CALLS]oops", None, "no name"),
        ("[TOOL_CALLS][oops]", None, "no JSON"),
    ],
)
def test_a_malformed_call_is_reported_not_made(reply: str, name: str | None, error: str) -> None:
    read = read_calls(reply, TOOLS)
    (faulty,) = read.faulty
    assert read.calls == [] and read.text == ""
    assert faulty["name"] == name and error in (faulty["error"] or "") and faulty["id"]


@pytest.mark.parametrize(
    "reply",
    ["The answer is [1].", '{"name": "Velo Harn", "born": 1950}', "[1] Velo", "a < b", " spaces \n", "[]"],
)
def test_an_answer_without_calls_stays_as_it_is(reply: str) -> None:
    read = read_calls(reply, TOOLS)
    assert (read.text, read.calls, read.faulty) == (reply, [], [])


@pytest.mark.parametrize(
    "reply",
    [
        f"Let me look.\n<tool_call>{ONE}</tool_call>\nOne moment.",
        f" <tool_call>{ONE}</tool_call>",
        f"<think>\na <tool_call> b\n</think>\n\nSo. <tool_call>{ONE}</tool_call>",
        f"Look: [TOOL_CALLS][{ONE}]",
        f"Now <|python_tag|>{LLAMA}",
        LLAMA,
        "a < b, and <tools> too",
        "[1] is a number",
    ],
)
def test_what_a_stream_shows_only_grows_and_begins_the_text(reply: str) -> None:
    whole, shown = read_calls(reply, TOOLS).text, ""
    for end in range(len(reply) + 1):
        now = text_before_calls(reply[:end])
        assert now.startswith(shown) and whole.startswith(now)
        shown = now
    assert bool(shown) == bool(whole and reply[0] != "[")


CODER = "<tool_call><function=search><parameter=query> Who directed it?</parameter></function></tool_call>"


@pytest.mark.parametrize("reply", [CODER, f"<tool_call>{ONE}</tool_call>", f"[TOOL_CALLS][{ONE}]", ONE])
def test_of_a_reply_that_was_cut_off_no_half_of_a_call_is_made(reply: str) -> None:
    whole = read_calls(reply, TOOLS).calls[0]["args"]
    for length in range(1, len(reply)):
        read = read_calls(reply[:length], TOOLS, cut=True)
        assert all(call["args"] == whole for call in read.calls), reply[:length]
    assert read_calls(CODER[: CODER.index("</parameter>")], TOOLS, cut=True).faulty


def test_a_thought_that_has_no_end_calls_nothing() -> None:
    reply = f"<think>I could write <tool_call>{ONE}</tool_call>"
    assert read_calls(reply, TOOLS).text == reply == text_before_calls(reply)
    assert calls(f"{reply}</think><tool_call>{ONE}</tool_call>") == [FOUND]


def test_a_call_nested_without_end_is_reported_not_raised() -> None:
    (fault,) = read_calls("<tool_call>" + '{"name": ' * 99_999, TOOLS).faulty
    assert "no JSON" in str(fault["error"])
