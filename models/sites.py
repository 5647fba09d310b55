"""Where in a model hidden states are read, and a forward pass that goes no further."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args

import torch

from knowwhen.models.errors import CapabilityError, SettingsError
from knowwhen.models.evidence import Site, StatesAt


class _ReachedError(Exception):
    """Ends a forward pass; never leaves this module."""


@contextmanager
def reading(model: Any, layer: int, site: Site) -> Iterator[list[torch.Tensor]]:
    """Within the block, a forward pass of `model` ends at a site, and the block with it.

    Args:
        model: a causal language model of transformers.
        layer: counted from 1.
        site: `residual` reads what the layer hands on, `mlp` its feed-forward output before it is added.

    Yields:
        A list, empty until the block has ended; then it holds the output there, (1, tokens, width).
    """
    block = layers_of(model)[layer - 1]
    read: list[torch.Tensor] = []

    def stop(_module: Any, _inputs: Any, output: Any) -> None:
        read.append(output[0] if isinstance(output, tuple) else output)
        raise _ReachedError

    hook = (block.mlp if site == "mlp" else block).register_forward_hook(stop)
    try:
        yield read
    except _ReachedError:
        pass
    finally:
        hook.remove()


def layers_of(model: Any) -> Any:
    """The decoder layers of `model`, each of which hands on the residual stream and adds an `mlp` to it.

    Raises:
        CapabilityError: it has none, or normalises what its feed-forward block gives before adding it.
    """
    layers = getattr(model.get_decoder(), "layers", None)
    blocks = list(layers) if isinstance(layers, torch.nn.ModuleList) else []
    if not blocks or not all(hasattr(block, "mlp") for block in blocks):
        raise CapabilityError(no_states(model, "its decoder is not a list of layers with an mlp each"))
    if any(hasattr(block, "post_feedforward_layernorm") for block in blocks):
        raise CapabilityError(no_states(model, "its layers change the output of their mlp before adding it"))
    return layers


def resolved(at: StatesAt, count: int) -> tuple[int, Site]:
    """The layer's number and the site that `at` names in a model of `count` layers.

    Raises:
        SettingsError: no such layer or site.
    """
    layer, site = at
    if site not in get_args(Site):
        raise SettingsError(f"hidden states are read at the site {' or '.join(get_args(Site))}, not {site!r}")
    if layer is None:
        layer = max(1, count // 2)
    if not 1 <= layer <= count:
        raise SettingsError(f"the model has layers 1 to {count}; there is no layer {layer}")
    return layer, site


def no_states(model: Any, reason: str) -> str:
    """The line that refuses to read states of `model`."""
    return (
        f"hidden states of {type(model).__name__} cannot be read ({reason}); use a model of the Llama, Qwen "
        "or Mistral family, or an estimator that needs no hidden states"
    )
