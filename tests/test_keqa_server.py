"""The same graph over HTTP, through langchain-openai against a real server, and on models that run here."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from keqa_script import FOUND, N, Pupil, Q, Story, ask, label, reference_in
from langchain_openai import ChatOpenAI
from openai_server import Server, serve
from self_dc_script import Shelf, notes, routes
from tiny_models import save_tiny_model

from knowwhen.graphs import Method, keqa
from knowwhen.models.errors import CapabilityError
from knowwhen.models.transformers_chat import ChatTransformers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reference set of 8 labelled passages."""
    folder: Path = tmp_path_factory.mktemp("reference")
    reference_in(folder, [label(number, 1 if number % 2 else -1) for number in range(8)])
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ChatTransformers:
    """A random model whose window holds KEQA's prompts."""
    folder: Path = save_tiny_model(tmp_path_factory.mktemp("tiny") / "wide", context=8192)
    return ChatTransformers(path=str(folder))


@pytest.fixture
def pupil() -> Iterator[Server]:
    """A server behind which a scripted pupil stands."""
    with serve(Pupil(Story())) as running:
        yield running


def over_http(server: Server, **settings: Any) -> Method:
    model = ChatOpenAI(
        base_url=server.base_url, api_key="x", model="tiny", max_retries=0, use_responses_api=False
    )
    return keqa(model, Shelf(), **{"shown": "none", "demonstrations": (), **settings})


def test_over_http_it_is_the_same_to_the_call(pupil: Server) -> None:
    output = over_http(pupil).invoke({"question": Q})
    assert output == ask(Story())
    bodies = [request.body for request in pupil.requests]
    assert len(bodies) == output["cost"]["model_calls"]
    assert sorted(body["n"] for body in bodies if body.get("n", 1) > 1) == [N, N]
    drawn = {body["temperature"] for body in bodies if body.get("n", 1) > 1}
    assert drawn == {1.0} and not any(body.get("logprobs") for body in bodies)


def test_labelled_passages_are_sent_as_turns(pupil: Server, folder: Path) -> None:
    over_http(pupil, shown="nearest", reference=folder, quizzes=False).invoke({"question": Q})
    talks = [request.body["messages"] for request in pupil.requests if len(request.body["messages"]) > 1]
    assert len(talks) == FOUND
    for talk in talks:
        assert [turn["role"] for turn in talk] == ["user", "assistant"] * 8 + ["user"]
        assert (
            sorted(turn["content"] for turn in talk if turn["role"] == "assistant")
            == ["no"] * 4 + ["yes"] * 4
        )


def test_a_server_that_sends_one_answer_is_refused_in_one_line(pupil: Server) -> None:
    pupil.faults.one_sample = True
    with pytest.raises(CapabilityError) as refused:
        over_http(pupil).invoke({"question": Q})
    said = str(refused.value)
    assert said.startswith("keqa's assessment of quizzes needs 5 samples in one request, and the server of")
    assert "\n" not in said
    assert over_http(pupil, assess=False).invoke({"question": Q})["answer"] == "Zeno"


def test_a_server_that_fails_for_a_moment_is_asked_again(pupil: Server) -> None:
    pupil.faults.statuses = [503, 429]
    pupil.faults.retry_after = "0.05"
    assert over_http(pupil).invoke({"question": Q}) == ask(Story())


def test_a_models_own_samples_are_assessed(tiny: ChatTransformers) -> None:
    with serve(tiny) as server:
        output = over_http(server, max_tokens=8, judge="match").invoke({"question": Q})
    assert json.loads(json.dumps(output)) == output
    (only,) = output["steps"]
    assert notes(output)["1"][0].startswith("not divided, no quiz in ")
    assert len(only["details"]["samples"]) == N and len(set(only["details"]["samples"])) > 1
    assert (only["route"], only["estimator"]) == ("retrieve", "consistency") and only["score"] <= 0.4


def test_a_local_model_judges_all_passages_in_one_call(tiny: ChatTransformers, folder: Path) -> None:
    batches: list[int] = []

    class Counting(ChatTransformers):
        def sample(self, prompts: Any, *args: Any, **kwargs: Any) -> Any:
            batches.append(len(prompts))
            return super().sample(prompts, *args, **kwargs)

    model = Counting(path=tiny.path)
    output = keqa(model, Shelf(), reference=folder, max_tokens=8, quizzes=False).invoke({"question": Q})
    judged = output["steps"][0]["details"]["judged"]
    assert batches == [judged, FOUND]
    # One of assessment, and of reading where a passage was kept or no answer said anything.
    assert output["cost"]["model_calls"] - judged - FOUND in (1, 2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("settings", [{}, {"shown": "none", "extract": True}, {"judge": "match"}])
def test_the_pocket_model_answers_an_almanacs_question(settings: dict[str, Any]) -> None:
    from knowwhen.almanac import default_world
    from knowwhen.almanac.splits import questions_of

    asked = next(q for q in questions_of(default_world(), "test") if q.kind == "comparison")
    output = keqa(**settings).invoke({"question": asked.question})
    assert json.loads(json.dumps(output)) == output
    assert output["answer"] and set(routes(output)) >= {"1"}
    assert output["cost"]["model_calls"] > 0 and output["cost"]["input_tokens"] > 0
