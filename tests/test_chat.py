"""`knowwhen chat` through pipes: answers and their sources, what is kept, and what goes wrong."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_rooms import Talker, piped
from openai_server import Server, serve

KNOWN = "With self_dc: Who directed Thimis Plolm?"  # Thudo Rake, whom the pocket model knows
LOOKED_UP = "With self_dc: Who starred in Skirn Vlurk?"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Talker()) as running:
        yield running


def test_answers_go_to_stdout_and_how_they_came_about_to_stderr(server: Server, tmp_path: Path) -> None:
    done = piped(server, tmp_path, [KNOWN, "", LOOKED_UP, "Hm"])
    assert done.status == 0, done.told
    assert done.answers[0] == "The answer is Thudo Rake. Sources: none, answered from memory"
    assert done.answers[1].startswith("The answer is Thudo Rake. Sources: Skirn Vlurk; ")
    assert done.answers[2] == "What would you like to know?"
    assert len(done.answers) == 3
    first, second, third = (line for line in done.told.splitlines() if line.startswith("▸"))
    assert (
        first
        == "▸ self_dc: 1 question, nothing looked up, 3 model calls · Sources: none, answered from memory"
    )
    assert second.startswith("▸ self_dc: 1 question, 1 looked up, 2 model calls · Sources: Skirn Vlurk; ")
    assert third == "▸ no tool was called"
