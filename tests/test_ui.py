"""The page in a real browser, as a reader meets it: on the pocket model, and on servers that obey a test."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from openai_server import serve
from processes import started
from report_runs import three_methods, write_run, write_runs
from scripted import ScriptedChat
from self_dc_script import World, task_of
from ui_page import ALONE, CHROMIUM, HALF_KNOWN, PATIENCE, Seen, opened

from knowwhen.models.errors import SettingsError
from knowwhen.tools import Entry, build_index

pytest.importorskip("gradio")
sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; apt-get install chromium")

PHONE = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
HOSTILE = (
    "</summary></details></script><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
    '<iframe src="http://127.0.0.1:9/"></iframe>{{ 7*7 }} ${alert(4)} @children [a](javascript:alert(5)) '
    "**bold** &lt;b&gt; \u202egnorw\x1b[31m " + "x" * 400
)
SHOWN = "<script>alert(1)</script><img src=x onerror=alert(2)>"
expect: Any = sync_api.expect
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    from knowwhen.ui.serving import served

    with served() as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ALONE))
        yield opened
        opened.close()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Serve a script as an OpenAI model."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def serve_it(script: Any, **faults: Any) -> Any:
            server = stack.enter_context(serve(ScriptedChat(script), **faults))
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("OPENAI_API_KEY", "none")
            return server

        yield serve_it


@pytest.fixture
def broken_off(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when a run has ended, in whichever way."""
    from knowwhen.ui import run

    events_of, ended = run.aevents_of, threading.Event()

    async def noting(*arguments: Any) -> AsyncIterator[dict[str, Any]]:
        try:
            async for event in events_of(*arguments):
                yield event
        finally:
            ended.set()

    monkeypatch.setattr(run, "aevents_of", noting)
    return ended


def test_by_keyboard_alone_a_question_is_asked_and_a_step_opened(browser: Any, address: str) -> None:
    with opened(browser, address) as seen:
        seen.page.locator("body").press("Tab")
        for _ in range(8):
            if seen.page.evaluate("document.activeElement.tagName") == "TEXTAREA":
                break
            seen.page.keyboard.press("Tab")
        seen.page.keyboard.type(HALF_KNOWN)
        seen.page.keyboard.press("Enter")
        expect(seen["#ask-result .kw-big"]).to_have_text("Thudo Rake")
        assert seen.steps[1:] == [
            "1.1 Who starred in Skirn Vlurk? retrieve probability 0.08 → Thudo Rake",
            "1.2 Who directed Thimis Plolm? generate probability 0.99 → Thudo Rake",
        ]
        step = seen["#ask-result .kw-step"].nth(1)
        for _ in range(60):
            seen.page.keyboard.press("Tab")
            if step.locator("summary").evaluate("each => each === document.activeElement"):
                break
        assert not step.locator(".kw-passages").is_visible()
        seen.page.keyboard.press("Enter")
        passages = step.locator(".kw-passages li")
        assert passages.count() == 3 and passages.first.is_visible()
        told = passages.first.inner_text()
        assert "Skirn Vlurk" in told and "Thudo Rake" in told and "almanac · score " in told


def test_a_moved_threshold_says_which_routes_would_change(browser: Any, address: str) -> None:
    with opened(browser, address) as seen:
        seen.ask(HALF_KNOWN)
        told = seen["#ask-turns .kw-told b"]
        expect(told).to_have_text("0 of 3 routes would change")
        alpha, beta = (seen[f"#ask-dial-{number} input[type=range]"] for number in range(2))
        assert (alpha.input_value(), beta.input_value()) == ("0.6", "0.1")
        alpha.focus()
        for _ in range(10):
            seen.page.keyboard.press("ArrowLeft")
        expect(seen["#ask-turns .kw-told"]).to_contain_text("α = 0.5, β = 0.1")
        expect(told).to_have_text("1 of 3 routes would change, 2 would not be asked")
        root = seen["#ask-turns .kw-turn"].first.inner_text()
        assert "would change to" in root and "generate" in root and "its answer is unknown" in root
        assert seen["#ask-result .kw-big"].inner_text() == "Thudo Rake"  # of what was asked


