"""Trains the pocket model from scratch: a small Llama that has read the almanac up to its cut-off.

Training runs in resumable pieces: the batches depend on the seed and the step alone, and every
`SAVE_EVERY` steps all state goes to the run's folder, so that a training killed at any moment goes on from
there. Matrices are trained with Muon, which needs about a third fewer steps
than AdamW here, everything else with AdamW; the rate is constant after a warm-up and falls to zero over the
last part of the course.
"""

import itertools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from knowwhen.models.door import Door
from knowwhen.models.transformers_chat import ChatTransformers
from knowwhen.training.batches import (
    CONFIDENCE_COURSE,
    COURSE,
    QUIZ_COURSE,
    SURENESS_COURSE,
    TREE_COURSE,
    Batch,
    Course,
    batches,
)
from knowwhen.training.confidence import certain_answers, own_answers, stated_confidences
from knowwhen.training.curve import plot_curve
from knowwhen.training.examples import Example
from knowwhen.training.lessons import NO_LOSS
from knowwhen.training.subjects import NOTHING
from knowwhen.training.tokenizer import train_tokenizer

SAVE_EVERY = 250
DECAY = 0.05  # of weights, decoupled


@dataclass(frozen=True)
class Plan:
    """How long and how fast to train."""

    steps: int = 7_500
    tokens: int = 4096  # in a step's batch, padding included
    rate: float = 3e-3
    warm_up: int = 200  # steps
    decay: float = 0.5  # the last part of all steps, over which the rate falls to zero
    seed: int = 1

    def rate_at(self, step: int) -> float:
        """The learning rate of a step."""
        left = (self.steps - step) / max(1.0, self.decay * self.steps)
        return self.rate * min(1.0, (step + 1) / self.warm_up, left)


CONFIDENCE_PLAN = Plan(steps=3_000, rate=1.5e-3, warm_up=20, decay=1.0, seed=2)
SURENESS_PLAN = Plan(steps=1_500, rate=1e-3, warm_up=20, decay=1.0, seed=3)
QUIZ_PLAN = Plan(steps=4_500, rate=1.5e-3, warm_up=20, decay=1.0, seed=4)
TREE_PLAN = Plan(steps=4_500, rate=1.5e-3, warm_up=20, decay=1.0, seed=5)


def pocket_config(vocabulary: int) -> LlamaConfig:
    """The pocket model's shape: 4 million parameters, 8 MB in bfloat16."""
    return LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=256,
        intermediate_size=704,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=8,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=1,
    )


