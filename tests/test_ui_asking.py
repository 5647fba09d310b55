"""Asking on the page, in a real browser: on the pocket model, and on servers that obey a test."""

# ruff: noqa: F811  # a fixture from ui_page is an argument by its name

import re
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from chromium import PATIENCE
from self_dc_script import World, task_of
from ui_page import (  # noqa: F401
    HALF_KNOWN,
    HOSTILE,
    NEEDS_BROWSER,
    PHONE,
    SHOWN,
    address,
    broken_off,
    browser,
    expect,
    model,
    opened,
)

from knowwhen.tools import Entry, build_index

pytestmark = NEEDS_BROWSER


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
        expect(seen.steps).to_have_text([
            re.compile("^1 Which"),
            "1.1 Who starred in Skirn Vlurk? retrieve probability 0.08 → Thudo Rake",
            "1.2 Who directed Thimis Plolm? generate probability 0.99 → Thudo Rake",
        ], use_inner_text=True)  # fmt: skip
        step = seen["#ask-result .kw-step"].nth(1)
        for _ in range(60):
            seen.page.keyboard.press("Tab")
            if step.locator("summary").evaluate("each => each === document.activeElement"):
                break
        expect(step.locator(".kw-passages")).not_to_be_visible()
        seen.page.keyboard.press("Enter")
        passages = step.locator(".kw-passages li")
        expect(passages).to_have_count(3)
        expect(passages.first).to_be_visible()
        for told in ("Skirn Vlurk", "Thudo Rake", "almanac · score "):
            expect(passages.first).to_contain_text(told)


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
        unanswered = re.compile(r"not answered yet\s*$")
        expect(seen.steps).to_have_text([unanswered, re.compile(r"→ the answer to First\?\s*$"), unanswered])
        expect(seen["#ask-result .kw-big"]).to_have_count(0)
        expect(seen["#ask-status"]).to_contain_text("Asking")
        first.locator("summary").press("Enter")
        expect(first.get_by_text("All about First?")).to_be_visible()
        go_on.set()
        expect(seen["#ask-result .kw-big"]).to_have_text("the answer to Whole?")
        expect(first.get_by_text("All about First?")).to_be_visible()
        expect(first.locator("summary")).to_be_focused()


def held_until(go_on: threading.Event) -> Callable[[str], Any]:
    """A script whose replies wait."""

    def script(prompt: str) -> Any:
        assert go_on.wait(PATIENCE / 1000)
        return World()(prompt)

    return script


def test_a_run_is_stopped_and_meanwhile_others_are_answered(
    browser: Any, address: str, model: Callable[..., Any], broken_off: threading.Event
) -> None:
    go_on = threading.Event()
    server = model(held_until(go_on))
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


@pytest.mark.parametrize("tab", ["ask", "compare"])
def test_stop_ends_the_run_also_when_another_method_was_chosen_meanwhile(
    browser: Any, address: str, model: Callable[..., Any], broken_off: threading.Event, tab: str
) -> None:
    go_on = threading.Event()
    server = model(held_until(go_on))
    with opened(browser, address) as seen:
        if tab == "compare":
            seen.go_to("Compare")
            seen.choose_method("direct", "compare-right")
        seen.ask("Who is slow?", tab=tab, model=f"openai:changed-{tab}")
        while len(server.requests) < (1 if tab == "ask" else 2):
            time.sleep(0.05)
        seen.choose_method("keqa", "ask" if tab == "ask" else "compare-left")
        expect(seen[f"#{tab}-stop"]).to_be_enabled()
        seen[f"#{tab}-stop"].click()
        expect(seen[f"#{tab}-status"]).to_contain_text("Stopped")
        expect(seen[f"#{tab}-stop"]).to_be_disabled()
        assert broken_off.wait(PATIENCE / 1000)
        expect(seen[f"#{tab}-{tab}"]).to_be_focused()  # not lost with the button that was closed
        asked = len(server.requests)
        go_on.set()
        time.sleep(1)  # in which the next would be asked
        assert len(server.requests) == asked


def test_another_question_ends_the_one_under_way_and_the_same_again_does_not(
    browser: Any, address: str, model: Callable[..., Any]
) -> None:
    go_on = threading.Event()
    world = World({"Whole?": 0.6}, {"Whole?": ["First?", "Second?"]})

    def script(prompt: str) -> Any:
        assert task_of(prompt)[0] in ("score_confidence", "answer_directly", "decompose") or go_on.wait(60)
        return world(prompt)

    server = model(script)
    with opened(browser, address) as seen:
        seen.ask("Whole?", model="openai:twice")
        expect(seen["#ask-result .kw-step"]).to_have_count(3)
        asked = len(server.requests)
        seen["#ask-question textarea"].press("Enter")
        time.sleep(0.5)
        expect(seen["#ask-result .kw-step"]).to_have_count(3)
        assert len(server.requests) == asked
        seen.ask("Who is next?")
        expect(seen["#ask-result .kw-question-asked"]).to_have_text("Who is next?")
        go_on.set()
        expect(seen["#ask-result .kw-big"]).to_have_text("the answer to Who is next?")
        time.sleep(0.5)  # in which the first could come back
        expect(seen["#ask-result .kw-step"]).to_have_count(1)
        assert not any("the answer to First?" in str(each.body) for each in server.requests)  # not combined


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


