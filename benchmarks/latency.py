"""How long a question waits for a model that takes 100 ms a call: graphs beside the same calls one by one.

KEQA: a question with four independent quizzes, each answered five times in five ways, so that all ten pairs
are judged, and with ten passages each, of which one helps.

TAIKC: a tree of two branches of two queries; in one branch the first query is looked up, in the other the
second one. So the longest chain takes three calls, and in rounds the tree would take four; with the tree
itself, a summary of each branch and the answer that is six calls' time.

At most 50 calls are in flight. The same prompts are then put to the model one after the other. Prints a table
and, as its last line, one JSON object.

    python benchmarks/latency.py [--runs 5]
"""

import argparse
import asyncio
import json
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr

from knowwhen.graphs import Method, keqa, taikc
from knowwhen.models.capability import Capability

DELAY = 0.1  # seconds a call
BARS = {"keqa": 8.0, "taikc": 7.0}  # calls' time, for one question
QUIZZES, TRIES, PASSAGES, AT_ONCE = 4, 5, 10, 50
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
KEQA_PROMPTS = {
    "make_quizzes": "divide {question}{demonstrations}",
    "assess": "answer {question}",
    "pick": "judge {question} {passage}",
    "read_passages": "read {question} {passages}",
    "summarise": "summarise {question} {pairs}",
}
TAIKC_PROMPTS = {
    "make_tree": "tree {question}{demonstrations}",
    "confident_qa": "certain {question}",
    "read_if_there": "read {question} {passages}",
    "summarise_chain": "chain {pairs}",
    "read_chains": "read {question} {passages}",
}
REPLIES = {
    "divide": "\n".join(f"#{number}: Who is quiz {number}?" for number in range(1, QUIZZES + 1)),
    "read": "Alba Karn",
    "summarise": "So the final answer is Alba Karn.",
    "tree": json.dumps(
        {
            "query1": {
                "question": "Who is unknown?",
                "children": {"query2": {"question": "Whose is #query1?"}},
            },
            "query3": {"question": "Who?", "children": {"query4": {"question": "Whose is unknown #query3?"}}},
        }
    ),
    "chain": "Alba Karn",
}


class SlowChat(BaseChatModel):
    """Takes `DELAY` seconds for each call, however many samples it is of, and remembers what it was asked."""

    reports: frozenset[Capability] = frozenset({Capability.TEXT, Capability.SAMPLES})
    _asked: list[tuple[list[BaseMessage], int]] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "slow"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        n: int = 1,
        **kwargs: Any,
    ) -> ChatResult:
        with self._lock:
            self._asked.append((messages, n))
        time.sleep(DELAY)
        texts = _replies(str(messages[-1].content), n)
        made = [ChatGeneration(message=AIMessage(text, usage_metadata=USAGE)) for text in texts]
        return ChatResult(generations=made)

    def take_asked(self) -> list[tuple[list[BaseMessage], int]]:
        """What was asked since the last time."""
        with self._lock:
            taken, self._asked = self._asked, []
        return taken


def _replies(prompt: str, n: int) -> list[str]:
    task = prompt.partition(" ")[0]
    if task == "answer":  # no two alike: unknown
        return [f"Name{number} Karn" for number in range(n)]
    if task == "certain":
        return ["RAG_REQUIRED" if "unknown" in prompt else "Alba Karn"] * n
    if task == "judge":
        return ["yes" if "Passage 3" in prompt else "no"] * n
    return [REPLIES.get(task, "no")] * n  # whether two answers mean the same: no


class TenPassages(BaseRetriever):
    """Finds ten passages at once."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [
            Document(f"On {query}", id=f"p{rank}", metadata={"title": f"Passage {rank}"})
            for rank in range(1, PASSAGES + 1)
        ]


def build_keqa(model: SlowChat) -> Method:
    """KEQA, whose every quiz is unknown."""
    return keqa(
        model,
        TenPassages(),
        prompts=KEQA_PROMPTS,
        demonstrations=(),
        tries=TRIES,
        passages=PASSAGES,
        shown="none",
        max_concurrency=AT_ONCE,
    )


def build_taikc(model: SlowChat) -> Method:
    """TAIKC, with a look-up in each branch."""
    return taikc(model, TenPassages(), prompts=TAIKC_PROMPTS, demonstrations=(), max_concurrency=AT_ONCE)


METHODS: dict[str, tuple[Callable[[SlowChat], Method], int, list[str]]] = {
    "keqa": (build_keqa, 2 + QUIZZES * (1 + 10 + PASSAGES + 1), ["retrieve"] * QUIZZES + ["decompose"]),
    "taikc": (
        build_taikc,
        1 + 4 + 2 + 2 + 1,
        ["retrieve", "confident", "confident", "retrieve", "decompose"],
    ),
}


def measure(name: str, runs: int) -> tuple[dict[str, list[float]], int]:
    """Seconds of wall time by how a method's calls are made, and how many calls there are."""
    build, calls, routes = METHODS[name]
    model = SlowChat()
    method = build(model)
    question: Any = {"question": "Who are all four?"}
    output = method.invoke(question)
    asked = model.take_asked()
    assert output["answer"] == "Alba Karn"
    assert len(asked) == output["cost"]["model_calls"] == calls
    assert [step["route"] for step in output["steps"]] == routes

    def one_by_one() -> None:
        for messages, n in asked:
            model.invoke(messages, n=n)

    with asyncio.Runner() as runner:
        ways: dict[str, Callable[[], object]] = {
            "invoke": lambda: method.invoke(question),
            "ainvoke": lambda: runner.run(method.ainvoke(question)),
        }
        times: dict[str, list[float]] = {way: [] for way in [*ways, "one by one"]}
        runner.run(method.ainvoke(question))
        for _ in range(runs):
            for way, run in ways.items():
                times[way].append(_seconds(run))
    times["one by one"].append(_seconds(one_by_one))
    return times, len(asked)


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def show(name: str, runs: int) -> dict[str, float]:
    """Print a method's table; returns its figures, in calls' time."""
    times, calls = measure(name, runs)
    median = {way: statistics.median(spent) / DELAY for way, spent in times.items()}
    print(f"{name}, {calls} calls of {1000 * DELAY:.0f} ms, {AT_ONCE} at once")
    print(f"{'':12}{'median, calls':>15}{'least':>8}{'most':>8}{'one by one is':>15}")
    for way, spent in times.items():
        ratio = median["one by one"] / median[way]
        print(f"{way:12}{median[way]:15.2f}{min(spent) / DELAY:8.2f}{max(spent) / DELAY:8.2f}{ratio:14.1f}x")
    met = max(median["invoke"], median["ainvoke"]) <= BARS[name]
    print(f"at most {BARS[name]:g} calls' time: {'met' if met else 'not met here; is the machine busy?'}\n")
    return {f"{name}_calls": calls} | {
        f"{name}_{way.replace(' ', '_')}_calls": round(value, 2) for way, value in median.items()
    }


def main() -> None:
    """Print the tables and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    figures: dict[str, float] = {}
    for name in METHODS:
        figures |= show(name, runs)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
