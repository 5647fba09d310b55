"""A chat model that calls tools by a script, for the control flow of agents."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

from knowwhen.models.capability import Capability

Reply = AIMessage | Exception
Script = Callable[[list[BaseMessage]], Reply]


def call(name: str, id: str = "1", **arguments: Any) -> AIMessage:
    """A message with one call."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": id}])


class ToolCaller(BaseChatModel):
    """Replies from a list, in order, or from a function of the messages."""

    script: Any
    reports: frozenset[Capability] = frozenset({Capability.TEXT, Capability.SAMPLES, Capability.LOGPROBS})
    _bound: list[str] = PrivateAttr(default_factory=list)
    _asked: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    def __init__(self, script: Sequence[Reply] | Script, **fields: Any) -> None:
        super().__init__(script=script if callable(script) else list(script), **fields)

    @property
    def bound(self) -> list[str]:
        """Names of the tools that were bound last."""
        return self._bound

    @property
    def asked(self) -> list[list[BaseMessage]]:
        """The messages of each request."""
        return self._asked

    @property
    def _llm_type(self) -> str:
        return "tool caller"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        self._bound[:] = [tool.name for tool in tools]
        return self.bind(**kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self._asked.append(list(messages))
        reply = self.script(messages) if callable(self.script) else self.script[len(self._asked) - 1]
        if isinstance(reply, Exception):
            raise reply
        return ChatResult(generations=[ChatGeneration(message=reply)])
