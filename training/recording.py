"""Listens to a running graph: every prompt that a node sends to the model, with the reply."""

import threading
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from pydantic import BaseModel

from knowwhen.tools.labelled import Text


class Exchange(BaseModel, frozen=True, extra="forbid"):
    """One prompt and the first reply to it."""

    node: str
    """The graph's node that asked."""
    prompt: Text
    reply: Text


class Recorder(BaseCallbackHandler):
    """A callback handler that keeps the exchanges of one run; goes into the run's config.

        recorder = Recorder()
        method.invoke({"question": …}, {"callbacks": [recorder]})
        recorder.exchanges

    Which node asked is told by LangGraph in the call's metadata, also deep inside nested graphs.
    """

    run_inline = True  # an asynchronous run must not end before its last exchange is noted

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: dict[UUID, tuple[str, str]] = {}  # node and prompt of the calls under way
        self.exchanges: list[Exchange] = []
        """In the order in which the replies came."""

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Note what is asked, and by which node."""
        prompt = "\n\n".join(str(message.text) for message in messages[0])
        with self._lock:
            self._asked[run_id] = (str((metadata or {}).get("langgraph_node", "")), prompt)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Note the reply."""
        with self._lock:
            node, prompt = self._asked.pop(run_id)
            reply = response.generations[0][0].text
            self.exchanges.append(Exchange(node=node, prompt=prompt, reply=reply))
