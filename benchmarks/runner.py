"""The runner: how near it comes to a server's own pace, and what its memory does as questions grow in number.

500 questions are asked 50 at once of a server on localhost that answers after 100 ms. The ideal is what the
server alone would take: questions x calls x 0.1 s / 50. Each method runs twice, through LangChain's OpenAI
client and through a client of a few lines on httpx, in one process and in several; beside each a bare loop of
50 threads that makes the same requests through the same client and does nothing else: what is lost to the
client is not the runner's.

Then a scripted model is asked 1,000 and 100,000 questions, each in a process of its own, and the memory that
the process held at the end is told. Prints tables and, as its last line, one JSON object.

    python benchmarks/runner.py [--questions 500] [--many 100000]
"""

import argparse
import asyncio
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr, SecretStr

from knowwhen.evaluation.arms import arm
from knowwhen.evaluation.processes import in_processes
from knowwhen.evaluation.question_set import QuestionSet
from knowwhen.evaluation.running import run
from knowwhen.graphs import Method, direct, generate_then_read
from knowwhen.models.capability import Capability

BAR = 0.85  # of the ideal throughput
FLAT = 1.10  # memory at 100 times the questions, over that at the few
AT_ONCE = 50
SECONDS = 0.1  # that the server takes for an answer
PROCESSES = (1, 4)
METHODS: dict[str, tuple[Callable[..., Any], int]] = {
    "direct": (direct, 1),
    "generate_then_read": (generate_then_read, 2),
}
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
REPLY = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Velo"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one connection's requests, each after the time that a model would take."""
    body = json.dumps(REPLY).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    try:
        while True:
            asked = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = next(line for line in asked.split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
            await asyncio.sleep(SECONDS)
            writer.write(head.encode() + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def serve() -> None:
    """Serve for ever; the port is the first line on stdout."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=200)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def served() -> Iterator[str]:
    """A server in a process of its own."""
    with subprocess.Popen(
        [sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


class LeanChat(BaseChatModel):
    """Chat completions by httpx, without what a full client does besides."""

    url: str
    reports: frozenset[Capability] = frozenset({Capability.TEXT})
    _client: httpx.Client = PrivateAttr(
        default_factory=lambda: httpx.Client(limits=httpx.Limits(max_connections=200), timeout=60)
    )

    @property
    def _llm_type(self) -> str:
        return "lean"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        asked = {"messages": [{"role": "user", "content": str(turn.content)} for turn in messages]}
        text = self._client.post(f"{self.url}/chat/completions", json=asked).json()["choices"][0]["message"]
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(text["content"], usage_metadata=USAGE))]
        )


CLIENTS: dict[str, Callable[[str], BaseChatModel]] = {
    "httpx": lambda url: LeanChat(url=url),
    "openai": lambda url: ChatOpenAI(model="m", base_url=url, api_key=SecretStr("none"), max_retries=0),
}


def built(method: str, client: str, url: str, max_concurrency: int) -> Method:
    """A method that asks the server through a client."""
    return METHODS[method][0](CLIENTS[client](url), max_concurrency=max_concurrency)


class Scripted(BaseChatModel):
    """Answers at once."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Velo", usage_metadata=USAGE))])


def write_questions(file: Path, count: int) -> Path:
    with file.open("w") as lines:
        for number in range(count):
            asked = {
                "id": f"q{number}",
                "question": f"Who directed film {number}?",
                "golden_answers": ["Velo"],
            }
            lines.write(json.dumps(asked) + "\n")
    return file


def throughput(count: int) -> list[dict[str, Any]]:
    """Seconds of each method through each client, and of a bare loop of the same requests."""
    rows = []
    with served() as url, tempfile.TemporaryDirectory() as place:
        questions = QuestionSet(write_questions(Path(place, "questions.jsonl"), count))
        few = QuestionSet(write_questions(Path(place, "few.jsonl"), 2 * AT_ONCE))
        for name, label, processes in itertools.product(CLIENTS, METHODS, PROCESSES):
            calls = METHODS[label][1]
            build = partial(built, label, name, url, math.ceil(AT_ONCE / processes))
            with ExitStack() as open_:
                entry = arm(build())
                if processes > 1:
                    entry = replace(entry, method=open_.enter_context(in_processes(build, processes)))
                folder = Path(place, name, label, str(processes))
                run(entry, few, folder / "few", at_once=AT_ONCE)  # opens the connections
                began, worked = time.perf_counter(), time.process_time()
                run(entry, questions, folder / "all", at_once=AT_ONCE)
                taken = time.perf_counter() - began
                cpu = 1000 * (time.process_time() - worked) / (count * calls)
            with ThreadPoolExecutor(AT_ONCE) as pool:
                model, began = CLIENTS[name](url), time.perf_counter()
                list(pool.map(model.invoke, ["Who directed it?"] * (count * calls)))
                bare = time.perf_counter() - began
            rows.append(
                {
                    "client": name,
                    "method": label,
                    "processes": processes,
                    "seconds": taken,
                    "bare": bare,
                    "ideal": count * calls * SECONDS / AT_ONCE,
                    "cpu": cpu,
                }
            )
    return rows


def held(count: int) -> float:
    """MiB that this process holds at the end of a run over so many questions."""
    with tempfile.TemporaryDirectory() as place:
        questions = QuestionSet(write_questions(Path(place, "questions.jsonl"), count))
        run(arm(direct(Scripted())), questions, Path(place, "out"))
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def held_apart(count: int) -> float:
    """The same, of a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, "--held", str(count)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Print the tables and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--few", type=int, default=1000)
    parser.add_argument("--many", type=int, default=100_000)
    parser.add_argument("--held", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        asyncio.run(serve())
    if asked.held:
        print(held(asked.held))
        return
    rows = throughput(asked.questions)
    headings = f"{'client':8}{'method':20}{'processes':>10}{'seconds':>9}{'bare loop':>11}{'ideal':>7}"
    print(f"{headings}{'of the ideal':>14}{'CPU ms a call here':>20}")
    for row in rows:
        row["share"] = row["ideal"] / row["seconds"]
        print(
            f"{row['client']:8}{row['method']:20}{row['processes']:10}{row['seconds']:9.2f}{row['bare']:11.2f}"
            f"{row['ideal']:7.2f}{row['share']:14.0%}{row['cpu']:20.2f}"
        )
        row["name"] = f"{row['client']} {row['method']} {row['processes']}"
    shares = {row["name"]: round(row["share"], 3) for row in rows}
    most = 1000 * SECONDS / AT_ONCE / BAR
    met = min(shares.values()) >= BAR
    print(
        f"at least {BAR:.0%}: {'met' if met else 'not met by all'}; a call may take {most:.2f} ms of one core"
    )
    few, many = held_apart(asked.few), held_apart(asked.many)
    print(f"memory after {asked.few:,} questions {few:.0f} MiB, after {asked.many:,} {many:.0f} MiB")
    print(f"at most {FLAT:.2f} times: {'met' if many <= FLAT * few else 'not met'}")
    print(
        json.dumps(
            {
                "share_of_ideal": shares,
                "cpu_ms_a_call": {row["name"]: round(row["cpu"], 2) for row in rows},
                "share_of_bare_loop": {row["name"]: round(row["bare"] / row["seconds"], 3) for row in rows},
                "memory_mib": {str(asked.few): round(few, 1), str(asked.many): round(many, 1)},
            }
        )
    )


if __name__ == "__main__":
    main()
