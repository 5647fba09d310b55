"""Confident QA: whether a reply asks for a look-up, as models write it, or answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.nodes.confident_qa import declines

WRITTEN = ["RAG_REQUIRED", "rag_required", "Rag Required", "RAG-REQUIRED", "RAGREQUIRED", "RAG‑REQUIRED",
           "RAG\\_REQUIRED", "RAG__REQUIRED", "RAG is required"]  # fmt: skip
AROUND = ["{}", "{}.", "{}!", " {}\n", "**{}**", "*{}*", "__{}__", "`{}`", '"{}"', "'{}'", "“{}”", "‘{}’",
          '"{}."', '**"{}"**', "<{}>", "[{}]", "{{{}}}", "({})", "> {}", "- {}", "# {}", "```\n{}\n```",
          "```text\n{}\n```", "```{}```", "Answer: {}"]  # fmt: skip


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("mark", WRITTEN)
def test_the_mark_is_seen_however_it_is_written(mark: str, around: str) -> None:
    assert declines(around.format(mark))


@pytest.mark.parametrize(
    "reply",
    [
        "I am not sure about this one, so RAG_REQUIRED.",
        "RAG_REQUIRED: I am not certain of the year.",
        "RAG_REQUIRED. Not certain.",
        "RAG_REQUIRED. Is not known to me.",
        "RAG_REQUIRED, it is not known to me.",
        "RAG_REQUIRED: no idea",
        "RAG_REQUIRED is the only answer I can give.",
        "Alba? RAG\nREQUIRED",
        "No, RAG_REQUIRED",
        "No. RAG_REQUIRED",
        "No - RAG_REQUIRED",
        "No\nRAG_REQUIRED",
        "Not certain.\nRAG_REQUIRED",
        "Alba, perhaps.\n\nRAG_REQUIRED",
        f"Alba was born in 1918. {'She made many films. ' * 100}But of the year I am not sure: RAG_REQUIRED",
        'I would have to write "RAG_REQUIRED" here.',
        "My answer is **RAG_REQUIRED**, since 'Alba' is unclear.",
        'No RAG required for the name, but for the year: RAG_REQUIRED',
        "RAG is not required for the name, but RAG_REQUIRED for the year.",
    ],
)  # fmt: skip
def test_the_mark_is_seen_within_what_else_is_said(reply: str) -> None:
    assert declines(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "It's O'Neill's, I think; but RAG_REQUIRED, as it's only a guess",
        "The boys' choice, RAG_REQUIRED, the girls' choice",
        "Rock 'n' roll, RAG_REQUIRED, rhythm 'n' blues",
        "In the '90s? RAG_REQUIRED. It was the Smiths' song",
        'The 12" single: RAG_REQUIRED, the 7" single too',
        '"Alba" or "Beda": RAG_REQUIRED, not "Cela"',
        "“Alba” RAG_REQUIRED “Beda”",
        "«Alba» RAG_REQUIRED «Beda»",
        "„Alba“ RAG_REQUIRED „Beda“",
        "‘Alba’ RAG_REQUIRED ‘Beda’",
        'An open quotation: "Alba is RAG_REQUIRED',
        "> Alba was a film director.\n\nRAG_REQUIRED",
        "> Alba was a film director.\nRAG_REQUIRED\n> Beda was another.",
        "```\nAlba\n```\nRAG_REQUIRED\n```\nBeda\n```",
        "`Alba` RAG_REQUIRED `Beda`",
    ],
)
def test_the_mark_is_seen_between_quotations_and_apostrophes(reply: str) -> None:
    assert declines(reply)


PASSAGES = ['"{}"', "“{}”", "„{}“", "„{}”", "«{}»", "« {} »", "»{}«", "'{}'", "‘{}’", "‚{}‘",
            "“{}\nAnd more.”", "\n> {}\n",
            "\n>> {}", "`{}`", "```\n{}\n```", "```text\n{}\n```\n"]  # fmt: skip


@pytest.mark.parametrize("quoted", PASSAGES)
@pytest.mark.parametrize(
    "said", ["The sign said RAG_REQUIRED in red.", "RAG_REQUIRED is a sign.", "It's the sign's RAG_REQUIRED"]
)
def test_the_mark_in_a_passage_is_the_passages(said: str, quoted: str) -> None:
    assert not declines(f"Alba, as they write: {quoted.format(said)}")
    assert declines(f"Alba, as they write: {quoted.format(said)}\nRAG_REQUIRED")


@pytest.mark.parametrize(
    "reply",
    [
        "No RAG required: Alba",
        "Alba (no RAG_REQUIRED)",
        "Alba. No need for RAG_REQUIRED.",
        "Alba, without any RAG required",
        "Not RAG_REQUIRED: Alba",
        "NO_RAG_REQUIRED: Alba",
        "RAG is not required: Alba",
        "RAG isn't required: Alba",
        "RAG was not required: Alba",
        "RAG not required: Alba",
        "RAG_REQUIRED is not needed: Alba",
        "RAG_REQUIRED isn’t needed: Alba",
        "RAG_REQUIRED not needed: Alba",
        "**RAG_REQUIRED** does not apply: Alba",
        '"RAG_REQUIRED" does not apply: Alba',
        "RAG_REQUIRED: no. Alba",
        "RAG_REQUIRED = False\nAlba",
    ],
)
def test_where_no_look_up_is_required_the_reply_is_an_answer(reply: str) -> None:
    assert not declines(reply)


@pytest.mark.parametrize(
    "reply",
    ["STORAGE_REQUIRED", "fragrequired", "DRAG_REQUIRED", "Garage required", "RAG_REQUIREDNESS",
     "ragrequiredly", "rag requirements", "Required reading: Rag", "Rag", "RAG2REQUIRED", "1RAG_REQUIRED"],
)  # fmt: skip
def test_other_words_are_not_the_mark(reply: str) -> None:
    assert not declines(reply)


@pytest.mark.parametrize(
    "reply",
    ["", " ", "\n", "...", "…", "-", "—", "?", '""', "**", "Unknown", "unknown.", "N/A", "I don't know.",
     "I do not know the answer.", "I'm not sure", "Not sure.", "not certain", "I cannot answer.", "No idea",
     "No answer", "no information"],
)  # fmt: skip
def test_a_reply_that_says_nothing_or_that_it_is_not_known_declines(reply: str) -> None:
    assert declines(reply)


@pytest.mark.parametrize(
    "reply",
    ["Alba", "1918", "no", "No.", "Yes", "None", "Nothing", "0", "東京", "No, he was born in 1918", "!!!",
     "Unknown Pleasures", "\"Heroes\"", "‘Heroes’", "O'Neill's", "It's Alba's", "Not Without My Daughter"],
)  # fmt: skip
def test_an_answer_is_no_request(reply: str) -> None:
    assert not declines(reply)


@given(st.text(st.characters(exclude_characters="`“„«»‚")))
def test_a_mark_behind_any_reply_is_seen_if_no_quotation_is_left_open(reply: str) -> None:
    assert declines(f"{reply}\n\nRAG_REQUIRED")


@given(st.text())
def test_no_reply_is_an_accident(reply: str) -> None:
    assert declines(reply) in (True, False)
