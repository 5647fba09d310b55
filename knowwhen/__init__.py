"""knowwhen: look up what the language model does not know, and only that.

from knowwhen import self_dc

method = self_dc(model="openai:gpt-4o-mini", retriever="wikipedia", alpha=0.6, beta=0.1)
method.invoke({"question": "Which of the two films has the older director?"})["answer"]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knowwhen.graphs import (
        Method,
        chain_of_thought,
        direct,
        generate_then_read,
        keqa,
        retrieve_then_read,
        seakr,
        self_dc,
        taikc,
    )
    from knowwhen.graphs.agent import agent
    from knowwhen.models.errors import CapabilityError, KnowwhenError
    from knowwhen.models.resolve import resolve_model
    from knowwhen.tools.method_as_tool import as_tool
    from knowwhen.tools.resolve import resolve_retriever
    from knowwhen.tools.search_as_tool import search_tool

__all__ = [
    "CapabilityError",
    "KnowwhenError",
    "Method",
    "agent",
    "as_tool",
    "chain_of_thought",
    "direct",
    "generate_then_read",
    "keqa",
    "resolve_model",
    "resolve_retriever",
    "retrieve_then_read",
    "seakr",
    "search_tool",
    "self_dc",
    "taikc",
]

_ELSEWHERE = {
    "CapabilityError": "knowwhen.models.errors",
    "KnowwhenError": "knowwhen.models.errors",
    "agent": "knowwhen.graphs.agent",
    "as_tool": "knowwhen.tools.method_as_tool",
    "resolve_model": "knowwhen.models.resolve",
    "resolve_retriever": "knowwhen.tools.resolve",
    "search_tool": "knowwhen.tools.search_as_tool",
}


def __getattr__(name: str) -> Any:
    # Nothing heavy is loaded before it is used.
    if name not in __all__:
        raise AttributeError(f"module 'knowwhen' has no attribute {name!r}")
    return getattr(import_module(_ELSEWHERE.get(name, "knowwhen.graphs")), name)
