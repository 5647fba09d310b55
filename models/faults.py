"""What went wrong between us and a server, read from any client's exception without importing that client."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

LONGEST_WAIT = 60.0  # seconds; a server that asks for more (a spent daily quota) is not worth waiting for
LONGEST_MESSAGE = 200  # characters of a server's message that an error repeats

TIMED_OUT = {"TimeoutError", "TimeoutException", "Timeout", "APITimeoutError", "ModelTimeoutError"}
NOT_REACHED = {  # builtin and requests, httpx, openai and anthropic, langchain-core, requests mid-body
    "ConnectionError",
    "TransportError",
    "APIConnectionError",
    "ModelConnectionError",
    "ChunkedEncodingError",
}
WAYS_OUT = {
    400: "it refused the request itself, so change the settings it names or use another model",
    401: "check its API key",
    403: "check its API key and what that key may use",
    404: "check the model's name and the server's address (base_url)",
    408: "give it a longer timeout",
    429: "wait, lower max_concurrency, or check the account's limits",
}
UNKNOWN = "check its settings, and the cause of this error"
SECRETS = [  # which servers and clients echo: bearer tokens, keys of the usual forms, keys and users in URLs
    (re.compile(r"(?i)(bearer\s+)\S+"), r"\1…"),
    (re.compile(r"\b(?:(?:sk|pk|rk|gsk|xai|hf|tvly|pplx|nvapi)[-_]|AIza)[-_*A-Za-z0-9]{6,}"), "…"),
    (re.compile(r"(?i)\b((?:api[-_]?key|key|token|secret)=)[^\s&'\"]+"), r"\1…"),
    (re.compile(r"://[^/\s@]+@"), "://…@"),
]


@dataclass(frozen=True)
class Fault:
    """One failed request."""

    status: int | None  # the HTTP status; None if no answer came
    timed_out: bool
    said: str  # the server's or the client's words, on one line
    passing: bool  # whether the same request may succeed later
    wait: float | None  # seconds the server asked to wait, if it did
    known: bool = True  # False for an exception that tells neither a status nor a lost connection

    def report(self, attempts: int, secrets: Iterable[str] = ()) -> str:
        """What happened and what to do, as the second half of a one-line error: `answered 429 …; wait, or …`.

        Args:
            attempts: how many requests were made.
            secrets: strings that must not appear, beside everything that looks like a key.
        """
        if self.status is not None:
            happened = f"answered {self.status}"
        elif self.timed_out:
            happened = "did not answer in time"
        else:
            happened = "could not be reached" if self.known else "failed"
        times = f" {attempts} times" if attempts > 1 else ""
        return f"{happened}{times} ({shortened(self.said, secrets)}); {self._way_out()}"

    def _way_out(self) -> str:
        if not self.known:
            return UNKNOWN
        if self.wait is not None and self.wait > LONGEST_WAIT:
            return f"it asks to wait {self.wait:.0f} seconds, so try again then or use another"
        if self.status is None:
            return (
                "give it a longer timeout"
                if self.timed_out
                else "check the network, the address (base_url) and that the server runs"
            )
        return WAYS_OUT.get(self.status, "try again later" if self.status >= 500 else "change the request")


def fault_of(error: BaseException) -> Fault:
    """Read `error` and what caused it, outermost first, up to one that tells a status or a lost connection.

    Known are openai, anthropic, ollama, httpx, requests, the builtin errors, and whatever else carries a
    status or langchain-core's `is_retryable`.
    """
    for link in _chain(error):
        status = _status(link)
        names = {base.__name__ for base in type(link).__mro__}
        if status is None and not names & (TIMED_OUT | NOT_REACHED) and not hasattr(link, "is_retryable"):
            continue
        wait = _asked_wait(link)
        passing = (getattr(link, "is_retryable", True) if status is None else _is_passing(link, status)) and (
            wait is None or wait <= LONGEST_WAIT
        )
        return Fault(status, status is None and bool(names & TIMED_OUT), _said(link), passing, wait)
    return Fault(None, False, f"{type(error).__name__}: {_said(error)}", False, None, known=False)


def shortened(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` on one line, without the secrets and without what looks like one, cut to a line's length."""
    text = _on_one_line(text)
    for secret in secrets:
        text = text.replace(secret, "…")
    for pattern, instead in SECRETS:
        text = pattern.sub(instead, text)
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """`error` and its causes, as a traceback would print them."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and 400 <= value < 600:
                return int(value)
    return None


def _is_passing(error: BaseException, status: int) -> bool:
    """Timeouts, conflicts, rate limits and server failures pass; a wrong request, key or name does not."""
    told = _headers(error).get("x-should-retry")  # OpenAI and Anthropic decide some cases themselves
    if told in ("true", "false"):
        return told == "true"
    if getattr(error, "code", None) == "insufficient_quota":  # OpenAI's 429 for an account without money
        return False
    if status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS):
        return True
    return status >= 500 and status != HTTPStatus.NOT_IMPLEMENTED


def _headers(error: BaseException) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _asked_wait(error: BaseException) -> float | None:
    """Seconds in the Retry-After header: a number, or a date from now; None if absent or not readable."""
    value = _headers(error).get("retry-after", "")
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _said(error: BaseException) -> str:
    """The server's own words if its body can be read, else the exception's."""
    body = getattr(error, "body", None)
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        message = inner.get("message") if isinstance(inner, Mapping) else inner
        if isinstance(message, str) and message:
            return _on_one_line(message)
    if isinstance(body, Mapping | list):
        return _on_one_line(json.dumps(body))
    return _on_one_line(str(error)) or type(error).__name__


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
