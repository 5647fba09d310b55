"""The report's page in a real browser: by keyboard, with and without scripts, with texts that attack it."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest
from chromium import CHROMIUM, Seen, expect, launched, reader
from outcomes import failure, outcome
from report_runs import three_methods, write_run, write_runs

from knowwhen.evaluation.outcome import Outcome
from knowwhen.evaluation.report import write_report, writing

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
        expect(seen.page.locator("img, iframe")).to_have_count(0)
        expect(seen.page.locator("script")).to_have_count(1)
        expect(seen.page.locator(".question")).to_have_count(4)
        seen.is_as_wide_as(390)
        expect(seen.page.locator(".question").last).to_contain_text(SHOWN)  # of what failed, the error
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
        finds(seen, "1234")
        choose(seen, {"text": "</SCRIPT><script>alert(1)", "wrong": "1"})
        expect(seen.page.locator("output")).to_have_text("1 of 4 questions")
        finds(seen, "4")
        for said in (SHOWN, "{{ 7*7 }}{% raw %}&lt;b&gt;", '! "><img src=x onerror=alert(4)>'):
            expect(seen.page.locator(".found li")).to_contain_text(said)
        assert not {"\u202e", "\u2066", "\x00", "\x1b"} & set(page.read_text("utf-8"))
        expect(seen.page.locator("img, iframe")).to_have_count(0)
        expect(seen.page.locator("script")).to_have_count(2)  # the page's, and what it looks in
        seen.is_as_wide_as(390)
        choose(
            seen, {"kind": seen.page.locator("[name=kind] option").last.get_attribute("value"), "wrong": ""}
        )
        expect(seen.page.locator("output")).to_have_text("3 of 4 questions")
        seen.follow(seen.page.locator(".found a").first)
        expect(seen.page.locator("#question-1 .inside")).to_be_visible()
        assert (seen.dialogs, seen.errors) == ([], [])


def test_the_drill_down_opens_by_keyboard_without_scripts(browser: Any, tmp_path: Path) -> None:
    html = write_report(write_runs(tmp_path)).html
    with opened(browser, html, java_script_enabled=False) as seen:
        question = seen.page.locator("#question-1")
        expect(question.locator(".inside")).not_to_be_visible()
        question.locator("summary").first.focus()
        seen.page.keyboard.press("Enter")
        expect(question.get_by_text("Right is this. Retrieval is needed.")).to_be_visible()
        for _ in range(3):
            seen.page.keyboard.press("Tab")
        seen.page.keyboard.press("Space")  # the third method's
        answer = question.locator(".answer").nth(2)
        expect(answer.get_by_text("0.100").first).to_be_visible()
        expect(answer.locator(".step .route")).to_have_text(["decompose", "generate", "retrieve"])
        expect(answer.locator("ul ul > li")).to_have_count(2)
        expect(answer.get_by_text("1 retrievals")).to_be_visible()
        verdicts = ["✗ direct", "✓ retrieve_then_read", "✓ self_dc"]
        expect(question.locator(".verdicts .verdict")).to_have_text(verdicts, use_inner_text=True)


def test_without_scripts_all_questions_are_there_and_no_filter(browser: Any, tmp_path: Path) -> None:
    html = write_report(write_runs(tmp_path)).html
    with opened(browser, html, java_script_enabled=False) as seen:
        expect(seen.page.locator("form")).not_to_be_visible()
        shows(seen, "12345678")


def shows(seen: Seen, numbers: str) -> None:
    """Wait until these are the questions to be seen."""
    expect(seen.page.locator(".question .number:visible")).to_have_text(list(numbers))


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
    """Set fields of the filter, and wait until the page has followed: the address tells the last it did."""
    for name, value in chosen.items():
        wanted = seen.page.locator(f"[name={name}]")
        if name == "text":
            wanted.press_sequentially(value)
        else:
            wanted.select_option(value)
    for name, value in chosen.items():
        kept = f"[#&]{name}={re.escape(quote_plus(value, safe='*'))}(&|$)"
        expect(seen.page).to_have_url(re.compile(kept if value else f"^(?!.*[#&]{name}=)"))


@pytest.mark.parametrize(("chosen", "expected"), FILTERED)
def test_the_filter_shows_what_fits(
    browser: Any, tmp_path: Path, chosen: dict[str, str], expected: str
) -> None:
    html = write_report(write_runs(tmp_path)).html
    with opened(browser, html) as seen:
        shows(seen, "12345678")
        choose(seen, chosen)
        told = f"{len(expected)} of 8 questions on this page"
        expect(seen.page.locator("output")).to_have_text(told)
        shows(seen, expected)
        seen.page.reload()  # the address keeps what was chosen
        shows(seen, expected)
        assert seen.errors == []


def test_the_filter_goes_along_from_page_to_page(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "QUESTIONS", 4)
    html = write_report(write_runs(tmp_path)).html
    with opened(browser, html) as seen:
        seen.follow(seen.page.get_by_role("link", name="1–4 (2)"))
        seen.page.locator("[name=wrong]").select_option("*")
        expect(seen.page.locator("output")).to_have_text("2 of 4 questions on this page")
        shows(seen, "12")
        seen.follow(seen.page.get_by_role("link", name="next").first)
        expect(seen.page).to_have_url((html.parent / "questions" / "0002.html").as_uri() + "#wrong=*")
        shows(seen, "5678")
        expect(seen.page.locator("[name=wrong]")).to_have_value("*")
        seen.follow(seen.page.get_by_role("link", name="find in all 8").first)
        finds(seen, "125678")
        seen.follow(seen.page.get_by_role("link", name="report").first)
        expect(seen.page).to_have_url(f"{html.as_uri()}#questions")
        assert (seen.errors, seen.dialogs) == ([], [])


def finds(seen: Seen, numbers: Iterable[object]) -> None:
    """Wait until these are the questions found on all pages."""
    expect(seen.page.locator(".found .number")).to_have_text([str(number) for number in numbers])


@pytest.mark.parametrize(("chosen", "expected"), FILTERED)
def test_questions_are_found_over_all_pages(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str], expected: str
) -> None:
    monkeypatch.setattr(writing, "QUESTIONS", 3)
    html = write_report(write_runs(tmp_path)).html
    with opened(browser, html) as seen:
        seen.follow(seen.page.get_by_role("link", name="find some"))
        finds(seen, "12345678")
        choose(seen, chosen)
        told = f"{len(expected)} of 8 questions"
        expect(seen.page.locator("output")).to_have_text(told)
        finds(seen, expected)
        seen.page.reload()
        finds(seen, expected)
        seen.follow(seen.page.locator(".found a").last)
        number = int(expected[-1])
        page = html.parent / "questions" / f"000{(number + 2) // 3}.html"
        expect(seen.page).to_have_url(f"{page.as_uri()}#question-{number}")
        expect(seen.page.locator(f"#question-{number} .inside")).to_be_visible()
        expect(seen.page.locator(".question .inside:visible")).to_have_count(1)
        seen.page.go_back()
        finds(seen, expected)
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
        expect(seen.page.locator("output")).to_have_text("250 of 501 questions")
        finds(seen, range(2, 201, 2))
        more = seen.page.locator("button")
        more.focus()
        seen.page.keyboard.press("Enter")
        expect(seen.page.locator(":focus")).to_have_text("What is q202?")
        expect(more).to_have_text("50 more")
        more.click()
        finds(seen, range(2, 501, 2))
        expect(more).not_to_be_visible()
        choose(seen, {"wrong": "", "text": "q77"})
        expect(seen.page.locator("output")).to_have_text("0 of 501 questions")
        choose(seen, {"kind": ""})
        expect(seen.page.locator("output")).to_have_text("1 of 501 questions")
        finds(seen, ["77"])


def test_without_scripts_the_page_that_finds_says_where_the_questions_are(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "QUESTIONS", 4)
    write_report(write_runs(tmp_path))
    with opened(browser, tmp_path / "questions" / "find.html", java_script_enabled=False) as seen:
        expect(seen.page.get_by_text("all questions are on the pages")).to_be_visible()
        expect(seen.page.locator("form, button, script").filter(visible=True)).to_have_count(0)
        seen.follow(seen.page.get_by_role("link", name="report"))
        expect(seen.page.get_by_role("link", name="5–8")).to_be_visible()


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
        seen.is_as_wide_as(390)
        region = seen.page.get_by_role("region", name="Methods")
        region.focus()
        seen.page.keyboard.press("ArrowRight")
        # A page's function is looked at again by eval, which this page's policy forbids; this is not.
        expect(region).not_to_have_js_property("scrollLeft", 0)
        first = region.get_by_role("rowheader").first
        assert first.bounding_box()["x"] >= 0  # the method's name stays in sight