def test_a_tree_grows_and_what_is_open_in_it_stays_open(
    browser: Any, address: str, model: Callable[..., Any]
) -> None:
    go_on = threading.Event()
    world = World({"Whole?": 0.6, "First?": 0.95, "Second?": 0.95}, {"Whole?": ["First?", "Second?"]})

    def script(prompt: str) -> Any:
        if task_of(prompt) == ("generate_background", "Second?"):
            assert go_on.wait(PATIENCE / 1000)
        return world(prompt)

    model(script)
    with opened(browser, address) as seen:
        seen.ask("Whole?", model="openai:growing")
        first = seen["#ask-result .kw-step"].nth(1)
        expect(first).to_contain_text("→ the answer to First?")
        assert seen["#ask-result .kw-step"].count() == 3
        assert [step.split()[-3:] == ["not", "answered", "yet"] for step in seen.steps] == [True, False, True]
        assert seen["#ask-result .kw-big"].count() == 0 and "Asking" in seen["#ask-status"].inner_text()
        first.locator("summary").press("Enter")
        assert first.get_by_text("All about First?").is_visible()
        go_on.set()
        expect(seen["#ask-result .kw-big"]).to_have_text("the answer to Whole?")
        assert first.get_by_text("All about First?").is_visible()
        assert first.locator("summary").evaluate("each => each === document.activeElement")


def test_a_run_is_stopped_and_meanwhile_others_are_answered(
    browser: Any, address: str, model: Callable[..., Any], broken_off: threading.Event
) -> None:
    go_on = threading.Event()

    def script(prompt: str) -> Any:
        assert go_on.wait(PATIENCE / 1000)
        return World()(prompt)

    server = model(script)
    with opened(browser, address) as seen, opened(browser, address) as other:
        seen.ask("Who directed Thimis Plolm?")
        expect(seen["#ask-what-if"]).to_be_visible()
        seen.ask("Who is late?", model="openai:slow")
        expect(seen["#ask-stop"]).to_be_enabled()
        expect(seen["#ask-status"]).to_contain_text("Asking")
        while not server.requests:
            time.sleep(0.05)
        other.choose_method("direct")
        expect(other["#ask-settings"]).not_to_contain_text("alpha")
        other.ask("Who directed Thimis Plolm?")
        expect(other["#ask-result .kw-big"]).to_have_text("Thudo Rake")
        expect(other["#ask-what-if"]).not_to_be_visible()  # it has no threshold
        broken_off.clear()  # set by the other
        expect(seen["#ask-what-if"]).not_to_be_visible()  # it was of the question before
        seen["#ask-stop"].click()
        expect(seen["#ask-status"]).to_contain_text("Stopped")
        expect(seen["#ask-stop"]).to_be_disabled()
        assert broken_off.wait(PATIENCE / 1000)
        go_on.set()
        assert_no_more_is_asked(server)
        seen.ask("Who directed Thimis Plolm?", model="pocket")
        expect(seen["#ask-result .kw-big"]).to_have_text("Thudo Rake")


def test_closing_the_page_ends_its_run_with_what_is_under_way(
    browser: Any, address: str, model: Callable[..., Any], broken_off: threading.Event
) -> None:
    go_on = threading.Event()
    chain = ["Whole?", "Half?", "Quarter?", "Eighth?"]
    parts = {one: [other, f"The rest of {one}"] for one, other in pairwise(chain)}
    world = World(dict.fromkeys(chain, 0.6), parts)

    def script(prompt: str) -> Any:
        assert go_on.wait(PATIENCE / 1000)
        time.sleep(0.2)
        return world(prompt)

    server = model(script)
    with opened(browser, address) as seen:
        seen.ask("Whole?", model="openai:closed")
        while not server.requests:
            time.sleep(0.05)
    go_on.set()
    assert broken_off.wait(PATIENCE / 1000)
    time.sleep(0.5)
    asked = len(server.requests)
    time.sleep(1)
    assert len(server.requests) == asked < 10  # of 20


