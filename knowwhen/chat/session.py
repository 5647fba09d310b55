"""Who is talked to: a model, a corpus, the methods that it may use and their settings."""

import warnings
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever

from knowwhen.chat.asking import events_of_turn
from knowwhen.chat.threads import Threads
from knowwhen.chat.turn import Turn
from knowwhen.events import Event
from knowwhen.graphs import METHODS
from knowwhen.graphs.agent import TOOLS, Agent, agent
from knowwhen.graphs.building import build_method
from knowwhen.method_settings import known_to, shared_out
from knowwhen.models.errors import SettingsError
from knowwhen.models.resolve import resolve_model
from knowwhen.tools.resolve import resolve_retriever

AUTO = "auto"


@dataclass(frozen=True)
class Choice:
    """What the user has chosen."""

    model: str = "pocket"
    corpus: str = "almanac"
    method: str = AUTO
    """A method's name, or `AUTO`: the agent chooses by the question, and may search, too."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of the methods, by their names."""

    @property
    def methods(self) -> tuple[str, ...]:
        """Those that the agent may use, as far as the model can be used with them."""
        return TOOLS if self.method == AUTO else (self.method,)

    def with_method(self, method: str) -> "Choice":
        """The same with another method.

        Raises:
            SettingsError: there is none of that name.
        """
        if method not in (AUTO, *METHODS):
            raise SettingsError(f"there is no method {method!r}; choose from {', '.join((AUTO, *METHODS))}")
        return replace(self, method=method)

    def with_settings(self, pairs: Sequence[str], in_use: Sequence[str] = ()) -> "Choice":
        """The same with settings: `name=value` for all methods in use that have it, or `method.name=value`.

        Args:
            pairs: as they are typed.
            in_use: methods that the model can be used with.

        Raises:
            SettingsError: a pair is none. Whether a method takes it is seen when it is built.
        """
        settings = {name: dict(own) for name, own in self.settings.items()}
        for pair in pairs:
            label, _, name = pair.partition("=")[0].strip().rpartition(".")
            takers = [label] if label in METHODS else [each for each in in_use if name in known_to(each)]
            for method, own in shared_out([pair], {each: each for each in takers or self.methods}).items():
                settings.setdefault(method, {}).update(own)
        return replace(self, settings={method: own for method, own in settings.items() if own})


class Session:
    """An agent and a conversation with it.

    Args:
        threads: where conversations are kept.
        thread: the name of this one.
        choice: whom to talk to, first.
        pairs: settings of the methods, as `with_settings` takes them.

    Raises:
        KnowwhenError: the model, the corpus or a setting does not fit.
    """

    def __init__(self, threads: Threads, thread: str, choice: Choice, pairs: Sequence[str] = ()) -> None:
        self.threads = threads
        self.thread = thread
        self.choice = choice
        self.notes: list[str] = []
        """What the last choice brought with it, such as a method that the model cannot be used with."""
        self._parts: dict[str, tuple[str, Any]] = {}  # model and corpus, and the names that they were had by
        self._agent: Agent
        self.methods: tuple[str, ...] = ()
        """Those in use."""
        if choice.method == AUTO or not pairs:
            self.use(choice)
        if pairs:
            self.use(choice.with_settings(pairs, self.methods))

    def use(self, choice: Choice) -> None:
        """Talk to another one. It takes a while where a model must be loaded.

        Raises:
            KnowwhenError: the model, the corpus or a setting does not fit; then nothing has changed.
        """
        model: BaseChatModel = self._part("model", choice.model, resolve_model)
        corpus: BaseRetriever = self._part("corpus", choice.corpus, resolve_retriever)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", UserWarning)
            self._check(choice, model, corpus)
            built = agent(
                model,
                corpus,
                methods=None if choice.method == AUTO else (choice.method,),
                search=choice.method == AUTO,
                settings=choice.settings,
                checkpointer=self.threads.saver,
            )
        self.notes = list(dict.fromkeys(str(warning.message) for warning in warned))
        self._parts = {"model": (choice.model, model), "corpus": (choice.corpus, corpus)}
        self._agent, self.choice = built, choice
        self.methods = tuple(name for name in _tools(built) if name in METHODS)

    def ask(self, message: str) -> AsyncIterator[Event]:
        """Say something, and hear what happens (`asking.py`)."""
        return events_of_turn(self._agent, message, self.thread)

    async def turns(self) -> list[Turn]:
        """The conversation so far."""
        return await self.threads.turns(self.thread)

    def _part(self, kind: str, name: str, have: Any) -> Any:
        known, part = self._parts.get(kind, ("", None))
        return part if part is not None and known == name else have(name)

    def _check(self, choice: Choice, model: BaseChatModel, corpus: BaseRetriever) -> None:
        """Build what has settings and is not in use, so that a wrong one is told now and not later."""
        for name in set(choice.settings) - set(choice.methods):
            build_method(name, model, corpus, choice.settings[name])


def _tools(built: Agent) -> Iterable[str]:
    """The names of an agent's tools."""
    tools: Any = built.nodes["tools"].bound  # a ToolNode
    names: Iterable[str] = tools.tools_by_name
    return names
