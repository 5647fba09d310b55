"""A chat model that replays a script, for control flow and faults; real models are tested elsewhere."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from knowwhen.models.capability import Capability

Text = str | tuple[str, float]  # a text, or a text with the mean probability of its tokens
ScriptedReply = Text | Exception | list[Text]  # a list: the samples of one request


class ScriptedChat(BaseChatModel):
    """Replies from a list, in order, or from a function of the prompt's text.

        ScriptedChat(["Paris", "I am not sure"])              # the first call, the second; then it fails
        ScriptedChat(lambda prompt: "yes" if "film" in prompt else "no")
        ScriptedChat([("Paris", 0.9)])                        # with log-probabilities, mean probability 0.9
        ScriptedChat([TimeoutError("slow"), "Paris"])         # the first request fails
        ScriptedChat([["Paris", "Rome", "Paris"]])            # the three samples of one request with n=3
        ScriptedChat(["Paris"], reports={Capability.TEXT})    # a model without samples and log-probabilities
        ScriptedChat(reply, delay=0.05)                       # every call takes 50 ms

    A reply that is no list is repeated for n samples; a text without a probability carries no
    log-probabilities even when they are asked for, as some servers do. A token is a word. Every message
    carries the usage of the whole request, as OpenAI's do.

    What was asked is in `prompts` (texts), `calls` (keywords, with `stop`) and `most_in_flight`.
    """

    script: Any
    delay: float = 0.0  # seconds
    reports: frozenset[Capability] = frozenset({Capability.TEXT, Capability.SAMPLES, Capability.LOGPROBS})
    _record: "_Record" = PrivateAttr(default_factory=lambda: _Record())

    def __init__(
        self, script: Sequence[ScriptedReply] | Callable[[str], ScriptedReply], **fields: Any
    ) -> None:
        super().__init__(script=script if callable(script) else list(script), **fields)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def prompts(self) -> list[str]:
        return self._record.prompts

    @property
    def calls(self) -> list[dict[str, Any]]:
        return self._record.calls

    @property
    def most_in_flight(self) -> int:
        return self._record.most_in_flight

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        prompt = "\n".join(str(message.text) for message in messages)
        position = self._record.enter(prompt, {"stop": stop, **kwargs})
        try:
            time.sleep(self.delay)
            reply = self._reply(prompt, position)
        finally:
            self._record.leave()
        if isinstance(reply, Exception):
            raise reply
        n = kwargs.get("n", 1)
        samples = reply if isinstance(reply, list) else [reply] * n
        assert len(samples) == n, f"the script holds {len(samples)} samples, and {n} were asked for"
        return _result(prompt, samples, bool(kwargs.get("logprobs")))

    def _reply(self, prompt: str, position: int) -> ScriptedReply:
        if callable(self.script):
            reply: ScriptedReply = self.script(prompt)
            return reply
        assert position < len(self.script), f"the script ran out at call {position + 1}: {prompt!r}"
        scripted: ScriptedReply = self.script[position]
        return scripted


class _Record:
    """What was asked of a model, shared by its copies."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.prompts: list[str] = []
        self.calls: list[dict[str, Any]] = []
        self.in_flight = 0
        self.most_in_flight = 0

    def enter(self, prompt: str, call: dict[str, Any]) -> int:
        with self.lock:
            self.prompts.append(prompt)
            self.calls.append(call)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            return len(self.prompts) - 1

    def leave(self) -> None:
        with self.lock:
            self.in_flight -= 1


def _result(prompt: str, samples: list[Text], logprobs: bool) -> ChatResult:
    pairs = [(sample, None) if isinstance(sample, str) else sample for sample in samples]
    spent_in, spent_out = len(prompt.split()), sum(len(text.split()) for text, _ in pairs)
    usage = {"input_tokens": spent_in, "output_tokens": spent_out, "total_tokens": spent_in + spent_out}
    generations = []
    for text, probability in pairs:
        message = AIMessage(text, usage_metadata=usage)
        if logprobs and probability is not None:
            entries = [
                {"token": word, "logprob": math.log(probability), "top_logprobs": []} for word in text.split()
            ]
            message.response_metadata = {"logprobs": {"content": entries}}
        generations.append(ChatGeneration(message=message))
    return ChatResult(generations=generations)
