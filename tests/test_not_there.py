"""Reading: whether a reply says that the passages do not hold the answer (TAIKC, Appendix H.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.nodes.read_if_there import NOT_FOUND, not_there

NOT_THERE = [
    "Not found.",
    "not found",
    '"not found"',
    "**Not found**",
    "Not mentioned",
    "Not mentioned in the passages.",
    "Not specified",
    "Not provided.",
    "Not stated in the given passages.",
    "Not available",
    "No information found.",
    "The passages do not mention the director's birthplace.",
    "The passages don't mention it.",
    "The provided passages do not contain information about Alba's birth year.",
    "There is no information about Alba in the passages.",
    "There is no mention of Alba's birth year.",
    "None of the documents provide the answer.",
    "None of the passages mention Alba.",
    "Neither passage mentions Alba's mother.",
    "I couldn't find the answer in the passages.",
    "I could not find any information about Alba.",
    "I can't find it.",
    "I cannot find the answer.",
    "The answer isn't given in the passages.",
    "The answer is not in the passages.",
    "The answer is not found in the passages.",
    "The answer cannot be found in the given texts.",
    "The answer cannot be determined from the passages.",
    "The birth year of Alba is not mentioned.",
    "Alba's birth year is not provided in the documents.",
    "The documents do not state where he was born.",
    "The documents do not specify it.",
    "The text does not say who directed Alba.",
    "The passages do not say.",
    "The passages say nothing about Alba.",
    "Nothing in the passages mentions Alba.",
    "It is not clear from the passages.",
    "It is not stated.",
    "It's not mentioned.",
    "It isn’t mentioned.",
    "The passages do not hold the answer.",
    "The passages do not include the nationality of Alba.",
    "The passages do not give the year.",
    "The passages do not indicate when Alba was born.",
    "The passages do not discuss this.",
    "The passages do not address the question.",
    "The passages do not directly answer the question.",
    "The passages do not have the answer.",
    "The passages do not answer the question.",
    "No passage mentions Alba.",
    "No passages provide this.",
    "No relevant information is given.",
    "No relevant passage was found.",
    "No relevant information.",
    "No answer found",
    "No such information is available.",
    "The passages fail to mention Alba.",
    "The passages lack this information.",
    "The information is unavailable.",
    "Information not available.",
    "Insufficient information",
    "The given information is insufficient to answer the question.",
    "There isn't enough information to answer.",
    "The passages do not provide enough information to determine the birth year of Alba.",
    "Based on the passages, it is not possible to determine the answer.",
    "It is impossible to determine from the passages.",
    "Unfortunately, the passages do not mention it.",
    "I'm sorry, but the passages don't contain the answer.",
    "The passages never mention Alba.",
    "Alba is never mentioned.",
    "The passages don't tell us.",
    "The question cannot be answered from the passages.",
    "The question can't be answered with the given passages.",
    'The director of "Alba" is not mentioned in the passages.',
    "The director of the film 'No Man's Land' is not mentioned.",
    "The director of Alba (1918) was born in St. Petersburg, but the year of her birth is not given.",
    "The passages mention the film but give no director.",
    "Alba's birth year: not found",
    "Answer: not found",
    "Not there.",
    "not there",
    "The passages contain no information about Alba.",
    "The passages contain no mention of Alba.",
    "The passages provide no answer.",
    "The context does not reveal it.",
    "The context doesn't explain who.",
    "The provided context does not identify the director.",
    "The document makes no reference to Alba.",
    "There is no reference to Alba.",
    "No mention.",
    "No details are given.",
    "Details not provided",
    "Not given in the text, so I don't know.",
    "Not applicable",
    "not in the passages",
    "Not in the text.",
    "Without more information, the answer cannot be given.",
    "The answer to this question is nowhere to be found in the passages.",
    "The passages do not say that Alba was born in 1918.",
    "There is no evidence that Alba had a brother.",
    "The director is “Alba”, but the passages do not mention her birth year.",
    "The year is not known from the given passages.",
    "Alba is a city.\nThe passages do not mention a director.",
    "Alba (St. Petersburg) is not mentioned.",
    "THE PASSAGES DO NOT MENTION IT.",
]

ANSWERS = [
    "No Country for Old Men",
    "The Unfound Door",
    "Nothing Compares 2 U",
    "Not Without My Daughter",
    "Lost and Found",
    "Norway",
    "no",
    "No",
    "No.",
    "No, he was born in 1918",
    "No, she was not.",
    "1918",
    "He was not the director but the writer",
    "the state of Nottingham",
    "Nottinghamshire",
    "Notre-Dame de Paris",
    "None but the Brave",
    "Nobody's Fool",
    "Never Let Me Go",
    "Never Say Never Again",
    "Neverland",
    '"The Man Who Was Not There"',
    "The Man Who Wasn't There",
    "Finding Nemo",
    "Not Guilty",
    "No Doubt",
    "Much Ado About Nothing",
    "Nothing",
    "Nothing but the Truth",
    "Nothing Else Matters",
    "Yes, although not at first",
    "She was not American but Canadian.",
    "It wasn't Alba but Beda.",
    "Alba, not Beda",
    "The film was not released until 1921.",
    "He never married.",
    "The band has no members in Canada.",
    "Neither; both were born in 1918",
    "Neither Alba nor Beda",
    "both, not only Alba",
    "Yes",
    "Provident Mutual Life Insurance",
    "Providence, Rhode Island",
    "She did not give up her post until 1921.",
    "The band did not find success until 1975.",
    "Founded in 1918, not 1921",
    "He founded the company, not his son.",
    "It was not founded by Alba but by Beda.",
    "He was found not guilty.",
    "No. 10 Downing Street",
    "No. 5 (Chanel), found in 1921",
    "State of Nature",
    "The United States",
    "The State of No Man",
    "Not Found (film)",
    "Nova Scotia",
    "The Address Unknown",
    "The Knot",
    "I Found Someone",
    "No One Lives Forever",
    "Not My Type",
    "Notes on a Scandal",
    "He discovered it, but did not describe it until 1859.",
    "Alba does not include the Isle of Man.",
    "Germany, which was not included in the league",
    "The Mentioned",
    "He did not state his party; he was a Liberal",
    "There Is Nothing Like a Dame",
    "No More Heroes",
    "None",
    "No (2012 film)",
    "Dr. No",
    "The No-List Club",
    '"We Do Not Find Anything"',
    "1918, though the month is not known",
    "According to the passages, he was not the director but the writer.",
    "The passages state that Alba did not found the band.",
    "No, the passages mention a brother.",
    "No, the answer is 1918",
    "The answer is not Alba but Beda",
    "Information Society",
    "'What the Passages Do Not Mention'",
    "“There Is No Answer”",
    "He said: «The passages do not mention it»",
    "1918 (the month is not known)",
    "The plant is not found in Europe.",
    "She could not find the door.",
]


@pytest.mark.parametrize("reply", NOT_THERE)
def test_a_reply_that_the_passages_do_not_hold_the_answer_is_seen(reply: str) -> None:
    assert not_there(reply)
    assert not_there(f"**{reply}**\n")
    assert not_there(reply.replace("'", "’"))


@pytest.mark.parametrize("reply", ANSWERS)
def test_an_answer_is_an_answer_with_a_negation_too(reply: str) -> None:
    assert not not_there(reply)


@pytest.mark.parametrize(
    "reply", ["", " \n", "Unknown", "I don't know.", "N/A", "no answer", "I am not sure."]
)
def test_a_reply_that_says_nothing_is_no_answer(reply: str) -> None:
    assert not_there(reply)


@pytest.mark.parametrize(
    "around", ["{}", "{}.", '"{}"', "“{}.”", "'{}'", "**{}**", "`{}`", "> {}", "Answer: {}", "The year: {}"]
)
@pytest.mark.parametrize("said", [NOT_FOUND, NOT_FOUND.capitalize(), NOT_FOUND.upper()])
def test_what_the_prompt_asks_for_is_seen_however_it_is_written(said: str, around: str) -> None:
    assert not_there(around.format(said))


@pytest.mark.parametrize("quoted", ['"{}"', "“{}”", "„{}“", "«{}»", "‘{}’", "'{}'", "\n> {}"])
def test_what_a_passage_says_is_not_said_of_the_passages(quoted: str) -> None:
    said = "The documents do not mention it"
    assert not_there(said)
    assert not not_there(f"Alba wrote: {quoted.format(said)}")
    assert not_there(f"Alba wrote: {quoted.format(said)}\nThe passages do not mention when.")


@given(st.text())
def test_no_reply_is_an_accident(reply: str) -> None:
    assert not_there(reply) in (True, False)


@given(st.text(st.characters(exclude_characters="`“„«»‚")))
def test_a_sentence_behind_any_reply_is_seen_if_no_quotation_is_left_open(reply: str) -> None:
    assert not_there(f"{reply}\n\nThe passages do not mention it.")


@given(st.from_regex(r"[A-Z][a-z]{1,9}( [A-Z][a-z]{1,9}){0,2}( \([12][0-9]{3}\))?", fullmatch=True))
def test_words_without_a_negation_are_an_answer(name: str) -> None:
    negations = (
        "no",
        "not",
        "none",
        "nothing",
        "nowhere",
        "neither",
        "never",
        "without",
        "cannot",
        "lack",
        "lacks",
    )
    if not any(word.casefold() in negations for word in name.split()):
        assert not not_there(f"{name} was found in the passages")
