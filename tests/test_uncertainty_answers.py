"""Estimators over sampled answers: what means the same counts as the same, and knowing nothing as unsure."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from evidences import answer, texts
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scripted import ScriptedChat

from knowwhen.models.cost import NO_COST
from knowwhen.models.door import Door
from knowwhen.models.errors import CapabilityError, SettingsError
from knowwhen.models.evidence import Answer, Evidence
from knowwhen.uncertainty.clusters import clustered
from knowwhen.uncertainty.cocoa import Base, CoCoA
from knowwhen.uncertainty.consistency import Consistency
from knowwhen.uncertainty.embedding_gram import EmbeddingGram
from knowwhen.uncertainty.estimator import Estimator
from knowwhen.uncertainty.judge import Judged, ModelJudge
from knowwhen.uncertainty.score import EvidenceError
from knowwhen.uncertainty.semantic_entropy import SemanticEntropy

UNKNOWN = "I don't know."
LOGPROBS = [-0.1, -2.5, -0.75, -0.01]
TOPS = [
    [math.log(share) for share in shares]
    for shares in (
        [0.7, 0.2, 0.06, 0.04],
        [0.25] * 4,
        [0.97, 0.01, 0.01, 0.01],
        [0.5, 0.5 - 2e-9, 1e-9, 1e-9],
    )
]
TEXTS = ["Kleko", "kleko.", "The Kleko", "Thevin", "Zon", UNKNOWN, "12", "twelve"]

sample_lists = st.lists(st.sampled_from(TEXTS), min_size=2, max_size=8)


class Letters:
    """Encodes a text by how often each of its letters occurs."""

    name = "letters"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        rows = [[text.count(chr(letter)) for letter in range(32, 123)] for text in texts]
        return np.array(rows, dtype=np.float32)


class Table:
    """A judge with a table of how alike two answers are, either way round; others are not at all."""

    name = "table"

    def __init__(self, alike: dict[tuple[str, str], float]) -> None:
        self.alike = alike
        self.asked: list[tuple[str, str]] = []

    def __call__(self, prompt: str, pairs: Sequence[tuple[str, str]]) -> Judged:
        self.asked += pairs
        values = tuple(self.alike.get(pair, self.alike.get(pair[::-1], 0.0)) for pair in pairs)
        return Judged(values, {**NO_COST, "model_calls": len(pairs)})


def estimators(k: int) -> list[Estimator]:
    return [Consistency(k), SemanticEntropy(k), EmbeddingGram(Letters(), k), CoCoA(k)]


def evidence(*samples: str) -> Evidence:
    return texts(*samples, greedy=answer(LOGPROBS, "Kleko", TOPS))


def test_consistency_is_the_share_of_the_largest_cluster() -> None:
    score = Consistency(5).score(
        texts("Tara Lipinski", "tara lipinski.", "Michelle Kwan", "Tara  Lipinski", "?")
    )
    assert (score.value, score.kind) == (0.6, "confidence")
    assert score.diagnostics["answer"] == "Tara Lipinski"
    assert score.diagnostics["clusters"] == [[0, 1, 3], [2], [4]]
    dates = texts("June 10, 1982", "10 June 1982", "the 10th of June 1982", "June 1982", "1982-06-10")
    assert Consistency().score(dates).value == 0.8


def test_answers_that_say_nothing_form_no_cluster() -> None:
    score = Consistency(5).score(texts(UNKNOWN, "unknown", UNKNOWN, "Kleko", "I'm not sure."))
    assert (score.value, score.diagnostics["answer"], score.diagnostics["unknown"]) == (0.2, "Kleko", 4)
    nothing = Consistency(3).score(texts(*[UNKNOWN] * 3))
    assert (nothing.value, nothing.diagnostics["answer"]) == (0.0, None)


def test_of_clusters_of_one_size_the_first_counts() -> None:
    assert Consistency(4).score(texts("Zon", "Kleko", "Kleko", "Zon")).diagnostics["answer"] == "Zon"


def test_semantic_entropy_is_lm_polygraphs_over_frequencies() -> None:
    samples = texts("a1", "b2", "a1", "c3", "c3", "a1", "c3")
    assert SemanticEntropy(7).score(samples).value == pytest.approx(1.0042424730540762, abs=1e-6)


def test_semantic_entropy_between_its_bounds() -> None:
    assert SemanticEntropy(4).score(texts(*["Kleko"] * 4)).value == 0
    assert SemanticEntropy(4).score(texts("a1", "b2", "c3", "d4")).value == pytest.approx(math.log(4))
    assert SemanticEntropy(4).score(texts(*[UNKNOWN] * 4)).value == pytest.approx(math.log(4))


@given(sample_lists, st.randoms(use_true_random=False))
def test_the_order_of_the_samples_does_not_matter(samples: list[str], random: Any) -> None:
    shuffled = random.sample(samples, len(samples))
    for estimator in estimators(len(samples)):
        one, other = estimator.score(evidence(*samples)), estimator.score(evidence(*shuffled))
        assert one.value == pytest.approx(other.value, abs=1e-9), estimator.name


@given(st.sampled_from(["Kleko", "Thevin", "12"]), st.integers(2, 12))
def test_identical_samples_are_as_sure_as_can_be(text: str, k: int) -> None:
    same = texts(*[text] * k, greedy=answer(LOGPROBS, text))
    assert Consistency(k).score(same).value == 1
    assert SemanticEntropy(k).score(same).value == 0
    assert CoCoA(k).score(same).value == 0
    row = Letters().queries([text])[0].astype(np.float64)
    squared_norm = float(((row - row.mean()) ** 2).sum())
    floor = ((k - 1) * math.log(1e-3) + math.log(k * squared_norm + 1e-3)) / k
    assert EmbeddingGram(Letters(), k).score(same).value == pytest.approx(floor, abs=1e-6)


@given(sample_lists)
def test_scores_keep_their_ranges(samples: list[str]) -> None:
    k = len(samples)
    known = sum(sample != UNKNOWN for sample in samples)
    assert min(known, 1) / k <= Consistency(k).score(texts(*samples)).value <= known / k
    assert 0 <= SemanticEntropy(k).score(texts(*samples)).value <= math.log(k) + 1e-12
    assert 0 <= CoCoA(k).score(evidence(*samples)).value <= 0.84 + 1e-12


@given(
    st.lists(st.sampled_from("abcdef"), max_size=9), st.sets(st.sampled_from(["ab", "bc", "ad", "ef", "ce"]))
)
def test_clusters_are_those_of_the_algorithm_whatever_the_judge_says(
    answers: list[str], same: set[str]
) -> None:
    judge = Table({(pair[0], pair[1]): 1.0 for pair in same})
    expected: list[list[int]] = []
    for at, each in enumerate(answers):  # Algorithm 1, as it stands in the paper
        for cluster in expected:
            if each == answers[cluster[0]] or judge("", [(each, answers[cluster[0]])]).alike[0]:
                cluster.append(at)
                break
        else:
            expected.append([at])
    judge.asked.clear()
    found = clustered("q", answers, judge)
    assert [list(cluster) for cluster in found.members] == expected
    assert found.judged == len(judge.asked) == found.cost["model_calls"]
    distinct = len(set(answers))
    assert len(judge.asked) <= distinct * (distinct - 1) / 2


def test_a_judge_is_asked_only_where_normal_forms_differ_and_its_calls_are_counted() -> None:
    judge = Table({("Thevin", "Keisex Thevin"): 0.9})
    samples = texts("Thevin", "thevin.", UNKNOWN, "Keisex Thevin", "Zon")
    score = Consistency(5, judge).score(samples)
    assert score.value == 0.6 and score.cost["model_calls"] == len(judge.asked) == 2
    assert judge.asked == [("Keisex Thevin", "Thevin"), ("Zon", "Thevin")]
    assert score.settings["judge"] == "table"
    with pytest.raises(SettingsError, match="cannot be compared"):
        score.surer_than(Consistency(5).score(samples))
    entropy = SemanticEntropy(5, judge).score(samples)
    assert entropy.diagnostics["sizes"] == [3, 1, 1] and entropy.cost["model_calls"] == 2


def test_a_model_that_judges_is_asked_about_both_answers_in_the_context_of_the_prompt() -> None:
    chat = ScriptedChat(lambda prompt: "**Yes**, they do." if "Keisex" in prompt else "Perhaps")
    judge = ModelJudge(Door(chat))
    judged = judge("Who directed it?", [("Thevin", "Keisex Thevin"), ("Thevin", "Zon")])
    assert judged.alike == (1.0, 0.0)
    assert judged.cost["model_calls"] == 2 and judge.name == "ScriptedChat"
    for prompt in chat.prompts:
        assert "Who directed it?" in prompt and "answered: Thevin\n" in prompt
    assert all(call["temperature"] == 0 for call in chat.calls)


@pytest.mark.parametrize(("base", "value"), [("msp", 1.848), ("ppl", 0.462), ("mte", 0.4284860029758201)])
def test_cocoa_is_lm_polygraphs(base: Base, value: float) -> None:
    judge = Table({("Kleko", "Zon"): 0.25})
    samples = evidence("Kleko", "Thevin", "Zorro", "the kleko", "Zon")  # similarities 1, 0, 0, 1, 0.25
    assert CoCoA(5, base, 4, judge).score(samples).value == pytest.approx(value, abs=1e-6)


def test_cocoa_by_normal_forms_alone() -> None:
    score = CoCoA(4).score(evidence("kleko", "Thevin", UNKNOWN, "Kleko"))
    assert score.diagnostics == {"uncertainty": pytest.approx(0.84), "distance": 0.5}
    assert score.value == pytest.approx(0.42)
    silent = texts(UNKNOWN, UNKNOWN, greedy=answer(LOGPROBS, UNKNOWN))
    assert CoCoA(2).score(silent).value == pytest.approx(0.84)


@pytest.mark.parametrize("alike", [math.nan, -3.0, 7.0])
def test_a_judge_out_of_range_makes_no_answer_more_than_the_same(alike: float) -> None:
    judge = Table({("Kleko", "Zon"): alike})
    score = CoCoA(2, judge=judge).score(evidence("Zon", "Zon"))
    assert 0 <= score.diagnostics["distance"] <= 1
    assert (score.diagnostics["distance"] == 0) == (alike == 7)
    assert len(judge.asked) == 1  # the same sample is not judged twice


def test_cocoa_names_a_base_that_there_is_not() -> None:
    with pytest.raises(SettingsError, match="choose from msp, ppl, mte"):
        CoCoA(base="nll")  # type: ignore[arg-type]
    assert CoCoA().needs.top_logprobs == 0 and CoCoA(base="mte", top_logprobs=7).needs.top_logprobs == 7


def test_each_distinct_answer_is_embedded_once() -> None:
    encoder = Letters()
    score = EmbeddingGram(encoder, 4).score(texts("Zon", "Kleko", "Zon", " Kleko"))
    assert sorted(encoder.asked) == ["Kleko", "Zon"] and score.diagnostics["distinct"] == 2
    assert score.settings["encoder"] == "letters"
    spread_out = EmbeddingGram(encoder, 4).score(texts("Zon", "Kleko", "Thevin", "Wedo"))
    assert score.surer_than(spread_out)


def test_an_embedding_that_is_no_number_is_refused() -> None:
    class Broken(Letters):
        def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return super().queries(texts) * np.float32(math.nan)

    with pytest.raises(EvidenceError, match="NaN"):
        EmbeddingGram(Broken(), 2).score(texts("Zon", "Kleko"))


@pytest.mark.parametrize("make", [Consistency, SemanticEntropy, CoCoA, lambda k: EmbeddingGram(Letters(), k)])
def test_one_sample_is_refused(make: Any) -> None:
    with pytest.raises(SettingsError, match="k must be at least 2, not 1"):
        make(1)


@pytest.mark.parametrize("estimator", estimators(4), ids=lambda each: each.name)
def test_too_few_or_empty_samples_are_an_error_with_the_numbers(estimator: Estimator) -> None:
    with pytest.raises(EvidenceError, match="4 samples and got 3"):
        estimator.score(evidence("a1", "b2", "c3"))
    with pytest.raises(EvidenceError, match="4 samples with text in them, and 2 are empty"):
        estimator.score(evidence("a1", "", "c3", "\n"))


def test_cocoa_needs_the_tokens_of_the_greedy_answer() -> None:
    samples = texts("Zon", "Kleko")
    with pytest.raises(CapabilityError, match="most probable answer"):
        CoCoA(2).score(samples)
    with pytest.raises(CapabilityError, match="log-probabilities"):
        CoCoA(2).score(replace(samples, greedy=Answer("Zon")))
