"""A scripted pupil for KEQA: which quizzes it makes, which it knows, which passages it finds helpful.

    story = Story(["Who directed Karn?", "Where was #1 born?"], knows={"Who directed Karn?": "Alba"})
    output = ask(story, Shelf())

The second quiz, "Where was Alba born?", is answered differently each time and so is looked up; the passages
of rank 2 and 5 help, and the answer read from them is Zeno, as is the summary's.
"""

import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr
from scripted import ScriptedChat, ScriptedReply
from self_dc_script import Shelf, as_pattern, as_reply

from knowwhen.graphs import keqa
from knowwhen.graphs.keqa import PROMPTS
from knowwhen.models.cost import NO_COST, Cost
from knowwhen.tools.labelled import Labelled, Origin
from knowwhen.tools.letters import Letters
from knowwhen.tools.reference import UtilityReference, open_reference, write_reference
from knowwhen.uncertainty.judge import PROMPT as JUDGE_PROMPT

Q = "Where was the director of Karn born?"
FIRST, SECOND, BORN = "Who directed Karn?", "Where was #1 born?", "Where was Alba born?"
N = 5  # tries
FOUND = 10  # passages

# A quiz is put to the model as a question asked directly is: the number of answers tells them apart.
_FORMS = {name: as_pattern(prompt) for name, prompt in PROMPTS.items() if name != "assess"}
_FORMS["judge"] = as_pattern(JUDGE_PROMPT)


@dataclass(frozen=True)
class Asked:
    """What a conversation asks: the name of its last prompt and what that shows, and the turns before."""

    task: str
    question: str
    shows: Mapping[str, str] = field(default_factory=dict)
    turns: tuple[str, ...] = ()
    n: int = 1


def asked(turns: Sequence[str], n: int = 1) -> Asked:
    """Read a conversation; what no template makes is an error."""
    *before, prompt = turns
    found = {name: match for name, form in _FORMS.items() if (match := form.fullmatch(prompt))}
    assert len(found) == 1, f"{prompt!r} is made from {list(found)}"
    ((name, match),) = found.items()
    shows = match.groupdict()
    question = shows.pop("prompt" if name == "judge" else "question")
    task = "assess" if name == "answer_directly" and n > 1 else name
    return Asked(task, question, shows, tuple(before), n)


Reply = ScriptedReply | Callable[[Asked], ScriptedReply]


@dataclass(frozen=True)
class Story:
    """What the pupil says, by what is asked.

    Attributes:
        quizzes: of whatever question is asked, or the whole reply; none: the question again.
        knows: by the quiz, what it answers each time, or all its answers; others it guesses.
        reads: by the quiz, what it reads from passages; Zeno from others.
        helps: the ranks of the passages that it finds helpful.
        same: answers of which any two mean the same.
        summary: of all.
        says: by (task, question), before all else.
    """

    quizzes: Sequence[str] | str = (FIRST, SECOND)
    knows: Mapping[str, str | Sequence[str]] = field(default_factory=lambda: {FIRST: "Alba"})
    reads: Mapping[str, str] = field(default_factory=dict)
    helps: Collection[int] = (2, 5)
    same: Collection[str] = ()
    summary: str = "Alba directed Karn. So the final answer is Zeno."
    says: Mapping[tuple[str, str], Reply] = field(default_factory=dict)

    def __call__(self, asked: Asked) -> ScriptedReply:
        said = self.says.get((asked.task, asked.question))
        if said is not None:
            return said(asked) if callable(said) else said
        return getattr(self, f"_{asked.task}")(asked)

    def _make_quizzes(self, asked: Asked) -> str:
        if isinstance(self.quizzes, str):
            return self.quizzes
        return as_reply(self.quizzes or [asked.question])

    def _assess(self, asked: Asked) -> ScriptedReply:
        known = self.knows.get(asked.question)
        if known is None:
            return [f"guess {number}" for number in range(1, asked.n + 1)]
        return known if isinstance(known, str) else list(known)

    def _judge(self, asked: Asked) -> str:
        return "yes" if {asked.shows["first"], asked.shows["second"]} <= set(self.same) else "no"

    def _pick(self, asked: Asked) -> str:
        found = f" on {asked.question}"
        passage = asked.shows["passage"]
        return "yes" if any(passage.endswith(f"Passage {rank}{found}") for rank in self.helps) else "no"

    def _extract_sentences(self, asked: Asked) -> str:
        return "none of them"

    def _read_passages(self, asked: Asked) -> str:
        return self.reads.get(asked.question, "Zeno")

    def _answer_directly(self, asked: Asked) -> str:
        return f"directly {asked.question}"

    def _summarise(self, asked: Asked) -> str:
        return self.summary


