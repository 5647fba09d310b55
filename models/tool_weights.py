"""What a model adds to its weights while tools are bound: small changes that lie beside them in its folder.

So a model can learn to call tools without changing anything of what it does otherwise.
"""

import copy
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from knowwhen.models.errors import ModelError
from knowwhen.models.prefixes import Prefixes
from knowwhen.models.weights import Weights

FILE = Path("tools") / "changes.safetensors"
"""In a model's folder: for each changed matrix `<its name>.up` (out, rank) and `.down` (rank, in)."""

_changed: dict[int, Weights] = {}
_changing = threading.Lock()


def with_tools(weights: Weights, path: str) -> Weights:
    """The weights to use while tools are bound: the model at `path` with its changes, if it has some.

    The changed model is made once per process, beside the one that is used without tools.

    Raises:
        ModelError: the changes are damaged, or not this model's.
    """
    file = Path(path).expanduser() / FILE
    if not file.is_file():
        return weights
    with _changing:
        if id(weights) not in _changed:  # loaded weights are kept for the process, so no other takes the id
            try:
                model = _with_changes(weights.model, load_file(file))
            except (OSError, RuntimeError, AttributeError, KeyError, SafetensorError) as error:
                raise ModelError(
                    f"{file} does not fit its model ({type(error).__name__}); reinstall knowwhen, or make it "
                    "anew with knowwhen train tools"
                ) from error
            _changed[id(weights)] = replace(weights, model=model, prefixes=Prefixes(), lock=threading.Lock())
        return _changed[id(weights)]


def _with_changes(model: Any, tensors: dict[str, torch.Tensor]) -> Any:
    """A copy of the model with its matrices changed, in the precision that they have."""
    changed = copy.deepcopy(model)
    for name in sorted(key.removesuffix(".up") for key in tensors if key.endswith(".up")):
        matrix = changed.get_parameter(name).data
        change = tensors[f"{name}.up"].float() @ tensors[f"{name}.down"].float()
        matrix.copy_(matrix.float() + change.to(matrix.device))
    return changed