def test_a_setting_of_the_form_reaches_the_method_and_an_empty_one_is_the_default(
    browser: Any, address: str
) -> None:
    with opened(browser, address) as seen:
        seen.open_settings()
        fields = {
            name: seen[f"#ask-self_dc-{name} :is(input, textarea)"]
            for name in ("alpha", "beta", "max_tokens")
        }
        fields["alpha"].fill("0")
        fields["beta"].fill("0")
        fields["max_tokens"].fill("")
        seen.ask(HALF_KNOWN)
        expect(seen["#ask-result .kw-big"]).to_be_visible()
        expect(seen["#ask-result .kw-route"]).to_have_text(["generate"])
        seen.choose_method("keqa")
        expect(seen["#ask-method"]).to_contain_text("Quizzes the model")
        seen.choose_method("self_dc")
        expect(fields["alpha"]).to_have_value("0")  # as it was set
        fields["alpha"].fill("")
        fields["beta"].fill("")
        seen.ask(HALF_KNOWN)
        expect(seen["#ask-result .kw-step"]).to_have_count(3)


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
            alert = seen["#ask-status .kw-is-failed"].filter(has_text=says)
            expect(alert).to_be_visible()
            assert "\n" not in alert.inner_text().strip() and "Traceback" not in seen.page.content()
            expect(seen["#ask-stop"]).to_be_disabled()
            expect(seen["#ask-result .kw-step"]).to_have_count(0)

        for question, fields, says in WRONG:
            seen.ask(question, **fields)
            is_said(says)
        seen.open_settings()
        for value, says in (("0", "max_tokens=0 is out of range"), ("2.5", "max_tokens=2.5 is out of range")):
            seen["#ask-self_dc-max_tokens :is(input, textarea)"].fill(value)
            seen.ask("Who?", corpus="almanac")
            is_said(says)
        seen["#ask-self_dc-max_tokens :is(input, textarea)"].fill("")
        seen["#ask-self_dc-alpha :is(input, textarea)"].fill("5")
        seen.ask("Who?")
        is_said("alpha=5 is out of range")


def test_on_a_phone_an_answer_and_an_error_come_into_view(browser: Any, address: str) -> None:
    with opened(browser, address, **PHONE) as seen:
        for tab, answer in (("ask", "#ask-result .kw-big"), ("compare", "#compare-table table")):
            seen.go_to(tab.capitalize())
            expect(seen[f"#{tab}-seen"]).not_to_be_in_viewport()
            seen.ask("Who directed Thimis Plolm?", tab=tab)
            expect(seen[answer]).to_be_visible()
            seen.comes_into_view(answer)
            seen.page.evaluate("scrollTo(0, 0)")
            seen.ask("Who?", tab=tab, model="pockett")
            expect(seen[f"#{tab}-status .kw-is-failed"]).to_be_visible()
            seen.comes_into_view(f"#{tab}-status .kw-is-failed")


def test_a_model_that_refuses_in_the_middle_ends_the_run_with_its_line(
    browser: Any, address: str, tmp_path: Path, model: Callable[..., Any]
) -> None:
    model(World({"Who is it?": 0.1}), statuses=[400])
    build_index([Entry(id="1", title="It", text="It is it.", source="here")], tmp_path / "index")
    with opened(browser, address) as seen:
        seen.ask("Who is it?", model="openai:refusing", corpus=str(tmp_path / "index"))
        expect(seen["#ask-status .kw-is-failed"]).to_contain_text("status 400 was ordered")
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
            expect(seen["#ask-status .kw-is-failed"]).to_contain_text("it broke off")
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
        seen.ask(
            f"Passage Title {HOSTILE}{'z' * 6000}",
            model="openai:hostile",
            corpus=str(tmp_path / "<img src=x>"),
        )
        expect(seen["#ask-result .kw-big"]).to_contain_text(SHOWN)
        seen.comes_into_view("#ask-result .kw-big")
        expect(seen["#ask-result .kw-big"]).to_contain_text(
            "{{ 7*7 }} ${alert(4)} @children [a](javascript:alert(5)) **bold** &lt;b&gt;"
        )
        assert seen["#ask-result .kw-step summary"].first.bounding_box()["height"] < 300
        for summary in seen["#ask-result summary"].all():
            summary.press("Enter")
        told = seen["#ask-result"].inner_text()
        assert told.count(SHOWN) >= 6  # answer, where from, question, its answer, passage and its title
        assert not {"\u202e", "\x1b"} & set(told)
        expect(seen["#ask-result :is(img, iframe, script, svg, a)"]).to_have_count(0)
        seen.is_as_wide_as(390)
        seen.page.wait_for_timeout(200)  # for an attack to show itself: `opened` looks for what it did