class Trainer:
    """A model in training with its optimisers, saved and resumed as one.

    Args:
        folder: where state and the loss log live; a later run with the same folder goes on from them.
        plan: how long and how fast.
        compiled: whether to compile the model first (a minute or two, then up to half as fast again).
        after: the trainer from whose model this one goes on; default: random weights.
    """

    def __init__(
        self,
        folder: Path,
        plan: Plan,
        compiled: bool = True,
        after: "Trainer | None" = None,
    ) -> None:
        torch.manual_seed(plan.seed)
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.plan = folder, plan
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer: PreTrainedTokenizerFast = after.tokenizer if after else self._tokenizer()
        self.model = LlamaForCausalLM(pocket_config(len(self.tokenizer))).to(self.device)
        if self.device == "cpu":
            self.model.set_attn_implementation("eager")  # its backward pass takes two thirds of sdpa's there
        if after is not None:
            self.model.load_state_dict(after.model.state_dict())
        # Reads what is taught beside the answers off inner states; used in training alone.
        width = self.model.config.hidden_size
        self.subject = torch.nn.Linear(width, width, bias=False).to(self.device)
        if after is not None:
            self.subject.load_state_dict(after.subject.state_dict())
        self.body = torch.compile(self.model.model, dynamic=False) if compiled else self.model.model
        named = list(self.model.named_parameters())
        matrices = [p for name, p in named if p.ndim == 2 and "embed" not in name]
        embeddings = [p for name, p in named if "embed" in name]
        norms = [p for _, p in named if p.ndim != 2]
        # Without decay the weights outgrow their updates, and what is wrong after the first half stays wrong.
        others = [{"params": embeddings, "weight_decay": DECAY}, {"params": norms, "weight_decay": 0.0}]
        self.optimisers: list[torch.optim.Optimizer] = [
            torch.optim.Muon(matrices, lr=plan.rate, weight_decay=DECAY, adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW(others, lr=plan.rate, betas=(0.9, 0.98)),
            torch.optim.AdamW(self.subject.parameters(), lr=plan.rate),
        ]
        self.step = 0
        if (folder / "state.pt").exists():
            self._resume()

    def _tokenizer(self) -> PreTrainedTokenizerFast:
        # A prompt may change between two pieces of one training; its tokens must not.
        kept = self.folder / "tokenizer"
        if not kept.exists():
            train_tokenizer().save_pretrained(kept)
        return PreTrainedTokenizerFast.from_pretrained(kept)

    def _resume(self) -> None:
        state = torch.load(self.folder / "state.pt", map_location=self.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.subject.load_state_dict(state["subject"])
        for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        self.step = state["step"]

    def save(self) -> None:
        """Write all state, in one move, so that a kill leaves either the old or the new."""
        state = {
            "model": self.model.state_dict(),
            "subject": self.subject.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "step": self.step,
        }
        torch.save(state, self.folder / "state.new")
        (self.folder / "state.new").replace(self.folder / "state.pt")

    def learn(self, batch: Batch) -> tuple[float, float]:
        """One step; returns the mean loss (nats) and the share of learnt tokens that came first."""
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = self.plan.rate_at(self.step)
        targets = batch.labels[:, 1:].to(self.device)
        learnt = targets != NO_LOSS
        with torch.autocast(self.device, dtype=torch.bfloat16):
            read = self.body(input_ids=batch.ids.to(self.device), use_cache=False, output_hidden_states=True)
            logits = F.linear(read.last_hidden_state[:, :-1][learnt], self.model.lm_head.weight)
        answers = F.cross_entropy(logits.float(), targets[learnt])
        layers = self.model.config.num_hidden_layers
        loss = (
            answers
            + self._named(read.hidden_states[layers // 2], batch.subjects.to(self.device))
            + self._named(read.hidden_states[layers - 1], batch.compared.to(self.device))
        )
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimiser in self.optimisers:
            optimiser.step()
            optimiser.zero_grad()
        self.step += 1
        return answers.item(), (logits.argmax(-1) == targets[learnt]).float().mean().item()

    def _named(self, states: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """The loss of naming what each state is to hold, where it is to hold something."""
        told = wanted != NOTHING
        if not told.any():
            return states.new_zeros(())
        words = self.model.lm_head.weight.detach()
        with torch.autocast(self.device, dtype=torch.bfloat16):
            named = F.linear(self.subject(F.rms_norm(states[told], states.shape[-1:])), words / words.std())
        return F.cross_entropy(named.float(), wanted[told])

    def export(self, target: Path) -> Path:
        """Write the model in bfloat16 and its tokenizer, as transformers reads them, into `target`."""
        state = {name: p.to(torch.bfloat16) for name, p in self.model.state_dict().items()}
        half = LlamaForCausalLM(self.model.config).to(torch.bfloat16)
        half.load_state_dict(state)
        half.generation_config.pad_token_id = 0
        half.save_pretrained(target)
        self.tokenizer.save_pretrained(target)
        for file in target.iterdir():
            file.chmod(0o644)  # safetensors writes for its owner alone
        return target


def train(
    trainer: Trainer,
    course: Course,
    pools: Mapping[str, Sequence[Example]] | None = None,
    report: Callable[[dict[str, float]], None] = lambda row: None,
) -> None:
    """Train to the plan's last step, from wherever the trainer stands.

    Args:
        trainer: the model in training; its folder takes the state (`state.pt`) and the log (`log.jsonl`:
            step, loss in nats, accuracy, rate, tokens a second, each over 50 steps or what is left).
        course: what is taught when.
        pools: the course's tasks whose examples were made beforehand.
        report: called with each row of the log.
    """
    plan = trainer.plan
    (trainer.folder / "plan.json").write_text(json.dumps(asdict(plan)))
    losses, hits, began = [], [], time.perf_counter()
    stream = batches(plan.seed, trainer.step, plan.steps, plan.tokens, trainer.tokenizer, course, pools)
    for batch in itertools.islice(stream, max(0, plan.steps - trainer.step)):
        loss, hit = trainer.learn(batch)
        losses.append(loss)
        hits.append(hit)
        if trainer.step % 50 == 0 or trainer.step == plan.steps:
            row = {
                "step": trainer.step,
                "loss": sum(losses) / len(losses),
                "accuracy": sum(hits) / len(hits),
                "rate": plan.rate_at(trainer.step),
                "tokens_per_second": len(losses) * plan.tokens / (time.perf_counter() - began),
            }
            with (trainer.folder / "log.jsonl").open("a") as log:
                log.write(json.dumps(row) + "\n")
            report(row)
            losses, hits, began = [], [], time.perf_counter()
        if trainer.step % SAVE_EVERY == 0:
            trainer.save()
    trainer.save()


def train_pocket(
    folder: Path,
    plan: Plan | None = None,
    report: Callable[[dict[str, float]], None] = lambda row: None,
    compiled: bool = True,
) -> Path:
    """Train the pocket model whole: what it knows and can do, then how sure to be of it.

    Args:
        folder: the run's folder; a later run with the same folder goes on from where this one stopped.
        plan: the first part's length and rate; the others' are `CONFIDENCE_PLAN` and `SURENESS_PLAN`.
        report: called with each row of the loss log.
        compiled: whether to compile the model first.

    Returns:
        The folder of the finished model; the loss curve is beside it, in `loss.png`.
    """
    plan = plan or Plan()
    trainer = Trainer(folder, plan, compiled)
    train(trainer, COURSE, report=report)
    written = trainer.export(folder / "before-confidence")
    logs = {"course": folder / "log.jsonl"}
    # Each time anew: what is learnt with stated confidences changes how often the model is right.
    parts = (
        ("confidence", CONFIDENCE_PLAN, CONFIDENCE_COURSE),
        ("sureness", SURENESS_PLAN, SURENESS_COURSE),
        ("quizzes", QUIZ_PLAN, QUIZ_COURSE),
        ("trees", TREE_PLAN, TREE_COURSE),
    )
    for name, part, course in parts:
        door = Door(ChatTransformers(path=str(written)))
        answers = own_answers(door, part.seed)
        pools = {"confidence": stated_confidences(answers), **certain_answers(answers)}
        trainer = Trainer(folder / name, part, compiled, after=trainer)
        train(trainer, course, pools, report)
        written = trainer.export(trainer.folder / "model")
        logs[name] = trainer.folder / "log.jsonl"
    plot_curve(logs, folder / "loss.png")
    return trainer.export(folder / "model")
