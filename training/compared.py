"""Which year decides a comparison, which is learnt beside the answers.

"Which film is older, A or B?" over "A: 1990, B: 1985" takes two things, of which an answer rewards neither
alone: which of the two years is asked for, and whose it is. By answers alone the pocket model guessed between
A and B through 38 million tokens. Taught the deciding year for itself, one layer before the last, it has but
to look up whose it is.
"""

from transformers import PreTrainedTokenizerFast

from knowwhen.almanac.world import TODAY
from knowwhen.training.subjects import NOTHING
from knowwhen.training.tokenizer import ASSISTANT, END

FIRST_YEAR = 1850


class Compared:
    """Finds the year that decides in prompts that show facts line by line, a year a line.

    Args:
        tokenizer: the pocket model's, in which line ends and years are tokens of their own.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        marks = ("Ċ", "[", ASSISTANT, END)
        self.line_end, self.bracket, self.assistant, self.end = (
            tokenizer.convert_tokens_to_ids(mark) for mark in marks
        )
        self.questions = set(tokenizer.convert_tokens_to_ids(["Question", "ĠQuestion"]))
        spelled = [f"Ġ{year}" for year in range(FIRST_YEAR, TODAY + 21)]
        self.years = set(tokenizer.convert_tokens_to_ids(spelled)) - {tokenizer.unk_token_id}

    def of(self, ids: list[int]) -> list[int]:
        """For the tokens between the prompt's end and the answer's name: the year that decides.

        Args:
            ids: a talk's tokens, the user's turn first.

        Returns:
            A token id each, of the talk's length; `NOTHING` where no year decides.
        """
        compared = [NOTHING] * len(ids)
        if self.assistant not in ids or ids[0] == self.assistant:
            return compared
        said = ids.index(self.assistant)
        name = self._name(ids[said + 1 :])
        lines = [line for line in self._lines(ids[:said]) if not self.questions.intersection(line[:1])]
        dated = [line for line in lines if len(self.years.intersection(line)) == 1]
        looked_up = any(line[:1] == [self.bracket] for line in lines)
        if len(dated) < 2 or not name or self.years.intersection(name) or looked_up:
            return compared
        common = set.intersection(*map(set, dated))
        facts = [line for line in lines if name[-1] in line]  # a line's first word is another token
        told = set(name).union(*facts) - common
        shared = [len(told.intersection(line)) for line in dated]
        if sorted(shared)[-1] == sorted(shared)[-2]:
            return compared
        (year,) = self.years.intersection(dated[shared.index(max(shared))])
        begins = said + 1 + _place(ids[said + 1 :], name)
        for at in range(said - 2, begins):
            compared[at] = year
        return compared

    def _name(self, answer: list[int]) -> list[int]:
        """The two words of a name that an answer ends in, if it does."""
        words = answer[: answer.index(self.end)] if self.end in answer else answer
        return words[-3:-1] if len(words) > 3 else words[-2:] if len(words) == 2 else []

    def _lines(self, ids: list[int]) -> list[list[int]]:
        lines: list[list[int]] = [[]]
        for token in ids:
            if token == self.line_end:
                lines.append([])
            else:
                lines[-1].append(token)
        return lines


def _place(line: list[int], words: list[int]) -> int:
    places = range(len(line) - len(words) + 1)
    return next((i for i in places if line[i : i + len(words)] == words), len(line))
