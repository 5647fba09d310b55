"""StrategyQA's accuracy: yes, no, true and false read off answers as models write them."""

import pytest

from knowwhen.evaluation.yes_or_no import says_yes_or_true, yes_no_accuracy


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Yes", True),
        ("no.", False),
        ("**True**", True),
        ("FALSE!", False),
        ("No, because penguins swim. True, they do not fly.", False),
        ("Penguins swim, so the answer is no: it is not yes.", False),
        ("The answer is: Yes. Many would say no", True),
        ("Answer: true", True),
        ("The answer is not true.", False),
        ("So, after all, yes", True),
        ("It is not true.", False),
        ("That is false, as far as is known", False),
        ("It would be true for all of them", True),
        ("It is true that they swim, so no", False),
        ("Not true", False),
        ("yes or no? Yes", True),
        ("yes or no", None),
        ("Yes and no", None),
        ("I cannot say yes/no.", None),
        ("There is no evidence of that", None),
        ("Unknown", None),
        ("Nobody", None),
        ("Noah", None),
        ("truest", None),
        ("", None),
    ],
)
def test_what_a_free_answer_says(answer: str, said: bool | None) -> None:
    assert says_yes_or_true(answer) is said


@pytest.mark.parametrize(
    ("prediction", "gold", "expected"),
    [
        ("True", "yes", 1),
        ("no, never", "False", 1),
        ("Yes", "no", 0),
        ("maybe", "no", 0),
        ("maybe", "maybe", 0),  # neither is the answer to no such question
        ("", "no", 0),
    ],
)
def test_accuracy_compares_what_is_said(prediction: str, gold: str, expected: float) -> None:
    assert yes_no_accuracy(prediction, [gold]) == expected
