"""What is put around a model or in place of a retriever is refused, and said what to pass instead."""

from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from scripted import ScriptedChat
from self_dc_script import Shelf

from knowwhen.graphs import direct, retrieve_then_read
from knowwhen.models.errors import SettingsError

MODEL = ScriptedChat([])
STORE = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))


@pytest.mark.parametrize(
    "around",
    [
        MODEL.with_retry(),
        MODEL.bind(stop=["x"]),
        MODEL.with_fallbacks([MODEL]),
        MODEL.configurable_fields(delay=ConfigurableField(id="delay")),
    ],
)
def test_what_is_put_around_a_model_is_refused_with_a_way_out(around: Any) -> None:
    with pytest.raises(SettingsError, match="; pass the chat model within: it is asked again by itself, "):
        direct(around)


@pytest.mark.parametrize(
    ("given", "instead"),
    [
        (lambda query: [], "a function is no retriever; pass a BaseRetriever that calls it"),
        (RunnableLambda(lambda query: []), "a RunnableLambda is no retriever; pass a BaseRetriever that"),
        (Shelf().with_retry(), "a RunnableRetry is no retriever; pass a BaseRetriever that calls it"),
        (STORE, r"a InMemoryVectorStore is no retriever; pass what its as_retriever\(\) gives"),
        (7, "no retriever is called '7'; give a LangChain retriever, one of almanac"),
    ],
)
def test_what_is_no_retriever_is_refused_with_a_way_out(given: Any, instead: str) -> None:
    with pytest.raises(SettingsError, match=instead):
        retrieve_then_read(MODEL, given)
