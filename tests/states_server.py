"""Small real servers that speak SGLang's and vLLM's messages for hidden states, beside chat completions.

    with serve_sglang(folder, ids=[1]) as server:
        source = SGLangStates(server.root, str(folder))

A tiny transformers model computes the states in plain forward passes, laid out as in the servers' sources.
What goes wrong is ordered as in `openai_server`, or with `spoil`, which changes a reply before it is sent.
"""

import asyncio
import fcntl
import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fastapi import FastAPI, Request
from fastapi.responses import Response
from openai_server import Received, Server, app, refusal, running
from safetensors.torch import save_file
from starlette.concurrency import run_in_threadpool

from knowwhen.models import ChatTransformers
from knowwhen.models.weights import load_weights

Spoil = Callable[[Any], Any]


@dataclass
class StatesServer:
    """A running server, its address without /v1, and what was posted to its scoring route, in order."""

    server: Server
    scored: list[dict[str, Any]]

    @property
    def root(self) -> str:
        return self.server.base_url.removesuffix("/v1")


def residual(folder: Path, ids: list[int], layer: int) -> torch.Tensor:
    """The residual stream behind a layer, counted from 1, at every token, (tokens, width)."""
    model = load_weights(str(folder)).model
    with torch.inference_mode():
        states: torch.Tensor = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0]
    return states


@contextmanager
def serve_sglang(
    folder: Path, ids: list[int] | None, spoil: Spoil = lambda reply: reply, **faults: Any
) -> Iterator[StatesServer]:
    """Serve as SGLang 0.5.23 does when launched to capture the layers `ids`, counted from 0."""
    scored: list[dict[str, Any]] = []

    def routes(server: Server) -> FastAPI:
        routes = app(ChatTransformers(path=str(folder)), server)

        @routes.get("/server_info")
        def server_info() -> dict[str, Any]:
            capture = None if ids is None else "eagle3"
            return {"aux_hidden_state_capture": capture, "return_aux_hidden_state_layer_ids": ids}

        def generated(body: dict[str, Any]) -> list[dict[str, Any]]:
            assert body["sampling_params"]["max_new_tokens"] == 1
            assert body["return_hidden_states"] == "last"
            replies = []
            for tokens in body["input_ids"]:
                states = [residual(folder, tokens, layer + 1)[-1] for layer in sorted(ids or [])]
                meta = {"prompt_tokens": len(tokens), "completion_tokens": 1}
                replies.append(
                    {"text": "", "meta_info": meta | {"hidden_states": [torch.cat(states).tolist()]}}
                )
            return replies

        @routes.post("/generate")
        async def generate(request: Request) -> Response:
            return await scoring(request, server, scored, generated, spoil)

        return routes

    with running(routes, **faults) as server:
        yield StatesServer(server, scored)


@contextmanager
def serve_vllm(
    folder: Path,
    layers: list[int],
    storage: Path,
    spoil: Spoil = lambda reply: reply,
    tensors: Spoil = lambda tensors: tensors,
    writing: float = 0.05,
    **faults: Any,
) -> Iterator[StatesServer]:
    """Serve as vLLM does when launched to extract `layers`, counted from 1, to the folder `storage`.

    Files are written `writing` seconds after the reply, which names them as another machine would see them.
    What is written can be changed with `tensors`.
    """
    scored: list[dict[str, Any]] = []
    written: list[threading.Thread] = []

    def write(file: Path, tokens: list[int], lock: int) -> None:
        time.sleep(writing)
        states = torch.stack([residual(folder, tokens, layer) for layer in sorted(layers)], dim=1)
        save_file(tensors({"hidden_states": states.contiguous(), "token_ids": torch.tensor(tokens)}), file)
        os.close(lock)

    def completed(body: dict[str, Any]) -> dict[str, Any]:
        assert body["model"] == "tiny" and body["max_tokens"] == 1
        file = storage / f"{uuid.uuid4()}.safetensors"
        lock = os.open(f"{file}.lock", os.O_CREAT | os.O_WRONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        written.append(threading.Thread(target=write, args=(file, body["prompt"], lock)))
        written[-1].start()
        usage = {"prompt_tokens": len(body["prompt"]), "completion_tokens": 1}
        named = {"hidden_states_path": f"/on/the/server/{file.name}"}
        return {"choices": [{"text": ""}], "usage": usage, "kv_transfer_params": named}

    def routes(server: Server) -> FastAPI:
        routes = FastAPI()

        @routes.post("/v1/completions")
        async def completions(request: Request) -> Response:
            return await scoring(request, server, scored, completed, spoil)

        return routes

    with running(routes, **faults) as server:
        yield StatesServer(server, scored)
    for thread in written:
        thread.join()


async def scoring(
    request: Request, server: Server, scored: list[dict[str, Any]], reply: Callable[[Any], Any], spoil: Spoil
) -> Response:
    """One scoring request: with the ordered fault, or answered in a thread as real servers do."""
    body = await request.json()
    scored.append(body)
    received = Received(body, time.monotonic())
    server.requests.append(received)
    faults = server.faults
    if faults.hang:
        await asyncio.sleep(faults.hang)
    if faults.statuses:
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return refusal(faults.statuses.pop(0), f"a failure was ordered, key: {key}")
    answered = spoil(await run_in_threadpool(reply, body))
    received.status, received.answered = 200, time.monotonic()
    return Response(
        answered if isinstance(answered, str) else json.dumps(answered), media_type="application/json"
    )
