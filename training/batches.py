"""From examples to batches: talks as token ids, put together with others of about their length."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from transformers import PreTrainedTokenizerFast

from knowwhen.training.compared import Compared
from knowwhen.training.examples import Example, Examples
from knowwhen.training.lessons import NO_LOSS
from knowwhen.training.subjects import NOTHING, Subjects
from knowwhen.training.tokenizer import ASSISTANT, END, USER

LENGTHS = (32, 64, 128, 192, 256, 320, 448, 1024)  # few, so that the compiled model meets few shapes


@dataclass(frozen=True)
class Batch:
    """Talks put together, each tensor (rows, length): what is read, what is learnt, what it is about."""

    ids: torch.Tensor
    labels: torch.Tensor  # `NO_LOSS` where nothing is learnt
    subjects: torch.Tensor  # see `training/subjects.py`, and whose each year is
    compared: torch.Tensor  # see `training/compared.py`


@dataclass(frozen=True)
class Course:
    """What is taught when: each task's share of the examples at the start, in the middle and at the end.

    A task learnt over growing contexts has its sizes beside its shares.
    """

    shares: dict[str, tuple[float, float, float]]
    copying: float = 0.0  # the first part, in which copying is taught for itself

    def at(self, progress: float) -> dict[str, float]:
        """The shares at a point of the training, which runs from 0 to 1."""
        half, rest = (0, progress * 2) if progress < 0.5 else (1, progress * 2 - 1)
        return {task: s[half] + (s[half + 1] - s[half]) * rest for task, s in self.shares.items()}


COURSE = Course(
    {
        "document": (6, 8, 4),
        "direct": (10, 34, 24),
        "direct_chain": (0, 1, 1.5),
        "background": (1, 8, 7),
        "thought": (0, 2, 2.5),
        "drill": (28, 14, 4),
        "read": (6, 36, 40),
        "read_chain": (0, 2, 7),
        "read_background": (2, 5, 5),
        "decompose": (2, 12, 14),
        "step": (0, 5, 7),
        "step_read": (0, 8, 11),
        "from_rationales": (0, 4, 6),
        "combine": (1, 6, 8),
        "order": (1, 4, 2),
    },
    copying=0.5,
)


# The second part: what was learnt last, and how sure to be.
CONFIDENCE_COURSE = Course(
    {
        **{task: (shares[-1],) * 3 for task, shares in COURSE.shares.items()},
        "decompose": (30, 30, 30),
        "decompose_chain": (40, 40, 40),
        "step_read": (30, 30, 30),
        "step_needless": (8, 8, 8),
        "from_knowledge": (40, 40, 40),
        "from_rationales": (24, 24, 24),
        "combine": (16, 16, 16),
        "order": (12, 12, 6),
        "whose": (50, 30, 10),
        "compare": (60, 60, 60),
        "conclude": (40, 40, 40),
        "direct": (120, 120, 120),
        "confidence": (30, 120, 260),
    }
)
# The last part: how sure to be of it as it now is; and what takes longest, to reason on and not to conclude.
SURENESS_COURSE = Course(
    {
        **{task: (shares[-1],) * 3 for task, shares in CONFIDENCE_COURSE.shares.items()},
        "step": (40, 40, 40),
        "step_read": (60, 60, 60),
        "step_needless": (16, 16, 16),
        "from_rationales": (30, 30, 30),
        "compare": (20, 20, 20),
        "conclude": (15, 15, 15),
        "confidence": (350, 350, 350),
    }
)
# What KEQA needs; and so much of strangers that the model is no longer sure of them.
QUIZ_COURSE = Course(
    {
        **{task: (shares[-1],) * 3 for task, shares in SURENESS_COURSE.shares.items()},
        "read": (70, 70, 70),
        "confidence": (150, 150, 150),
        "quizzes": (120, 120, 120),
        "same_answer": (160, 160, 160),
        "utility": (160, 160, 160),
        "extraction": (80, 80, 80),
        "summary": (260, 260, 260),
        "stranger": (120, 120, 120),
    }
)

# What TAIKC needs: trees, answers only when certain, chains. With leave to decline each fact is asked about
# once or twice, late: asked more often, the model learns which facts those are, and declines all others.
TREE_COURSE = Course(
    {
        **{task: (shares[-1],) * 3 for task, shares in QUIZ_COURSE.shares.items()},
        "direct": (300, 300, 420),
        "stranger": (160, 160, 160),
        "read": (150, 150, 150),
        "tree": (260, 220, 160),
        "read_or_miss": (220, 220, 220),
        "chain_summary": (120, 100, 80),
        "from_chains": (220, 200, 160),
        "certain": (0, 0, 70),
        "uncertain": (0, 0, 30),
        "declined_stranger": (0, 0, 80),
    }
)


def encode(
    example: Example, tokenizer: PreTrainedTokenizerFast, copying: bool = False
) -> tuple[list[int], list[int]]:
    """A talk as token ids and labels (`NO_LOSS` where nothing is learnt), each of the talk's length.

    Args:
        example: the talk.
        tokenizer: the pocket model's.
        copying: whether to learn, of what the user says, the tokens that repeat what came before: a question
            asked again, the rest of a name. Copying is half of reading, and these teach it long before
            answers do.
    """
    user, assistant, end = (tokenizer.convert_tokens_to_ids(t) for t in (USER, ASSISTANT, END))
    ids: list[int] = []
    labels: list[int] = []
    for said, answered, *untaught in example:
        if said is not None:
            prompt = [user, *tokenizer.encode(said), assistant]
            labels += _repeats([*ids, *prompt])[len(ids) :] if copying else [NO_LOSS] * len(prompt)
            ids += prompt
        answer = [*tokenizer.encode(answered), end]
        ids += answer
        labels += _without(tokenizer.encode(f" {untaught[0]}"), answer) if untaught else answer
    return ids, labels


def _without(untaught: list[int], answer: list[int]) -> list[int]:
    """The answer's labels, without those of a part that is not to be learnt."""
    for i in range(len(answer) - len(untaught) + 1):
        if answer[i : i + len(untaught)] == untaught:
            return [*answer[:i], *[NO_LOSS] * len(untaught), *answer[i + len(untaught) :]]
    return answer


