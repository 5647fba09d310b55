"""What begins with a slash: the commands of the chat."""

import asyncio
import difflib
import shlex
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from knowwhen.chat.folded import folded
from knowwhen.chat.saving import save
from knowwhen.chat.session import AUTO, Choice, Session
from knowwhen.chat.trace import trace, trace_text
from knowwhen.chat.turn import Turn
from knowwhen.graphs import METHODS
from knowwhen.in_words import many
from knowwhen.method_settings import settings_of
from knowwhen.models.errors import SettingsError
from knowwhen.tools.printable import printable

UNBROKEN = 100_000  # characters of a line in a pipe
SHORT = 60  # characters of a question in a list


class Quit(Exception):
    """The user wants to go."""


@dataclass(frozen=True)
class Command:
    """One of them.

    Attributes:
        usage: how it is written.
        help: what it does.
        run: does it, with the words behind its name.
        words: what those words may be, for completion.
    """

    usage: str
    help: str
    run: Callable[[list[str]], Awaitable[None]]
    words: Callable[[], Iterable[str]] = tuple

    @property
    def name(self) -> str:
        """Its name, with the slash."""
        return self.usage.split()[0]


class Commands:
    """The commands of a session; what they show goes to `screen`."""

    def __init__(self, session: Session, screen: Console) -> None:
        self.session = session
        self.screen = screen
        made = (
            Command("/help", "this list", self._help),
            Command(
                f"/method [NAME|{AUTO}]",
                f"answer by this method alone; {AUTO}: the agent chooses",
                self._method,
                lambda: (AUTO, *METHODS),
            ),
            Command(
                "/set [NAME=VALUE …]",
                "change settings of the methods, or show what is set",
                self._set,
                self._settings,
            ),
            Command(
                "/unset [NAME …]",
                "go back to the default of a setting, or of all",
                self._unset,
                self._are_set,
            ),
            Command("/trace [N]", "how the last answer, or the Nth, came about", self._trace),
            Command("/save [--force] FILE", "write the conversation to FILE.md or FILE.json", self._save),
            Command("/history", "the conversation so far", self._history),
            Command("/new", "begin another conversation", self._new),
            Command("/threads", "the conversations that are kept", self._threads),
            Command("/model [NAME]", "talk to another model, or show which it is", self._model),
            Command("/quit", "leave; so does Ctrl-D", self._quit),
        )  # fmt: skip
        self._all = {command.name: command for command in made}

    async def run(self, line: str) -> None:
        """Do what a line that begins with a slash says.

        Raises:
            KnowwhenError: it cannot be done; says why in one line.
            Quit: the chat is to end.
        """
        name, rest = (*line.split(maxsplit=1), "")[:2]
        try:
            words = shlex.split(rest)
        except ValueError:
            words = rest.split()  # a single quotation mark
        command = self._named(name)
        if words and command.usage == name:
            raise SettingsError(f"{name} takes nothing behind it, and there is {' '.join(words)}")
        await command.run(words)

    def completions(self, line: str) -> Iterable[str]:
        """What the last word of a line that begins with a slash may become."""
        name, space, _ = line.partition(" ")
        if not space:
            return self._all
        return self._all[name].words() if name in self._all else ()

    def tell(self, text: str, style: str = "dim") -> None:
        """Show a line of the chat's own."""
        # In a pipe it is one line, however long.
        self.screen.print(Text(printable(text), style=style), soft_wrap=not self.screen.is_terminal)

    def _named(self, name: str) -> Command:
        if name in self._all:
            return self._all[name]
        near = difflib.get_close_matches(name, self._all, n=1, cutoff=0.5)
        meant = f"did you mean {near[0]}?" if near else "/help lists those there are."
        raise SettingsError(
            f"there is no command {name}; {meant} A message that begins so is written with //"
        )

    async def _help(self, words: list[str]) -> None:
        width = max(len(command.usage) for command in self._all.values())
        for command in self._all.values():
            self.tell(f"{command.usage:{width}}  {command.help}", style="")
        self.tell("Ctrl-C stops an answer, Ctrl-D leaves; //… is a message that begins with /")

    async def _method(self, words: list[str]) -> None:
        if words:
            await self._use(self.session.now.choice.with_method(_only(words, "/method NAME")))
        self.tell(f"method {self.session.now.choice.method}")

    async def _set(self, words: list[str]) -> None:
        if words:
            try:
                choice = self.session.now.choice.with_settings(words, self.session.now.methods)
            except SettingsError as error:
                raise SettingsError(str(error).replace("--set", "/set")) from None  # as it is written here
            await self._use(choice)
        self._tell_settings()

    async def _unset(self, words: list[str]) -> None:
        await self._use(self.session.now.choice.without_settings(words))
        self._tell_settings()

    def _tell_settings(self) -> None:
        set_to = self.session.now.choice.settings
        for method, own in set_to.items():
            self.tell(f"{method}: {', '.join(f'{name}={value}' for name, value in own.items())}")
        if not set_to:
            self.tell("nothing is set; write /set NAME=VALUE, or /set METHOD.NAME=VALUE")

    def _settings(self) -> Iterable[str]:
        return dict.fromkeys(
            f"{name}=" for method in self.session.now.methods for name in settings_of(method).model_fields
        )

    def _are_set(self) -> Iterable[str]:
        return dict.fromkeys(name for own in self.session.now.choice.settings.values() for name in own)

    async def _model(self, words: list[str]) -> None:
        if words:
            choice = self.session.now.choice
            await self._use(
                Choice(_only(words, "/model NAME"), choice.corpus, choice.method, choice.settings)
            )
        self.tell(f"model {self.session.now.choice.model}")

    async def _use(self, choice: Choice) -> None:
        told = self.session.now.notes
        # Stopped by Ctrl-C, the thread goes on, but what it builds is not taken.
        self.session.take(await asyncio.to_thread(self.session.built, choice))
        for note in self.session.now.notes:
            if note not in told:
                self.tell(note)

    async def _trace(self, words: list[str]) -> None:
        turns = await self.session.turns()
        turn = turns[_number(words, turns) - 1]
        if self.screen.is_terminal:
            self.screen.print(trace(turn))
        else:
            self.tell(trace_text(turn, width=UNBROKEN))

    async def _save(self, words: list[str]) -> None:
        file = _only([word for word in words if word != "--force"], "/save [--force] FILE")
        turns = await self.session.turns()
        try:
            path = Path(file).expanduser()
        except RuntimeError as error:
            raise SettingsError(f"there is no folder {file} ({error}); name another file") from None
        save(path, self.session.thread, self.session.now.choice, turns, overwrite="--force" in words)
        self.tell(f"{many(len(turns), 'turn')} written to {path}")

    async def _history(self, words: list[str]) -> None:
        turns = await self.session.turns()
        for number, turn in enumerate(turns, 1):
            self.tell(f"{number}. {turn.question}", style="bold")
            self.tell(turn.answer or "(no answer)", style="")
            self.tell(folded(turn))
        if not turns:
            self.tell("nothing has been said yet")

    async def _new(self, words: list[str]) -> None:
        self.session.thread = await self.session.threads.new_name()
        self.tell(f"a new conversation, {self.session.thread}")

    async def _threads(self, words: list[str]) -> None:
        kept = await self.session.threads.all()
        for thread in kept:
            here = "* " if thread.name == self.session.thread else "  "
            told = many(len(thread.turns), "turn") if thread.readable else "cannot be read"
            self.tell(f"{here}{thread.name}  {told}  {_begins(thread.turns)}".rstrip(), style="")
        if not kept:
            self.tell("no conversation is kept yet")

    async def _quit(self, words: list[str]) -> None:
        raise Quit


def _only(words: list[str], usage: str) -> str:
    if len(words) != 1:
        raise SettingsError(f"write {usage}")
    return words[0]


def _number(words: list[str], turns: list[Turn]) -> int:
    """Which turn is meant, counted from 1: the last if nothing is said."""
    if not turns:
        raise SettingsError("nothing has been answered yet")
    if not words:
        return len(turns)
    word = _only(words, "/trace N")
    if not word.isdecimal() or not 1 <= int(word[:9]) <= len(turns):
        raise SettingsError(f"there is no answer {word}; there are 1 to {len(turns)}, shown by /history")
    return int(word)


def _begins(turns: list[Turn]) -> str:
    """The first question, shortened."""
    first = " ".join(turns[0].question.split()) if turns else ""
    return first if len(first) <= SHORT else first[: SHORT - 2] + " …"
