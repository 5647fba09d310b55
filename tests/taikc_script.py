"""A scripted reader for TAIKC: which tree it makes, what it is certain of, what the passages hold.

    story = Story(tree, certain={"Who directed Karn?": "Alba"}, read={"Where was Alba born?": "Zeno"})
    output = ask(story)

What is neither certain nor to be read is declined, then not found, then answered by `direct`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scripted import ScriptedChat, ScriptedReply
from self_dc_script import Shelf, as_pattern

from knowwhen.graphs import Method, taikc
from knowwhen.graphs.taikc import PROMPTS

_FORMS = {name: as_pattern(prompt) for name, prompt in PROMPTS.items() if name != "read_chains"}


@dataclass(frozen=True)
class Asked:
    """What a prompt asks: its name, its question, and what else it shows."""

    task: str
    question: str
    shows: Mapping[str, str] = field(default_factory=dict)


def asked(prompt: str, whole: str) -> Asked:
    """Read a prompt; what no template makes is an error. The whole question is read from its chains."""
    found = {name: match for name, form in _FORMS.items() if (match := form.fullmatch(prompt))}
    assert len(found) == 1, f"{prompt!r} is made from {list(found)}"
    ((task, match),) = found.items()
    shows = match.groupdict()
    question = shows.pop("question", "")
    if task == "read_if_there" and question == whole:
        task = "read_chains"
    return Asked(task, question, shows)


@dataclass(frozen=True)
class Story:
    """A script by question; a reply by (task, question) comes before all else."""

    question: str
    tree: Any
    certain: Mapping[str, str] = field(default_factory=dict)
    read: Mapping[str, str] = field(default_factory=dict)
    direct: Mapping[str, str] = field(default_factory=dict)
    answer: str = "the answer"
    replies: Mapping[tuple[str, str], ScriptedReply] = field(default_factory=dict)

    def __call__(self, prompt: str) -> ScriptedReply:
        it = asked(prompt, self.question)
        if (it.task, it.question) in self.replies:
            return self.replies[it.task, it.question]
        if it.task == "make_tree":
            return self.tree if isinstance(self.tree, str) else json.dumps(self.tree)
        if it.task == "confident_qa":
            return self.certain.get(it.question, "RAG_REQUIRED")
        if it.task == "read_if_there":
            return self.read.get(it.question, "not found")
        if it.task == "direct_qa":
            return self.direct.get(it.question, f"a guess at {it.question}")
        if it.task == "summarise_chain":
            return " ".join(line.partition(": ")[2] for line in it.shows["pairs"].splitlines())
        return self.answer


def tasks(model: ScriptedChat, whole: str) -> list[tuple[str, str]]:
    """The names of the prompts that came to a model, with their questions."""
    return [(it.task, it.question) for prompt in model.prompts for it in [asked(prompt, whole)]]


def build(
    story: Story, retriever: Any = None, delay: float = 0.0, **settings: Any
) -> tuple[Method, ScriptedChat]:
    """The method over a scripted model, without demonstrations, and the model."""
    model = ScriptedChat(story, delay=delay)
    return taikc(model, retriever or Shelf(), **{"demonstrations": (), **settings}), model


def ask(story: Story, retriever: Any = None, **settings: Any) -> dict[str, Any]:
    """The output for the story's question."""
    graph, _ = build(story, retriever, **settings)
    output: dict[str, Any] = graph.invoke({"question": story.question})
    return output
