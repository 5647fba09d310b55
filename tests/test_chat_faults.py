"""`knowwhen chat` when something goes wrong: with the model, the file of conversations, the terminal."""

import asyncio
import json
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from chat_rooms import Chat, Talker, at_terminal, command_line, in_this_process, piped, surroundings
from openai_server import serve

from knowwhen.chat.commands import Commands
from knowwhen.chat.session import Choice, Session
from knowwhen.chat.threads import open_threads
from knowwhen.tools import Entry, build_index


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Chat:
    return in_this_process(tmp_path, monkeypatch, capsys)


def folds(told: str) -> list[str]:
    return [line for line in told.splitlines() if line.startswith("▸")]


# The model.


def test_a_call_that_cannot_be_read_is_told(chat: Chat) -> None:
    done = chat(["Mumble"])
    (fold,) = folds(done.told)
    assert fold.startswith("▸ search failed: the call could not be read; call again with one JSON object")
    (call,) = json.loads(chat(["Mumble"], "--json").answers[0])["calls"]
    assert (call["tool"], call["asked"]) == ("search", '{"unreadable": "Velo, please"}')


def test_an_answer_that_was_cut_off_says_so(chat: Chat) -> None:
    assert folds(chat(["Babble and so"]).told) == [
        "▸ no tool was called · cut off at the model's bound of tokens"
    ]
    whole, cut = (json.loads(line) for line in chat(["Say so", "Babble so"], "--json").answers)
    assert (whole["cut"], cut["cut"]) == (False, True)


def test_no_answer_is_a_failure(chat: Chat) -> None:
    done = chat(["Say ", "Say something"])
    assert "knowwhen: the model said nothing; ask again, or in other words" in done.told.splitlines()
    assert (done.status, done.answers) == (1, ["something"])


def test_what_was_not_found_was_not_remembered_either(chat: Chat) -> None:
    done = chat(["Search 12345", "/trace"])
    assert folds(done.told) == ["▸ search: 0 passages · Sources: none"]
    assert "nothing found\nSources: none\n" in done.told


def test_a_passage_without_a_title_is_called_by_where_it_was_found(chat: Chat, tmp_path: Path) -> None:
    build_index([Entry(id="7", title="", text="Alba lies in Zeno.", source="atlas.pdf")], tmp_path / "index")
    done = chat(["Search Alba", "/trace"], "--corpus", str(tmp_path / "index"))
    assert folds(done.told) == ["▸ search: 1 passage · Sources: atlas.pdf"]
    assert "[1] atlas.pdf: Alba lies in Zeno.\n" in done.told


