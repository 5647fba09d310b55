"""Who is talked to: a model, a corpus, the methods that it may use and their settings."""

import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
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

    def without_settings(self, names: Sequence[str] = ()) -> "Choice":
        """The same with the defaults of some settings, `name` or `method.name`; of all if none is named.

        Raises:
            SettingsError: one of them is not set.
        """
        settings = {method: dict(own) for method, own in self.settings.items()} if names else {}
        for named in names:
            label, _, name = named.rpartition(".")
            holders = [own for method, own in settings.items() if name in own and label in ("", method)]
            if not holders:
                raise SettingsError(f"{named} is not set; /set shows what is")
            for own in holders:
                del own[name]
        return replace(self, settings={method: own for method, own in settings.items() if own})


@dataclass(frozen=True)
class Built:
    """Someone to talk to."""

    choice: Choice
    model: BaseChatModel
    corpus: BaseRetriever
    agent: Agent
    notes: list[str]
    """What the choice brought with it, such as a method that the model cannot be used with."""

    @property
    def methods(self) -> tuple[str, ...]:
        """Those in use."""
        tools: Any = self.agent.nodes["tools"].bound  # a ToolNode
        return tuple(name for name in tools.tools_by_name if name in METHODS)


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
        self._now: Built | None = None
        in_use: Sequence[str] = ()
        if pairs and choice.method == AUTO:
            self._now = self.built(choice)
            in_use = self._now.methods
        self._now = self.built(choice.with_settings(pairs, in_use))

    @property
    def now(self) -> Built:
        """Who is talked to."""
        assert self._now is not None
        return self._now

    def take(self, built: Built) -> None:
        """Talk to another one."""
        self._now = built

    def built(self, choice: Choice) -> Built:
        """Build another one, and change nothing. It takes a while where a model must be loaded.

        Raises:
            KnowwhenError: the model, the corpus or a setting does not fit.
        """
        now = self._now
        model = now.model if now and now.choice.model == choice.model else resolve_model(choice.model)
        corpus = (
            now.corpus if now and now.choice.corpus == choice.corpus else resolve_retriever(choice.corpus)
        )
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", UserWarning)
            self._check(choice, model, corpus)
            made = agent(
                model,
                corpus,
                methods=None if choice.method == AUTO else (choice.method,),
                search=choice.method == AUTO,
                settings=choice.settings,
                checkpointer=self.threads.saver,
            )
        notes = list(dict.fromkeys(str(warning.message) for warning in warned))
        return Built(choice, model, corpus, made, notes)

    def ask(self, message: str) -> AsyncIterator[Event]:
        """Say something, and hear what happens (`asking.py`)."""
        return events_of_turn(self.now.agent, message, self.thread)

    async def turns(self) -> list[Turn]:
        """The conversation so far."""
        return await self.threads.turns(self.thread)

    def _check(self, choice: Choice, model: BaseChatModel, corpus: BaseRetriever) -> None:
        """Build what has settings and is not in use, so that a wrong one is told now and not later."""
        for name in set(choice.settings) - set(choice.methods):
            build_method(name, model, corpus, choice.settings[name])
