"""How a method takes part in a chain: the next link gets its whole output, also where the chain is streamed.

LangChain streams a chain by handing every piece of a link's stream to the next one, and sums the pieces up. A
graph's are the updates of its nodes, which sum up to nothing that the next link could read.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.fallbacks import RunnableWithFallbacks


class Whole(Runnable[Any, Any]):
    """A runnable that is one piece among the links of a chain; its own `stream` is as it was."""

    def transform(
        self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """The output, once; or what `stream` gives, if a `stream_mode` is bound to it."""
        if "stream_mode" in kwargs:
            yield from super().transform(input, config, **kwargs)
            return
        pieces = list(input)
        if pieces:
            yield self.invoke(_summed(pieces), config, **kwargs)

    async def atransform(
        self, input: AsyncIterator[Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """The same, asynchronously."""
        if "stream_mode" in kwargs:
            async for piece in super().atransform(input, config, **kwargs):
                yield piece
            return
        pieces = [piece async for piece in input]
        if pieces:
            yield await self.ainvoke(_summed(pieces), config, **kwargs)

    def with_fallbacks(
        self,
        fallbacks: Sequence[Runnable[Any, Any]],
        *,
        exceptions_to_handle: tuple[type[BaseException], ...] = (Exception,),
        exception_key: str | None = None,
    ) -> RunnableWithFallbacks[Any, Any]:
        """The same with fallbacks."""
        return WholeWithFallbacks(
            runnable=self,
            fallbacks=fallbacks,
            exceptions_to_handle=exceptions_to_handle,
            exception_key=exception_key,
        )


class WholeWithFallbacks(Whole, RunnableWithFallbacks[Any, Any]):
    """With fallbacks, of which one answers as a whole."""


def _summed(pieces: list[Any]) -> Any:
    """Pieces of an input as LangChain sums them up: the last one, where they cannot be added."""
    whole, *others = pieces
    for piece in others:
        try:
            whole = whole + piece
        except TypeError:
            whole = piece
    return whole
