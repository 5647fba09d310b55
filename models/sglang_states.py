"""Hidden states from an SGLang server."""

from collections.abc import Sequence
from typing import Any

from knowwhen.models.cost import Cost
from knowwhen.models.errors import CapabilityError
from knowwhen.models.remote_states import Ask, RemoteStates


class SGLangStates(RemoteStates):
    r"""Reads the states behind answers on an SGLang server that was launched to show inner layers.

        >>> server = "http://localhost:30000"
        >>> answers = ChatOpenAI(base_url=f"{server}/v1", api_key="none", model="Qwen/Qwen3-8B")
        >>> model = ChatWithStates(answers=answers, source=SGLangStates(server, "Qwen/Qwen3-8B"))

    The server's ids of layers count from 0, so layer 18 is the id 17:

        python -m sglang.launch_server --model-path Qwen/Qwen3-8B --enable-return-aux-hidden-states \
            --speculative-algorithm EAGLE3 --return-aux-hidden-state-layer-ids 17 \
            --return-hidden-states-mode last

    No draft model runs then: the algorithm only names how layers are counted. `/server_info` tells which are
    shown. All answers to a prompt are one request to `/generate`, each a list of token ids, with one token to
    be drawn and `return_hidden_states: "last"`; `meta_info.hidden_states` of each then holds one row, at the
    last token fed. Read in the sources of SGLang 0.5.23 (`arg_groups`, `managers/io_struct.py`,
    `scheduler_components/batch_result_processor.py`, `models/llama.py`, `qwen2.py`, `qwen3.py`); never run
    against a real server. For some other architectures, such as gpt-oss, ids may count differently there.

    Args:
        base_url: the server's root, without /v1.
        path: folder or hub id of the model that the server runs.
        api_key: sent as a bearer token.
        timeout: seconds that one request may take.
        max_concurrency: requests in flight at once, at least 1.
        max_attempts: requests made for one reading before giving up, at least 1.
    """

    kind = "SGLang"

    def _layers(self, ask: Ask, layer: int) -> Sequence[int]:
        told = ask("GET", "server_info")
        info = told if isinstance(told, dict) else {}
        ids = info.get("return_aux_hidden_state_layer_ids")
        if info.get("aux_hidden_state_capture") != "eagle3" or not ids:
            raise CapabilityError(f"{self} shows no inner layers; {self._way_out(layer)}")
        return [number + 1 for number in ids]

    def _rows(self, ask: Ask, sequences: list[list[int]], layer: int) -> tuple[Sequence[Any], Cost]:
        replies = ask(
            "POST",
            "generate",
            {
                "input_ids": sequences,
                "sampling_params": {"max_new_tokens": 1, "temperature": 0},
                "return_hidden_states": "last",
            },
        )
        try:
            told = [reply["meta_info"] for reply in replies]
            rows = [info["hidden_states"][-1] for info in told]
        except (KeyError, IndexError, TypeError) as error:
            raise self._without_states(layer) from error
        cost = Cost(
            model_calls=1,
            sequences=0,
            input_tokens=sum(info.get("prompt_tokens", 0) for info in told),
            output_tokens=sum(info.get("completion_tokens", 0) for info in told),
            retrievals=0,
            passages=0,
        )
        return rows, cost

    def _way_out(self, layer: int) -> str:
        return (
            "launch it with --enable-return-aux-hidden-states --speculative-algorithm EAGLE3 "
            f"--return-aux-hidden-state-layer-ids {layer - 1} --return-hidden-states-mode last"
        )
