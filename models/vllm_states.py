"""Hidden states from a vLLM server, which writes them to files."""

import fcntl
import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePath
from typing import Any

from safetensors import SafetensorError, safe_open

from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.models.errors import ModelError, SettingsError
from knowwhen.models.remote_states import Ask, RemoteStates

PAUSE = 0.01  # seconds between two looks at a file that is being written


class VLLMStates(RemoteStates):
    r"""Reads the states behind answers on a vLLM server that was launched to extract them.

        >>> server = "http://localhost:8000/v1"
        >>> source = VLLMStates(server, "Qwen/Qwen3-8B", layers=[18], folder="/dev/shm/states")
        >>> answers = ChatOpenAI(base_url="http://localhost:8001/v1", api_key="none", model="Qwen/Qwen3-8B")
        >>> model = ChatWithStates(answers=answers, source=source)

    The server's ids of layers count from 1, as here:

        vllm serve Qwen/Qwen3-8B --no-enable-chunked-prefill \
            --speculative_config '{"method": "extract_hidden_states", "num_speculative_tokens": 1,
              "draft_model_config": {"hf_config": {"eagle_aux_hidden_state_layer_ids": [18]}}}' \
            --kv_transfer_config '{"kv_connector": "ExampleHiddenStatesConnector", "kv_role": "kv_producer",
              "kv_connector_extra_config": {"shared_storage_path": "/dev/shm/states"}}'

    Each answer is one request to `/completions`, a list of token ids with one token to be drawn. The reply
    names a safetensors file, in `kv_transfer_params.hidden_states_path`, of `hidden_states` (tokens, layers,
    width) and `token_ids` for the tokens fed; the server holds a lock beside it until all is written. Both
    are removed once read. Such a server writes a file for every request, also for one that only asks for
    answers, so let another one answer. It does not tell its layers: give those it was launched with.

    Read in the sources of vLLM's main branch at 015a95c and 030ea52 (`example_hidden_states_connector.py`,
    `entrypoints/openai/completion/serving.py`) and its page on hidden state extraction; never run against a
    real server.

    Args:
        base_url: the server's address up to /v1.
        path: folder or hub id of the model that the server runs.
        layers: those that the server was launched with, counted from 1.
        folder: the server's `shared_storage_path` as this machine sees it.
        model: the name under which the server knows the model; `path` by default.
        settings: `api_key`, `timeout`, `max_concurrency` and `max_attempts`, as in `RemoteStates`.

    Raises:
        SettingsError: no layers, or what `RemoteStates` refuses.
    """

    kind = "vLLM"

    def __init__(
        self,
        base_url: str,
        path: str,
        *,
        layers: Sequence[int],
        folder: str | Path,
        model: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(base_url, path, **settings)
        if not layers:
            raise SettingsError("layers must name those that the vLLM server was launched with")
        self.layers = layers
        self.folder = Path(folder)
        self.model = model or path

    def _layers(self, ask: Ask, layer: int) -> Sequence[int]:
        return self.layers

    def _rows(self, ask: Ask, sequences: list[list[int]], layer: int) -> tuple[Sequence[Any], Cost]:
        def row(tokens: list[int]) -> tuple[Any, Cost]:
            body = {"model": self.model, "prompt": tokens, "max_tokens": 1, "temperature": 0}
            reply = ask("POST", "completions", body)
            try:
                named = str(reply["kv_transfer_params"]["hidden_states_path"])
            except (KeyError, TypeError) as error:
                raise self._without_states(layer) from error
            return self._read(self.folder / PurePath(named).name, tokens), _cost(reply)

        with ThreadPoolExecutor(self.max_concurrency) as pool:
            told = list(pool.map(row, sequences))
        cost = NO_COST
        for _, each in told:
            cost = add_costs(cost, each)
        return [states for states, _ in told], cost

    def _read(self, file: Path, tokens: list[int]) -> Any:
        """The states at the last of `tokens`, all layers in a row; removes the file and its lock."""
        lock = file.with_name(file.name + ".lock")
        try:
            try:
                self._wait(lock)
                with safe_open(file, framework="pt") as saved:
                    fed = saved.get_tensor("token_ids").tolist()
                    if fed != tokens:
                        raise ModelError(
                            f"{self} wrote states of {len(fed)} tokens that are not the {len(tokens)} it was "
                            "given; check that nothing else writes to its folder"
                        )
                    return saved.get_slice("hidden_states")[len(tokens) - 1].flatten().float().numpy()
            finally:
                file.unlink(missing_ok=True)
                lock.unlink(missing_ok=True)
        except FileNotFoundError as error:
            raise ModelError(
                f"{self} wrote {file.name}, which is not in {self.folder}; give folder= as this machine sees "
                "the server's shared_storage_path"
            ) from error
        except (OSError, SafetensorError) as error:
            raise ModelError(
                f"{file}, which {self} wrote, cannot be read and removed ({error}); let both run as one "
                "user, and leave its use_synchronization_lock on"
            ) from error

    def _wait(self, lock: Path) -> None:
        """Wait until the server has let go of the lock; it has none if it was told to use none."""
        if not lock.exists():
            return
        end = time.monotonic() + self.timeout
        with lock.open() as held:
            while True:
                try:
                    fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    return
                except BlockingIOError as error:
                    if time.monotonic() > end:
                        raise ModelError(
                            f"{self} did not finish writing {lock.stem} within {self.timeout:g} seconds; "
                            "give it a longer timeout"
                        ) from error
                    time.sleep(PAUSE)

    def _way_out(self, layer: int) -> str:
        speculative = {
            "method": "extract_hidden_states",
            "num_speculative_tokens": 1,
            "draft_model_config": {"hf_config": {"eagle_aux_hidden_state_layer_ids": [layer]}},
        }
        return (
            f"launch it with --speculative_config '{json.dumps(speculative)}' and the "
            f"ExampleHiddenStatesConnector, and give layers=[{layer}]"
        )


def _cost(reply: dict[str, Any]) -> Cost:
    usage = reply.get("usage") or {}
    return Cost(
        model_calls=1,
        sequences=0,
        input_tokens=usage.get("prompt_tokens", 0),
        output_tokens=usage.get("completion_tokens", 0),
        retrievals=0,
        passages=0,
    )
