"""Which failures are tried again, at what pace, and what is said when they are not."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import anthropic
import httpx
import ollama
import openai
import pytest
import requests
from langchain_core.exceptions import ModelTimeoutError

from knowwhen import cli
from knowwhen.models.errors import ModelError, SettingsError
from knowwhen.models.faults import LONGEST_WAIT, Fault, fault_of
from knowwhen.models.retrying import patiently

URL = "http://127.0.0.1/v1"
STATUS_CLASSES = {
    400: "BadRequestError",
    401: "AuthenticationError",
    404: "NotFoundError",
    429: "RateLimitError",
}


def response(status: int, **headers: str) -> Any:
    return httpx.Response(status, headers=headers, request=httpx.Request("POST", URL))


def from_openai(status: int, body: Any = None, **headers: str) -> openai.APIStatusError:
    kind = getattr(openai, STATUS_CLASSES.get(status, "InternalServerError"))
    error: openai.APIStatusError = kind(
        f"Error code: {status}", response=response(status, **headers), body=body
    )
    return error


def from_anthropic(status: int) -> anthropic.APIStatusError:
    return anthropic.APIStatusError("overloaded", response=response(status), body=None)


def from_requests(status: int) -> requests.HTTPError:
    response = requests.Response()
    response.status_code = status
    return requests.HTTPError(f"{status} error", response=response)


def from_httpx(status: int) -> httpx.HTTPStatusError:
    answer = response(status)
    return httpx.HTTPStatusError("error", request=answer.request, response=answer)


def wrapped(cause: Exception) -> Exception:
    """As a library raises its own error for another's."""
    try:
        try:
            raise cause
        except Exception as error:
            raise RuntimeError("search failed") from error
    except RuntimeError as outer:
        return outer


PASSING = [
    *(from_openai(status) for status in (408, 409, 429, 500, 502, 503, 529)),
    from_anthropic(529),
    from_requests(503),
    from_httpx(504),
    ollama.ResponseError("busy", 503),
    openai.APIConnectionError(request=response(500).request),
    openai.APITimeoutError(response(500).request),
    httpx.ReadTimeout("slow"),
    httpx.ConnectError("refused"),
    httpx.RemoteProtocolError("server disconnected"),
    requests.ConnectionError("refused"),
    requests.ReadTimeout("slow"),
    requests.exceptions.ChunkedEncodingError("broken off"),
    ModelTimeoutError("slow"),
    TimeoutError("slow"),
    ConnectionResetError("reset"),
    wrapped(from_requests(500)),
    wrapped(httpx.ConnectError("refused")),
    from_openai(400, **{"x-should-retry": "true"}),
]
LASTING = [
    *(from_openai(status) for status in (400, 401, 403, 404, 413, 422, 501)),
    from_anthropic(401),
    from_requests(404),
    from_httpx(403),
    ollama.ResponseError("model not found", 404),
    from_openai(429, {"code": "insufficient_quota", "message": "You exceeded your current quota"}),
    from_openai(429, **{"x-should-retry": "false"}),
    from_openai(429, **{"retry-after": str(LONGEST_WAIT + 1)}),
    ValueError("Response missing 'choices' key"),
    KeyError("choices"),
    ollama.ResponseError("stream broke"),
]


@pytest.mark.parametrize("error", PASSING, ids=repr)
def test_what_may_pass_is_tried_again(error: Exception) -> None:
    assert fault_of(error).passing


@pytest.mark.parametrize("error", LASTING, ids=repr)
def test_what_does_not_pass_is_asked_once(error: Exception) -> None:
    asked = 0

    def request() -> None:
        nonlocal asked
        asked += 1
        raise error

    with pytest.raises(ModelError):
        patiently(request, 5, given_up)
    assert asked == 1


def given_up(fault: Fault, attempts: int) -> ModelError:
    return ModelError(fault.report(attempts))


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(seconds=30), usegmt=True)
    assert fault_of(from_openai(429, **{"retry-after": "2.5"})).wait == 2.5
    assert 25 < (fault_of(from_openai(503, **{"retry-after": soon})).wait or 0) <= 30
    assert fault_of(from_openai(503, **{"retry-after": past})).wait == 0
    assert fault_of(from_openai(503, **{"retry-after": "tomorrow"})).wait is None


@pytest.mark.parametrize("value", ["nan", "inf", "-1", ""])
def test_a_nonsensical_retry_after_does_not_stop_the_retries(value: str) -> None:
    fault = fault_of(from_openai(503, **{"retry-after": value}))
    assert fault.passing
    assert fault.wait is None or 0 <= fault.wait <= LONGEST_WAIT


def test_a_failure_that_passes_is_not_seen() -> None:
    answers = iter([ConnectionResetError("reset"), "found"])

    def request() -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert patiently(request, 2, given_up) == "found"


def test_giving_up_says_what_happened_how_often_and_what_to_do() -> None:
    def request() -> None:
        raise from_openai(503, {"message": "no\nworkers  left"})

    with pytest.raises(ModelError, match=r"^answered 503 2 times \(no workers left\); try again later$"):
        patiently(request, 2, given_up)


def test_our_own_refusals_pass_untouched_and_at_once() -> None:
    refusal = SettingsError("temperature: must be at least 0")

    def request() -> None:
        raise refusal

    with pytest.raises(SettingsError) as raised:
        patiently(request, 5, given_up)
    assert raised.value is refusal


@pytest.mark.parametrize(
    ("said", "secret"),
    [
        ("Incorrect API key provided: sk-proj-abcDEF123456.", "abcDEF123456"),
        ("401 for https://www.googleapis.com/customsearch/v1?key=AbC9&q=x", "AbC9"),
        ("bad header Authorization: Bearer abc.def-ghi", "abc.def-ghi"),
        ("cannot reach http://user:hunter2@host/v1", "hunter2"),
        ("key of my own: plainwordskey", "plainwordskey"),
        ("x" * 195 + " plainwordskey", "plain"),
    ],
)
def test_no_key_is_repeated(said: str, secret: str) -> None:
    report = fault_of(from_openai(401, {"message": said})).report(1, ["plainwordskey"])
    assert secret not in report
    assert "check its API key" in report


def test_what_nobody_knows_is_told_alike_to_agents_and_programs() -> None:
    """An option of the command line would help neither."""
    report = fault_of(KeyError("choices")).report(1)
    assert report == "failed (KeyError: 'choices'); check its settings, and the cause of this error"


def test_the_command_line_says_how_its_cause_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(arguments: list[str]) -> None:
        raise ModelError(fault_of(KeyError("choices")).report(1))

    monkeypatch.setattr(cli, "app", fail)
    monkeypatch.setattr("sys.argv", ["knowwhen"])
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err.endswith("and the cause of this error, which --debug shows\n")


def test_ordinary_words_are_repeated_as_they_are() -> None:
    said = "skipping: the pkgconfig key, xaiohm and a sketch of hfs+ are missing"
    assert said in fault_of(from_openai(400, {"message": said})).report(1)


def test_a_web_page_instead_of_an_answer_stays_one_short_line() -> None:
    report = fault_of(from_openai(502, "<html>\n" + "<p>bad gateway</p>\n" * 1000)).report(5)
    assert "\n" not in report
    assert len(report) < 300
