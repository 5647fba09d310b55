"""What the graphs themselves cost: a Self-DC tree of seven questions over a model that answers at once.

The root is divided in two, each half in two again; two of the four leaves are generated and two retrieved.
The same model and retriever calls made in a plain loop are measured beside it. Prints a table and, as its
last line, one JSON object; times are milliseconds of wall time for one tree.

    python benchmarks/overhead.py [--runs 300]
"""

import argparse
import asyncio
import json
import statistics
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

from knowwhen.graphs import self_dc

BAR = 20.0  # milliseconds, for the median of `invoke`
WARM_UP = 10  # runs that are not measured
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}

# Each question's confidence of 100; those in the band, 50 to 70, are divided into two more.
CONFIDENCE = {"root": 60, "left": 60, "right": 60, "left a": 90, "left b": 90, "right a": 10, "right b": 10}
PARTS = {"root": ("left", "right"), "left": ("left a", "left b"), "right": ("right a", "right b")}
PROMPTS = {
    "score_confidence": "score {question}",
    "decompose": "decompose {question}",
    "generate_background": "generate {question}",
    "read_passages": "read {question}\n{passages}",
    "combine": "combine {question}\n{pairs}",
}


class InstantChat(BaseChatModel):
    """Answers at once, and remembers what it was asked."""

    _prompts: list[str] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "instant"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        prompt = str(messages[0].content)
        self._prompts.append(prompt)
        task, _, question = prompt.partition("\n")[0].partition(" ")
        if task == "score":
            text = f"Confidence: {CONFIDENCE[question]}"
        elif task == "decompose":
            text = "\n".join(f"#{i}: {part}" for i, part in enumerate(PARTS[question], 1))
        else:
            text = question
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text, usage_metadata=USAGE))])

    def take_prompts(self) -> list[str]:
        """What was asked since the last time."""
        taken, self._prompts = self._prompts, []
        return taken


class InstantRetriever(BaseRetriever):
    """Finds the same three passages at once."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [Document("text", metadata={"title": "title"})] * 3


def measure(runs: int) -> dict[str, list[float]]:
    """Wall times by how the calls are made; in turns, so that a busy moment hits all of them."""
    model, retriever = InstantChat(), InstantRetriever()
    method = self_dc(model, retriever, prompts=PROMPTS, confidence="verbalised", alpha=0.6, beta=0.1)
    root: Any = {"question": "root"}
    output = method.invoke(root)
    prompts = model.take_prompts()
    assert len(output["steps"]) == len(CONFIDENCE)
    assert len(prompts) == output["cost"]["model_calls"]

    def loop() -> None:
        for prompt in prompts:
            model.invoke(prompt)
        for _ in range(output["cost"]["retrievals"]):
            retriever.invoke("right a")

    with asyncio.Runner() as runner:
        ways: dict[str, Callable[[], object]] = {
            "plain loop": loop,
            "invoke": lambda: method.invoke(root),
            "ainvoke": lambda: runner.run(method.ainvoke(root)),
        }
        for run in ways.values():  # what is made once
            for _ in range(WARM_UP):
                run()
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(runs):
            for way, run in ways.items():
                start = time.perf_counter()
                run()
                times[way].append(1000 * (time.perf_counter() - start))
    return times


def main() -> None:
    """Print the table and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    times = measure(parser.parse_args().runs)
    median = {way: statistics.median(spent) for way, spent in times.items()}
    print(f"{'':12}{'median ms':>12}{'least ms':>12}{'of the loop':>14}")
    for way, spent in times.items():
        ratio = median[way] / median["plain loop"]
        print(f"{way:12}{median[way]:12.2f}{min(spent):12.2f}{ratio:13.1f}x")
    print(
        f"at most {BAR:.0f} ms: {'met' if median['invoke'] <= BAR else 'not met here; is the machine busy?'}"
    )
    print(
        json.dumps(
            {
                "overhead_ms": round(median["invoke"], 2),
                "least_ms": round(min(times["invoke"]), 2),
                "ainvoke_ms": round(median["ainvoke"], 2),
                "least_ainvoke_ms": round(min(times["ainvoke"]), 2),
                "loop_ms": round(median["plain loop"], 2),
                "times_the_loop": round(median["invoke"] / median["plain loop"], 1),
            }
        )
    )


if __name__ == "__main__":
    main()