def test_what_nobody_foresaw_ends_the_turn_and_not_the_chat(
    chat: Chat,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask, asked = Session.ask, []

    def faulty(self: Session, message: str) -> Any:
        asked.append(message)
        return ask(self, message) if len(asked) > 1 else {}["no\nsuch"]

    monkeypatch.setattr(Session, "ask", faulty)
    done = chat(["Say one", "Say two"])
    (line,) = (each for each in done.told.splitlines() if each.startswith("knowwhen: "))
    assert line.startswith("knowwhen: it broke off (KeyError: ") and "--debug" in line
    assert (done.status, done.answers) == (1, ["two"])


def test_a_command_that_breaks_on_what_nobody_foresaw_is_one_line(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(self: Session, choice: Choice) -> Any:
        return {}["no such"] if choice.method == "taikc" else built(self, choice)

    built = Session.built
    monkeypatch.setattr(Session, "built", faulty)
    done = chat(["/method taikc", "Say one"])
    assert "knowwhen: it broke off (KeyError: " in done.told and "Traceback" not in done.told
    assert (done.status, done.answers) == (1, ["one"])


# The file of conversations.


@pytest.fixture
def kept(chat: Chat, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """The file of a chat that holds the conversations `good` and `bad`."""
    for thread in ("good", "bad"):
        assert chat(["Say so"], "--thread", thread).status == 0
    with closing(sqlite3.connect(tmp_path / "chats.sqlite")) as file:
        yield file


def test_a_damaged_conversation_is_one_line_and_leaves_the_others(
    chat: Chat, kept: sqlite3.Connection
) -> None:
    kept.execute("UPDATE checkpoints SET checkpoint = x'ff00ff' WHERE thread_id = 'bad'")
    kept.commit()
    done = chat(["Say so"], "--thread", "bad")
    assert (done.status, done.answers) == (1, [])
    (line,) = done.told.splitlines()
    assert line.startswith("knowwhen: the conversation bad is damaged and cannot be read (")
    done = chat(["/threads", "Say more"], "--thread", "good")
    assert {"* good  1 turn  Say so", "  bad  cannot be read"} <= set(done.told.splitlines())
    assert (done.status, done.answers) == (0, ["more"])


def test_a_file_that_cannot_be_written_is_told_at_the_start(chat: Chat, kept: sqlite3.Connection) -> None:
    kept.execute("BEGIN IMMEDIATE")  # as another program may that writes for long
    done = chat(["Say so"])
    assert (done.status, done.answers) == (1, [])
    (line,) = done.told.splitlines()
    assert "conversations cannot be kept in chats.sqlite (database is locked)" in line


def test_a_file_that_fails_in_the_middle_fails_its_turn_alone(
    chat: Chat,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    put, puts = AsyncSqliteSaver.aput, []

    async def full(self: AsyncSqliteSaver, *given: Any) -> Any:
        puts.append(given)
        if len(puts) == 2:
            raise sqlite3.OperationalError("database or disk is full")
        return await put(self, *given)

    monkeypatch.setattr(AsyncSqliteSaver, "aput", full)
    done = chat(["Say one", "Say two"])
    (line,) = (each for each in done.told.splitlines() if each.startswith("knowwhen: "))
    assert "the file of conversations failed (database or disk is full)" in line
    assert (done.status, done.answers) == (1, ["two"])


def test_of_two_chats_in_one_conversation_each_waits_for_the_other(tmp_path: Path) -> None:
    said = [[f"Say {who} {number}" for number in range(4)] for who in "ab"]
    with serve(Talker(pause=0.1)) as server, ThreadPoolExecutor() as both:
        ran = [both.submit(piped, server, tmp_path, lines, "--thread", "one") for lines in said]
        done = [each.result() for each in ran]
        assert [(each.status, len(each.answers)) for each in done] == [(0, 4)] * 2
        kept = piped(server, tmp_path, ["/history"], "--thread", "one").told
    assert "8 turns so far" in kept
    assert all(f". {line}\n" in kept for line in [*said[0], *said[1]])


def test_the_wait_for_another_chat_is_told(tmp_path: Path) -> None:
    async def both(file: Path) -> list[str]:
        told: list[str] = []

        async def answer(name: str, until: str) -> None:
            async with (
                open_threads(file) as threads,
                threads.alone("one", lambda: told.append(f"{name} waits")),
            ):
                told.append(f"{name} begins")
                while until not in told:
                    await asyncio.sleep(0.01)
                told.append(f"{name} ends")

        first = asyncio.create_task(answer("a", until="b waits"))
        while not told:
            await asyncio.sleep(0.01)
        await asyncio.gather(first, answer("b", until="b begins"))
        return told

    told = asyncio.run(both(tmp_path / "chats.sqlite"))
    assert told == ["a begins", "b waits", "a ends", "b begins", "b ends"]


# The terminal and the pipe.


def test_a_model_that_was_stopped_while_it_was_loaded_is_not_taken(tmp_path: Path) -> None:
    from rich.console import Console

    building, go_on, built = threading.Event(), threading.Event(), threading.Event()

    class Slow(Session):
        def built(self, choice: Choice) -> Any:
            if self._now is not None:
                building.set()
                assert go_on.wait(60)
            try:
                return super().built(choice)
            finally:
                built.set()

    async def stopped() -> str:
        async with open_threads(tmp_path / "chats.sqlite") as threads:
            session = Slow(threads, "one", Choice())
            built.clear()
            loading = asyncio.create_task(Commands(session, Console()).run("/method taikc"))
            await asyncio.to_thread(building.wait, 60)
            loading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await loading
            go_on.set()
            await asyncio.to_thread(built.wait, 60)
            await asyncio.sleep(0.2)
            return session.now.choice.method

    assert asyncio.run(stopped()) == "auto"


def test_typed_lines_that_cannot_be_kept_are_said_so_once(tmp_path: Path) -> None:
    with serve(Talker()) as server:
        (tmp_path / "a.sqlite.lines").mkdir()
        with at_terminal(server, tmp_path, "--history", str(tmp_path / "a.sqlite")) as terminal:
            terminal.types("Say one", "one")
            terminal.types("Say two", "two")
            terminal.presses("d")
            assert terminal.ends() == 0
        assert terminal.seen.count("typed lines are not kept in") == 1
        assert "Traceback" not in terminal.seen


def test_a_pipe_of_fewer_letters_and_bytes_that_are_none(tmp_path: Path) -> None:
    with serve(Talker()) as server:
        done = subprocess.run(
            command_line(server, ["--json"]),
            input=b"Say \xe2\x86\x92 \xff\n",
            env=surroundings(server, tmp_path) | {"PYTHONIOENCODING": "latin-1"},
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["answer"]


def test_without_stdin_there_is_nothing_to_say(tmp_path: Path) -> None:
    with serve(Talker()) as server:
        line = " ".join(f"'{word}'" for word in command_line(server, []))
        done = subprocess.run(
            ["sh", "-c", f"{line} <&-"],
            env=surroundings(server, tmp_path),
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
