"""Low-rank changes to a model's matrices, learnt while the matrices themselves stay as they are (LoRA).

A change is the product of two small matrices, `up` (out, rank) and `down` (rank, in). The embedding is
changed as well, as there are tokens that the model has never met: all of them still lie on one point.
"""

from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn.utils import parametrize
from transformers import LlamaForCausalLM

ALIKE = 0.98  # cosine from which on two tokens have the same place in the embedding
SPREAD = 0.5  # how far they are moved apart at first, of the mean length of an embedding


class LowRank(nn.Module):
    """A matrix with its change, as a parametrization; at first there is none."""

    def __init__(self, weight: torch.Tensor, rank: int) -> None:
        super().__init__()
        rows, columns = weight.shape
        self.up = nn.Parameter(weight.new_zeros(rows, rank))
        self.down = nn.Parameter(torch.randn(rank, columns, device=weight.device) / rank**0.5)

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        """The changed matrix."""
        return weight + self.up @ self.down


def lay_over(model: LlamaForCausalLM, rank: int, embedding_rank: int) -> dict[str, LowRank]:
    """Freeze a model and lay a change over each of its matrices; returns the changes by the matrices' names.

    Tokens that share one place are put at places of their own, drawn at random.
    """
    model.requires_grad_(False)
    changes: dict[str, LowRank] = {}
    for name, module in list(_matrices(model)):
        change = LowRank(module.weight.data, embedding_rank if isinstance(module, nn.Embedding) else rank)
        if isinstance(module, nn.Embedding):
            unmet = _unmet(module.weight.data)
            length = SPREAD * module.weight.data.norm(dim=1).mean() / change.down.norm()
            change.up.data[unmet] = torch.randn(len(unmet), embedding_rank).to(change.up) * length
        parametrize.register_parametrization(module, "weight", change)
        changes[f"{name}.weight"] = change
    return changes


def _matrices(model: LlamaForCausalLM) -> Iterator[tuple[str, nn.Linear | nn.Embedding]]:
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear | nn.Embedding) and name != "lm_head":  # which is the embedding
            yield name, module


def _unmet(embedding: torch.Tensor) -> torch.Tensor:
    """The tokens that lie where most others lie: pushed there together, as none was ever the next one."""
    places = nn.functional.normalize(embedding, dim=1)
    padding = places[0]  # never read and never said
    return (places @ padding > ALIKE).nonzero().squeeze(-1)


def save(changes: dict[str, LowRank], file: Path) -> None:
    """Write the changes in bfloat16: `<matrix>.up` and `<matrix>.down`."""
    tensors = {
        f"{name}.{part}": getattr(change, part).detach().to("cpu", torch.bfloat16).contiguous()
        for name, change in changes.items()
        for part in ("up", "down")
    }
    save_file(tensors, file)
    file.chmod(0o644)  # safetensors writes for its owner alone
