"""A scripted reasoning for SeaKR: what the model writes at each step, and how far its samples agree.

    story = Story([Said("Karn was directed by ?Nobody.", sure=0.2)], {(1, 2): "Karn was directed by Alba."})
    output = ask(story, Shelf())

The first step is unsure, and so is its word behind the question mark; with the second passage the model is
sure. What the story does not tell concludes that the answer is Zeno.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from scripted import ScriptedChat, ScriptedReply
from self_dc_script import Shelf, as_pattern

from knowwhen.graphs import seakr
from knowwhen.graphs.seakr import PROMPTS
from knowwhen.nodes.think import WITH_PASSAGE

Q = "Where was the director of Karn born?"
END = "So the final answer is Zeno."
K = 5  # samples
FIRST, SECOND = "Karn was directed by Alba.", "Alba was born in Zeno."

_STEP = re.compile(
    re.escape(PROMPTS["think"].split("{demonstrations}")[0])
    + r"(?P<demonstrations>.*)Question: (?P<question>[^\n]*)\nSteps so far:(?P<rationales> none|\n.*?)\n"
    + rf"(?:{re.escape(WITH_PASSAGE.split('{passage}')[0])}\[1\] (?P<passage>.*)\n)?Next step:",
    re.DOTALL,
)
_OTHERS = {name: as_pattern(prompt) for name, prompt in PROMPTS.items() if name != "think"}


@dataclass(frozen=True)
class Asked:
    """What a prompt asks: the name of the prompt and what it shows."""

    task: str
    question: str
    rationales: tuple[str, ...] = ()
    passage: str | None = None  # or several, as the prompt shows them
    demonstrations: str = ""

    @property
    def rank(self) -> int | None:
        """The rank of the passage that a `Shelf` found."""
        found = re.search(r"Passage (\d)", self.passage or "")
        return int(found[1]) if found else None


def _items(listed: str) -> tuple[str, ...]:
    return tuple(line.removeprefix("- ") for line in listed.split("\n"))


def asked(prompt: str) -> Asked:
    """Read a prompt; what no template of SeaKR's makes is an error."""
    step = _STEP.fullmatch(prompt)
    if step:
        rationales = () if step["rationales"] == " none" else _items(step["rationales"][1:])
        return Asked("think", step["question"], rationales, step["passage"], step["demonstrations"])
    found = {name: match for name, form in _OTHERS.items() if (match := form.fullmatch(prompt))}
    assert len(found) == 1, f"{prompt!r} is made from {list(found)}"
    ((name, match),) = found.items()
    shown = match.groupdict()
    rationales = _items(shown.get("rationales", ""))
    return Asked(name, shown["question"], rationales, shown.get("passages"))


@dataclass(frozen=True)
class Said:
    """A reply: a question mark before a word makes it an unsure one; `sure` is the samples' agreement."""

    text: str
    sure: float = 1.0


Line = Said | str


@dataclass(frozen=True)
class Story:
    """What the model says, by what is asked."""

    steps: Sequence[Line] = ()  # from memory
    found: Mapping[tuple[int, int], Line] = field(default_factory=dict)  # by the step's number and the rank
    finals: Mapping[str, Line] = field(default_factory=dict)  # by the prompt's name

    def __call__(self, asked: Asked) -> Line:
        if asked.task != "think":
            name = f"{asked.task} {asked.rank}" if asked.task == "read_passages" else asked.task
            return self.finals.get(name, "Zeno")
        at = len(asked.rationales)
        if asked.passage is None:
            return self.steps[at] if at < len(self.steps) else END
        return self.found.get((at + 1, asked.rank or 0), Said(f"Step {at + 1} by {asked.rank}.", 0.6))


class Thinker(ScriptedChat):
    """Replies as a function of what is `asked` says, with tokens that have spaces, as real ones do."""

    def __init__(self, script: Callable[[Asked], Line | Exception], **fields: Any) -> None:
        super().__init__(script, **fields)

    @property
    def greedy(self) -> list[Asked]:
        """What was asked for most probable answers."""
        return [asked(p) for p, call in zip(self.prompts, self.calls, strict=True) if not call["temperature"]]

    def _reply(self, prompt: str, position: int) -> ScriptedReply:
        line = self.script(asked(prompt))
        if isinstance(line, Exception):
            return line
        said = Said(line) if isinstance(line, str) else line
        call = self.calls[position]
        if not call["temperature"]:
            return said.text
        n = call.get("n", 1)
        agreeing = round(said.sure * n)
        return [said.text] * agreeing + [f"other {number}" for number in range(n - agreeing)]

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        result = super()._generate(*args, **kwargs)
        return ChatResult(
            generations=[_marked(each.message, bool(kwargs.get("logprobs"))) for each in result.generations]
        )


def _marked(message: Any, logprobs: bool) -> ChatGeneration:
    entries, text = [], ""
    for token in re.findall(r"\s*\S+|\s+$", message.text):
        bare = re.sub(r"^(\s*)\?", r"\1", token)
        probability = 0.3 if bare != token else 0.95
        entries.append({"token": bare, "logprob": math.log(probability), "top_logprobs": []})
        text += bare
    told = {"logprobs": {"content": entries}} if logprobs else {}
    return ChatGeneration(
        message=AIMessage(text, usage_metadata=message.usage_metadata, response_metadata=told)
    )


def build(model: Any, shelf: BaseRetriever | None = None, **settings: Any) -> Any:
    """SeaKR with the consistency of five samples, and without demonstrations."""
    return seakr(
        model,
        shelf or Shelf(),
        **{"estimator": "consistency", "samples": K, "threshold": 0.8, "demonstrations": (), **settings},
    )


def ask(story: Any, shelf: BaseRetriever | None = None, **settings: Any) -> dict[str, Any]:
    """The output for Q, which must be JSON; `story` may be a model too."""
    model = story if isinstance(story, ScriptedChat) else Thinker(story)
    output: dict[str, Any] = build(model, shelf, **settings).invoke({"question": Q})
    assert json.loads(json.dumps(output)) == output
    return output


def spent(output: Mapping[str, Any]) -> tuple[int, int, int]:
    """Model calls, sequences and retrievals."""
    cost = output["cost"]
    return cost["model_calls"], cost["sequences"], cost["retrievals"]


UNSURE = Said("Karn was directed by ?Nobody.", sure=0.2)
LOOKED_UP = Story(  # the first step is looked up, and the second passage helps
    [UNSURE, SECOND],
    {(1, 1): Said("Karn is a film.", 0.4), (1, 2): FIRST, (1, 3): Said("Karn is old.", 0.6)},
)
