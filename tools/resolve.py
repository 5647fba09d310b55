"""From what a user names to a retriever."""

from collections.abc import Callable
from pathlib import Path

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable

from knowwhen.models.errors import SettingsError
from knowwhen.models.standing_in import PLAYING, StandInRetriever
from knowwhen.tools.almanac import almanac_retriever
from knowwhen.tools.opening import open_index
from knowwhen.tools.web import google, tavily, wikipedia

RetrieverLike = BaseRetriever | str | Path

NAMED: dict[str, Callable[[], BaseRetriever]] = {
    "almanac": almanac_retriever,
    "wikipedia": wikipedia,
    "tavily": tavily,
    "google": google,
}


def resolve_retriever(retriever: RetrieverLike) -> BaseRetriever:
    """Find the retriever that is meant.

    Args:
        retriever: A retriever (returned as it is), `almanac`, the folder of a built index, `wikipedia`,
            `tavily` or `google`. A folder of the same name as one of these is meant by `./almanac`.

    Raises:
        SettingsError: If it is none of these, or its package or key is missing.
        RetrievalError: If it is a folder without a sound index.
    """
    if isinstance(retriever, BaseRetriever):
        return retriever
    if PLAYING.get():
        return StandInRetriever()
    if isinstance(retriever, str) and retriever in NAMED:
        return NAMED[retriever]()
    if isinstance(retriever, str | Path) and str(retriever) and Path(retriever).exists():
        return open_index(Path(retriever))
    raise SettingsError(_why_not(retriever))


def _why_not(given: object) -> str:
    if hasattr(given, "as_retriever"):  # LangChain's vector stores
        return f"a {type(given).__name__} is no retriever; pass what its as_retriever() gives"
    if callable(given) or isinstance(given, Runnable):
        return f"a {type(given).__name__} is no retriever; pass a BaseRetriever that calls it"
    return (
        f"no retriever is called {str(given)!r}; give a LangChain retriever, one of {', '.join(NAMED)}, "
        "or the folder of an index built with `knowwhen index build`"
    )
