"""The one door through which methods call models and retrievers: counted, bounded, patient."""

import inspect
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.config import ensure_config
from pydantic import SecretStr

from knowwhen.models.calling_off import go_on
from knowwhen.models.capability import Capability, describe, require
from knowwhen.models.chat_with_states import ChatWithStates
from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.models.errors import CapabilityError, ModelError, RetrievalError, SettingsError
from knowwhen.models.evidence import Evidence, StatesAt
from knowwhen.models.faults import Fault
from knowwhen.models.gathering import Prompt, gather, messages_of
from knowwhen.models.reply import Reply, Retrieved, TokenLogprob, documents_of, read_logprobs
from knowwhen.models.retrying import patiently
from knowwhen.models.sample_request import SampleRequest, stopping
from knowwhen.models.sampling import Sampling, prepared
from knowwhen.models.tape import EVIDENCE, REPLY, RETRIEVED, Call, taped

WAITING = 32  # calls that may wait to be tried again before others, of an asynchronous run, wait for them
COPIES = 64  # of the model that are kept, each told how to sample
COUNT_FIELDS = ("k", "top_k", "top_k_results", "max_results")  # how retrievers name the number of passages


class Door:
    """A model and a retriever behind one counter and one bound, shared by all questions of a graph.

    Every call returns its own cost, so a question's cost is the sum of what it was handed, however many
    questions run beside it. At most `max_concurrency` model requests are in flight, and as many retrievals,
    over the whole question tree and all questions; a call holds its place only while it is under way, not
    while it waits to be tried again, so nested graphs cannot lock each other out. Callbacks, tags and
    metadata of the surrounding run reach the model and the retriever, as with their own `invoke`.

    Args:
        model: any chat model; `resolve_model` makes one from a string.
        retriever: any retriever; only `retrieve` needs it.
        needs: what the model must be able to report, checked now.
        asked_by: who needs it, as the user wrote it, for the errors: `"self_dc's confidence='probability'"`.
        max_concurrency: requests in flight at once, at least 1.
        max_attempts: requests made for one call before giving up, at least 1.

    Raises:
        CapabilityError: the model does not report what is needed.
        SettingsError: a bound that is no whole number, or below 1.
    """

    def __init__(
        self,
        model: BaseChatModel,
        retriever: BaseRetriever | None = None,
        *,
        needs: Iterable[Capability] = (),
        asked_by: str = "",
        max_concurrency: int = 16,
        max_attempts: int = 5,
    ) -> None:
        for name, value in (("max_concurrency", max_concurrency), ("max_attempts", max_attempts)):
            if type(value) is not int or value < 1:  # nor True
                raise SettingsError(f"{name} must be a whole number of at least 1, not {value!r}")
        self.model = model
        self.retriever = retriever
        self.max_concurrency = max_concurrency
        self.max_attempts = max_attempts
        self._asked_by = asked_by or "this method"
        require(model, needs, self._asked_by)
        self._model_places = threading.BoundedSemaphore(max_concurrency)
        self._retriever_places = threading.BoundedSemaphore(max_concurrency)
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None
        self._warned_of_usage = False
        # A copy of the model for each way of sampling: LangChain describes every copy anew, which takes time.
        self._prepared = lru_cache(COPIES)(partial(prepared, self.model))

    @property
    def threads(self) -> ThreadPoolExecutor:
        """Threads for the synchronous nodes of a graph that runs asynchronously.

        As many as may call at once, which asyncio's own pool need not have (six on two cores), and others for
        calls that wait to be tried again. A node in these threads must not wait for another one in them.
        """
        with self._lock:
            if self._threads is None:
                most = self.max_concurrency + WAITING
                self._threads = ThreadPoolExecutor(most, thread_name_prefix="knowwhen")
            return self._threads

    def ask(
        self,
        prompt: Prompt,
        *,
        n: int = 1,
        logprobs: bool = False,
        top_logprobs: int | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] | None = None,
        seed: int | None = None,
    ) -> Reply:
        """Ask the model once for `n` texts.

        A sampling parameter that the model cannot be told is left to the model (see `models/sampling.py`).
        Tokens are counted as the model reports them, once for all n texts; those of a model that reports none
        count as 0, with a warning the first time.

        Args:
            prompt: the user's turn, or a conversation.
            n: how many texts to sample, in one request.
            logprobs: whether the reply must carry the log-probability of every token.
            top_logprobs: how many of the most probable tokens to report at each place.
            temperature: 0 for the most probable text; None for the model's own.
            top_p: probability mass to sample from, in (0, 1].
            top_k: how many tokens to sample from.
            max_tokens: length of one text.
            stop: strings at which a text ends, themselves left out.
            seed: for models that can repeat themselves.

        Raises:
            CapabilityError: n texts or log-probabilities were asked of a model, or a server, without them.
            ModelError: the server refused, or failed `max_attempts` times.
            SettingsError: n or max_tokens below 1.
        """
        sampling = Sampling(n, logprobs, top_logprobs, temperature, top_p, top_k, max_tokens, seed)
        wanted = [Capability.SAMPLES] * (n > 1) + [Capability.LOGPROBS] * logprobs
        require(self.model, wanted, self._asked_by)
        call = Call("ask", (prompt,), sampling.given() | stopping(stop))
        return taped(call, REPLY, lambda: self._ask(prompt, sampling, stop))

    def sample(
        self,
        prompts: Sequence[Prompt],
        k: int,
        *,
        greedy: bool = True,
        states: StatesAt | None = None,
        logprobs: bool = False,
        top_logprobs: int | None = None,
        temperature: float = 1.0,
        top_p: float | None = None,
        top_k: int | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] | None = None,
        seed: int | None = None,
    ) -> list[Evidence]:
        """Ask the model for a greedy answer and `k` samples of each prompt.

        A local model does all of it in one call, which takes one place: a prompt then counts as one model
        call, with its tokens once, however much of it is shared with others. Any other is asked twice for
        each prompt, at temperature 0 and for n = k samples.

        Args:
            prompts: the user's turns, or conversations.
            k: how many samples of each, 0 or more.
            greedy: whether to ask for the most probable answer.
            states: layer, counted from 1 (None: the middle one), and site of the states behind the samples.
            logprobs: whether the answers must carry the log-probability of every token.
            top_logprobs: how many of the most probable tokens to report at each place.
            temperature: of the samples, above 0.
            top_p: probability mass to sample from, in (0, 1].
            top_k: how many tokens to sample from.
            max_tokens: length of one answer.
            stop: strings at which an answer ends, themselves left out.
            seed: for models that can repeat themselves.

        Returns:
            The evidence of each prompt, in their order, with its own cost.

        Raises:
            CapabilityError: samples, log-probabilities or states were asked of a model without them.
            ModelError: the server refused, or failed `max_attempts` times.
            SettingsError: neither greedy answers nor samples are asked for, or a number is out of its range.
        """
        wanted = [Capability.SAMPLES] * (k > 1) + [Capability.LOGPROBS] * logprobs
        require(self.model, [*wanted, *[Capability.HIDDEN_STATES] * (states is not None)], self._asked_by)
        if k < 0 or (k == 0 and not greedy):
            raise SettingsError(f"k must be at least {0 if greedy else 1} samples, not {k}")
        if states is not None and k == 0:
            raise SettingsError("hidden states are read behind samples; give k of 1 or more")
        if k and temperature <= 0:
            raise SettingsError(f"samples need a temperature above 0, not {temperature}")
        sampling = Sampling(max(k, 1), logprobs, top_logprobs, temperature, top_p, top_k, max_tokens, seed)
        request = SampleRequest(prompts, k, greedy, states, sampling, stop)
        return taped(request.call, EVIDENCE, lambda: self._sample(request))

    def retrieve(self, query: str, k: int) -> Retrieved:
        """The `k` best passages for `query`, or as many as there are.

        Raises:
            RetrievalError: the search failed.
            SettingsError: there is no retriever, or k is below 1.
        """
        if self.retriever is None:
            raise SettingsError(f"{self._asked_by} looks things up and has no retriever; pass retriever=…")
        if k < 1:
            raise SettingsError(f"k must be at least 1 passage, not {k}")
        retriever = self.retriever
        return taped(
            Call("retrieve", (query,), {"k": k}), RETRIEVED, lambda: self._found(retriever, query, k)
        )

    def _ask(self, prompt: Prompt, sampling: Sampling, stop: Sequence[str] | None) -> Reply:
        model, keywords = self._prepared(sampling, stop is not None)
        config = ensure_config()

        def request() -> LLMResult:
            with self._model_places:
                go_on()
                return model.generate_prompt(
                    [ChatPromptValue(messages=messages_of(prompt))],
                    stop=None if stop is None else list(stop),
                    callbacks=config.get("callbacks"),
                    tags=config.get("tags"),
                    metadata=config.get("metadata"),
                    **keywords,
                )

        answered = patiently(request, self.max_attempts, self._model_failed)
        return self._reply(cast("list[ChatGeneration]", answered.generations[0]), sampling)

    def _sample(self, wanted: SampleRequest) -> list[Evidence]:
        if hasattr(self.model, "sample"):
            return self._sample_inside(wanted)

        if wanted.states is not None and isinstance(self.model, ChatWithStates):
            self.model.check(wanted.states)

        def ask(prompt: Prompt, sampling: Sampling) -> Reply:
            return self._ask(prompt, sampling, wanted.stop)

        evidence = gather(
            ask, wanted.prompts, wanted.greedy, wanted.k > 0, wanted.sampling, self.max_concurrency
        )
        if wanted.states is None:
            return evidence
        conversations = [messages_of(prompt) for prompt in wanted.prompts]
        return cast(ChatWithStates, self.model).with_states(conversations, evidence, wanted.states)

    def _sample_inside(self, wanted: SampleRequest) -> list[Evidence]:
        settings = {name: value for name, value in wanted.sampling.given().items() if name != "n"}
        config = ensure_config()

        def request() -> list[Evidence]:
            with self._model_places:
                go_on()
                answered: list[Evidence] = cast(Any, self.model).sample(
                    [messages_of(prompt) for prompt in wanted.prompts],
                    wanted.k,
                    greedy=wanted.greedy,
                    states=wanted.states,
                    config=config,
                    stop=None if wanted.stop is None else list(wanted.stop),
                    **settings,
                )
                return answered

        return patiently(request, self.max_attempts, self._model_failed)

    def _found(self, retriever: BaseRetriever, query: str, k: int) -> Retrieved:
        told, keywords = _told_how_many(retriever, k)

        def request() -> list[Document]:
            with self._retriever_places:
                go_on()
                return documents_of(told, told.invoke(query, **keywords))

        documents = tuple(patiently(request, self.max_attempts, self._retriever_failed)[:k])
        return Retrieved(documents, add_costs(NO_COST, {"retrievals": 1, "passages": len(documents)}))

    def _reply(self, generations: list[ChatGeneration], sampling: Sampling) -> Reply:
        messages = [generation.message for generation in generations]
        if not messages:
            raise ModelError(f"{describe(self.model)} answered without any text; check the server behind it")
        if len(messages) < sampling.n:
            raise CapabilityError(
                f"{self._asked_by} needs {sampling.n} samples in one request, and the server of "
                f"{describe(self.model)} sent {len(messages)}; use a server that honours n (OpenAI, vLLM, "
                "SGLang) or transformers:<folder>"
            )
        token_logprobs = None
        if sampling.logprobs:
            token_logprobs = tuple(self._token_logprobs(message) for message in messages)
        texts = tuple(str(message.text) for message in messages)
        return Reply(texts, token_logprobs, self._cost(messages))

    def _token_logprobs(self, message: BaseMessage) -> tuple[TokenLogprob, ...]:
        tokens = read_logprobs(message.response_metadata)
        if tokens is None or (message.text and not tokens):
            raise CapabilityError(
                f"{self._asked_by} needs log-probabilities, and the server of {describe(self.model)} sent "
                "none; use one that does (OpenAI with use_responses_api=False, vLLM, SGLang, llama.cpp's "
                "server, transformers:<folder>), or a score that needs none, such as confidence='verbalised'"
            )
        return tokens

    def _cost(self, messages: list[BaseMessage]) -> Cost:
        """The cost of one request; each of its n messages carries the usage of all, so it is taken once."""
        usage = next(
            (m.usage_metadata for m in messages if isinstance(m, AIMessage) and m.usage_metadata), None
        )
        if usage is None and not self._warned_of_usage:
            self._warned_of_usage = True
            warnings.warn(
                f"{describe(self.model)} reports no token usage; its tokens count as 0", stacklevel=5
            )
        return Cost(
            model_calls=1,
            sequences=len(messages),
            input_tokens=usage["input_tokens"] if usage else 0,
            output_tokens=usage["output_tokens"] if usage else 0,
            retrievals=0,
            passages=0,
        )

    def _model_failed(self, fault: Fault, attempts: int) -> ModelError:
        secrets = filter(None, _secrets(self.model))
        return ModelError(f"{describe(self.model)} {fault.report(attempts, secrets)}")

    def _retriever_failed(self, fault: Fault, attempts: int) -> RetrievalError:
        return RetrievalError(f"{type(self.retriever).__name__} {fault.report(attempts)}")


def _secrets(model: BaseChatModel) -> Iterator[str]:
    """The keys that a model holds, or a model within it."""
    for field in (getattr(model, name, None) for name in type(model).model_fields):
        if isinstance(field, SecretStr):
            yield field.get_secret_value()
        elif isinstance(field, BaseChatModel):
            yield from _secrets(field)


def _told_how_many(retriever: BaseRetriever, k: int) -> tuple[BaseRetriever, dict[str, Any]]:
    """The retriever to invoke and the keywords to invoke it with, so that it looks for `k` passages.

    One that knows none of these ways finds what it always finds, of which the caller keeps the first k.
    """
    if "k" in inspect.signature(retriever._get_relevant_documents).parameters:
        return retriever, {"k": k}
    fields = type(retriever).model_fields
    own = next((field for field in COUNT_FIELDS if field in fields), None)
    if own is not None:
        return retriever.model_copy(update={own: k}), {}
    searching = getattr(retriever, "search_kwargs", None)
    if isinstance(searching, dict):
        return retriever.model_copy(update={"search_kwargs": {**searching, "k": k}}), {}
    return retriever, {}
