"""Callbacks of a call that LangChain's own `generate` does not make."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langchain_core.callbacks import CallbackManager
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult, LLMResult
from langchain_core.runnables import RunnableConfig


@contextmanager
def announced(
    model: BaseChatModel,
    prompts: list[list[BaseMessage]],
    settings: Mapping[str, Any],
    config: RunnableConfig,
) -> Iterator[list[ChatResult]]:
    """Tell callbacks, those of `config` and the model's own, what is asked, and in the end what came of it.

    Args:
        model: which is called.
        prompts: the conversations, each a run of its own.
        settings: of the call, for traces.
        config: of the surrounding run: its callbacks, tags and metadata.

    Yields:
        A list to be filled with the result of each prompt, in their order.
    """
    manager = CallbackManager.configure(
        config.get("callbacks"),
        model.callbacks,
        model.verbose,
        config.get("tags"),
        model.tags,
        config.get("metadata"),
        model.metadata,
    )
    runs = manager.on_chat_model_start(
        model._serialized, prompts, invocation_params=dict(settings), batch_size=len(prompts)
    )
    results: list[ChatResult] = []
    try:
        yield results
    except BaseException as error:
        for run in runs:
            run.on_llm_error(error)
        raise
    for run, result in zip(runs, results, strict=True):
        run.on_llm_end(LLMResult(generations=[[*result.generations]], llm_output=result.llm_output))
