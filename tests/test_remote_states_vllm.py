"""States behind a server's answers, written to files by a vLLM server."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from langchain_core.messages import BaseMessage, HumanMessage
from scripted import ScriptedChat
from states_server import StatesServer, serve_vllm
from tiny_models import FAMILIES, save_tiny_model

from knowwhen.models import Capability, ChatWithStates, Door, HalfDepth, VLLMStates
from knowwhen.models.errors import CapabilityError, KnowwhenError, ModelError, SettingsError
from knowwhen.models.evidence import Answer

QUESTIONS: list[list[BaseMessage]] = [
    [HumanMessage("Which of the two films has the older director?")],
    [HumanMessage("When?")],
]
ANSWERS = [
    [Answer("He was born in 1482."), Answer("")],
    [Answer("nobody knows, in the city"), Answer("1482")],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "llama", layers=4)


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "states").mkdir()
    return tmp_path / "states"


def source_of(server: StatesServer, path: Path, storage: Path, **settings: Any) -> VLLMStates:
    given: dict[str, Any] = {"layers": [2], "folder": storage, "model": "tiny", "max_attempts": 1, **settings}
    return VLLMStates(server.server.base_url, str(path), **given)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("layer", "layers"), [(None, [2]), (3, [3, 1]), (1, [3, 1])])
def test_vllms_states_are_those_of_a_local_copy(
    tmp_path: Path, storage: Path, family: Any, layer: int | None, layers: list[int]
) -> None:
    path = save_tiny_model(tmp_path / "tiny", family, layers=4)
    with serve_vllm(path, layers, storage) as server:
        remote = source_of(server, path, storage, layers=layers).states(
            QUESTIONS, ANSWERS, (layer, "residual")
        )
    local = HalfDepth(str(path)).states(QUESTIONS, ANSWERS, (layer, "residual"))
    for one, other in zip(remote, local, strict=True):
        assert (one.layer, one.site) == (other.layer, other.site)
        np.testing.assert_allclose(one.values, other.values, atol=1e-4)
    assert not list(storage.iterdir())  # files and locks are removed once read


def test_files_in_bfloat16_are_read(folder: Path, storage: Path) -> None:
    def halved(tensors: Any) -> Any:
        return tensors | {"hidden_states": tensors["hidden_states"].bfloat16()}

    with serve_vllm(folder, [2], storage, tensors=halved) as server:
        (remote, _) = source_of(server, folder, storage).states(QUESTIONS, ANSWERS, (2, "residual"))
    (local, _) = HalfDepth(str(folder)).states(QUESTIONS, ANSWERS, (2, "residual"))
    assert remote.values.dtype == np.float32
    np.testing.assert_allclose(remote.values, local.values, rtol=0.01)


def test_behind_the_door_reading_is_counted(folder: Path, storage: Path) -> None:
    with serve_vllm(folder, [2], storage) as server:
        model = ChatWithStates(
            answers=ScriptedChat(["Paris", "Rome"]), source=source_of(server, folder, storage)
        )
        door = Door(model, needs=[Capability.HIDDEN_STATES])
        (found,) = door.sample(["Where?"], 2, greedy=False, states=(2, "residual"))
    assert found.states is not None and found.states.values.shape == (2, 64)
    assert found.cost is not None
    assert (found.cost["model_calls"], found.cost["sequences"]) == (3, 2)
    assert found.cost["input_tokens"] >= sum(len(body["prompt"]) for body in server.scored)


def refused(
    kind: type[KnowwhenError], source: VLLMStates, at: tuple[int | None, Any] = (2, "residual")
) -> str:
    with pytest.raises(kind) as caught:
        source.states(QUESTIONS, ANSWERS, at)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_vllm_does_not_show_is_refused_before_it_is_asked(folder: Path, storage: Path) -> None:
    with serve_vllm(folder, [2], storage) as server:
        source = source_of(server, folder, storage)
        assert "shows the residual stream only, not the site 'mlp'" in refused(
            CapabilityError, source, (None, "mlp")
        )
        wrong_layer = refused(CapabilityError, source, (3, "residual"))
        assert "shows the states of layer 2, not of layer 3; launch it with" in wrong_layer
        assert '"eagle_aux_hidden_state_layer_ids": [3]' in wrong_layer
        assert not server.scored
    with pytest.raises(SettingsError, match="layers must name those"):
        source_of(server, folder, storage, layers=[])


def test_a_server_without_the_connector_is_told_how_to_be_launched(folder: Path, storage: Path) -> None:
    for named in (None, {}):
        with serve_vllm(
            folder, [2], storage, lambda reply, named=named: {"kv_transfer_params": named}
        ) as server:
            said = refused(CapabilityError, source_of(server, folder, storage))
        assert "sent no hidden states; launch it with --speculative_config" in said


def test_other_layers_than_were_named_are_noticed_by_their_number(folder: Path, storage: Path) -> None:
    with serve_vllm(folder, [1, 2], storage) as server:
        said = refused(ModelError, source_of(server, folder, storage))
    assert "of shape (2, 128) where (2, 64) was expected" in said
    assert not list(storage.iterdir())


def test_states_that_are_not_finite_are_refused(folder: Path, storage: Path) -> None:
    def broken(tensors: Any) -> Any:
        tensors["hidden_states"][-1, 0, 5] = torch.nan
        return tensors

    with serve_vllm(folder, [2], storage, tensors=broken) as server:
        assert "states that are not finite" in refused(ModelError, source_of(server, folder, storage))


def test_a_file_of_other_tokens_is_refused_and_removed(folder: Path, storage: Path) -> None:
    def shortened(tensors: Any) -> Any:
        return {name: tensor[:-1].clone() for name, tensor in tensors.items()}

    with serve_vllm(folder, [2], storage, tensors=shortened) as server:
        said = refused(ModelError, source_of(server, folder, storage))
    assert "tokens that are not the" in said
    assert not list(storage.iterdir())


def test_a_folder_without_the_file_and_a_file_that_is_none_are_one_line(
    folder: Path, storage: Path, tmp_path: Path
) -> None:
    with serve_vllm(folder, [2], storage) as server:
        said = refused(ModelError, source_of(server, folder, tmp_path))
        assert "give folder= as this machine sees the server's shared_storage_path" in said

    def unlocked(reply: Any) -> Any:  # a file half written, and no lock that tells so
        name = Path(reply["kv_transfer_params"]["hidden_states_path"]).name
        (storage / f"half-{name}").write_bytes(b"half")
        return {"kv_transfer_params": {"hidden_states_path": f"/on/the/server/half-{name}"}}

    with serve_vllm(folder, [2], storage, unlocked) as server:
        said = refused(ModelError, source_of(server, folder, storage))
    assert "cannot be read and removed" in said and "use_synchronization_lock" in said


def test_a_file_that_is_not_written_in_time_is_one_line(folder: Path, storage: Path) -> None:
    with serve_vllm(folder, [2], storage, writing=3.0) as server:
        said = refused(ModelError, source_of(server, folder, storage, timeout=0.5))
    assert "did not finish writing" in said and "within 0.5 seconds; give it a longer timeout" in said


def test_a_server_that_fails_is_asked_again(folder: Path, storage: Path) -> None:
    with serve_vllm(folder, [2], storage, statuses=[503]) as server:
        found = source_of(server, folder, storage, max_attempts=2).states(QUESTIONS, ANSWERS, (2, "residual"))
        assert len(found) == 2 and len(server.scored) == 5
        server.server.faults.statuses = [404]
        assert "answered 404" in refused(ModelError, source_of(server, folder, storage))


def test_no_more_requests_are_in_flight_than_allowed_whoever_asks(folder: Path, storage: Path) -> None:
    for bound in (1, 3):
        with serve_vllm(folder, [2], storage) as server, ThreadPoolExecutor(4) as pool:
            source = source_of(server, folder, storage, max_concurrency=bound)
            asked = [pool.submit(source.states, QUESTIONS, ANSWERS, (2, "residual")) for _ in range(4)]
            assert len([found.result() for found in asked]) == 4
            assert len(server.scored) == 16
            assert server.server.most_at_once() <= bound
