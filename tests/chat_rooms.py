"""`knowwhen chat` in a process of its own, at a terminal or in pipes, with a model on a server of localhost.

with serve(Talker()) as server, at_terminal(server, tmp_path) as chat:
    chat.types("With self_dc: Who directed Thimis Plolm?")
    chat.shows("The answer is Thudo Rake")
"""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pexpect
import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, InvalidToolCall, ToolMessage
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from openai_server import Server, serve
from pydantic import PrivateAttr

from knowwhen.cli import main
from knowwhen.graphs import METHODS
from knowwhen.models.capability import Capability, capabilities
from knowwhen.models.errors import KnowwhenError
from knowwhen.models.pocket import pocket
from knowwhen.tools.almanac import cache_folder

COMMAND = [sys.executable, "-c", "from knowwhen.cli import main; main()", "chat"]
PATIENCE = 180.0  # seconds, for a machine with other things to do
PROMPT = "\n>"
CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[=>]|\r")


class Talker(BaseChatModel):
    """Talks by a script, and works within the methods as the pocket model does.

    `With METHOD: QUESTION` is put to that method (`With A+B: …` to two), `Search THING` is searched for,
    `Say TEXT` is said, `Wait` is thought about for long, `Babble TEXT` is said and cut off, `Mumble` is
    a call that nobody can read, anything else asked back. What a tool told is said.
    Methods fail at what is `out of order`, and think for long, too, about what has `Wait` in it.

    Attributes:
        pause: seconds before each word of a text.
        thought: seconds that it thinks about `Wait`.
    """

    pause: float = 0.0
    thought: float = 60.0
    _thoughts: list[bool] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "talker"

    @property
    def reports(self) -> frozenset[Capability]:
        return capabilities(pocket())

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if "tools" not in kwargs:
            if "out of order" in messages[-1].text:
                raise KnowwhenError("it is out of order")
            if "Wait" in messages[-1].text:
                self._think()
            return pocket()._generate(messages, stop, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        if "tools" not in kwargs:
            yield from pocket()._stream(messages, stop, **kwargs)
            return
        reply = self._reply(messages)
        for index, call in enumerate([*reply.tool_calls, *reply.invalid_tool_calls]):
            written = call["args"] if isinstance(call["args"], str) else json.dumps(call["args"])
            piece = {"name": call["name"], "args": written, "id": call["id"], "index": index}
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=[piece]))
        for word in re.findall(r"\s*\S+", reply.text):
            time.sleep(self.pause)
            yield ChatGenerationChunk(message=AIMessageChunk(word))
        yield ChatGenerationChunk(message=AIMessageChunk("", response_metadata=reply.response_metadata))

    def _think(self) -> None:
        self._thoughts.append(True)
        time.sleep(self.thought)
        self._thoughts.pop()

    def is_thinking(self) -> None:
        """Wait until it thinks."""
        end = time.monotonic() + PATIENCE
        while not self._thoughts:
            assert time.monotonic() < end
            time.sleep(0.05)

    @property
    def thoughts(self) -> int:
        """How many it is thinking now."""
        return len(self._thoughts)

    def _reply(self, messages: Sequence[BaseMessage]) -> AIMessage:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            told, _, sources = last.text.partition("\n")
            return AIMessage(f"The answer is {told}. {sources}")
        word, _, rest = last.text.partition(" ")
        if word == "With":
            methods, _, question = rest.partition(": ")
            return AIMessage("", tool_calls=[_call(name, question) for name in methods.split("+")])
        if word == "Search":
            return AIMessage("", tool_calls=[_call("search", rest)])
        if word == "Babble":
            return AIMessage(rest, response_metadata={"finish_reason": "length"})
        if word == "Mumble":
            return AIMessage("", invalid_tool_calls=[_mumbled()])
        if word == "Wait":
            self._think()
        return AIMessage(rest if word == "Say" else "What would you like to know?")


def _mumbled() -> InvalidToolCall:
    return invalid_tool_call(name="search", args="Velo, please", id=f"call-{time.monotonic_ns()}")


def _call(tool: str, asked: str) -> dict[str, Any]:
    argument = "question" if tool in METHODS else "query"
    return {"name": tool, "args": {argument: asked}, "id": f"call-{tool}-{time.monotonic_ns()}"}


