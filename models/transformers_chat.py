"""A chat model over transformers that reports samples and token log-probabilities."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig, run_in_executor
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, ValidationError, field_validator

from knowwhen.models.capability import Capability
from knowwhen.models.decoding import Choice, Decoding
from knowwhen.models.errors import SettingsError
from knowwhen.models.evidence import Evidence, StatesAt
from knowwhen.models.generation import Generation, Sample, begin_samples
from knowwhen.models.prompt_tokens import NO_TOOLS, prompt_tokens
from knowwhen.models.token_logprobs import openai_logprobs
from knowwhen.models.tool_offer import Offer, checked_choice, require_tools, taken_from
from knowwhen.models.tool_weights import with_tools
from knowwhen.models.weights import Dtype, Weights, check_folder, load_tokenizer, load_weights
from knowwhen.models.white_box import sample_inside


class ChatTransformers(Decoding, BaseChatModel):
    """A causal language model of the transformers library as a LangChain chat model.

        >>> model = ChatTransformers(path="Qwen/Qwen3-0.6B")
        >>> model.invoke("Who wrote Solaris?", max_tokens=20).content
        >>> model.generate([[HumanMessage("A city?")]], n=5, temperature=1.0, seed=1, logprobs=True)

    Every setting of `Decoding` is a field here and can be given anew with each call. The weights are loaded
    at the first call, once per process. Many threads may call; they take turns. A whole call is one turn, so
    that no more than one request's key-value cache takes memory at a time; a stream takes a turn per token,
    as its reader may pause for ever, or call the same model in between.

    Each message carries in `response_metadata` its `finish_reason`, `model_name` and, if asked for,
    `logprobs` in OpenAI's layout: of the model as it is (temperature 1, before top-p and top-k), without the
    end token and without tokens that begin at or after a stop string. Its `usage_metadata` is the whole
    request's, as from OpenAI: do not add it up over samples. Output tokens count end tokens and cut tokens,
    which were computed.

    Tools are shown by the model's chat template (`bind_tools`), and the calls in its replies are read in the
    forms that model families write (`models/tool_calls.py`).
    """

    path: str = Field(description="folder of a saved model or of a LoRA adapter, or a hub id")
    dtype: Dtype = Field(
        default="auto", description="precision to load in; auto is the one of the saved weights"
    )
    device: str | None = Field(
        default=None, description="as torch names it; CUDA where there is one by default"
    )

    memory_limit: int | None = Field(
        default=None, ge=1, description="bytes that `sample` may take beside weights and kept prefixes"
    )
    prefix_memory: int = Field(
        default=256 * 2**20, ge=0, description="bytes for prompts' shared beginnings, kept for the process"
    )

    reports: ClassVar[frozenset[Capability]] = frozenset(Capability)

    @field_validator("path")
    @classmethod
    def _folder_holds_a_model(cls, path: str) -> str:
        check_folder(path)
        return path

    @property
    def weights(self) -> Weights:
        """The loaded model; the first use loads it.

        Raises:
            ModelError: it cannot be loaded.
        """
        return load_weights(self.path, self.dtype, self.device)

    @property
    def _llm_type(self) -> str:
        return "transformers"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"path": self.path, "dtype": self.dtype, "device": self.device, **self._settings()}

    def get_token_ids(self, text: str) -> list[int]:
        """Token ids of `text` alone, without special tokens."""
        ids: list[int] = self.weights.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return ids

    def get_num_tokens_from_messages(
        self, messages: list[BaseMessage], tools: Sequence[Any] | None = None
    ) -> int:
        """Tokens of the prompt that `messages` become, chat template included."""
        schemas = [convert_to_openai_tool(tool) for tool in tools or ()]
        return len(prompt_tokens(self.weights.tokenizer, messages, Offer(schemas)))

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with tools that it may call.

        Args:
            tools: LangChain's tools, functions, pydantic classes or OpenAI's dictionaries.
            tool_choice: `auto` (None) leaves it to the model, `none` shows no tools, `any` makes it call one,
                and a tool's name makes it call that one.
            kwargs: settings of `Decoding`.

        Raises:
            CapabilityError: the model's chat template shows no tools.
            SettingsError: there is no such choice or setting.
        """
        schemas = [convert_to_openai_tool(tool) for tool in tools]
        if schemas:
            require_tools(load_tokenizer(self.path), schemas, self.path)
            choice = checked_choice(tool_choice, Offer(schemas).names)
            self._decoding(None, kwargs)  # so that a setting that there is not is told here
            kwargs |= {"tools": schemas} | ({} if choice is None else {"tool_choice": choice})
        return self.bind(**kwargs)

    def _weights_for(self, messages: Sequence[BaseMessage], offer: Offer) -> Weights:
        """The model as it is where tools are bound or have been called, or else as it is."""
        if offer.tools or any(isinstance(message, ToolMessage) for message in messages):
            return with_tools(self.weights, self.path)
        return self.weights

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        offer, settings = taken_from(kwargs)
        return self._answer(messages, self._decoding(stop, settings), offer, threading.Event())

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        abandoned = threading.Event()
        offer, settings = taken_from(kwargs)
        try:
            return await run_in_executor(
                None, self._answer, messages, self._decoding(stop, settings), offer, abandoned
            )
        finally:
            abandoned.set()  # a cancelled task leaves its thread behind, which would run to the last token

    def _answer(
        self, messages: list[BaseMessage], decoding: Decoding, offer: Offer, abandoned: threading.Event
    ) -> ChatResult:
        weights = self._weights_for(messages, offer)
        offer = offer.begun(weights.tokenizer, messages)
        prompt = prompt_tokens(weights.tokenizer, messages, offer)
        samples = begin_samples(weights, prompt, decoding, shown=offer.shown_tokens(weights.tokenizer))
        request = Generation(weights, prompt, samples)
        with weights.lock:
            while not request.done and not abandoned.is_set():
                request.step()
        return self.result_of(prompt, samples, decoding, offer)

    def result_of(
        self, prompt: list[int], samples: list[Sample], decoding: Decoding, offer: Offer = NO_TOOLS
    ) -> ChatResult:
        """The finished samples of one prompt as LangChain has them."""
        usage = _usage(prompt, samples)
        generations = []
        for sample in samples:
            metadata = self._finish(sample) | _logprobs(self.weights, decoding, sample.choices())
            message = offer.message(sample.text, response_metadata=metadata, usage_metadata=usage)
            generations.append(ChatGeneration(message=message))
        return ChatResult(
            generations=generations,
            llm_output={
                "token_usage": {
                    "prompt_tokens": usage["input_tokens"],
                    "completion_tokens": usage["output_tokens"],
                    "total_tokens": usage["total_tokens"],
                },
                "model_name": self.path,
            },
        )

    def sample(
        self,
        prompts: Sequence[list[BaseMessage]],
        k: int,
        *,
        greedy: bool = True,
        states: StatesAt | None = None,
        config: RunnableConfig | None = None,
        stop: list[str] | None = None,
        **settings: Any,
    ) -> list[Evidence]:
        """A greedy answer and `k` samples of each prompt, and the states behind the samples.

        All answers to a prompt share its key-value cache; prompts that begin alike share that beginning, also
        with earlier calls. The samples are those that `generate` draws with the same settings and seed.

        Args:
            prompts: conversations.
            k: samples of each, 0 or more; more than 1 need a temperature.
            greedy: whether to give the most probable answer too.
            states: layer, counted from 1 (None: the middle one), and site, `residual` or `mlp`, of the states
                at the end-of-sequence token behind each sample.
            config: callbacks, tags and metadata, as in `invoke`.
            stop: strings that end an answer before themselves.
            settings: of `Decoding`, but for `n`.

        Raises:
            CapabilityError: states cannot be read in a model of this architecture.
            ModelError: a prompt leaves no room for an answer.
            SettingsError: a setting is out of its range, there is no such layer, or the memory limit is too
                small.
        """
        decoding = self._decoding(stop, settings | {"n": max(k, 1)})
        return sample_inside(self, prompts, k, greedy, states, decoding, config, threading.Event())

    async def asample(
        self,
        prompts: Sequence[list[BaseMessage]],
        k: int,
        *,
        greedy: bool = True,
        states: StatesAt | None = None,
        config: RunnableConfig | None = None,
        stop: list[str] | None = None,
        **settings: Any,
    ) -> list[Evidence]:
        """`sample` for async callers; a cancelled task stops it at its next token."""
        decoding = self._decoding(stop, settings | {"n": max(k, 1)})
        abandoned = threading.Event()
        try:
            return await run_in_executor(
                None, sample_inside, self, prompts, k, greedy, states, decoding, config, abandoned
            )
        finally:
            abandoned.set()

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        offer, settings = taken_from(kwargs)
        decoding = self._decoding(stop, settings)
        weights = self._weights_for(messages, offer)
        offer = offer.begun(weights.tokenizer, messages)
        prompt = prompt_tokens(weights.tokenizer, messages, offer)
        (sample,) = begin_samples(weights, prompt, decoding, shown=offer.shown_tokens(weights.tokenizer))
        request = Generation(weights, prompt, [sample])
        shown, tokens = "", 0
        while not request.done:
            with weights.lock:
                request.step()
            text = offer.shown(sample.text)[len(shown) :]
            if not text and not request.done:
                continue
            choices = sample.choices(since=tokens)
            tokens += len(choices)
            metadata = _logprobs(weights, decoding, choices) if choices else {}
            if request.done:
                metadata |= self._finish(sample)
                usage = _usage(prompt, [sample])
                message = offer.last_chunk(
                    sample.text, shown, response_metadata=metadata, usage_metadata=usage
                )
            else:
                shown += text
                message = AIMessageChunk(content=text, response_metadata=metadata)
            yield ChatGenerationChunk(message=message)

    def _streaming_disabled(self, **kwargs: Any) -> bool:
        """Several samples are no stream: a listening callback must not turn them into one."""
        return (kwargs.get("n") or self.n) > 1 or super()._streaming_disabled(**kwargs)

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Decoding.model_fields}

    def _decoding(self, stop: list[str] | None, given: dict[str, Any]) -> Decoding:
        """This call's settings: the model's own, unless given with the call (None is not given)."""
        given = {name: value for name, value in given.items() if value is not None and name != "stream"}
        if stop is not None:
            given["stop"] = stop
        try:
            return Decoding.model_validate(self._settings() | given)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            allowed = ", ".join(Decoding.model_fields)
            reason = (
                f"unknown; a call takes {allowed}"
                if first["type"] == "extra_forbidden"
                else first["msg"].removeprefix("Value error, ")
            )
            raise SettingsError(f"{where}: {reason}".removeprefix(": ")) from error

    def _finish(self, sample: Sample) -> dict[str, Any]:
        return {"finish_reason": sample.finish_reason, "model_name": self.path}

    def _combine_llm_outputs(self, llm_outputs: list[dict[str, Any] | None]) -> dict[str, Any]:
        """Usage of a call with several prompts: the sum over the prompts."""
        total: dict[str, int] = {}
        for output in llm_outputs:
            for name, count in (output or {}).get("token_usage", {}).items():
                total[name] = total.get(name, 0) + count
        return {"token_usage": total, "model_name": self.path}


def _logprobs(weights: Weights, decoding: Decoding, choices: list[Choice]) -> dict[str, Any]:
    return {"logprobs": openai_logprobs(choices, weights.token_bytes)} if decoding.logprobs else {}


def _usage(prompt: list[int], samples: list[Sample]) -> UsageMetadata:
    drawn = sum(sample.drawn for sample in samples)
    return UsageMetadata(input_tokens=len(prompt), output_tokens=drawn, total_tokens=len(prompt) + drawn)
