"""Thresholds moved on the page, in a real browser; what is told of them is tested in test_ui_what_if.py."""

# ruff: noqa: F811  # a fixture from ui_page is an argument by its name

from typing import Any

import pytest
from ui_page import HALF_KNOWN, NEEDS_BROWSER, address, browser, expect, opened  # noqa: F401

pytestmark = NEEDS_BROWSER


def test_a_moved_threshold_says_which_routes_would_change(browser: Any, address: str) -> None:
    with opened(browser, address) as seen:
        seen.ask(HALF_KNOWN)
        told = seen["#ask-told .kw-told b"]
        expect(told).to_have_text("0 of 3 routes would change")
        alpha, beta = (seen[f"#ask-dial-{number} input[type=range]"] for number in range(2))
        expect(alpha).to_have_value("0.6")
        expect(beta).to_have_value("0.1")
        alpha.focus()
        for _ in range(10):
            seen.page.keyboard.press("ArrowLeft")
        expect(seen["#ask-told .kw-told"]).to_contain_text("α = 0.5, β = 0.1")
        expect(told).to_have_text("1 of 3 routes would change, 2 would not be asked")
        for says in ("would change to", "generate", "its answer is unknown"):
            expect(seen["#ask-turns .kw-turn"].first).to_contain_text(says)
        expect(seen["#ask-result .kw-big"]).to_have_text("Thudo Rake")  # of what was asked


def test_a_threshold_says_what_its_slider_shows_also_while_it_is_written(
    browser: Any, address: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with opened(browser, address) as seen:
        seen.ask(HALF_KNOWN)
        told = seen["#ask-told .kw-told"]
        expect(told).to_contain_text("α = 0.6")
        # one that sets back would move no more than the slider
        expect(seen["#ask-what-if button"]).to_have_count(0)
        number = seen["#ask-dial-0 input[type=number]"]
        for written, then in (("7", "1"), ("", "0"), ("0.25", "0.25")):
            number.fill(written)
            number.press("Tab")
            expect(told).to_contain_text(f"α = {then},")
            expect(seen["#ask-dial-0 input[type=range]"]).to_have_value(then)
    assert "Traceback" not in capfd.readouterr().err


def test_thresholds_that_are_set_at_once_and_overtake_each_other_tell_the_last(
    browser: Any, address: str
) -> None:
    overtaken: list[Any] = []
    with opened(browser, address) as seen:

        def hold_the_first(route: Any) -> None:
            if overtaken or "0.6," not in (route.request.post_data or ""):
                route.continue_()
            else:
                overtaken.append(route)

        seen.page.route("**/run/predict", hold_the_first)
        with seen.page.expect_response(lambda response: bool(overtaken) and "predict" in response.url):
            seen.ask(HALF_KNOWN)
        with seen.page.expect_response(lambda response: response.request == overtaken[0].request):
            overtaken[0].continue_()
        seen.page.wait_for_timeout(300)  # in which it is shown
        expect(seen["#ask-told .kw-told b"]).to_have_text("0 of 3 routes would change")
