"""Estimators read what models really write, and never leave [0, 1]."""

import math

import pytest
from effort import effort
from hypothesis import given
from hypothesis import strategies as st

from knowwhen.uncertainty.probability import mean_probability
from knowwhen.uncertainty.verbalised import verbalised


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("Answer: Paris\nConfidence: 80", 0.8),
        ("Answer: Paris\nConfidence: 80%", 0.8),
        ("Answer: Paris\nConfidence (0-100): 80%", 0.8),
        ("Answer: Paris\nConfidence (0-100): [80]%", 0.8),
        ("Confidence (0–100): 80", 0.8),
        ("Confidence (0 to 100): 80", 0.8),
        ("Confidence (0 = a guess, 100 = certain): 40", 0.4),
        ("Confidence [0-100%]: 70", 0.7),
        ("Confidence: (0-100) 70", 0.7),
        ("Confidence from 0 to 100: 70", 0.7),
        ("Confidence score (out of 100): 65", 0.65),
        ("Confidence (0-1): 0.8", 0.8),
        ("Confidence: 0.8", 0.8),
        ("Confidence: .8", 0.8),
        ("confidence=0.8", 0.8),
        ("Confidence: 1.0", 1.0),
        ("Confidence: 85,5 %", 0.855),
        ("Confidence: 0.95%", 0.0095),
        ("Confidence: 8/10", 0.8),
        ("Confidence: **8** / 10", 0.8),
        ("Confidence: 8.5/10", 0.85),
        ("Confidence: 4/5", 0.8),
        ("Confidence: 80/100", 0.8),
        ("Confidence: 7 out of 10", 0.7),
        ("Confidence: high (8 out of 10)", 0.8),
        ("**Confidence:** 90", 0.9),
        ("**Confidence**: **90%**", 0.9),
        ("Confidence: `90`", 0.9),
        ("**Confidence:**\n90", 0.9),
        ("Confidence level: 85 percent", 0.85),
        ("Confidence in my answer: about 85", 0.85),
        ("Confidence: I'd say 85", 0.85),
        ("Confidence - 85%", 0.85),
        ("Paris (confidence: 70)", 0.7),
        ("Paris, and my confidence is 75%.", 0.75),
        ("Paris, with a confidence of about 75%", 0.75),
        ('{"answer": "Paris", "confidence": 85}', 0.85),
        ('{"answer": "Paris", "confidence_score": 0.85}', 0.85),
        ("CONFIDENCE: 12", 0.12),
        ("Confidence: 0", 0.0),
        ("Confidence: 0%", 0.0),
        ("Confidence: 100", 1.0),
        ("Confidence: 10/10", 1.0),
    ],
)
def test_a_confidence_is_read_however_it_is_written(text: str, confidence: float) -> None:
    assert verbalised(text) == pytest.approx(confidence)


def test_of_several_confidences_the_last_counts() -> None:
    assert verbalised("Confidence: 20\nOn second thought:\nConfidence: 70") == 0.7
    assert verbalised("Confidence: 70. No, I cannot know. Confidence: 0/10") == 0.0


def test_numbers_of_the_answer_are_no_confidence() -> None:
    assert verbalised("Answer: 42\nConfidence: 90\nQuestion: 12") == 0.9
    assert verbalised("Answer: 42") is None
    assert verbalised("Confidence:\nQuestion: 12") is None
    assert verbalised("I have no confidence in this. It has 40 members") is None
    assert verbalised("I have high confidence that the answer is 42") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Paris",
        "Answer: Paris\nConfidence:",
        "Confidence: high",
        "Confidence (0-100): high",
        "Confidence: 0-100",
        "Confidence: your number",
        "Confidence: 150",
        "Confidence: 150%",
        "Confidence: 15/10",
        "Confidence: 3/0",
        "Confidence: 0/0",
        "Confidence: 1,000",
        "Confidence: -20",
        "Confidence: \N{MINUS SIGN}20",
        "Confidence: nan",
        "Confidence: " + "9" * 5000,
    ],
)
def test_no_confidence_or_one_out_of_range_is_none(text: str) -> None:
    assert verbalised(text) is None


PIECES = [
    "Confidence",
    "confidence level",
    ":",
    "(0-100)",
    "/10",
    "/100",
    "/0",
    "%",
    "-",
    ".",
    ",",
    "\n",
    "**",
]


@given(
    st.lists(st.sampled_from(PIECES) | st.integers(-10, 10**6).map(str) | st.text(max_size=3)).map(" ".join)
)
def test_a_verbalised_confidence_never_leaves_its_range(text: str) -> None:
    stated = verbalised(text)
    assert stated is None or 0 <= stated <= 1


@given(st.integers(0, 100))
def test_every_whole_percentage_is_read_exactly(percent: int) -> None:
    assert verbalised(f"Answer: 7\nConfidence: {percent}") == percent / 100
    assert verbalised(f"Confidence (0-100): {percent}%") == percent / 100


@pytest.mark.parametrize("piece", ["confidence: ", "confidence ", "(0 ", "(", "confidence: 1", "0 - "])
def test_a_reply_of_repetitions_takes_no_more_than_its_length(piece: str) -> None:
    short, long = (effort(lambda text=piece * size: verbalised(text)) for size in (4_000, 80_000))
    assert long <= 100 * short  # 400 times, were it the square


@pytest.mark.parametrize(
    ("logprobs", "mean"),
    [
        ([0.0], 1.0),
        ([math.log(0.5)], 0.5),
        ([math.log(0.9), math.log(0.5), math.log(0.1)], 0.5),
        ([math.log(0.25), 0.0], 0.625),
        ([-math.inf], 0.0),
        ([-math.inf, 0.0], 0.5),
        ([-1000.0], 0.0),
        ([1e-7, 0.0], 1.0),
        ([1000.0], 1.0),
    ],
)
def test_the_mean_probability_is_that_of_the_tokens_not_of_their_logarithms(
    logprobs: list[float], mean: float
) -> None:
    assert mean_probability(logprobs) == pytest.approx(mean)


@pytest.mark.parametrize("logprobs", [[], [math.nan], [math.log(0.5), math.nan]])
def test_an_answer_without_probabilities_has_no_mean(logprobs: list[float]) -> None:
    assert mean_probability(logprobs) is None


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=30))
def test_a_mean_probability_never_leaves_its_range(logprobs: list[float]) -> None:
    mean = mean_probability(logprobs)
    assert mean is not None
    assert 0 <= mean <= 1
    shares = [math.exp(min(0.0, logprob)) for logprob in logprobs]
    assert min(shares) - 1e-12 <= mean <= max(shares) + 1e-12