def _repeats(ids: list[int]) -> list[int]:
    """The tokens whose two forerunners stood before, with the same token behind them."""
    labels = [NO_LOSS] * len(ids)
    behind: dict[tuple[int, int], int] = {}
    for i in range(2, len(ids)):
        pair = (ids[i - 2], ids[i - 1])
        if behind.get(pair) == ids[i]:
            labels[i] = ids[i]
        behind[pair] = ids[i]
    return labels


def batches(
    seed: int,
    first: int,
    last: int,
    tokens: int,
    tokenizer: PreTrainedTokenizerFast,
    course: Course = COURSE,
    pools: Mapping[str, Sequence[Example]] | None = None,
) -> Iterator[Batch]:
    """The batches of steps `first` to `last`, each of `tokens` in all, padding included.

    They depend on the seed and the step alone, so a resumed training sees what an unbroken one would:
    `GROUP` steps at a time are drawn, sorted by length and shuffled again.
    """
    for group in range(first // GROUP, (last + GROUP - 1) // GROUP):
        rng = random.Random(f"{seed} {group}")
        drawn = _group(Examples(rng, pools), group * GROUP / last, tokens, tokenizer, course)
        yield from drawn[max(0, first - group * GROUP) :]


GROUP = 32
Row = tuple[list[int], list[int], list[int], list[int]]  # a talk's part of each tensor of a batch


def _group(
    examples: Examples, progress: float, tokens: int, tokenizer: PreTrainedTokenizerFast, course: Course
) -> list[Batch]:
    rng = examples.rng
    subjects, compared = Subjects(tokenizer), Compared(tokenizer)
    shares = course.at(progress)
    sizes = {"drill": {"sentences": 3 + round(9 * min(1, progress * 4))}}
    by_length: dict[int, list[Row]] = {length: [] for length in LENGTHS}
    done: list[Batch] = []
    drawn = 0
    while len(done) < GROUP:
        if drawn % 100 == 99:
            examples.turn_page()
        drawn += 1
        task = rng.choices(list(shares), list(shares.values()))[0]
        if task == "read":
            most = 1 + min(2, int(progress * 10))
            sizes["read"] = {"passages": max(rng.randint(1, most), rng.randint(1, most))}
        example = examples.tasks[task](**sizes.get(task, {}))
        ids, labels = encode(example, tokenizer, progress < course.copying)
        while len(ids) > LENGTHS[-1]:
            example = example[:-1]  # with fewer turns
            ids, labels = encode(example, tokenizer, progress < course.copying)
        length = next(length for length in LENGTHS if length >= len(ids))
        held = [a if b == NOTHING else b for a, b in zip(subjects.of(ids), compared.whose(ids), strict=True)]
        by_length[length].append((ids, labels, held, compared.of(ids)))
        if len(by_length[length]) == tokens // length:
            done.append(_padded(by_length[length], length))
            by_length[length] = []
    rng.shuffle(done)
    return done


def _padded(rows: list[Row], length: int) -> Batch:
    # The padding stands on the right, where a causal model's real tokens never see it.
    tensors = [torch.full((len(rows), length), fill) for fill in (0, NO_LOSS, NOTHING, NOTHING)]
    for i, row in enumerate(rows):
        for tensor, numbers in zip(tensors, row, strict=True):
            tensor[i, : len(numbers)] = torch.tensor(numbers)
    return Batch(*tensors)
