"""Hidden states that a server shows: what the clients of SGLang and of vLLM have in common.

Both servers show the residual stream alone, behind the layers that they were launched with. The tokens of an
answer go to the server once more, as a prompt, with the end-of-sequence token behind them: the last token
that a model draws is never fed to it, so the request that gave the answer has no state there.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

import httpx
import numpy as np
from langchain_core.messages import BaseMessage
from numpy.typing import NDArray
from transformers import AutoConfig, AutoTokenizer

from knowwhen.models.chat_with_states import CountedStates
from knowwhen.models.cost import Cost
from knowwhen.models.errors import CapabilityError, ModelError, SettingsError
from knowwhen.models.evidence import Answer, HiddenStates, StatesAt
from knowwhen.models.faults import Fault, shortened
from knowwhen.models.half_depth import answer_tokens
from knowwhen.models.prompt_tokens import prompt_tokens
from knowwhen.models.resolve import TIMEOUT
from knowwhen.models.retrying import patiently
from knowwhen.models.sites import resolved
from knowwhen.models.token_text import TokenBytes
from knowwhen.models.weights import REFUSALS, Weights


class Ask(Protocol):
    """A way to send the server one request."""

    def __call__(self, method: str, route: str, body: dict[str, Any] | None = None) -> Any:
        """The JSON that the server answers; tried again where that may help."""


@dataclass(frozen=True)
class Outline:
    """What is known of the server's model without its weights."""

    tokenizer: Any
    token_bytes: TokenBytes
    layers: int
    width: int


