"""A small real server of OpenAI's chat completions on 127.0.0.1, with faults to switch on.

    with serve(ChatTransformers(path=folder), statuses=[429, 503], retry_after="0.1") as server:
        model = ChatOpenAI(base_url=server.base_url, api_key="x", model="tiny", use_responses_api=False)

Behind it stands any chat model. Each fault is a field of `Faults` and can be changed while the server runs.
"""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, convert_to_messages
from starlette.concurrency import run_in_threadpool

from knowwhen.models.errors import KnowwhenError

SETTINGS = ("temperature", "top_p", "n", "logprobs", "top_logprobs", "seed", "tools", "tool_choice")


@dataclass
class Faults:
    """What goes wrong.

    Attributes:
        statuses: answers with an error, one for each of the next requests.
        retry_after: the Retry-After header of those, as sent.
        drops: how many of the next requests find their connection closed without an answer.
        hang: seconds before anything is answered.
        without_logprobs: leave log-probabilities out although asked for.
        without_usage: leave the token counts out.
        one_sample: answer with one choice whatever n.
    """

    statuses: list[int] = field(default_factory=list)
    retry_after: str | None = None
    drops: int = 0
    hang: float = 0.0
    without_logprobs: bool = False
    without_usage: bool = False
    one_sample: bool = False


@dataclass
class Received:
    """One request: its body, when it came and was answered (seconds of time.monotonic), its status."""

    body: dict[str, Any]
    came: float
    answered: float | None = None
    status: int | None = None


@dataclass
class Server:
    """A running server: its address up to /v1, its faults, and what it received, in order."""

    base_url: str
    faults: Faults
    requests: list[Received] = field(default_factory=list)

    def most_at_once(self) -> int:
        """How many answered requests were in flight at the same time, at most."""
        spans = [(request.came, request.answered) for request in self.requests if request.answered]
        return max((sum(came <= at < gone for came, gone in spans) for at, _ in spans), default=0)


@contextmanager
def serve(model: BaseChatModel, **faults: Any) -> Iterator[Server]:
    """Serve `model` on a free port until the block is left."""
    with running(lambda server: app(model, server), **faults) as server:
        yield server


@contextmanager
def running(routes: Callable[[Server], FastAPI], **faults: Any) -> Iterator[Server]:
    """Run an application, made for the server that it belongs to, until the block is left."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = Server(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", Faults(**faults))
    config = uvicorn.Config(routes(server), log_level="critical", timeout_graceful_shutdown=1)
    served = uvicorn.Server(config)
    thread = threading.Thread(target=served.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not served.started:
        time.sleep(0.005)
    try:
        yield server
    finally:
        served.should_exit = True
        thread.join()
        listening.close()


def app(model: BaseChatModel, server: Server) -> FastAPI:
    """The two routes that a client of chat completions uses."""
    routes = FastAPI()

    @routes.get("/v1/models")
    def models() -> dict[str, Any]:
        return {"object": "list", "data": [{"id": "tiny", "object": "model", "owned_by": "tests"}]}

    @routes.post("/v1/chat/completions")
    async def chat_completions(request: Request) -> Response:
        received = Received(await request.json(), time.monotonic())
        server.requests.append(received)
        response = await answer(model, server.faults, request, received.body)
        received.status, received.answered = response.status_code, time.monotonic()
        return response

    return routes


async def answer(model: BaseChatModel, faults: Faults, request: Request, body: dict[str, Any]) -> Response:
    if faults.drops > 0:
        faults.drops -= 1
        request.receive.__self__.transport.abort()  # uvicorn's own cycle: no public way to hang up
        return Response()
    status = faults.statuses.pop(0) if faults.statuses else None
    if faults.hang:
        await asyncio.sleep(faults.hang)
    if status is not None:
        headers = {"Retry-After": faults.retry_after} if faults.retry_after is not None else None
        return refusal(status, f"status {status} was ordered", headers)
    try:
        if body.get("stream") and body.get("n", 1) == 1:
            return StreamingResponse(streamed(model, faults, body), media_type="text/event-stream")
        return JSONResponse(await run_in_threadpool(completion, model, faults, body))
    except KnowwhenError as error:
        return refusal(400, str(error))


def refusal(status: int, reason: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": {"message": reason, "type": "error", "code": status}}, status, headers)


def completion(model: BaseChatModel, faults: Faults, body: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request that does not stream."""
    result = model.generate([convert_to_messages(body["messages"])], **settings(body))
    messages = [generation.message for generation in result.generations[0]]  # type: ignore[union-attr]
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": message.text, **tool_calls(message)},
            "logprobs": logprobs(faults, message),
            "finish_reason": message.response_metadata.get("finish_reason", "stop"),
        }
        for index, message in enumerate(messages)
    ]
    answered = head(body, "chat.completion") | {"choices": choices[:1] if faults.one_sample else choices}
    if not faults.without_usage:
        answered["usage"] = usage(messages[0])
    return answered


def streamed(model: BaseChatModel, faults: Faults, body: dict[str, Any]) -> Iterator[str]:
    """The server-sent events of one streamed sample, the usage last if asked for."""

    def event(choices: list[dict[str, Any]], **more: Any) -> str:
        return f"data: {json.dumps(head(body, 'chat.completion.chunk') | {'choices': choices} | more)}\n\n"

    whole: AIMessageChunk | None = None
    for chunk in model.stream(convert_to_messages(body["messages"]), **settings(body)):
        whole = chunk if whole is None else whole + chunk
        choice = {
            "index": 0,
            "delta": {"role": "assistant", "content": str(chunk.text), **tool_calls(chunk)},
            "logprobs": logprobs(faults, chunk),
            "finish_reason": chunk.response_metadata.get("finish_reason"),
        }
        yield event([choice])
    if (body.get("stream_options") or {}).get("include_usage") and not faults.without_usage:
        yield event([], usage=usage(whole))
    yield "data: [DONE]\n\n"


def tool_calls(message: AIMessage) -> dict[str, Any]:
    """A message's calls as OpenAI writes them; also of a piece of a stream."""
    if isinstance(message, AIMessageChunk):
        calls = [(c["id"], c["name"], c["args"] or "", c["index"]) for c in message.tool_call_chunks]
    else:
        calls = [(c["id"], c["name"], json.dumps(c["args"]), i) for i, c in enumerate(message.tool_calls)]
    made = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": written}, "index": index}
        for id, name, written, index in calls
    ]
    return {"tool_calls": made} if made else {}


def settings(body: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments for the model that a request's body asks for."""
    given = {name: body[name] for name in SETTINGS if body.get(name) is not None}
    most = body.get("max_completion_tokens", body.get("max_tokens"))
    stop = body.get("stop")
    if most is not None:
        given["max_tokens"] = most
    return given | {"stop": [stop] if isinstance(stop, str) else stop}


def head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": body.get("model")}


def logprobs(faults: Faults, message: AIMessage) -> dict[str, Any] | None:
    return None if faults.without_logprobs else message.response_metadata.get("logprobs")


def usage(message: AIMessage | None) -> dict[str, int]:
    counts = (message and message.usage_metadata) or {}
    names = {
        "prompt_tokens": "input_tokens",
        "completion_tokens": "output_tokens",
        "total_tokens": "total_tokens",
    }
    return {name: counts.get(source, 0) for name, source in names.items()}
