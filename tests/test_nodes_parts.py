"""Sub-questions are read from whatever list a model writes; what divides nothing is refused."""

import pytest
from effort import effort
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.nodes.decompose import MOST_PARTS, read_parts, why_not

QUESTION = "Was Alba born before Bero?"
TWO = ["When was Alba born?", "When was Bero born?"]

LISTS = {
    "one line each": "#1: When was Alba born?\n#2: When was Bero born?",
    "all on one line": "#1: When was Alba born?, #2: When was Bero born?",
    "in brackets": "#1: [When was Alba born?], #2: [When was Bero born?]",
    "bold": "**#1:** When was Alba born?\n**#2:** When was Bero born?",
    "bold number": "**#1**: When was Alba born?\n**#2**: When was Bero born?",
    "without a colon": "#1 When was Alba born?\n#2 When was Bero born?",
    "with a dash": "#1 - When was Alba born?\n#2 - When was Bero born?",
    "with a dot": "#1. When was Alba born?\n\n#2. When was Bero born?",
    "below its mark": "#1:\nWhen was Alba born?\n#2:\nWhen was Bero born?",
    "headings": "### 1: When was Alba born?\n### 2: When was Bero born?",
    "numbered": "1. When was Alba born?\n2. When was Bero born?",
    "numbered without a space": "1.When was Alba born?\n2.When was Bero born?",
    "numbered on one line": "1. When was Alba born? 2. When was Bero born?",
    "with brackets": "1) When was Alba born?\n2) When was Bero born?",
    "within brackets": "(1) When was Alba born?\n(2) When was Bero born?",
    "named": "Sub-question 1: When was Alba born?\nSub-question 2: When was Bero born?",
    "Q": "Q1: When was Alba born?\nQ2: When was Bero born?",
    "steps": "Step 1: When was Alba born?\nStep 2: When was Bero born?",
    "bulleted": "- When was Alba born?\n- When was Bero born?",
    "starred": "* When was Alba born?\n  * When was Bero born?",
    "with reasons": "1. **When was Alba born?**\n   - for her age\n2. **When was Bero born?**\n   - for his",
    "prose around": f"Sure!\n\n#1: {TWO[0]}\n#2: {TWO[1]}\n\nTogether they answer it.",
    "code fence": "```\n#1: When was Alba born?\n#2: When was Bero born?\n```",
    "json": '["When was Alba born?", "When was Bero born?"]',
    "json in a fence": '```json\n[\n  "When was Alba born?",\n  "When was Bero born?"\n]\n```',
    "json object": '{"#1": "When was Alba born?", "#2": "When was Bero born?"}',
    "quoted": '#1: "When was Alba born?"\n#2: "When was Bero born?"',
    "bare lines": "When was Alba born?\nWhen was Bero born?",
    "windows line ends": "#1: When was Alba born?\r\n#2: When was Bero born?\r\n",
    "twice": "#1: When was Alba born?\n#2: When was Bero born?\n#3: When was Alba born?",
}


@pytest.mark.parametrize("reply", LISTS.values(), ids=LISTS.keys())
def test_the_same_two_parts_are_read_from_every_list(reply: str) -> None:
    parts = read_parts(reply)
    assert parts == TWO
    assert why_not(QUESTION, parts, reply) is None


@pytest.mark.parametrize(
    "part",
    [
        "Who directed Alien 3: Resurrection?",
        "Was Alba - the film - made in 1990: yes or no?",
        "Who won in 1998?",
        '"Dune" or "Emma"?',
        "What is 5-3?",
        "Who is A (born in 1900)",
        "Is it one of 1. Foo, 2) Bar?",
    ],
)
def test_numbers_and_dashes_inside_a_part_do_not_tear_it(part: str) -> None:
    assert read_parts(f"#1: {part}\n#2: Another?") == [part, "Another?"]
    assert read_parts(f"#1: {part}, #2: Another?") == [part, "Another?"]
    assert read_parts(f"1. {part}\n2. Another?") == [part, "Another?"]


def numbered(count: int) -> str:
    return "\n".join(f"#{i}: Who was the {i}th?" for i in range(1, count + 1))


REFUSED = {
    "": "no sub-question in ''",
    "I cannot split this.": "no sub-question in 'I cannot split this.'",
    "#1:\n#2:": "no sub-question",
    "#1: When was Alba born?": "only one sub-question",
    "#1: When was Alba born?\n#2: When was Alba born?": "only one sub-question",
    "#1: Was Alba born before Bero?": "repeat the question",
    "#1: was alba  born, before BERO": "repeat the question",
    "#1: When was Alba born?\n#2: **Was Alba born before Bero?**": "repeat the question",
    "#1: When was Alba born?\n#2: Was Bero born before #1?": "needs another's answer",
    numbered(MOST_PARTS + 1): f"{MOST_PARTS + 1} sub-questions are more than {MOST_PARTS}",
    numbered(1000): f"1000 sub-questions are more than {MOST_PARTS}",
    "It depends.\n" * 1000: "no sub-question in 'It depends. It depends.",
}


@pytest.mark.parametrize(("reply", "reason"), REFUSED.items(), ids=[r[:20] for r in REFUSED])
def test_what_is_no_division_is_refused_with_its_reason_on_one_short_line(reply: str, reason: str) -> None:
    said = why_not(QUESTION, read_parts(reply), reply)
    assert said is not None
    assert reason in said
    assert "\n" not in said
    assert len(said) < 300


def test_as_many_parts_as_may_be_are_a_division() -> None:
    reply = numbered(MOST_PARTS)
    assert why_not(QUESTION, read_parts(reply), reply) is None


PIECES = [
    "#1:",
    "#2:",
    "# 3",
    "1.",
    "2)",
    "- ",
    "* ",
    "\n",
    "**",
    "?",
    '"',
    "[",
    "```",
    "Who",
    " ",
    "\x1b[31m",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=30).map("".join))
def test_any_reply_gives_parts_that_are_single_lines_of_it(text: str) -> None:
    for part in read_parts(text):
        assert part.strip() == part != ""
        assert len(part.splitlines()) == 1
        assert "".join(part.split()) in "".join(text.split())


@pytest.mark.parametrize("piece", ["#", "#1", "\n", "\n ", "- ", "? ", "? 1", '"a', "*", "#1: x\n", "1"])
def test_a_reply_of_repetitions_takes_no_more_than_its_length(piece: str) -> None:
    short, long = (effort(lambda text=piece * size: read_parts(text)) for size in (4_000, 80_000))
    assert long <= 100 * short  # 400 times, were it the square
