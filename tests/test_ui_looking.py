"""Comparing methods and looking at evaluations on the page, and how it looks, in a real browser."""

# ruff: noqa: F811  # a fixture from ui_page is an argument by its name

import re
from pathlib import Path
from typing import Any

import pytest
from report_runs import three_methods, write_run, write_runs
from ui_page import (  # noqa: F401
    HALF_KNOWN,
    HOSTILE,
    NEEDS_BROWSER,
    PHONE,
    SHOWN,
    SeenUi,
    address,
    browser,
    expect,
    opened,
)

pytestmark = NEEDS_BROWSER
SIDE_BY_SIDE = """() => {
    const [left, right] = ["left", "right"].map(
        side => document.getElementById(`compare-${side}-result`).getBoundingClientRect())
    return left.right <= right.left && Math.abs(left.top - right.top) < 5
}"""


def test_two_methods_stand_side_by_side(browser: Any, address: str) -> None:
    with opened(browser, address) as seen:
        seen.go_to("Compare")
        seen["#compare-right-settings"].wait_for()
        seen.ask(HALF_KNOWN, tab="compare")
        table = seen["#compare-table table"]
        expect(table.locator("thead")).to_contain_text("retrieve_then_read")
        for number, row in enumerate(
            [
                ["", "self_dc", "retrieve_then_read"],
                ["answer", "Thudo Rake", "Thudo Rake"],
                ["route", "decompose", "retrieve"],
                ["model calls", re.compile(r"^([2-9]|\d\d+)$"), "1"],
            ]
        ):
            expect(table.locator("tr").nth(number).locator("th, td")).to_have_text(row)
        for side, steps in (("left", 3), ("right", 1)):
            expect(seen[f"#compare-{side}-result .kw-step"]).to_have_count(steps)
        seen.page.wait_for_function(SIDE_BY_SIDE)


def test_one_method_set_in_two_ways_is_told_apart_and_a_side_keeps_its_settings(
    browser: Any, address: str
) -> None:
    with opened(browser, address) as seen:
        seen.go_to("Compare")
        seen.open_settings("compare-left")
        seen["#compare-left-self_dc-alpha :is(input, textarea)"].fill("0.2")
        seen.choose_method("self_dc", "compare-right")
        expect(seen["#compare-right-method"]).to_contain_text("divides a question")
        seen.ask(HALF_KNOWN, tab="compare")
        headings = seen["#compare-table thead th"]
        expect(headings).to_have_text(["self_dc, alpha = 0.2", "self_dc, alpha = 0.6"])
        for side, alpha in (("left", 0.2), ("right", 0.6)):
            expect(seen[f"#compare-{side}-result h2"].first).to_have_text(f"self_dc, alpha = {alpha}")
        seen.ask("Who?", tab="compare", model="pockett")
        expect(seen["#compare-status .kw-is-failed"]).to_have_count(1)  # both fail of the same
        expect(seen["#compare-seen :is(h2, h3)"]).to_have_count(0)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("evaluated"))


def open_folder(seen: SeenUi, folder: str) -> None:
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
        expect(rows.locator("th")).to_have_text(["direct", "retrieve_then_read", "self_dc"])
        expect(seen["#runs-need"]).to_be_visible()
        seen["#runs-wrong input"].click()
        seen.page.get_by_role("option", name="wrong by self_dc").click()
        expect(questions).to_have_count(3)
        seen["#runs-text textarea, #runs-text input"].fill("Q7")
        expect(questions).to_have_count(1)
        questions.locator("summary").first.press("Enter")
        expect(questions.get_by_text("Right is this.")).to_be_visible()
        questions.locator(".kw-more > summary").nth(2).press("Enter")
        expect(questions.locator(".kw-more").nth(2).locator(".kw-route")).to_have_text("generate")
        seen.is_as_wide_as(390)
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
        expect(seen["#runs-places"]).to_contain_text("1 to 20 of 41 questions")
        expect(seen["#runs-need"]).not_to_be_visible()  # one run alone cannot tell
        for expected in ("21 to 40 of 41", "41 to 41 of 41"):
            seen.page.get_by_role("button", name="Next").click()
            expect(seen["#runs-places"]).to_contain_text(expected)
            expect(seen["#runs-places"]).to_be_in_viewport()
        expect(seen.page.get_by_role("button", name="Next")).to_be_disabled()
        seen.page.get_by_role("button", name="Previous").click()
        expect(seen["#runs-places"]).to_contain_text("21 to 40 of 41")
        expect(seen["#runs-list"]).to_contain_text(SHOWN)
        expect(seen["#runs-tables"]).to_contain_text(label)
        seen["#runs-wrong input"].click()
        seen.page.get_by_role("option", name=f"wrong by {label}").click()
        expect(seen["#runs-places"]).to_contain_text("1 to 20 of 41 questions")
        expect(seen["#runs-list :is(img, iframe, script)"]).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tab_fits_a_phone_and_follows_the_readers_light(
    browser: Any, address: str, scheme: str
) -> None:
    with opened(browser, address, **{**PHONE, "color_scheme": scheme}) as seen:
        for tab in ("Ask", "Compare", "Evaluations"):
            seen.go_to(tab)
            expect(seen.page.get_by_role("tabpanel").filter(visible=True)).to_have_count(1)
            seen.is_as_wide_as(390)
        light = seen.page.evaluate("getComputedStyle(document.querySelector('.kw-title h1')).color")
        assert (sum(map(int, light[4:-1].split(","))) > 3 * 128) == (scheme == "dark")


FOCUS = """() => {
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(document.activeElement);
  return outlineStyle === "solid" && parseFloat(outlineWidth) >= 2 ? outlineColor : "";
}"""


def test_by_keyboard_the_focus_is_always_seen_and_no_list_is_left_open(browser: Any, address: str) -> None:
    with opened(browser, address) as seen:
        seen.ask("Who directed Thimis Plolm?")
        expect(seen["#ask-told .kw-told"]).to_be_visible()
        seen["h1"].click()  # from here on
        kinds, colours = set(), set()
        for _ in range(30):
            seen.page.keyboard.press("Tab")
            kind = seen.page.evaluate(
                "(({ role, type, localName }) => role || type || localName)(document.activeElement)"
            )
            if kind == "body":
                break
            kinds.add(kind)
            colours.add(seen.page.evaluate(FOCUS))
        assert {"tab", "textarea", "combobox", "range", "number"} <= kinds
        assert len(colours) == 1 and "" not in colours
        seen["#ask-method input"].focus()
        expect(seen.page.get_by_role("option").first).to_be_visible()
        seen.page.keyboard.press("Tab")
        expect(seen.page.get_by_role("option")).to_have_count(0)


def test_what_changes_is_told_to_who_cannot_see_it(browser: Any, address: str) -> None:
    with opened(browser, address) as seen:
        seen.go_to("Compare")
        for tab, says in (("compare", "Answered."), ("ask", "Answered.")):
            seen.go_to(tab.capitalize())
            live = seen[f"#{tab}-status [role=status]"]
            expect(live).to_have_count(1)
            before = live.element_handle()
            seen.ask("Who directed Thimis Plolm?", tab=tab)
            expect(live).to_contain_text(says)
            assert live.evaluate("(live, before) => live === before", before)  # a new one is not read out
        expect(seen["#ask-told [role=status]"]).to_contain_text("routes would change")
        expect(seen["[role=status] :is([role=status], [role=alert], [aria-live])"]).to_have_count(0)