class RemoteStates(ABC):
    """Reads the states behind answers on a server; `SGLangStates` and `VLLMStates` are the two there are.

    Of the model at `path` only the configuration and the tokenizer are loaded. Its chat template makes the
    prompt's tokens, and those of an answer are the server's where its log-probabilities name them, else the
    tokenizer's own for the text.

    Args:
        base_url: where the server listens, with http:// or https://.
        path: folder or hub id of the model that the server runs.
        api_key: sent as a bearer token.
        timeout: seconds that one request may take.
        max_concurrency: requests in flight at once, at least 1.
        max_attempts: requests made for one reading before giving up, at least 1.

    Raises:
        SettingsError: a bound below 1, or an address without http:// or https://.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        base_url: str,
        path: str,
        *,
        api_key: str | None = None,
        timeout: float = TIMEOUT,
        max_concurrency: int = 16,
        max_attempts: int = 5,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise SettingsError(f"base_url must start with http:// or https://, not {shortened(base_url)!r}")
        if max_concurrency < 1 or max_attempts < 1:
            raise SettingsError("max_concurrency and max_attempts must be at least 1")
        self.base_url = base_url
        self.path = path
        self.timeout = timeout
        self.max_concurrency = max_concurrency
        self.max_attempts = max_attempts
        self._secrets = [api_key] if api_key else []
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._places = threading.BoundedSemaphore(max_concurrency)

    def check(self, at: StatesAt) -> None:
        """Refuse a site that the server does not show; to be called before answers are paid for.

        Raises:
            CapabilityError: the site is not `residual`.
        """
        _, site = at
        if site != "residual":
            raise CapabilityError(
                f"{self} shows the residual stream only, not the site {site!r}; ask for the site 'residual', "
                "or read the states with HalfDepth"
            )

    def states(
        self, prompts: Sequence[list[BaseMessage]], answers: Sequence[Sequence[Answer]], at: StatesAt
    ) -> list[HiddenStates]:
        """The states at the end-of-sequence token behind each prompt's answers, with what reading them cost.

        Args:
            prompts: conversations.
            answers: those to each prompt, at least one.
            at: layer, counted from 1 (None: the middle one of the whole model), and the site `residual`.

        Raises:
            CapabilityError: another site, a layer that the server does not show, or no states at all.
            ModelError: the server refused or failed, or what it sent cannot be states of this model.
            SettingsError: no such layer or site.
        """
        outline = outline_of(str(Path(self.path).expanduser()))
        layer, site = resolved(at, outline.layers)
        self.check(at)
        with httpx.Client(base_url=self.base_url, headers=self._headers, timeout=self.timeout) as client:

            def ask(method: str, route: str, body: dict[str, Any] | None = None) -> Any:
                return self._ask(client, method, route, body)

            shown = sorted(self._layers(ask, layer))
            if layer not in shown:
                raise CapabilityError(
                    f"{self} shows the states of layer {', '.join(map(str, shown))}, not of layer {layer}; "
                    f"{self._way_out(layer)}"
                )
            found: list[HiddenStates] = []
            for messages, some in zip(prompts, answers, strict=True):
                sequences = _sequences(outline, messages, some)
                rows, cost = self._rows(ask, sequences, layer)
                values = self._checked(rows, len(sequences), len(shown), outline.width)[:, shown.index(layer)]
                found.append(CountedStates(values, layer, site, cost))
        return found

    def __str__(self) -> str:
        return f"the {self.kind} server at {shortened(self.base_url)}"

    @abstractmethod
    def _layers(self, ask: Ask, layer: int) -> Sequence[int]:
        """The layers that the server shows, counted from 1; `layer` is the one wanted."""

    @abstractmethod
    def _rows(self, ask: Ask, sequences: list[list[int]], layer: int) -> tuple[Sequence[Any], Cost]:
        """For each sequence the states at its last token, those of all layers shown behind one another."""

    @abstractmethod
    def _way_out(self, layer: int) -> str:
        """How to launch the server so that it shows `layer`."""

    def _without_states(self, layer: int) -> CapabilityError:
        return CapabilityError(f"{self} sent no hidden states; {self._way_out(layer)}")

    def _ask(self, client: httpx.Client, method: str, route: str, body: dict[str, Any] | None) -> Any:
        def request() -> httpx.Response:
            with self._places:
                response = client.request(method, route, json=body)
            if response.is_error:
                raise _RefusedError(response)
            return response

        answered = patiently(request, self.max_attempts, self._failed)
        try:
            return answered.json()
        except ValueError as error:
            raise ModelError(f"{self} answered something else than JSON; check its address") from error

    def _failed(self, fault: Fault, attempts: int) -> ModelError:
        return ModelError(f"{self} {fault.report(attempts, self._secrets)}")

    def _checked(self, rows: Sequence[Any], count: int, layers: int, width: int) -> NDArray[np.float32]:
        """The states as (count, layers, width), if they are that and finite."""
        try:
            values = np.array(rows, dtype=np.float32)  # JSON's null, as which NaN may come, becomes NaN
        except (TypeError, ValueError) as error:
            raise ModelError(f"{self} sent hidden states that are no rows of numbers") from error
        if values.shape != (count, layers * width):
            raise ModelError(
                f"{self} sent states of shape {values.shape} where {(count, layers * width)} was expected "
                f"({layers} x {width} numbers each); check that it runs {self.path}, and its layers"
            )
        if not np.isfinite(values).all():
            raise ModelError(f"{self} sent states that are not finite; try bfloat16 or float32 there")
        return values.reshape(count, layers, width)


class _RefusedError(Exception):
    """An HTTP error with what `fault_of` reads: the status, the headers and the server's words."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(response.text)
        self.response = response
        try:
            self.body = response.json()
        except ValueError:
            self.body = None


@cache
def outline_of(path: str) -> Outline:
    """Load configuration and tokenizer of the model at `path`, once per process.

    Raises:
        CapabilityError: its tokenizer has no end-of-sequence token.
        ModelError: nothing is there, or the hub is out of reach.
    """
    try:
        config = AutoConfig.from_pretrained(path, trust_remote_code=False).get_text_config()
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
    except REFUSALS as error:
        raise ModelError(
            f"cannot load the configuration and tokenizer of {path} ({shortened(str(error))}); give a folder "
            "that save_pretrained wrote, or a hub id that can be reached"
        ) from error
    if tokenizer.eos_token_id is None:
        raise CapabilityError(f"the tokenizer of {path} has no end-of-sequence token to read states at")
    tokenizer("x", truncation=False)  # drops a truncation saved with the tokenizer before threads share it
    return Outline(tokenizer, TokenBytes(tokenizer), int(config.num_hidden_layers), int(config.hidden_size))


def _sequences(outline: Outline, messages: list[BaseMessage], answers: Sequence[Answer]) -> list[list[int]]:
    prompt = prompt_tokens(outline.tokenizer, messages)
    words = cast(Weights, outline)  # of the weights only the tokenizer and its token_bytes are looked at
    return [[*prompt, *answer_tokens(words, one), outline.tokenizer.eos_token_id] for one in answers]
