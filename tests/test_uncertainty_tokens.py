"""Estimators over token log-probabilities: numbers worked out elsewhere, and refusals instead of guesses."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from evidences import answer, greedy, sampled, texts
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.models.errors import CapabilityError, SettingsError
from knowwhen.models.evidence import Answer, Evidence
from knowwhen.uncertainty.energy import Energy
from knowwhen.uncertainty.estimator import Estimator
from knowwhen.uncertainty.ln_entropy import LNEntropy
from knowwhen.uncertainty.mean_perplexity import MeanPerplexity
from knowwhen.uncertainty.min_probability import MinProbability
from knowwhen.uncertainty.perplexity import Perplexity
from knowwhen.uncertainty.probability import Probability, mean_probability
from knowwhen.uncertainty.score import EvidenceError
from knowwhen.uncertainty.token_entropy import TokenEntropy
from knowwhen.uncertainty.token_margin import TokenMargin
from knowwhen.uncertainty.verbalised import Verbalised

LOGPROBS = [-0.1, -2.5, -0.75, -0.01]
SAMPLES = [[-0.1, -0.2, -1.5], [-0.05], [-3.0, -0.4], [-0.1, -0.2, -1.5]]
SHARES = [[0.7, 0.2, 0.06, 0.04], [0.25] * 4, [0.97, 0.01, 0.01, 0.01], [0.5, 0.5 - 2e-9, 1e-9, 1e-9]]
TOPS = [[math.log(share) for share in shares] for shares in SHARES]  # the whole vocabulary, at four places

OF_ONE = [Probability(), MinProbability(), Perplexity(), TokenEntropy(2), TokenMargin()]
OF_MANY = [MeanPerplexity(4), LNEntropy(4)]

logprob = st.floats(-30, 0)
token_lists = st.lists(logprob, min_size=1, max_size=12)


def logits(*normalisers: float) -> Evidence:
    tokens = answer([-0.5] * len(normalisers)).tokens
    return Evidence("Who directed it?", Answer("Wedo Kleko", tokens, normalisers))


def test_perplexity_is_that_of_lm_polygraph() -> None:
    assert Perplexity().score(greedy(LOGPROBS)).value == pytest.approx(2.3163669767810915, abs=1e-6)


def test_ln_entropy_is_lm_polygraphs_length_normalised_entropy() -> None:
    assert LNEntropy(4).score(sampled(*SAMPLES)).value == pytest.approx(0.7375, abs=1e-6)


def test_token_entropy_over_the_whole_vocabulary_is_lm_polygraphs_mean_token_entropy() -> None:
    evidence = greedy([top[0] for top in TOPS], tops=TOPS)
    assert TokenEntropy(4).score(evidence).value == pytest.approx(0.7790654599560365, abs=1e-6)


def test_values_worked_out_by_hand() -> None:
    halves = greedy([math.log(0.5), math.log(0.25)])
    assert Probability().score(halves).value == pytest.approx(0.375)
    assert MinProbability().score(halves).value == pytest.approx(0.25)
    assert MinProbability().score(halves).diagnostics == {"token": 1}
    assert Perplexity().score(halves).value == pytest.approx(math.sqrt(8))
    pair = sampled([math.log(0.5)], [math.log(0.25)] * 3)
    assert MeanPerplexity(2).score(pair).value == pytest.approx((2 + 4) / 2)
    assert LNEntropy(2).score(pair).value == pytest.approx(math.log(8) / 2)
    tops = greedy([-0.1] * 4, tops=TOPS)
    assert TokenMargin().score(tops).value == pytest.approx((0.5 + 0 + 0.96 + 2e-9) / 4)
    assert TokenEntropy(1).score(greedy([-0.1], tops=[[math.log(0.5)]])).value == pytest.approx(math.log(2))


def test_energy_is_the_negative_mean_of_the_logits_normalisers() -> None:
    rows = torch.randn(5, 40, generator=torch.Generator().manual_seed(3)) * 4
    score = Energy().score(logits(*rows.logsumexp(dim=1).tolist()))
    by_hand = [math.log(sum(math.exp(float(z)) for z in row)) for row in rows]
    assert score.value == pytest.approx(-sum(by_hand) / 5, abs=1e-5)
    assert logits(9.0, 11.0).greedy and Energy().score(logits(9.0, 11.0)).value == -10
    assert Energy().score(logits(20.0)).surer_than(Energy().score(logits(10.0)))


def test_energy_needs_logits_that_are_numbers() -> None:
    for evidence in (greedy([-0.1]), replace(logits(1.0), greedy=Answer("Wedo Kleko"))):
        with pytest.raises(CapabilityError, match="energy needs the logits") as error:
            Energy().score(evidence)
        assert "\n" not in str(error.value) and "perplexity" in str(error.value)
    for normalisers in ([], [math.nan], [1.0, math.inf]):
        with pytest.raises(EvidenceError):
            Energy().score(logits(*normalisers))


@given(token_lists)
def test_an_answer_of_equal_tokens_has_their_probability(logprobs: list[float]) -> None:
    equal = greedy([logprobs[0]] * len(logprobs))
    probability = math.exp(logprobs[0])
    assert Probability().score(equal).value == pytest.approx(probability)
    assert MinProbability().score(equal).value == pytest.approx(probability)
    assert Perplexity().score(equal).value == pytest.approx(1 / probability)


@given(token_lists)
def test_scores_of_one_answer_keep_their_ranges_and_order(logprobs: list[float]) -> None:
    evidence = greedy(logprobs)
    weakest, mean = MinProbability().score(evidence).value, Probability().score(evidence).value
    assert 0 <= weakest <= mean + 1e-12 and mean <= 1
    assert mean == pytest.approx(mean_probability(logprobs), abs=1e-12)
    assert weakest - 1e-12 <= 1 / Perplexity().score(evidence).value <= mean + 1e-12


@given(st.lists(token_lists, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_the_samples_does_not_matter(samples: list[list[float]], random: Any) -> None:
    shuffled = random.sample(samples, len(samples))
    for estimator in (MeanPerplexity(len(samples)), LNEntropy(len(samples))):
        assert estimator.score(sampled(*samples)).value == estimator.score(sampled(*shuffled)).value


@given(token_lists, st.integers(2, 6))
def test_identical_samples_score_like_one_of_them(logprobs: list[float], k: int) -> None:
    evidence = sampled(*[logprobs] * k)
    perplexity = Perplexity().score(greedy(logprobs)).value
    assert MeanPerplexity(k).score(evidence).value == pytest.approx(perplexity)
    assert LNEntropy(k).score(evidence).value == pytest.approx(math.log(perplexity), abs=1e-9)


@given(token_lists, st.floats(0.1, 5))
def test_entropy_scales_with_the_log_probabilities(logprobs: list[float], factor: float) -> None:
    scaled = [factor * each for each in logprobs]
    once, scaled_once = (LNEntropy(2).score(sampled(each, each)).value for each in (logprobs, scaled))
    assert scaled_once == pytest.approx(factor * once, abs=1e-9)


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=30), st.integers(1, 30))
def test_the_entropy_of_the_best_tokens_never_exceeds_that_of_all(weights: list[float], m: int) -> None:
    shares = sorted((weight / sum(weights) for weight in weights), reverse=True)
    top = [math.log(share) for share in shares]
    read = min(m, len(top))
    partial = TokenEntropy(read).score(greedy([top[0]], tops=[top])).value
    whole = -sum(share * math.log(share) for share in shares)
    assert 0 <= partial <= min(whole, math.log(read + 1)) + 1e-9
    assert TokenEntropy(len(top)).score(greedy([top[0]], tops=[top])).value == pytest.approx(whole)


def test_of_more_reported_tokens_only_the_best_are_read() -> None:
    reversed_tops = [list(reversed(top)) for top in TOPS]
    some = TokenEntropy(2).score(greedy([-0.1] * 4, tops=TOPS))
    assert TokenEntropy(2).score(greedy([-0.1] * 4, tops=reversed_tops)).value == some.value
    assert TokenEntropy(2).score(greedy([-0.1] * 4, tops=[top[:2] for top in TOPS])).value == some.value
    with pytest.raises(SettingsError, match="cannot be compared"):
        some.surer_than(TokenEntropy(3).score(greedy([-0.1] * 4, tops=TOPS)))


def test_too_few_reported_tokens_are_refused_unless_they_are_all_there_is() -> None:
    with pytest.raises(CapabilityError, match=r"the 3 most probable tokens .* reported 2"):
        TokenEntropy(3).score(greedy([-0.7], tops=[[math.log(0.5), math.log(0.3)]]))
    certain = greedy([0.0], tops=[[0.0]])
    assert TokenEntropy(3).score(certain).value == 0
    assert TokenMargin().score(certain).value == 1


@pytest.mark.parametrize("estimator", OF_ONE, ids=lambda each: each.name)
@pytest.mark.parametrize("bad", [math.nan, -math.inf])
def test_a_token_without_a_number_is_refused_not_taken_for_sure(estimator: Estimator, bad: float) -> None:
    tops = [[math.log(0.5)] * 2] * 2
    with pytest.raises(EvidenceError, match="log-probability"):
        estimator.score(greedy([-0.1, bad], tops=tops))


@pytest.mark.parametrize("estimator", OF_MANY, ids=lambda each: each.name)
@pytest.mark.parametrize("bad", [math.nan, -math.inf])
def test_a_sample_without_a_number_is_refused(estimator: Estimator, bad: float) -> None:
    with pytest.raises(EvidenceError, match="log-probability"):
        estimator.score(sampled(*SAMPLES[:3], [-0.1, bad]))


def test_alternatives_that_are_no_number_are_refused() -> None:
    with pytest.raises(EvidenceError, match="nan"):
        TokenEntropy(2).score(greedy([-0.1], tops=[[-0.1, math.nan]]))


def test_a_perplexity_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(EvidenceError, match="inf"):
        Perplexity().score(greedy([-9999.0]))


@pytest.mark.parametrize("estimator", [*OF_ONE, Energy(), Verbalised()], ids=lambda each: each.name)
def test_what_was_not_asked_for_is_named(estimator: Estimator) -> None:
    with pytest.raises(CapabilityError, match=f"{estimator.name} needs the most probable answer"):
        estimator.score(sampled(*SAMPLES))


@pytest.mark.parametrize("estimator", [*OF_ONE, *OF_MANY], ids=lambda each: each.name)
def test_a_model_without_log_probabilities_is_told_so(estimator: Estimator) -> None:
    four = texts("a", "b", "c", "d", greedy=Answer("a"))
    with pytest.raises(CapabilityError, match="log-probabilities"):
        estimator.score(four)


@pytest.mark.parametrize("estimator", OF_ONE, ids=lambda each: each.name)
def test_an_answer_without_tokens_has_no_score(estimator: Estimator) -> None:
    with pytest.raises(EvidenceError, match="has none"):
        estimator.score(greedy([], text=""))


@pytest.mark.parametrize("estimator", OF_MANY, ids=lambda each: each.name)
def test_too_few_or_empty_samples_are_an_error_with_the_numbers(estimator: Estimator) -> None:
    with pytest.raises(EvidenceError, match="4 samples and got 3"):
        estimator.score(sampled(*SAMPLES[:3]))
    empty = replace(sampled(*SAMPLES[:3]), samples=(*sampled(*SAMPLES[:3]).samples, Answer(" \n", ())))
    with pytest.raises(EvidenceError, match="4 samples with text in them, and 1 are empty"):
        estimator.score(empty)


@pytest.mark.parametrize("estimator", [MeanPerplexity, LNEntropy])
def test_one_sample_is_refused(estimator: type[MeanPerplexity] | type[LNEntropy]) -> None:
    with pytest.raises(SettingsError, match="k must be at least 2, not 1"):
        estimator(k=1)


def test_log_probabilities_above_0_by_rounding_count_as_0() -> None:
    assert Perplexity().score(greedy([1e-7])).value == 1
    assert Probability().score(greedy([1e-7])).value == 1


def test_a_stated_confidence_is_the_score_and_none_stated_an_error() -> None:
    assert Verbalised().score(greedy(text="Answer: Kleko\nConfidence: 80")).value == 0.8
    with pytest.raises(EvidenceError, match="no confidence is stated in 'Answer: Kleko'"):
        Verbalised().score(greedy(text="Answer: Kleko"))
