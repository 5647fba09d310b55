"""Token log-probabilities in the layout of OpenAI's chat completions."""

from collections.abc import Iterable
from typing import Any

from knowwhen.models.decoding import Choice
from knowwhen.models.token_text import TokenBytes


def openai_logprobs(choices: Iterable[Choice], token_bytes: TokenBytes) -> dict[str, Any]:
    """`{"content": [{"token", "logprob", "bytes", "top_logprobs": […]}, …]}`, one entry a token.

    `logprob` is a natural logarithm and `bytes` are the token's in UTF-8; in `token`, bytes that are only a
    part of a character show as U+FFFD.
    """

    def entry(token: int, logprob: float | None) -> dict[str, Any]:
        raw = token_bytes[token]
        return {"token": raw.decode(errors="replace"), "logprob": logprob, "bytes": list(raw)}

    return {
        "content": [
            entry(choice.token, choice.logprob)
            | {"top_logprobs": [entry(token, logprob) for token, logprob in choice.top]}
            for choice in choices
        ]
    }
