"""`knowwhen chat` at a terminal: the tree, the text as it comes, Ctrl-C, Ctrl-D, history, and kill -9."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_rooms import PROMPT, Talker, at_terminal, piped
from openai_server import Server, serve

KNOWN = "With self_dc: Who directed Thimis Plolm?"
BOTH = "With self_dc: Which person starred in Skirn Vlurk and directed Thimis Plolm?"


@pytest.fixture
def talker() -> Talker:
    return Talker(pause=0.1)


@pytest.fixture
def server(talker: Talker) -> Iterator[Server]:
    with serve(talker) as running:
        yield running


def test_the_tree_grows_then_the_text_is_written_and_a_line_stays(server: Server, tmp_path: Path) -> None:
    with at_terminal(server, tmp_path, "--set", "alpha=0.7") as chat:
        chat.types(BOTH, "decomposed", "Who starred in Skirn Vlurk?", "The answer is", "(/trace)")
        screen = on_screen(chat.raw)
        answer = screen.index("The answer is Thudo Rake. Sources: Skirn Vlurk;")
        assert BOTH in screen[:answer]
        assert "decomposed" not in screen  # the tree has gone
        folded = (
            "▸ self_dc: 3 questions, 1 looked up, 8 model calls · "
            "Sources: Skirn Vlurk; Rumours about Skirn Vlurk; Sounus Vlurk (/trace)"
        )
        assert "\n▸ self_dc: 3 questions" in screen[answer:]
        assert folded in " ".join(screen[answer:].split())  # where it wraps hangs on the terminal's width
        pieces = re.findall(r"The|answer|is|Thudo", chat.raw[chat.raw.rindex("The answer is") - 40 :])
        assert pieces[:4] == ["The", "answer", "is", "Thudo"]
        chat.types("/trace", "├── Who starred", "retrieved at", "[1] Skirn Vlurk: ", "→ Thudo Rake", "in all")
        chat.presses("d")
        chat.shows("go on with --thread ")
        assert chat.ends() == 0


def on_screen(raw: str) -> str:
    """What a terminal shows at the end: lines that were erased are gone."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b.|[\r\n\b]|[^\x1b\r\n\b]", raw):
        if part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part == "\r":
            column = 0
        elif part == "\b":
            column -= 1
        elif part.startswith("\x1b["):
            number, what = int(re.sub(r"\D", "", part) or 0), part[-1]
            if what == "A":
                row = max(0, row - (number or 1))
            elif what == "C":
                column += number or 1
            elif what == "D":
                column = max(0, column - (number or 1))
            elif what == "K":
                lines[row] = "" if number == 2 else lines[row][:column]
            elif what == "J":
                lines[row:] = [lines[row][:column]]
        elif not part.startswith("\x1b"):
            line = lines[row].ljust(column)
            lines[row], column = line[:column] + part + line[column + 1 :], column + 1
    return "\n".join(line.rstrip() for line in lines)


def test_ctrl_c_stops_the_answer_and_not_the_chat(talker: Talker, server: Server, tmp_path: Path) -> None:
    with at_terminal(server, tmp_path, "--thread", "a") as chat:
        chat.types("Wait for me")
        talker.is_thinking()
        chat.presses("c")
        chat.shows("stopped", PROMPT)
        assert talker.thoughts == 1  # it was not waited for
        chat.types("Say " + "one two three four five six seven eight nine ten " * 20)
        chat.shows("…", "one two three")
        chat.presses("c")
        chat.shows("stopped", PROMPT)
        chat.types(KNOWN, "The answer is Thudo Rake.")
        chat.types(
            "/history", "1. Wait for me", "(no answer)", "(no answer)", "3. With", "The answer is Thudo Rake."
        )
        chat.process.send("half a line")
        chat.presses("c")  # clears it
        chat.types("/trace", "generated at")
        chat.types("/quit")
        chat.shows("go on with --thread a")
        assert chat.ends() == 0
        assert talker.thoughts == 1
    assert "half a line" not in (tmp_path / "knowwhen" / "chats.sqlite.lines").read_text()


def test_ctrl_c_stops_a_method_that_waits_for_its_model(
    talker: Talker, server: Server, tmp_path: Path
) -> None:
    with at_terminal(server, tmp_path) as chat:
        chat.types("With self_dc: Wait for whom?")
        talker.is_thinking()
        chat.presses("c")
        chat.shows("stopped", PROMPT)
        chat.types("/trace", "self_dc: Wait for whom?", "stopped before there was an answer", "in all")
        chat.types(KNOWN, "The answer is Thudo Rake.")
        chat.types("/quit")
        assert (chat.ends(), talker.thoughts) == (0, 1)


def test_lines_are_remembered_and_commands_completed(server: Server, tmp_path: Path) -> None:
    with at_terminal(server, tmp_path) as chat:
        chat.types("Say hello", "hello")
        chat.process.send("/his\t")
        chat.shows("/history")
        chat.types("", "1. Say hello")
        chat.process.send("/method sea\t")
        chat.shows("/method seakr")
        chat.types("", "needs hidden states")
    with at_terminal(server, tmp_path) as chat:
        chat.process.send("\x1b[A" * 3)  # up, up, up
        chat.shows("Say hello")
        chat.process.send("\r")
        chat.shows("hello", PROMPT)
        chat.presses("d")
        assert chat.ends() == 0


@pytest.mark.parametrize("kill_at", ["thought", "method", "text"])
def test_after_kill_9_the_conversation_goes_on(
    talker: Talker, server: Server, tmp_path: Path, kill_at: str
) -> None:
    with at_terminal(server, tmp_path, "--thread", "a") as chat:
        chat.types(KNOWN, "The answer is Thudo Rake.", "(/trace)")
        chat.types("Say something", "something")
        if kill_at == "thought":
            chat.types("Wait")
            talker.is_thinking()
        elif kill_at == "method":
            chat.types(BOTH)
            chat.shows("decomposed")
        else:
            chat.types(BOTH)
            chat.shows("The answer")
        chat.kill()
    again = piped(server, tmp_path, ["/history", KNOWN, "/history"], "--thread", "a")
    assert again.status == 0, again.told
    assert again.answers[0].startswith("The answer is Thudo Rake.")
    assert f"1. {KNOWN}\nThe answer is Thudo Rake. " in again.told
    assert "2. Say something\nsomething\n" in again.told
    assert f"4. {KNOWN}\nThe answer is Thudo Rake. " in again.told
    with sqlite3.connect(tmp_path / "knowwhen" / "chats.sqlite") as kept:
        assert kept.execute("SELECT checkpoint_ns FROM checkpoints").fetchall() == [("",)]
