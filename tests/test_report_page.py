"""The report's page in a real browser: by keyboard, with and without scripts, with texts that attack it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chromium import CHROMIUM, Seen, launched, reader
from outcomes import failure, outcome
from report_runs import three_methods, write_run, write_runs

from knowwhen.evaluation.outcome import Outcome
from knowwhen.evaluation.report import write_report, writing

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; apt-get install chromium")

HOSTILE = (
    "</script><script>alert(1)</script></details></style></svg>\"'><img src=x onerror=alert(2)>"
    '<svg onload=alert(3)><iframe src="http://127.0.0.1:9/"></iframe>{{ 7*7 }}{% raw %}&lt;b&gt;'
    "\u202egnorw\u2066\x00\x1b[31m\u2028 \u05e9\u05dc\u05d5\u05dd " + "x" * 300
)
SHOWN = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@contextmanager
def opened(browser: Any, path: Path, **how: Any) -> Iterator[Seen]:
    with reader(browser, Seen, **how) as seen:
        seen.page.on("console", lambda message: seen.errors.append(message.text))
        seen.page.goto(path.as_uri())
        yield seen


def hostile_outcome(number: int) -> Outcome:
    """All that others write is an attack."""
    step = {
        "id": "1", "parent": None, "question": HOSTILE, "resolved": HOSTILE + "!", "route": HOSTILE,
        "score": 0.5, "estimator": HOSTILE, "answer": HOSTILE, "notes": [HOSTILE],
        "details": {HOSTILE: HOSTILE}, "passages": [
            {"id": HOSTILE, "title": HOSTILE, "text": HOSTILE, "source": HOSTILE, "rank": 1, "score": None}
        ],
    }  # fmt: skip
    made = outcome(f"q{number}", confidence=0.5, kind=HOSTILE, hops=1, retrievals=1)
    assert made.output is not None
    steps = [step, *({**step, "id": f"1.{part}", "parent": "1", "route": "generate"} for part in (1, 2))]
    output = {**made.output, "answer": HOSTILE, "explanation": HOSTILE + "?", "steps": steps}
    hostile = {"question": HOSTILE, "golden_answers": (HOSTILE,), "output": output}
    return made.model_copy(
        update={
            **hostile,
            "question_id": HOSTILE + str(number),
            "metadata": {"kind": HOSTILE, "hops": HOSTILE},
        }
    )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hostile") / "<b>out"
    failed = failure(HOSTILE + "9").model_copy(update={"error": HOSTILE, "question": HOSTILE})
    outcomes = [*map(hostile_outcome, range(3)), failed]
    label = '"><img src=x onerror=alert(4)>'
    write_run(out, label, outcomes, model=HOSTILE, corpus=HOSTILE, dataset=HOSTILE, settings=HOSTILE)
    return write_report(out).html


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"bypass_csp": True},  # what is written must be harmless without the page's policy, too
        {"java_script_enabled": False},
    ],
)
def test_texts_of_others_stay_texts(browser: Any, hostile: Path, how: dict[str, Any]) -> None:
    with opened(browser, hostile, viewport={"width": 390, "height": 800}, **how) as seen:
        for summary in seen.page.locator("summary").all():
            if summary.is_visible():
                summary.press("Enter")
        first = seen.page.locator(".question").first
        shown = first.inner_text()
        # The question, its answer, twice in the id and the kind; in the answer: itself, the explanation and
        # of each of three steps question, resolved, estimator, answer and note, and of one of them the route.
        assert shown.count(SHOWN) >= 5 + 2 + 3 * 5 + 1
        assert "{{ 7*7 }}{% raw %}&lt;b&gt;" in shown
        assert not {"\u202e", "\u2066", "\x00", "\x1b"} & set(seen.page.content())
        assert seen.page.locator("img, iframe").count() == 0
        assert seen.page.locator("script").count() == 1
        assert seen.page.locator(".question").count() == 4
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert SHOWN in seen.page.locator(".question").last.inner_text()  # of what failed, the error
        seen.page.wait_for_timeout(200)
        assert (seen.dialogs, seen.errors) == ([], [])
        assert seen.requests == [hostile.as_uri()]


@pytest.mark.parametrize("how", [{}, {"bypass_csp": True}])
def test_texts_of_others_stay_texts_when_they_are_found(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    monkeypatch.setattr(writing, "QUESTIONS", 2)
    failed = failure(HOSTILE + "9").model_copy(update={"error": HOSTILE, "question": HOSTILE})
    write_run(tmp_path, '"><img src=x onerror=alert(4)>', [*map(hostile_outcome, range(3)), failed])
    write_report(tmp_path)
    page = tmp_path / "questions" / "find.html"
    with opened(browser, page, viewport={"width": 390, "height": 800}, **how) as seen:
        assert found(seen) == list("1234")
        choose(seen, {"text": "</SCRIPT><script>alert(1)", "wrong": "1"})
        sync_api.expect(seen.page.locator("output")).to_have_text("1 of 4 questions")
        assert found(seen) == ["4"]
        said = seen.page.locator(".found li").inner_text()
        assert SHOWN in said and "{{ 7*7 }}{% raw %}&lt;b&gt;" in said
        assert '! "><img src=x onerror=alert(4)>' in said
        assert not {"\u202e", "\u2066", "\x00", "\x1b"} & set(page.read_text("utf-8"))
        assert seen.page.locator("img, iframe").count() == 0
        assert seen.page.locator("script").count() == 2  # the page's, and what it looks in
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
        choose(
            seen, {"kind": seen.page.locator("[name=kind] option").last.get_attribute("value"), "wrong": ""}
        )
        sync_api.expect(seen.page.locator("output")).to_have_text("3 of 4 questions")
        seen.page.locator(".found a").first.click()
        assert seen.page.locator("#question-1 .inside").is_visible()
        assert (seen.dialogs, seen.errors) == ([], [])


def test_the_drill_down_opens_by_keyboard_without_scripts(browser: Any, tmp_path: Path) -> None:
    html = write_report(write_runs(tmp_path)).html
    with opened(browser, html, java_script_enabled=False) as seen:
        question = seen.page.locator("#question-1")
        assert not question.locator(".inside").is_visible()
        question.locator("summary").first.focus()
        seen.page.keyboard.press("Enter")
        assert question.get_by_text("Right is this. Retrieval is needed.").is_visible()
        for _ in range(3):
            seen.page.keyboard.press("Tab")
        seen.page.keyboard.press("Space")  # the third method's
        answer = question.locator(".answer").nth(2)
        assert answer.get_by_text("0.100").first.is_visible()
        assert [route.inner_text() for route in answer.locator(".step .route").all()] == [
            "decompose", "generate", "retrieve"
        ]  # fmt: skip
        assert answer.locator("ul ul > li").count() == 2
        assert answer.get_by_text("1 retrievals").is_visible()
        assert [sign.inner_text() for sign in question.locator(".verdicts .verdict").all()] == [
            "✗ direct", "✓ retrieve_then_read", "✓ self_dc"
        ]  # fmt: skip


def test_without_scripts_all_questions_are_there_and_no_filter(browser: Any, tmp_path: Path) -> None:
    html = write_report(write_runs(tmp_path)).html
    with opened(browser, html, java_script_enabled=False) as seen:
        assert not seen.page.locator("form").is_visible()
        assert shown(seen) == list("12345678")


def shown(seen: Seen) -> list[str]:
    """The numbers of the questions to be seen."""
    numbers = seen.page.locator(".question .number").all()
    return [number.inner_text() for number in numbers if number.is_visible()]


FILTERED: list[tuple[dict[str, str], str]] = [
    ({"wrong": "*"}, "125678"),
    ({"wrong": "3"}, "578"),  # of the methods in their order; the last is a failure
    ({"need": "needed"}, "12"),
    ({"need": "harmful", "wrong": "3"}, "5"),
    ({"kind": "bridge"}, "1357"),
    ({"kind": "bridge", "need": "unneeded"}, "3"),
    ({"text": " WHAT IS Q7"}, "7"),
    ({"text": "did not answer"}, "8"),
]


def choose(seen: Seen, chosen: dict[str, str]) -> None:
    """Set fields of the filter."""
    for name, value in chosen.items():
        wanted = seen.page.locator(f"[name={name}]")
        if name == "text":
            wanted.press_sequentially(value)
        else:
            wanted.select_option(value)


@pytest.mark.parametrize(("chosen", "expected"), FILTERED)
def test_the_filter_shows_what_fits(
    browser: Any, tmp_path: Path, chosen: dict[str, str], expected: str
) -> None:
    html = write_report(write_runs(tmp_path)).html
    with opened(browser, html) as seen:
        assert shown(seen) == list("12345678")
        choose(seen, chosen)
        told = f"{len(expected)} of 8 questions on this page"
        sync_api.expect(seen.page.locator("output")).to_have_text(told)
        assert shown(seen) == list(expected)
        seen.page.reload()  # the address keeps what was chosen
        assert shown(seen) == list(expected)
        assert seen.errors == []


def test_the_filter_goes_along_from_page_to_page(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "QUESTIONS", 4)
    html = write_report(write_runs(tmp_path)).html
    with opened(browser, html) as seen:
        seen.page.get_by_role("link", name="1–4 (2)").click()
        seen.page.locator("[name=wrong]").select_option("*")
        sync_api.expect(seen.page.locator("output")).to_have_text("2 of 4 questions on this page")
        assert shown(seen) == list("12")
        seen.page.get_by_role("link", name="next").first.click()
        assert seen.page.url.split("/")[-1] == "0002.html#wrong=*"
        assert shown(seen) == list("5678")
        assert seen.page.locator("[name=wrong]").input_value() == "*"
        seen.page.get_by_role("link", name="find in all 8").first.click()
        assert found(seen) == list("125678")
        seen.page.get_by_role("link", name="report").first.click()
        assert seen.page.url == f"{html.as_uri()}#questions"
        assert (seen.errors, seen.dialogs) == ([], [])


def found(seen: Seen) -> list[str]:
    """The numbers of the questions found on all pages."""
    return [number.inner_text() for number in seen.page.locator(".found .number").all()]


@pytest.mark.parametrize(("chosen", "expected"), FILTERED)
def test_questions_are_found_over_all_pages(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str], expected: str
) -> None:
    monkeypatch.setattr(writing, "QUESTIONS", 3)
    html = write_report(write_runs(tmp_path)).html
    with opened(browser, html) as seen:
        seen.page.get_by_role("link", name="find some").click()
        assert found(seen) == list("12345678")
        choose(seen, chosen)
        told = f"{len(expected)} of 8 questions"
        sync_api.expect(seen.page.locator("output")).to_have_text(told)
        assert found(seen) == list(expected)
        seen.page.reload()
        assert found(seen) == list(expected)
        seen.page.locator(".found a").last.click()
        number = int(expected[-1])
        assert seen.page.url.split("/")[-1] == f"000{(number + 2) // 3}.html#question-{number}"
        assert seen.page.locator(f"#question-{number} .inside").is_visible()
        assert seen.page.locator(".question .inside:visible").count() == 1
        seen.page.go_back()
        assert found(seen) == list(expected)
        assert (seen.errors, seen.dialogs) == ([], [])
        assert {url.split("/")[2] for url in seen.requests} == {""}  # of files, which have no host


def test_of_many_questions_found_some_are_shown_and_the_rest_on_demand(browser: Any, tmp_path: Path) -> None:
    outcomes = [
        outcome(f"q{number}", float(number % 2), kind="odd" if number % 2 else "even")
        for number in range(1, 502)
    ]
    write_run(tmp_path, "direct", outcomes)
    write_report(tmp_path)
    with opened(browser, tmp_path / "questions" / "find.html") as seen:
        choose(seen, {"wrong": "1", "kind": "even"})
        sync_api.expect(seen.page.locator("output")).to_have_text("250 of 501 questions")
        assert found(seen) == [str(number) for number in range(2, 201, 2)]
        more = seen.page.locator("button")
        more.focus()
        seen.page.keyboard.press("Enter")
        assert seen.page.evaluate("document.activeElement.textContent") == "What is q202?"
        assert more.inner_text() == "50 more"
        more.click()
        assert found(seen) == [str(number) for number in range(2, 501, 2)]
        assert not more.is_visible()
        choose(seen, {"wrong": "", "text": "q77"})
        sync_api.expect(seen.page.locator("output")).to_have_text("0 of 501 questions")
        choose(seen, {"kind": ""})
        sync_api.expect(seen.page.locator("output")).to_have_text("1 of 501 questions")
        assert found(seen) == ["77"]


def test_without_scripts_the_page_that_finds_says_where_the_questions_are(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "QUESTIONS", 4)
    write_report(write_runs(tmp_path))
    with opened(browser, tmp_path / "questions" / "find.html", java_script_enabled=False) as seen:
        assert seen.page.get_by_text("all questions are on the pages").is_visible()
        assert not seen.page.locator("form, button, script").first.is_visible()
        seen.page.get_by_role("link", name="report").click()
        assert seen.page.get_by_role("link", name="5–8").is_visible()


STYLED = (
    ("body", "backgroundColor"), ("body", "color"), ("figure svg text", "fill"),
    ("figure svg [id$=-paper] path", "fill"),
)  # fmt: skip


def test_the_page_follows_the_readers_colours_and_so_do_the_plots(browser: Any, tmp_path: Path) -> None:
    html = write_report(write_runs(tmp_path)).html
    colours = {}
    for scheme in ("light", "dark"):
        with opened(browser, html, color_scheme=scheme) as seen:
            colours[scheme] = [
                seen.page.evaluate(f"getComputedStyle(document.querySelector('{where}')).{what}")
                for where, what in STYLED
            ]
    for paper, ink, text, drawn_on in colours.values():
        assert (text, drawn_on) == (ink, "none")
        assert paper != ink
    assert colours["light"][0] != colours["dark"][0]


def test_a_phone_shows_the_whole_page_and_a_wide_table_moves_by_keyboard(
    browser: Any, tmp_path: Path
) -> None:
    for label, outcomes in three_methods().items():
        write_run(tmp_path, f"{label}-with-a-name-that-is-long", outcomes, method=label)
    html = write_report(tmp_path).html
    with opened(browser, html, viewport={"width": 390, "height": 800}) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
        region = seen.page.get_by_role("region", name="Methods")
        region.focus()
        seen.page.keyboard.press("ArrowRight")
        # A page's function is looked at again by eval, which this page's policy forbids; this is not.
        sync_api.expect(region).not_to_have_js_property("scrollLeft", 0)
        first = region.get_by_role("rowheader").first
        assert first.bounding_box()["x"] >= 0  # the method's name stays in sight