def assert_no_more_is_asked(server: Any) -> None:
    """Of a model that has been asked once."""
    while server.requests[0].answered is None:
        time.sleep(0.05)
    time.sleep(1)  # in which the next would be asked
    assert len(server.requests) == 1


def test_two_methods_stand_side_by_side(browser: Any, address: str) -> None:
    with opened(browser, address) as seen:
        seen.go_to("Compare")
        seen["#compare-right-settings"].wait_for()
        seen.ask(HALF_KNOWN, tab="compare")
        table = seen["#compare-table table"]
        expect(table.locator("thead")).to_contain_text("retrieve_then_read")
        rows = [
            [cell.inner_text() for cell in row.locator("th, td").all()] for row in table.locator("tr").all()
        ]
        assert rows[:3] == [
            ["", "self_dc", "retrieve_then_read"], ["answer", "Thudo Rake", "Thudo Rake"],
            ["route", "decompose", "retrieve"],
        ]  # fmt: skip
        assert rows[3][0] == "model calls" and int(rows[3][1]) > int(rows[3][2]) == 1
        left, right = (seen[f"#compare-{side}-result"] for side in ("left", "right"))
        assert left.locator(".kw-step").count() == 3 and right.locator(".kw-step").count() == 1
        assert left.bounding_box()["x"] < right.bounding_box()["x"]
        assert abs(left.bounding_box()["y"] - right.bounding_box()["y"]) < 5


def test_a_setting_of_the_form_reaches_the_method(browser: Any, address: str) -> None:
    with opened(browser, address) as seen:
        seen["#ask-settings button"].first.click()
        alpha = seen.page.get_by_label("number input for alpha")
        alpha.fill("0")
        alpha.press("Tab")
        seen.page.get_by_label("number input for beta").fill("0")
        seen.page.get_by_label("number input for beta").press("Tab")
        seen.ask(HALF_KNOWN)
        expect(seen["#ask-result .kw-big"]).to_be_visible()
        assert seen["#ask-result .kw-route"].all_inner_texts() == ["generate"]


WRONG = [
    ("  ", {}, "the question is empty"),
    ("Who?", {"model": "pockett"}, "names no known model"),
    ("Who?", {"model": "transformers:no/such/model"}, "no/such/model"),
    ("Who?", {"model": "openai:any"}, "cannot be set up"),  # there is no key
    (
        "Who?",
        {"model": "pocket", "corpus": "no/such/<b>folder"},
        "no retriever is called 'no/such/<b>folder'",
    ),
]


