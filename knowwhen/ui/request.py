"""What is asked of which method, and the graph that answers it."""

import inspect
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever

from knowwhen.graphs import METHODS, Method
from knowwhen.method_settings import LOOKS_UP, settings_of
from knowwhen.models.errors import SettingsError
from knowwhen.models.resolve import resolve_model
from knowwhen.tools.resolve import resolve_retriever
from knowwhen.ui.kept import Kept


@dataclass(frozen=True)
class Request:
    """A question to a method."""

    question: str
    method: str
    model: str
    corpus: str
    settings: dict[str, Any] = field(default_factory=dict)
    """Those that are not the method's own."""

    def check(self) -> None:
        """Refuse what needs no model to be refused.

        Raises:
            SettingsError: the question is empty, or there is no such method.
        """
        if not self.question.strip():
            raise SettingsError("the question is empty; write one")
        if self.method not in METHODS:
            raise SettingsError(f"there is no method {self.method!r}; choose from {', '.join(METHODS)}")


def names_of(requests: Sequence[Request]) -> list[str]:
    """By what two are told apart: the method, or how one method is set differently."""
    methods = [request.method for request in requests]
    if len(set(methods)) > 1:
        return methods
    defaults = {name: field.default for name, field in settings_of(methods[0]).model_fields.items()}
    whole = [{**defaults, **request.settings} for request in requests]
    differing = [name for name in defaults if any(each[name] != whole[0][name] for each in whole)]
    return [
        ", ".join([method, *(f"{name.replace('_', ' ')} = {each[name]}" for name in differing)])
        for method, each in zip(methods, whole, strict=True)
    ]


class Library:
    """Models, retrievers and graphs, each loaded when first asked for and then kept."""

    def __init__(self) -> None:
        self._models: Kept[BaseChatModel] = Kept(2)  # a local one takes memory
        self._retrievers: Kept[BaseRetriever] = Kept(4)
        self._graphs: Kept[Method] = Kept(4)

    def model(self, name: str) -> BaseChatModel:
        """The model of that name.

        Raises:
            SettingsError: the name is of no known form.
            ModelError: the model cannot be had.
        """
        return self._models.get(name, lambda: resolve_model(name))

    def graph(self, request: Request) -> Method:
        """The graph that answers a request.

        Raises:
            KnowwhenError: the model, the corpus or a setting does not fit.
        """
        key = (request.method, request.model, request.corpus, json.dumps(request.settings, sort_keys=True))
        return self._graphs.get(key, lambda: self._build(request))

    def _build(self, request: Request) -> Method:
        make: Any = METHODS[request.method]
        parts: list[Any] = [self.model(request.model)]
        if LOOKS_UP in inspect.signature(make).parameters:
            corpus = request.corpus
            parts.append(self._retrievers.get(corpus, lambda: resolve_retriever(corpus)))
        built: Method = make(*parts, **request.settings)
        return built
