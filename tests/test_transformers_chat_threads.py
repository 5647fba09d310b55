"""Many callers of one local model: turns, streams that stop half-way, cancelled calls."""

import _thread
import asyncio
import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from langchain_core.messages import AIMessageChunk, HumanMessage
from tiny_models import endless_llama, save_tiny_model, tiny_llama, tiny_model  # noqa: F401

from knowwhen.models.transformers_chat import ChatTransformers
from knowwhen.models.weights import load_weights

PROMPT = "Which of the two films has the older director?"
FOREVER = 20_000  # tokens; a call that nobody stops runs into the test's time-out


@pytest.fixture
def chat(tiny_llama: Path) -> ChatTransformers:  # noqa: F811
    return ChatTransformers(path=str(tiny_llama), max_tokens=16)


@pytest.fixture
def endless(endless_llama: Path) -> ChatTransformers:  # noqa: F811
    return ChatTransformers(path=str(endless_llama), max_tokens=FOREVER)


@contextmanager
def passes(model: ChatTransformers, then: Callable[[int], object] = id) -> Iterator[list[int]]:
    """Numbers of the model's forward passes, as they are made; `then` is told each."""
    numbers: list[int] = []

    def note(*_: object) -> None:
        numbers.append(len(numbers) + 1)
        then(numbers[-1])

    hook = model.weights.model.register_forward_hook(note)
    try:
        yield numbers
    finally:
        hook.remove()


def merged(chunks: list[AIMessageChunk]) -> AIMessageChunk:
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    return whole


def test_twenty_threads_get_what_one_gets(chat: ChatTransformers):
    def ask(number: int) -> list[str]:
        settings = {} if number % 2 else {"n": 3, "temperature": 1.0, "seed": number, "stop": ["e"]}
        result = chat.generate([[HumanMessage(f"{PROMPT} {number}")]], **settings)
        return [sample.text for sample in result.generations[0]]

    alone = [ask(number) for number in range(20)]
    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(ask, range(20))) == alone


def test_calls_take_turns_so_that_one_cache_is_in_memory_at_a_time(chat: ChatTransformers):
    runners: list[int] = []
    with passes(chat, lambda _: runners.append(threading.get_ident())), ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: chat.invoke(PROMPT, max_tokens=10), range(6)))
    assert len(runners) == 60
    turns = [runners[at : at + 10] for at in range(0, 60, 10)]
    assert all(len(set(turn)) == 1 for turn in turns)


def test_threads_that_load_at_once_share_one_model(tmp_path: Path):
    folder = save_tiny_model(tmp_path / "fresh")
    start = threading.Barrier(8)

    def load(_: int) -> int:
        start.wait()
        return id(load_weights(str(folder)))

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(load, range(8)))) == 1


def test_a_stream_adds_up_to_the_whole_answer(tiny_model: Path):  # noqa: F811
    model = ChatTransformers(path=str(tiny_model), max_tokens=60)
    plain = model.invoke(PROMPT).content
    for stop in ([], [plain[20:23], "never written"]):
        whole = model.invoke(PROMPT, stop=stop, logprobs=True, top_logprobs=2)
        chunks = list(model.stream(PROMPT, stop=stop, logprobs=True, top_logprobs=2))
        streamed = merged(chunks)
        assert streamed.content == whole.content
        assert streamed.usage_metadata == whole.usage_metadata
        assert [chunk.usage_metadata for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
        kept = ("finish_reason", "model_name", "logprobs")
        assert all(streamed.response_metadata[name] == whole.response_metadata[name] for name in kept)
        assert len(chunks) > 5


def test_a_seeded_sample_streams_as_it_is_drawn_at_once(chat: ChatTransformers):
    for seed in range(3):
        settings = {"temperature": 1.3, "top_p": 0.95, "seed": seed, "max_tokens": 50, "stop": ["ab", "th"]}
        streamed = "".join(chunk.content for chunk in chat.stream(PROMPT, **settings))
        assert streamed == chat.invoke(PROMPT, **settings).content


def test_the_first_piece_of_a_stream_comes_before_the_last_is_made(endless: ChatTransformers):
    with passes(endless) as numbers:
        stream = endless.stream(PROMPT)
        next(stream)
        assert len(numbers) < 10
        stream.close()


def test_a_stream_left_half_way_neither_runs_on_nor_blocks(endless: ChatTransformers):
    expected = endless.invoke(PROMPT, max_tokens=5).content
    with passes(endless) as numbers:
        paused = endless.stream(PROMPT)
        for _ in range(3):
            next(paused)
        assert endless.invoke(PROMPT, max_tokens=5).content == expected  # the reader itself asks again
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(endless.invoke, PROMPT, max_tokens=5).result().content == expected
        paused.close()
        before = len(numbers)
        time.sleep(0.05)
        assert len(numbers) == before
        assert endless.invoke(PROMPT, max_tokens=5).content == expected
        assert len(numbers) == before + 5


def test_a_cancelled_call_stops_soon_and_the_next_one_is_answered(endless: ChatTransformers):
    expected = endless.invoke(PROMPT, max_tokens=5).content

    async def cancel(start: Callable[[], object]) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(start())
        with passes(endless, lambda count: count == 20 and loop.call_soon_threadsafe(task.cancel)) as numbers:
            with pytest.raises(asyncio.CancelledError):
                await task
            answer = await endless.ainvoke(PROMPT, max_tokens=5)
            assert answer.content == expected
            assert len(numbers) < FOREVER / 20  # until the loop woke up, and five more
            settled = len(numbers)
            await asyncio.sleep(0.05)
            assert len(numbers) == settled

    async def read() -> None:
        async for _ in endless.astream(PROMPT):
            pass

    asyncio.run(cancel(lambda: endless.ainvoke(PROMPT)))
    asyncio.run(cancel(read))


def test_ctrl_c_stops_a_call_and_the_next_one_is_answered(endless: ChatTransformers):
    expected = endless.invoke(PROMPT, max_tokens=5).content

    def interrupt(count: int) -> None:
        if count == 20:
            _thread.interrupt_main()

    with passes(endless, interrupt) as numbers, pytest.raises(KeyboardInterrupt):
        endless.invoke(PROMPT)
    assert len(numbers) < 25
    assert endless.invoke(PROMPT, max_tokens=5).content == expected


def test_log_probabilities_keep_no_rows_of_the_vocabulary(endless: ChatTransformers):
    entries = len(endless.weights.tokenizer)
    rows: dict[int, int] = {}

    def count_rows(count: int) -> None:
        if count in (10, 60):
            rows[count] = sum(
                tensor.numel() // entries
                for tensor in gc.get_objects()
                if type(tensor) is torch.Tensor and tensor.ndim and tensor.shape[-1] == entries
            )

    with passes(endless, count_rows):
        endless.invoke(PROMPT, max_tokens=60, logprobs=True, top_logprobs=5)
    assert rows[60] == rows[10]


def test_loading_and_answering_print_nothing(tiny_llama: Path):  # noqa: F811
    program = f"""
from knowwhen.models.transformers_chat import ChatTransformers
from langchain_core.messages import HumanMessage
model = ChatTransformers(path={str(tiny_llama)!r}, max_tokens=5)
model.invoke("Who?", logprobs=True, stop=["x"])
model.generate([[HumanMessage("Who?")]], n=3, temperature=1.0, top_p=0.9, top_k=5, seed=1)
list(model.stream("Who?"))
model.get_num_tokens("film " * 2000)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
