"""Search on the web through LangChain's own packages, imported only when one is asked for."""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from knowwhen.models.errors import RetrievalError, SettingsError
from knowwhen.tools.retriever import PassageRetriever


def wikipedia() -> BaseRetriever:
    """Wikipedia's own search; a passage is the beginning of an article."""
    _need("wikipedia", "wikipedia", "wikipedia")
    module = _need("wikipedia", "langchain_community.retrievers", "langchain-community")
    return WebRetriever(find=lambda query, k: module.WikipediaRetriever(top_k_results=k).invoke(query))


def tavily() -> BaseRetriever:
    """Tavily's search; needs TAVILY_API_KEY."""
    module = _need("tavily", "langchain_tavily", "langchain-tavily")
    _need_keys("tavily", "TAVILY_API_KEY")
    return WebRetriever(find=lambda query, k: _tavily(module, query, k))


def google() -> BaseRetriever:
    """Google's programmable search; needs GOOGLE_API_KEY and GOOGLE_CSE_ID."""
    module = _need("google", "langchain_google_community", "langchain-google-community")
    _need_keys("google", "GOOGLE_API_KEY", "GOOGLE_CSE_ID")
    search = module.GoogleSearchAPIWrapper()
    return WebRetriever(find=lambda query, k: [_from_google(hit) for hit in search.results(query, k)])


class WebRetriever(PassageRetriever):
    """A search on the web, with `k` like every other retriever here."""

    find: Callable[[str, int], list[Document]]

    def search(self, query: str, k: int) -> list[Document]:
        """Return at most k results, best first; an empty query finds nothing."""
        return self.find(query, k)[:k] if query.strip() else []


def _tavily(module: Any, query: str, k: int) -> list[Document]:
    found = module.TavilySearch(max_results=k).invoke({"query": query})
    if "error" in found:
        raise RetrievalError(f"tavily could not answer: {found['error']}")
    return [_document(hit["title"], hit["content"], hit["url"], hit["score"]) for hit in found["results"]]


def _from_google(hit: dict[str, str]) -> Document:
    # A search without results is answered by one hit that says so and has no link.
    return _document(hit.get("title", ""), hit.get("snippet", ""), hit.get("link", ""), None)


def _document(title: str, text: str, url: str, score: float | None) -> Document:
    return Document(
        page_content=text, id=url, metadata={"id": url, "title": title, "source": url, "score": score}
    )


def _need(name: str, module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise SettingsError(f"the retriever {name!r} needs a package: pip install {package}") from None


def _need_keys(name: str, *variables: str) -> None:
    missing = [variable for variable in variables if not os.environ.get(variable)]
    if missing:
        raise SettingsError(f"the retriever {name!r} needs {' and '.join(missing)} in the environment")