def surroundings(server: Server | None, home: Path) -> dict[str, str]:
    """The environment of a chat: a home of its own, but the machine's cache."""
    made = {
        **os.environ,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "KNOWWHEN_CACHE": str(cache_folder()),
    }
    made |= {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "OMP_NUM_THREADS": "1"}
    if server is not None:
        made |= {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none"}
    return made


def command_line(server: Server | None, arguments: Sequence[str]) -> list[str]:
    """The command line of a chat."""
    return [*COMMAND, *(("--model", "openai:any") if server is not None else ()), *arguments]


@dataclass
class Done:
    """A chat that has ended.

    Attributes:
        status: its exit status.
        answers: the lines of stdout.
        told: what stood on stderr.
        asked: the requests to the model, as it came to the server.
    """

    status: int
    answers: list[str]
    told: str
    asked: list[dict[str, Any]] = field(default_factory=list)


def piped(server: Server | None, home: Path, lines: Sequence[str], *arguments: str) -> Done:
    """A chat whose messages come through a pipe."""
    done = subprocess.run(
        command_line(server, arguments),
        input="".join(f"{line}\n" for line in lines),
        env=surroundings(server, home),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Done(done.returncode, done.stdout.splitlines(), done.stderr)


Chat = Callable[..., Done]


def in_this_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Chat:
    """The command in this process and in a folder, which loads torch once; its messages come from a pipe."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(folder)

    def chat(lines: list[str], *arguments: str, model: str = "openai:any", **faults: Any) -> Done:
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
        given = ["knowwhen", "chat", "--history", "chats.sqlite", "--model", model, *arguments]
        monkeypatch.setattr(sys, "argv", given)
        # A server each: langchain-openai keeps connections by address, beyond the loop that they belong to.
        with serve(Talker(), **faults) as server, pytest.raises(SystemExit) as ended:
            monkeypatch.setenv("OPENAI_API_BASE", server.base_url)
            main()
        shown = capsys.readouterr()
        asked = [request.body for request in server.requests]
        return Done(int(ended.value.code or 0), shown.out.splitlines(), shown.err, asked)

    return chat


class Terminal:
    """A chat at a pseudo-terminal."""

    def __init__(self, process: "pexpect.spawn[str]") -> None:
        self.process = process
        self.raw = ""
        """All that it has shown so far, as it came."""
        self._mark = 0  # up to where of `seen` it has been waited for

    @property
    def seen(self) -> str:
        """The same without what moves the cursor and colours the text."""
        return CONTROL.sub("", self.raw)

    def shows(self, *texts: str) -> None:
        """Wait until it shows these, one behind the other, behind what this has waited for before."""
        end = time.monotonic() + PATIENCE
        for text in texts:
            while (at := self.seen.find(text, self._mark)) < 0:
                assert time.monotonic() < end and self._read(), f"no {text!r} in\n{self.seen[self._mark :]}"
            self._mark = at + len(text)

    def types(self, line: str, *shown: str) -> None:
        """Type a line, wait until it shows something, and then for the next prompt."""
        self.process.send(f"{line}\r")
        if shown:
            self.shows(*shown, PROMPT)

    def presses(self, key: str) -> None:
        """Press a key with Ctrl."""
        self.process.sendcontrol(key)

    def ends(self) -> int:
        """Wait for its end; the exit status."""
        while self._read():
            pass
        self.process.close()
        return int(self.process.exitstatus if self.process.exitstatus is not None else -1)

    def kill(self) -> None:
        """As kill -9 does."""
        self.process.kill(signal.SIGKILL)
        self.process.wait()

    def _read(self) -> bool:
        try:
            self.raw += self.process.read_nonblocking(4096, timeout=PATIENCE)
        except (pexpect.EOF, pexpect.TIMEOUT):
            return False
        return True


@contextmanager
def at_terminal(server: Server | None, home: Path, *arguments: str) -> Iterator[Terminal]:
    """A chat at a terminal of 120 columns, ready for a first message."""
    command, *rest = command_line(server, arguments)
    process = pexpect.spawn(
        command,
        rest,
        env=surroundings(server, home),
        encoding="utf-8",
        dimensions=(40, 120),
        timeout=PATIENCE,
    )
    chat = Terminal(process)
    try:
        chat.shows(PROMPT)
        yield chat
    finally:
        process.close(force=True)
