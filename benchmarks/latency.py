"""How long a question waits for a model that takes 100 ms a call: graphs beside the same calls one by one.

KEQA: a question with four independent quizzes, each answered five times in five ways, so that all ten pairs
are judged, and with ten passages each, of which one helps. At most 50 calls are in flight. The same prompts
are then put to the model one after the other. Prints a table and, as its last line, one JSON object.

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

from knowwhen.graphs import keqa
from knowwhen.models.capability import Capability

DELAY = 0.1  # seconds a call
BAR = 8  # calls' time, for one question
QUIZZES, TRIES, PASSAGES, AT_ONCE = 4, 5, 10, 50
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
PROMPTS = {
    "make_quizzes": "divide {question}{demonstrations}",
    "assess": "answer {question}",
    "pick": "judge {question} {passage}",
    "read_passages": "read {question} {passages}",
    "summarise": "summarise {question} {pairs}",
}
REPLIES = {
    "divide": "\n".join(f"#{number}: Who is quiz {number}?" for number in range(1, QUIZZES + 1)),
    "read": "Alba Karn",
    "summarise": "So the final answer is Alba Karn.",
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


def measure(runs: int) -> tuple[dict[str, list[float]], int]:
    """Seconds of wall time by how the calls are made, and how many calls there are."""
    model = SlowChat()
    method = keqa(
        model,
        TenPassages(),
        prompts=PROMPTS,
        demonstrations=(),
        tries=TRIES,
        passages=PASSAGES,
        shown="none",
        max_concurrency=AT_ONCE,
    )
    question: Any = {"question": "Who are all four?"}
    output = method.invoke(question)
    asked = model.take_asked()
    assert output["answer"] == "Alba Karn"
    assert len(asked) == output["cost"]["model_calls"] == 2 + QUIZZES * (1 + 10 + PASSAGES + 1)
    assert [step["route"] for step in output["steps"]] == ["retrieve"] * QUIZZES + ["decompose"]

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


def main() -> None:
    """Print the table and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    times, calls = measure(parser.parse_args().runs)
    median = {way: statistics.median(spent) / DELAY for way, spent in times.items()}
    print(f"KEQA, {calls} calls of {1000 * DELAY:.0f} ms, {AT_ONCE} at once")
    print(f"{'':12}{'median, calls':>15}{'least':>8}{'most':>8}{'one by one is':>15}")
    for way, spent in times.items():
        ratio = median["one by one"] / median[way]
        print(f"{way:12}{median[way]:15.2f}{min(spent) / DELAY:8.2f}{max(spent) / DELAY:8.2f}{ratio:14.1f}x")
    slowest = max(median["invoke"], median["ainvoke"])
    print(f"at most {BAR} calls' time: {'met' if slowest <= BAR else 'not met here; is the machine busy?'}")
    figures = {f"keqa_{way.replace(' ', '_')}_calls": round(value, 2) for way, value in median.items()}
    print(json.dumps({"keqa_calls": calls, **figures}))


if __name__ == "__main__":
    main()
