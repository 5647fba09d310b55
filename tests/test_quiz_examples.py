"""What the pocket model is taught of KEQA is right, and in the form that the nodes ask and read."""

import random
import re

import pytest

from knowwhen.almanac.passages import corpus
from knowwhen.almanac.phrasing import phrasings
from knowwhen.nodes import answer_directly, pick, summarise
from knowwhen.nodes.extract_sentences import sentences_in
from knowwhen.nodes.make_quizzes import read_quizzes, why_not
from knowwhen.nodes.references import references_in, unresolvable
from knowwhen.nodes.think_step_by_step import read_thought
from knowwhen.training.batches import LENGTHS, encode
from knowwhen.training.examples import Examples
from knowwhen.training.lessons import NO_LOSS
from knowwhen.training.subjects import NOTHING, Subjects
from knowwhen.training.tokenizer import USER, train_tokenizer
from knowwhen.uncertainty import judge
from knowwhen.uncertainty.normal_form import normal_form


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer()


def shown(prompt: str, template: str) -> dict[str, str]:
    """What stands in a template's places."""
    seen: set[str] = set()

    def place(match: re.Match[str]) -> str:
        again = match[1] in seen
        seen.add(match[1])
        return f"(?P={match[1]})" if again else f"(?P<{match[1]}>.*)"

    pattern = re.sub(r"\\\{(\w+)\\\}", place, re.escape(template))
    found = re.fullmatch(pattern, prompt, re.DOTALL)
    assert found, prompt
    return found.groupdict()


def test_quizzes_are_taught_in_the_form_the_node_reads() -> None:
    examples = Examples(random.Random(31))
    chained = 0
    for _ in range(150):
        ((prompt, written),) = examples.tasks["quizzes"]()
        question = prompt.rpartition("Question: ")[2]
        quizzes = read_quizzes(written)
        assert why_not(question, quizzes, written) is None and unresolvable(quizzes) == {}
        assert len(quizzes) > 1 or quizzes == {1: question}
        chained += any(references_in(quiz) for quiz in quizzes.values())
    assert 20 < chained < 130


def test_answers_taught_to_be_the_same_are_of_one_thing_and_others_are_not() -> None:
    examples = Examples(random.Random(32))
    verdicts = {"yes": 0, "no": 0}
    for at in range(200):
        if at % 20 == 19:
            examples.turn_page()
        ((prompt, verdict),) = examples.tasks["same_answer"]()
        pair = shown(prompt, judge.PROMPT)
        first, second = sorted((pair["first"], pair["second"]), key=len)
        bare = re.sub(r"^(it is|in the year|in) |\.$", "", first, flags=re.IGNORECASE)
        assert (verdict == "yes") == (bare.lower() in second.lower()), pair
        assert normal_form(first) != normal_form(second) or verdict == "yes"
        verdicts[verdict] += 1
    assert min(verdicts.values()) > 70


@pytest.mark.parametrize("count", [0, 2, 8])
def test_a_passage_taught_to_help_truly_states_the_fact(count: int) -> None:
    examples = Examples(random.Random(33))
    helpful = {True: 0, False: 0}
    kinds = set()
    for _ in range(40):
        talk = examples.tasks["utility"](shown=count)
        assert len(talk) == count + 1
        by_text = {passage.text: passage for passage in corpus(examples.elsewhere.world)}
        for prompt, said in talk:
            seen = shown(prompt, pick.PROMPT)
            (title, text) = seen["passage"].removeprefix("[1] ").split(": ", 1)
            passage = by_text[text]
            assert passage.title == title and seen["question"]
            asked = {key for key in passage.states if _asks(examples, seen, key)}
            assert (said == "yes") == bool(asked), (seen, said)
            helpful[said == "yes"] += 1
            kinds.add(passage.kind)
        examples.turn_page()
    assert min(helpful.values()) > 0.3 * sum(helpful.values())
    assert kinds == {"main", "stale", "misleading"} or count == 0


def _asks(examples: Examples, seen: dict[str, str], key: tuple[str, str]) -> bool:
    """Whether the question is about this fact, by its relation's wordings."""
    fact = examples.elsewhere.world.now[key]
    wordings = [*phrasings(fact.relation, True), *phrasings(fact.relation, False)]
    return seen["question"] in {wording.format(s=fact.subject.name) for wording in wordings}


def test_a_sentence_taught_to_help_stands_in_its_passage() -> None:
    examples = Examples(random.Random(34))
    for _ in range(60):
        ((prompt, sentence),) = examples.tasks["extraction"]()
        passage = re.search(r"^\[1\] [^:]+: (.*)$", prompt, re.MULTILINE)
        assert passage and sentences_in(passage[1], sentence) == sentence
        assert sentence != passage[1] or passage[1].count(".") == 1


def test_a_summary_taught_ends_in_an_answer_that_its_pairs_hold() -> None:
    examples = Examples(random.Random(35))
    for _ in range(100):
        ((prompt, written),) = examples.tasks["summary"]()
        seen = shown(prompt, summarise.PROMPT)
        answer = read_thought(written)
        assert answer and (answer in ("yes", "no") or answer in seen["pairs"])
        assert "#" not in re.sub(r"^#\d+:", "", seen["pairs"], flags=re.MULTILINE)


def test_strangers_are_never_somebody_remembered() -> None:
    examples = Examples(random.Random(36))
    known = {
        wording.format(s=fact.subject.name)
        for fact in examples.own.history
        for wording in phrasings(fact.relation, False)
    }
    strangers = 0
    for _ in range(120):
        remembered = examples.remembered
        ((prompt, _),) = examples.tasks["stranger"]()
        assert (shown(prompt, answer_directly.PROMPT)["question"] in known) == remembered
        strangers += not remembered
        examples.turn_page()
    assert 30 < strangers < 100


def test_each_turn_of_a_talk_has_its_own_subjects(tokenizer) -> None:
    examples = Examples(random.Random(37))
    subjects = Subjects(tokenizer)
    talk = examples.tasks["utility"](shown=3)
    ids, labels = encode(talk, tokenizer)
    named = subjects.of(ids)
    begins = [i for i, token in enumerate(ids) if token == tokenizer.convert_tokens_to_ids(USER)]
    for (prompt, _), first, last in zip(talk, begins, [*begins[1:], len(ids)], strict=True):
        title = prompt.split("[1] ")[1].split(":")[0].split()[-1]
        told = {tokenizer.decode([token]).strip() for token in named[first:last] if token != NOTHING}
        assert title.rstrip(")") in told or told <= set(prompt.replace(":", " ").split())
        assert told
    assert sum(label != NO_LOSS for label in labels) >= 4 * 2
    assert max(LENGTHS) >= 1024