class Pupil(ScriptedChat):
    """Replies as a function of what is `asked` says."""

    _turns: Any = PrivateAttr(default_factory=threading.local)
    _asked: dict[int, Asked] = PrivateAttr(default_factory=dict)
    _replies: dict[int, ScriptedReply] = PrivateAttr(default_factory=dict)

    def __init__(self, script: Callable[[Asked], ScriptedReply], **fields: Any) -> None:
        super().__init__(script, **fields)

    @property
    def asked(self) -> list[Asked]:
        """What was asked, in the order it came."""
        return [each for _, each in sorted(self._asked.items())]

    def of(self, task: str) -> list[Asked]:
        """What was asked of one kind."""
        return [each for each in self.asked if each.task == task]

    @property
    def spent(self) -> Cost:
        """The cost of all calls, as this model reports it: a token is a word."""
        texts = [
            reply if isinstance(reply, list) else [reply] * each.n
            for each, (_, reply) in zip(self.asked, sorted(self._replies.items()), strict=True)
        ]
        return NO_COST | Cost(
            model_calls=len(self.prompts),
            sequences=sum(len(each) for each in texts),
            input_tokens=sum(len(prompt.split()) for prompt in self.prompts),
            output_tokens=sum(len(str(text).split()) for each in texts for text in each),
            retrievals=0,
            passages=0,
        )

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self._turns.texts = [str(message.text) for message in messages]
        return super()._generate(messages, *args, **kwargs)

    def _reply(self, prompt: str, position: int) -> ScriptedReply:
        self._asked[position] = asked(self._turns.texts, self.calls[position].get("n", 1))
        self._replies[position] = self.script(self._asked[position])
        return self._replies[position]


def build(model: Any, shelf: BaseRetriever | None = None, **settings: Any) -> Any:
    """KEQA with nothing shown before a passage and no demonstrations."""
    return keqa(model, shelf or Shelf(), **{"shown": "none", "demonstrations": (), **settings})


def ask(story: Any, shelf: BaseRetriever | None = None, question: str = Q, **settings: Any) -> dict[str, Any]:
    """The output for a question, which must be JSON; `story` may be a model too."""
    model = story if isinstance(story, ScriptedChat) else Pupil(story)
    output: dict[str, Any] = build(model, shelf, **settings).invoke({"question": question})
    assert json.loads(json.dumps(output)) == output
    return output


def step(output: Mapping[str, Any], id: str) -> dict[str, Any]:
    """The step of one quiz."""
    (found,) = [each for each in output["steps"] if each["id"] == id]
    return dict(found)


NAMES = ("Brisk Olan", "Velo Taray", "Thrun Mulek", "Kaiken Ra")


def label(number: int, utility: Any, **other: Any) -> Labelled:
    """A labelled passage, distinct for each number."""
    name = f"{NAMES[number % len(NAMES)]} {number}"
    given: dict[str, Any] = {
        "question": f"Who directed {name}?",
        "title": name,
        "text": f"{name} was directed by {NAMES[number * 7 % len(NAMES)]}.",
    }
    return Labelled(
        **given | other,
        utility=utility,
        passage_id=f"p{number}",
        rank=1,
        question_id=f"q{number}",
        golden_answers=("somebody",),
        already_helpful=(),
        answer_without="nobody",
        answer_with="somebody",
        f1_without=0.0,
        f1_with=1.0,
    )


def reference_in(folder: Path, labels: Sequence[Labelled]) -> UtilityReference:
    """A reference set of these."""
    origin = Origin(dataset="d.jsonl", model="m", weights="", corpus="c", passages=5, prompts="p")
    write_reference(folder, labels, Letters(), origin)
    return open_reference(folder)
