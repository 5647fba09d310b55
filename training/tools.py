"""Teaches the pocket model to call tools, in small changes laid over its weights (`training/low_rank.py`).

The weights themselves stay as they are: the changes are used only where tools are bound, so that all that the
model does without tools, and every figure of it, remains. Training runs in resumable pieces.
"""

import itertools
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.utils import parametrize

from knowwhen.models.tool_weights import FILE
from knowwhen.models.weights import read_model
from knowwhen.training.curve import plot_curve
from knowwhen.training.lessons import NO_LOSS
from knowwhen.training.low_rank import lay_over, save
from knowwhen.training.tool_lessons import ToolBatch, tool_batches

SAVE_EVERY = 100
Report = Callable[[dict[str, float]], None]


@dataclass(frozen=True)
class ToolPlan:
    """How long and how fast to train, and how large the changes are."""

    steps: int = 12_000
    tokens: int = 2048  # in a step's batch, padding included
    rate: float = 4e-3
    warm_up: int = 50  # steps
    rank: int = 32
    embedding_rank: int = 32
    seed: int = 6

    def rate_at(self, step: int) -> float:
        """The learning rate of a step: after the warm-up it falls to zero."""
        return self.rate * min((step + 1) / self.warm_up, 1 - step / self.steps)


class ToolTrainer:
    """The changes in training, saved and resumed with their optimiser.

    Args:
        base: folder of the model that they are laid over.
        folder: where state and the loss log live; a later run with the same folder goes on from them.
        plan: how long and how fast.
        compiled: whether to compile the model first.
    """

    def __init__(self, base: Path, folder: Path, plan: ToolPlan, compiled: bool = True) -> None:
        torch.manual_seed(plan.seed)
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.plan = folder, plan
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model, self.tokenizer = read_model(str(base), "float32")
        self.model.to(self.device)
        self.changes = lay_over(self.model, plan.rank, plan.embedding_rank)
        self.parts = {
            f"{name}.{part}": weight
            for name, change in self.changes.items()
            for part, weight in change.named_parameters()
        }
        self.body = torch.compile(self.model.model, dynamic=False) if compiled else self.model.model
        self.optimiser = torch.optim.AdamW(
            self.parts.values(), lr=plan.rate, betas=(0.9, 0.98), weight_decay=0.0
        )
        self.step = 0
        if (folder / "state.pt").exists():
            self._resume()

    def _resume(self) -> None:
        state = torch.load(self.folder / "state.pt", map_location=self.device, weights_only=True)
        for name, weight in self.parts.items():
            weight.data.copy_(state["changes"][name])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step = state["step"]

    def save(self) -> None:
        """Write all state, in one move, so that a kill leaves either the old or the new."""
        changes = {name: weight.data for name, weight in self.parts.items()}
        state = {"changes": changes, "optimiser": self.optimiser.state_dict(), "step": self.step}
        torch.save(state, self.folder / "state.new")
        (self.folder / "state.new").replace(self.folder / "state.pt")

    def learn(self, batch: ToolBatch) -> tuple[float, float]:
        """One step; returns the mean loss (nats) and the share of learnt tokens that came first."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.plan.rate_at(self.step)
        targets = batch.labels[:, 1:].to(self.device)
        learnt = targets != NO_LOSS
        with torch.autocast(self.device, dtype=torch.bfloat16), parametrize.cached():
            states = self.body(input_ids=batch.ids.to(self.device), use_cache=False).last_hidden_state
            logits = F.linear(states[:, :-1][learnt], self.model.model.embed_tokens.weight)
        loss = F.cross_entropy(logits.float(), targets[learnt])
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.parts.values(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.step += 1
        return loss.item(), (logits.argmax(-1) == targets[learnt]).float().mean().item()

    def export(self, target: Path) -> Path:
        """Write the changes into a folder, where a model's folder keeps them (`models/tool_weights.py`)."""
        file = target / FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        save(self.changes, file)
        return file


def train_tools(
    base: Path,
    folder: Path,
    plan: ToolPlan | None = None,
    report: Report = lambda row: None,
    compiled: bool = True,
) -> Path:
    """Teach the pocket model tools.

    Args:
        base: folder of the pocket model, which is left as it is.
        folder: the run's folder; a later run with the same folder goes on from where this one stopped.
        plan: how long and how fast.
        report: called with each row of the loss log: step, loss in nats, accuracy, rate, tokens a second.
        compiled: whether to compile the model first.

    Returns:
        The file of the changes, to be put beside the model's weights; the loss curve is in `loss.png`.
    """
    plan = plan or ToolPlan()
    trainer = ToolTrainer(base, folder, plan, compiled)
    (folder / "plan.json").write_text(json.dumps(asdict(plan)))
    _train(trainer, folder / "log.jsonl", report)
    plot_curve({"tools": folder / "log.jsonl"}, folder / "loss.png")
    return trainer.export(folder / "model")


def _train(trainer: ToolTrainer, log: Path, report: Report) -> None:
    plan: ToolPlan = trainer.plan
    rows: list[tuple[float, float]] = []
    began = time.perf_counter()
    stream: Any = tool_batches(plan.seed, trainer.step, plan.steps, plan.tokens, trainer.tokenizer)
    for batch in itertools.islice(stream, max(0, plan.steps - trainer.step)):
        rows.append(trainer.learn(batch))
        if trainer.step % 25 == 0 or trainer.step == plan.steps:
            row = {
                "step": trainer.step,
                "loss": sum(loss for loss, _ in rows) / len(rows),
                "accuracy": sum(hit for _, hit in rows) / len(rows),
                "rate": plan.rate_at(trainer.step),
                "tokens_per_second": len(rows) * plan.tokens / (time.perf_counter() - began),
            }
            with log.open("a") as lines:
                lines.write(json.dumps(row) + "\n")
            report(row)
            rows, began = [], time.perf_counter()
        if trainer.step % SAVE_EVERY == 0:
            trainer.save()
    trainer.save()
