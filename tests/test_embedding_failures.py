"""`with_retry` and `with_fallbacks` around a method, and one failed question among several of a batch."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from method_worlds import WORLDS
from scripted import ScriptedChat
from self_dc_script import Shelf

from knowwhen.graphs import METHODS, Method, direct
from knowwhen.models.errors import KnowwhenError, ModelError, RetrievalError


class Failing:
    """A world's script whose first replies are failures, of a kind that the door does not try again."""

    def __init__(self, script: Any, times: int) -> None:
        self.script, self.left = script, times

    def __call__(self, asked: Any) -> Any:
        if self.left:
            self.left -= 1
            raise PermissionError("no key")
        return self.script(asked)


def failing(name: str, times: int) -> Method:
    world = WORLDS[name]
    return world.build(world.model(Failing(world.script, times)), Shelf())


def run(runnable: Any, name: str, way: str) -> Any:
    asked = {"question": WORLDS[name].question}
    if way == "invoke":
        return runnable.invoke(asked)
    if way == "ainvoke":
        return asyncio.run(runnable.ainvoke(asked))
    (output,) = runnable.batch([asked])
    return output


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch"])
@pytest.mark.parametrize("name", METHODS)
def test_with_retry_asks_again_from_the_beginning_and_only_so_often(name: str, way: str) -> None:
    world = WORLDS[name]
    whole = world.build(world.model(world.script), Shelf()).invoke({"question": world.question})
    again: Any = {"retry_if_exception_type": (ModelError,), "wait_exponential_jitter": False}
    assert run(failing(name, 2).with_retry(stop_after_attempt=3, **again), name, way) == whole
    with pytest.raises(ModelError, match="no key"):
        run(failing(name, 99).with_retry(stop_after_attempt=3, **again), name, way)


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch"])
@pytest.mark.parametrize("name", METHODS)
def test_with_fallbacks_another_method_answers(name: str, way: str) -> None:
    other = direct(ScriptedChat(lambda prompt: "from the other"))
    safe = failing(name, 999).with_fallbacks([other], exceptions_to_handle=(KnowwhenError,))
    assert run(safe, name, way)["answer"] == "from the other"
    assert run(failing(name, 0).with_fallbacks([other]), name, way)["answer"] == WORLDS[name].answer


@pytest.mark.parametrize("name", [name for name, world in WORLDS.items() if world.looked_up])
def test_a_search_that_fails_ends_the_run_in_an_error_that_names_it(name: str) -> None:
    def broken(query: str) -> list[Document]:
        raise PermissionError("no key")

    world = WORLDS[name]
    graph = world.build(world.model(world.script), Shelf(find=broken))
    with pytest.raises(RetrievalError, match=r"Shelf failed \(PermissionError: no key\); "):
        graph.invoke({"question": world.question})


def test_a_failed_question_leaves_the_others_of_its_batch_alone() -> None:
    def script(prompt: str) -> str:
        if "bad" in prompt:
            raise PermissionError("no key")
        return "Zeno"

    graph = direct(ScriptedChat(script))
    asked: list[Any] = [{"question": "good"}, {"question": "bad"}, {"question": "fine"}]
    for outputs in (
        graph.batch(asked, return_exceptions=True),
        asyncio.run(graph.abatch(asked, return_exceptions=True)),
    ):
        first, second, third = outputs
        assert (first["answer"], third["answer"]) == ("Zeno", "Zeno")
        assert isinstance(second, ModelError)
