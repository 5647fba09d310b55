"""`knowwhen chat` line by line: answers and their sources, what is kept, commands, and what goes wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from chat_rooms import Chat, Done, Talker, in_this_process, piped
from openai_server import serve
from tiny_models import tiny_llama  # noqa: F401

KNOWN = "With self_dc: Who directed Thimis Plolm?"  # Thudo Rake, as the pocket model knows
LOOKED_UP = "With self_dc: Who starred in Skirn Vlurk?"
BOTH = "With self_dc: Which person starred in Skirn Vlurk and directed Thimis Plolm?"


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Chat:
    return in_this_process(tmp_path, monkeypatch, capsys)


def test_answers_go_to_stdout_and_how_they_came_about_to_stderr(tmp_path: Path) -> None:
    with serve(Talker()) as server:
        done = piped(server, tmp_path, [KNOWN, "", LOOKED_UP, "Hm"])
    assert done.status == 0, done.told
    assert done.answers[0] == "The answer is Thudo Rake. Sources: none, answered from memory"
    assert done.answers[1].startswith("The answer is Thudo Rake. Sources: Skirn Vlurk; ")
    assert done.answers[2] == "What would you like to know?"
    assert len(done.answers) == 3
    first, second, third = folds(done)
    assert (
        first
        == "▸ self_dc: 1 question, nothing looked up, 3 model calls · Sources: none, answered from memory"
    )
    assert second.startswith("▸ self_dc: 1 question, 1 looked up, 2 model calls · Sources: Skirn Vlurk; ")
    assert third == "▸ no tool was called"
    (kept,) = tmp_path.rglob("chats.sqlite")  # in the user's own folder, as nothing else was said
    assert kept.parent.name == "knowwhen"


def folds(done: Done) -> list[str]:
    return [line for line in done.told.splitlines() if line.startswith("▸")]


def thread_of(done: Done) -> str:
    last = done.told.splitlines()[-1]
    assert last.startswith("go on with --thread ")
    return last.split()[4]


def test_a_turn_is_one_json_object(chat: Chat) -> None:
    done = chat([BOTH, "Search Thimis Plolm", "Say so"], "--json", "--set", "alpha=0.7")
    both, search, said = map(json.loads, done.answers)
    assert set(both) == {"thread", "question", "answer", "cut", "sources", "calls", "cost"}
    assert both["question"] == BOTH
    assert both["answer"].startswith("The answer is Thudo Rake. Sources: Skirn Vlurk; ")
    assert both["sources"][0] == "Skirn Vlurk"
    (call,) = both["calls"]
    assert (call["tool"], call["asked"], call["error"]) == ("self_dc", BOTH.partition(": ")[2], "")
    assert [step["id"] for step in call["output"]["steps"]] == ["1.1", "1.2", "1"]
    assert both["cost"]["model_calls"] == call["output"]["cost"]["model_calls"] + 2  # the agent's own
    assert both["cost"]["retrievals"] == 1
    (call,) = search["calls"]
    assert (call["tool"], call["asked"]) == ("search", "Thimis Plolm")
    assert call["output"][0]["title"] == search["sources"][0] == "Thimis Plolm"
    assert search["cost"]["passages"] == len(call["output"]) == 3
    assert (said["answer"], said["calls"], said["sources"], said["cost"]["model_calls"]) == ("so", [], [], 1)


def test_a_conversation_goes_on_by_its_name(chat: Chat) -> None:
    first = chat([KNOWN])
    again = chat(["/history", "Hm", "/trace 1"], "--thread", thread_of(first))
    assert f"going on with {thread_of(first)}, 1 turn so far" in again.told
    assert f"1. {KNOWN}\nThe answer is Thudo Rake. " in again.told
    assert "generated at probability 0.99 → Thudo Rake\n" in again.told
    said = [message["content"] for message in again.asked[-1]["messages"]]
    assert KNOWN in said and "Hm" in said  # the model is shown what was said before
    other = chat(["/history"])
    assert "nothing has been said yet" in other.told


def test_conversations_are_listed_and_new_ones_begun(chat: Chat) -> None:
    done = chat(["Say one", "/new", "Say two", "Say three", "/threads"], "--thread", "mine")
    listed = done.told.splitlines()
    assert "  mine  1 turn  Say one" in listed
    assert f"* {thread_of(done)}  2 turns  Say two" in listed
    assert thread_of(done) != "mine"


def test_only_the_last_checkpoint_of_a_conversation_is_kept(chat: Chat, tmp_path: Path) -> None:
    import sqlite3

    chat([BOTH, KNOWN], "--thread", "a")
    kept = sqlite3.connect(tmp_path / "chats.sqlite")
    assert kept.execute("SELECT thread_id, checkpoint_ns FROM checkpoints").fetchall() == [("a", "")]
    chat([KNOWN], "--thread", "b")
    assert kept.execute("SELECT count(*) FROM checkpoints").fetchone() == (2,)
    kept.close()


def test_a_method_can_be_chosen_and_is_then_the_only_tool(chat: Chat) -> None:
    done = chat(["/method", "/method taikc", "Hm", "/method auto", "Hm"])
    assert [line for line in done.told.splitlines() if line.startswith("method")] == [
        "method auto", "method taikc", "method auto",
    ]  # fmt: skip
    assert list(map(offered, done.asked)) == [["taikc"], ["self_dc", "taikc", "search"]]
    assert list(map(offered, chat(["Hm"], "--method", "direct").asked)) == [["direct"]]


def offered(body: dict[str, Any]) -> list[str]:
    """The tools that a request shows to the model."""
    return [tool["function"]["name"] for tool in body["tools"]]


def test_settings_hold_for_the_session_and_reach_the_methods(chat: Chat) -> None:
    done = chat(
        ["/set", LOOKED_UP, "/set alpha=0 beta=0", LOOKED_UP, LOOKED_UP, "/set taikc.passages=2", "/set"]
    )
    assert "nothing is set" in done.told
    looked_up = ["1 looked up" in fold for fold in folds(done)]
    assert looked_up == [True, False, False]
    assert done.told.splitlines()[-3:-1] == ["self_dc: alpha=0, beta=0", "taikc: passages=2"]


def told_of_settings(done: Done) -> list[str]:
    """What `/set` and `/unset` show."""
    shown = ("self_dc:", "taikc:", "nothing is set")
    return [line.partition(";")[0] for line in done.told.splitlines() if line.startswith(shown)]


def test_settings_go_back_to_their_defaults(chat: Chat) -> None:
    one_by_one = ["/unset alpha", "/unset taikc.passages beta"]
    done = chat(["/set alpha=0 beta=0 taikc.passages=2", *one_by_one, LOOKED_UP])
    assert told_of_settings(done) == [
        "self_dc: alpha=0, beta=0", "taikc: passages=2", "self_dc: beta=0", "taikc: passages=2",
        "nothing is set",
    ]  # fmt: skip
    assert "1 looked up" in folds(done)[0]
    assert told_of_settings(chat(["/set alpha=0 taikc.passages=2", "/unset"]))[-1] == "nothing is set"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/unset beta", "beta is not set; /set shows what is"),
        ("/unset taikc.alpha", "taikc.alpha is not set"),
        ("/set alpha=3", "alpha=3 is out of range"),
        ("/set gamma=1", "there is no setting 'gamma'"),
        ("/set alpha", "/set takes name=value, not 'alpha'"),
        ("/set direct.alpha=3", "there is no setting 'alpha'"),
        ("/set oracle.alpha=3", "'oracle', which is not run"),
        ("/method oracle", "there is no method 'oracle'; choose from auto, direct"),
        ("/method seakr", "needs hidden states"),
        ("/model oracle", "'oracle' names no known model"),
        ("/model transformers:no/such/model", "no/such/model"),
        ("/trace", "nothing has been answered yet"),
        ("/save", "write /save [--force] FILE"),
        ("/save notes.txt", "notes.txt is to end in .md or .json"),
        ("/save folder.md", "folder.md is a folder"),
        ("/save ~nosuchuser/a.md", "there is no folder ~nosuchuser/a.md"),
        ("/save a\0b.md", "cannot be written (embedded null byte)"),
        ("/trace " + "9" * 5000, "nothing has been answered yet"),
        ("/set self_dc.=1", "/set takes name=value"),
        ("/quit now", "/quit takes nothing behind it, and there is now"),
        ("/save no/such/folder/a.md", "no/such/folder/a.md cannot be written"),
        ("/histroy", "there is no command /histroy; did you mean /history?"),
        ("/xyzzy", "there is no command /xyzzy; /help lists"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_nothing_has_changed(
    chat: Chat, tmp_path: Path, line: str, says: str
) -> None:
    (tmp_path / "folder.md").mkdir()
    done = chat(["/set alpha=0.7", line, "/set", "/method", "/model"])
    told = [each for each in done.told.splitlines() if not each.startswith("the agent goes without")]
    assert told[0] == told[2] == "self_dc: alpha=0.7"
    assert told[1].startswith("knowwhen: ") and says in told[1]
    assert told[3:] == ["method auto", "model openai:any"]
    assert (done.status, done.answers) == (1, [])


def test_a_failed_answer_ends_its_turn_and_not_the_chat(chat: Chat) -> None:
    done = chat([KNOWN, "Say more"], statuses=[401])
    assert done.answers == ["more"]
    (failed,) = (line for line in done.told.splitlines() if line.startswith("knowwhen: "))
    assert "401" in failed
    assert done.status == 1
    again = chat(["/history", KNOWN], "--thread", thread_of(done))
    assert f"1. {KNOWN}\n(no answer)\n" in again.told
    assert again.answers[0].startswith("The answer is Thudo Rake")
    told = json.loads(chat(["Hm"], "--json", statuses=[401]).answers[0])
    assert (told["question"], told["answer"]) == ("Hm", "") and "401" in told["error"]


def test_a_tool_that_failed_is_told(chat: Chat) -> None:
    done = chat(["With nonsense: Who?", "With self_dc: Is it out of order?"])
    first, second = folds(done)
    assert first.startswith("▸ nonsense failed: ")
    assert second.startswith("▸ self_dc failed: ChatOpenAI (any) ") and "400" in second
    assert done.status == 0


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("--method", "oracle"), 2, "there is no method 'oracle'"),
        (("--set", "alpha=3"), 2, "alpha=3 is out of range"),
        (("--set", "alpha"), 2, "--set takes name=value"),
        (("--set", "gamma=1"), 2, "there is no setting 'gamma'"),
        (("--method", "seakr"), 1, "needs hidden states"),
        (("--corpus", "no/such/folder"), 2, "no/such/folder"),
        (("--history", "."), 1, "conversations cannot be kept in ."),
        (("--history", "page.html"), 1, "conversations cannot be kept in page.html"),
    ],
)
def test_a_chat_that_cannot_begin_says_why_in_one_line(
    chat: Chat, tmp_path: Path, arguments: tuple[str, ...], status: int, says: str
) -> None:
    (tmp_path / "page.html").write_text("<html>" * 999)
    done = chat(["Hm"], *arguments)
    assert (done.status, done.answers, done.asked) == (status, [], [])
    (line,) = done.told.splitlines()
    assert line.startswith("knowwhen: ") and says in line


def test_a_file_that_cannot_be_opened_is_one_line_of_the_whole_process(tmp_path: Path) -> None:
    done = piped(None, tmp_path, ["Hm"], "--history", str(tmp_path))
    (line,) = done.told.splitlines()  # no thread of a library's adds its own
    assert done.status == 1 and "unable to open" in line


def test_a_model_that_calls_no_tools_is_refused(chat: Chat, tiny_llama: Path) -> None:  # noqa: F811
    done = chat(["Hm"], model=f"transformers:{tiny_llama}")  # its template shows none
    assert (done.status, done.answers) == (1, [])
    (line,) = done.told.splitlines()
    assert "tools" in line


def test_without_a_key_it_says_which(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    done = chat(["Hm"])
    (line,) = done.told.splitlines()
    assert done.status == 1 and "OPENAI_API_KEY" in line


def test_settings_of_methods_that_the_model_is_too_poor_for_are_left_alone(chat: Chat) -> None:
    done = chat(["/set"], "--set", "temperature=0.5", "--set", "keqa.shown=none")
    told = done.told.splitlines()
    assert told.pop(0).startswith(
        "the agent goes without seakr: "
    )  # and with keqa, as its setting makes it fit
    assert told == ["self_dc: temperature=0.5", "taikc: temperature=0.5", "keqa: shown=none"]


HOSTILE = "\x1b[2Jgone\x07\u202e [bold]x[/bold] :smile: <script>alert(1)</script> </details> ```"


def test_what_others_wrote_commands_nothing(chat: Chat, tmp_path: Path) -> None:
    done = chat([f"Say {HOSTILE}", f"With self_dc: {HOSTILE}", "/trace 2", "/history", "/save a.md"])
    shown = "\n".join([*done.answers, done.told])
    assert not set(shown) & set("\x1b\x07\u202e")
    assert "[bold]x[/bold] :smile: <script>" in done.answers[0]
    assert shown.count("[bold]x[/bold] :smile:") >= 4
    page = (tmp_path / "a.md").read_text()
    assert not set(page) & set("\x1b\x07\u202e")
    outside = "\n".join(line for line in page.splitlines() if not line.startswith("    "))
    assert "<script" not in outside and outside.count("</details>") == 2


def test_a_message_may_begin_with_a_slash(chat: Chat) -> None:
    done = chat(["//history is a command", "//Say"])
    asked = [body["messages"][-1]["content"] for body in done.asked]
    assert asked == ["/history is a command", "/Say"]


def test_a_conversation_is_saved_to_be_read_and_whole(chat: Chat, tmp_path: Path) -> None:
    done = chat(
        [BOTH, "Search Thimis Plolm", "/save a.md", "/save 'b c.json'", "/save a.md", "/save --force a.md"],
        "--set", "alpha=0.7",
    )  # fmt: skip
    assert "2 turns written to b c.json" in done.told
    assert "knowwhen: a.md is there already; write /save --force a.md to replace it" in done.told
    assert done.told.count("2 turns written to a.md") == 2
    page = (tmp_path / "a.md").read_text()
    assert page.startswith(f"# {thread_of(done)}\n\nModel openai:any, corpus almanac.\n\n## 1. {BOTH}\n\n")
    assert f"\n\n{done.answers[0]}\n\n<details><summary>▸ self_dc: 3 questions, 1 looked up, " in page
    assert (
        "\n    ├── Who starred in Skirn Vlurk?\n    │   retrieved at probability 0.08 → Thudo Rake\n" in page
    )
    assert "\n    [1] Thimis Plolm: " in page
    whole = json.loads((tmp_path / "b c.json").read_text())
    assert (whole["thread"], whole["settings"]) == (thread_of(done), {"self_dc": {"alpha": 0.7}})
    assert "\n".join(turn["answer"] for turn in whole["turns"]) == "\n".join(done.answers)
    assert whole["turns"][0]["calls"][0]["output"]["steps"][0]["passages"]
