"""What a comparison takes, which is learnt beside the answers.

"Which film is older, A or B?" over "A: 1990, B: 1985" takes three things, of which an answer rewards none
alone: whose each year is, which of the two years is asked for, and that the one asked for is looked up among
them. By answers alone the pocket model guessed between A and B through 38 million tokens. Taught the first
at the years, half-way up, and the second at the end, one layer before the last, it knows both; the looking up
it has not learnt yet (docs/pocket.md).
"""

from transformers import PreTrainedTokenizerFast

from knowwhen.almanac.world import TODAY, name_words
from knowwhen.training.subjects import NOTHING
from knowwhen.training.tokenizer import ASSISTANT, END

FIRST_YEAR = 1850


class Compared:
    """Finds years, and whose they are, in prompts that show facts line by line, a year a line.

    Args:
        tokenizer: the pocket model's, in which line ends, years and names' words are tokens of their own.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        marks = ("Ċ", "[", ASSISTANT, END)
        self.line_end, self.bracket, self.assistant, self.end = (
            tokenizer.convert_tokens_to_ids(mark) for mark in marks
        )
        self.questions = set(tokenizer.convert_tokens_to_ids(["Question", "ĠQuestion"]))
        spelled = [f"Ġ{year}" for year in range(FIRST_YEAR, TODAY + 21)]
        self.years = set(tokenizer.convert_tokens_to_ids(spelled)) - {tokenizer.unk_token_id}
        self.names = set(tokenizer.convert_tokens_to_ids([f"Ġ{word}" for word in name_words()]))

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
        shown = [ids[first:last] for first, last in self._lines(ids[:said])]
        dated = [line for line in shown if self._year_of(line)]
        if len(dated) < 2 or not name or self.years.intersection(name):
            return compared
        common = set.intersection(*map(set, dated))
        told = set(name).union(*(line for line in shown if name[-1] in line)) - common
        shared = [len(told.intersection(line)) for line in dated]
        if sorted(shared)[-1] == sorted(shared)[-2]:
            return compared
        year = self._year_of(dated[shared.index(max(shared))])
        begins = said + 1 + _place(ids[said + 1 :], name)
        for at in range(said - 2, begins):
            compared[at] = year
        return compared

    def whose(self, ids: list[int]) -> list[int]:
        """For the tokens from each line's year to the line's end: the first word of the name before it.

        Args:
            ids: a talk's tokens, the user's turn first.

        Returns:
            A token id each, of the talk's length; `NOTHING` where no year, or less than two, was shown.
        """
        whose = [NOTHING] * len(ids)
        if self.assistant not in ids:
            return whose
        lines = self._lines(ids[: ids.index(self.assistant)])
        dated = [(first, last) for first, last in lines if self._year_of(ids[first:last])]
        for first, last in dated if len(dated) > 1 else ():
            behind = first + next(i for i, token in enumerate(ids[first:last]) if token in self.years)
            names = [token for token in ids[first:behind] if token in self.names]
            if names:
                whose[behind:last] = [names[0]] * (last - behind)
        return whose

    def _name(self, answer: list[int]) -> list[int]:
        """The two words of a name that an answer ends in, if it does."""
        words = answer[: answer.index(self.end)] if self.end in answer else answer
        return words[-3:-1] if len(words) > 3 else words[-2:] if len(words) == 2 else []

    def _lines(self, ids: list[int]) -> list[tuple[int, int]]:
        """The lines that show facts; none if there are passages, which are looked up in and not compared."""
        ends = [i for i, token in enumerate(ids) if token == self.line_end]
        lines = list(zip([0, *(end + 1 for end in ends)], [*ends, len(ids)], strict=True))
        if any(ids[first] == self.bracket for first, last in lines if first < last):
            return []
        return [line for line in lines if not self.questions.intersection(ids[line[0] : line[0] + 2])]

    def _year_of(self, line: list[int]) -> int:
        """The line's year, if it has one and no other; else 0."""
        years = self.years.intersection(line)
        return years.pop() if len(years) == 1 else 0


def _place(line: list[int], words: list[int]) -> int:
    places = range(len(line) - len(words) + 1)
    return next((i for i in places if line[i : i + len(words)] == words), len(line))
