"""What a graph or an agent calls: retrievers, the indexes behind them, web search."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knowwhen.tools.bm25 import BM25Retriever
    from knowwhen.tools.corpus import Corpus
    from knowwhen.tools.dense import DenseRetriever
    from knowwhen.tools.entry import BadEntries, Entry
    from knowwhen.tools.fusion import FusionRetriever
    from knowwhen.tools.index import add_to_index, build_index
    from knowwhen.tools.method_as_tool import as_tool
    from knowwhen.tools.opening import check_index, open_index
    from knowwhen.tools.passage import Passage, as_passages
    from knowwhen.tools.rerank import RerankingRetriever, reranked
    from knowwhen.tools.resolve import RetrieverLike, resolve_retriever
    from knowwhen.tools.search_as_tool import search_tool

__all__ = [
    "BM25Retriever",
    "BadEntries",
    "Corpus",
    "DenseRetriever",
    "Entry",
    "FusionRetriever",
    "Passage",
    "RerankingRetriever",
    "RetrieverLike",
    "add_to_index",
    "as_passages",
    "as_tool",
    "build_index",
    "check_index",
    "open_index",
    "reranked",
    "resolve_retriever",
    "search_tool",
]

# Each name's module is loaded when the name is first asked for: some bring faiss and torch.
_HOMES = {
    "BM25Retriever": "bm25",
    "BadEntries": "entry",
    "Corpus": "corpus",
    "DenseRetriever": "dense",
    "Entry": "entry",
    "FusionRetriever": "fusion",
    "Passage": "passage",
    "RerankingRetriever": "rerank",
    "RetrieverLike": "resolve",
    "add_to_index": "index",
    "as_passages": "passage",
    "as_tool": "method_as_tool",
    "build_index": "index",
    "check_index": "opening",
    "open_index": "opening",
    "reranked": "rerank",
    "resolve_retriever": "resolve",
    "search_tool": "search_as_tool",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
