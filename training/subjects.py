"""What each token of a look-up is about, which is learnt beside the answers.

To read "When was A released?" off passages on A and on B, a model must know three things at once: at each
word of a passage under which title it stands, behind the question what was asked about, and that the two are
the same. Each is worth nothing without the others, so answers alone teach none of them: between two passages
of a kind the pocket model chose by chance for 15 million tokens. Taught the first two for themselves, it
found the third within 500 steps.
"""

from collections.abc import Iterator

from transformers import PreTrainedTokenizerFast

from knowwhen.training.tokenizer import ASSISTANT, USER

NOTHING = -100  # no subject to learn


class Subjects:
    """Finds the subjects in prompts of the reader's form: numbered lines, each behind its title.

    Args:
        tokenizer: the pocket model's, in which brackets, colons and line ends are tokens of their own.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        marks = ("Ċ", "[", ":", USER, ASSISTANT)
        self.line_end, self.bracket, self.colon, self.user, self.assistant = (
            tokenizer.convert_tokens_to_ids(mark) for mark in marks
        )

    def of(self, ids: list[int]) -> list[int]:
        """For each token the last word of the title it stands under, or of what was asked about.

        Args:
            ids: a talk's tokens, the user's turn first; each turn is looked at for itself.

        Returns:
            A token id each, of the talk's length; `NOTHING` where there is no subject.
        """
        subjects = [NOTHING] * len(ids)
        begins = [0, *(i for i, token in enumerate(ids) if token == self.user and i)]
        for begin, behind in zip(begins, [*begins[1:], len(ids)], strict=True):
            if self.assistant in ids[begin:behind]:
                self._of_turn(ids, begin, ids.index(self.assistant, begin), subjects)
        return subjects

    def _of_turn(self, ids: list[int], begin: int, end: int, subjects: list[int]) -> None:
        lines = list(self._lines(ids, begin, end))
        question = ids[slice(*lines[0])]
        for first, last in lines:
            title = self._title(ids[first:last])
            if not title:
                continue
            behind = first + 3 + len(title)
            subjects[behind:last] = [title[-1]] * (last - behind)
            if _place(title, question) is not None:
                self._behind_the_question(ids, lines[-2:], end, title, subjects)

    def _lines(self, ids: list[int], first: int, end: int) -> Iterator[tuple[int, int]]:
        for i in range(first, end):
            if ids[i] == self.line_end:
                yield first, i
                first = i + 1
        yield first, end

    def _title(self, line: list[int]) -> list[int]:
        """The tokens between "[1]" and the first colon; none if the line is no passage with a title."""
        numbered = line[:1] == [self.bracket] and self.colon in line
        return line[3 : line.index(self.colon)] if numbered else []

    def _behind_the_question(
        self, ids: list[int], lines: list[tuple[int, int]], end: int, title: list[int], subjects: list[int]
    ) -> None:
        for first, last in lines:  # the question once more, and "Answer:"
            place = _place(title, ids[first:last])
            if place is not None:
                behind = first + place + len(title)
                subjects[behind : end + 1] = [title[-1]] * (end + 1 - behind)
                return


def _place(words: list[int], line: list[int]) -> int | None:
    places = range(len(line) - len(words) + 1)
    return next((i for i in places if line[i : i + len(words)] == words), None)