def test_what_is_wrong_is_said_in_one_line(
    browser: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with opened(browser, address) as seen:

        def is_said(says: str) -> None:
            alert = seen.page.get_by_role("alert").filter(has_text=says)
            expect(alert).to_be_visible()
            assert "\n" not in alert.inner_text().strip() and "Traceback" not in seen.page.content()
            expect(seen["#ask-stop"]).to_be_disabled()
            assert seen["#ask-result .kw-step"].count() == 0

        for question, fields, says in WRONG:
            seen.ask(question, **fields)
            is_said(says)
        seen["#ask-settings button"].first.click()
        seen.page.get_by_label("max tokens").fill("0")
        seen.ask("Who?", corpus="almanac")
        is_said("max_tokens=0 is out of range")


def test_a_corpus_that_fails_in_the_middle_ends_the_run_with_its_line(
    browser: Any, address: str, tmp_path: Path, model: Callable[..., Any]
) -> None:
    model(World({"Who is it?": 0.1}), statuses=[400])
    build_index([Entry(id="1", title="It", text="It is it.", source="here")], tmp_path / "index")
    with opened(browser, address) as seen:
        seen.ask("Who is it?", model="openai:refusing", corpus=str(tmp_path / "index"))
        expect(seen.page.get_by_role("alert")).to_contain_text("status 400 was ordered")
        seen.ask("Who is it?")  # as before: what failed is not kept
        expect(seen["#ask-result .kw-big"]).to_have_text("the answer to Who is it?")


def test_a_fault_that_nobody_foresaw_ends_the_run_without_a_traceback_on_the_page(
    browser: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from knowwhen.ui import run

    def faulty(*_: Any) -> Any:
        raise ZeroDivisionError("<b>of all things</b>")

    with opened(browser, address) as seen:
        with monkeypatch.context() as patched:
            patched.setattr(run, "aevents_of", faulty)
            seen.ask("Who directed Thimis Plolm?")
            expect(seen.page.get_by_role("alert").filter(has_text="it broke off")).to_be_visible()
            assert not {"Traceback", "ZeroDivision", "of all things"} & set(seen.page.content().split())
            expect(seen["#ask-stop"]).to_be_disabled()
        seen.ask("Who directed Thimis Plolm?")
        expect(seen["#ask-result .kw-big"]).to_have_text("Thudo Rake")


def test_what_others_wrote_stays_text(
    browser: Any, address: str, tmp_path: Path, model: Callable[..., Any]
) -> None:
    model(lambda prompt: HOSTILE + "y" * 100_000)
    entry = Entry(id="1", title="Title " + HOSTILE, text="Passage " + HOSTILE, source=HOSTILE)
    build_index([entry], tmp_path / "<img src=x>")
    with opened(browser, address, **PHONE) as seen:
        seen.choose_method("retrieve_then_read")
        expect(seen["#ask-settings"]).not_to_contain_text("alpha")
        seen.ask(f"Passage Title {HOSTILE}", model="openai:hostile", corpus=str(tmp_path / "<img src=x>"))
        expect(seen["#ask-result .kw-big"]).to_contain_text(SHOWN)
        assert "{{ 7*7 }} ${alert(4)} @children [a](javascript:alert(5)) **bold** &lt;b&gt;" in (
            seen["#ask-result .kw-big"].inner_text()
        )
        for summary in seen["#ask-result summary"].all():
            summary.press("Enter")
        told = seen["#ask-result"].inner_text()
        assert told.count(SHOWN) >= 6  # answer, where from, question, its answer, passage and its title
        assert not {"\u202e", "\x1b"} & set(told)
        assert seen["#ask-result :is(img, iframe, script, svg, a)"].count() == 0
        assert seen.is_as_wide_as(390)
        seen.page.wait_for_timeout(200)  # for an attack to show itself: `opened` looks for what it did


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("evaluated"))


def open_folder(seen: Seen, folder: str) -> None:
    seen.go_to("Evaluations")
    seen["#runs-folder textarea, #runs-folder input"].fill(folder)
    seen["#runs-folder textarea, #runs-folder input"].press("Enter")


def test_an_evaluation_is_opened_filtered_and_looked_into(
    browser: Any, address: str, evaluated: Path
) -> None:
    with opened(browser, address, **PHONE) as seen:
        open_folder(seen, str(evaluated))
        questions = seen["#runs-list .kw-question"]
        expect(questions).to_have_count(8)
        rows = seen["#runs-tables table"].first.locator("tbody tr")
        assert [row.locator("th").inner_text() for row in rows.all()] == [
            "direct", "retrieve_then_read", "self_dc"
        ]  # fmt: skip
        seen["#runs-wrong input"].click()
        seen.page.get_by_role("option", name="wrong by self_dc").click()
        expect(questions).to_have_count(3)
        seen["#runs-text textarea, #runs-text input"].fill("Q7")
        expect(questions).to_have_count(1)
        questions.locator("summary").first.press("Enter")
        assert questions.get_by_text("Right is this.").is_visible()
        questions.locator(".kw-more > summary").nth(2).press("Enter")
        assert questions.locator(".kw-more").nth(2).locator(".kw-route").inner_text() == "generate"
        assert seen.is_as_wide_as(390)
        open_folder(seen, str(evaluated.parent))
        expect(seen["#runs-status"]).to_contain_text("holds no run")
        expect(questions).to_have_count(0)


def test_many_questions_are_shown_page_by_page_and_labels_are_text(
    browser: Any, address: str, tmp_path: Path
) -> None:
    label = '"><img src=x onerror=alert(4)>'
    one = three_methods()["direct"][0]
    many = [
        one.model_copy(update={"question_id": f"q{n}", "question": f"{n}?{HOSTILE}"}) for n in range(1, 42)
    ]
    write_run(tmp_path, label, many)
    with opened(browser, address) as seen:
        open_folder(seen, f" {tmp_path} ")
        expect(seen["#runs-list"]).to_contain_text("1 to 20 of 41 questions")
        for expected in ("21 to 40 of 41", "41 to 41 of 41"):
            seen.page.get_by_role("button", name="Next").click()
            expect(seen["#runs-list"]).to_contain_text(expected)
        expect(seen.page.get_by_role("button", name="Next")).to_be_disabled()
        seen.page.get_by_role("button", name="Before").click()
        expect(seen["#runs-list"]).to_contain_text("21 to 40 of 41")
        assert SHOWN in seen["#runs-list"].inner_text() and label in seen["#runs-tables"].inner_text()
        seen["#runs-wrong input"].click()
        seen.page.get_by_role("option", name=f"wrong by {label}").click()
        expect(seen["#runs-list"]).to_contain_text("1 to 20 of 41 questions")
        assert seen["#runs-list :is(img, iframe, script)"].count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tab_fits_a_phone_and_follows_the_readers_light(
    browser: Any, address: str, scheme: str
) -> None:
    with opened(browser, address, **{**PHONE, "color_scheme": scheme}) as seen:
        for tab in ("Ask", "Compare", "Evaluations"):
            seen.go_to(tab)
            expect(seen.page.get_by_role("tabpanel").filter(visible=True)).to_have_count(1)
            assert seen.is_as_wide_as(390)
        light = seen.page.evaluate("getComputedStyle(document.querySelector('.kw-title h1')).color")
        assert (sum(map(int, light[4:-1].split(","))) > 3 * 128) == (scheme == "dark")


@pytest.mark.parametrize("file", ["/etc/passwd", str(Path(__file__)), "pyproject.toml"])
def test_no_file_of_the_disk_is_served(address: str, file: str) -> None:
    for route in ("gradio_api/file=", "file=", "gradio_api/file/"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{address}{route}{file}", timeout=30)
        assert refused.value.code in (403, 404)


def test_the_page_listens_on_this_machine_alone(address: str) -> None:
    assert address.startswith("http://127.0.0.1:")
    port = int(address.rstrip("/").rpartition(":")[2])
    with socket.socket() as other:
        assert other.connect_ex(("127.0.0.2", port)) != 0  # as any address of this machine but one
    with urllib.request.urlopen(f"{address}config", timeout=30) as answered:
        assert json.load(answered)["analytics_enabled"] is False


def test_a_port_in_use_is_refused(address: str) -> None:
    from knowwhen.ui.serving import served

    busy = int(address.rstrip("/").rpartition(":")[2])
    with (
        pytest.raises(SettingsError, match=f"^port {busy} is in use or closed to you; choose another"),
        served(port=busy),
    ):
        pass


def test_the_command_says_where_it_is_connects_nowhere_and_ends_by_ctrl_c() -> None:
    code = (
        "import sys\n"
        "def told(event, arguments):\n"
        "    if event == 'socket.connect' and arguments[1][0] not in ('127.0.0.1', '::1'):\n"
        "        print('connects to', arguments[1], file=sys.stderr)\n"
        "sys.addaudithook(told)\n"
        "from knowwhen.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "ui", "--no-browser"]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as serving:
        assert serving.stdout is not None
        address = serving.stdout.readline().strip()
        with urllib.request.urlopen(address, timeout=60) as answered:
            assert b"knowwhen" in answered.read()
        serving.send_signal(signal.SIGINT)
        _, shown = serving.communicate(timeout=60)
    assert serving.returncode == 130 and shown.strip().splitlines()[-1] == "knowwhen: stopped"
    assert "connects to" not in shown and "Traceback" not in shown


def test_without_gradio_one_line_says_what_to_install() -> None:
    code = "import sys; sys.modules['gradio'] = None; from knowwhen.cli import main; main()"
    command = [sys.executable, "-c", code, "ui", "--no-browser"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.strip() == "knowwhen: the page needs gradio; pip install 'knowwhen[ui]'"
