"""One LoRA training with trl and peft, from whichever checkpoint is whole."""

import json
import shutil
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_callback import PrinterCallback
from trl import SFTConfig, SFTTrainer

from knowwhen.models.adapter import merged
from knowwhen.models.errors import KnowwhenError
from knowwhen.models.weights import end_tokens, quiet, read_model
from knowwhen.training.curve import plot_curve
from knowwhen.training.lessons import lesson
from knowwhen.training.tune import CHECKPOINTS, CURVE, LOG, TuningPlan
from knowwhen.training.turns import Turn

# trl and peft use names that transformers is about to drop, which is theirs to mend.
warnings.filterwarnings("ignore", category=FutureWarning, module=r"transformers\.")

STATE = "trainer_state.json"
"""Written last, so that a checkpoint with it is whole."""

Report = Callable[[int, int, float], None]


class Run:
    """The training of one model.

    Args:
        base: folder or hub id of the model.
        turns: what it is to learn.
        plan: how.
        out: where log, curve and checkpoints lie.
        save_every: steps between checkpoints.
        report: called after each step with its number, that of all steps, and the loss in nats.
    """

    def __init__(
        self, base: str, turns: Sequence[Turn], plan: TuningPlan, out: Path, save_every: int, report: Report
    ) -> None:
        on_gpu = torch.cuda.is_available()
        half = on_gpu and torch.cuda.is_bf16_supported()
        self.base, self.out = base, out
        model, tokenizer = read_model(base, "bfloat16" if half else "float32")
        ends = end_tokens(model, tokenizer)
        lessons = [lesson(tokenizer, turn, ends) for turn in turns]
        fitting = [each for each in lessons if len(each.ids) <= plan.longest]
        self.left_out = len(lessons) - len(fitting)
        if not fitting:
            shortest = min(len(each.ids) for each in lessons)
            raise KnowwhenError(
                f"every turn is longer than {plan.longest} tokens, the shortest has {shortest}; allow more"
            )
        rows = {"input_ids": [each.ids for each in fitting], "labels": [each.labels for each in fitting]}
        self.trainer = _Trainer(
            model=model,
            processing_class=tokenizer,
            train_dataset=Dataset.from_dict(rows),
            peft_config=LoraConfig(
                r=plan.rank,
                lora_alpha=plan.alpha,
                lora_dropout=0.0,
                target_modules="all-linear",
                task_type="CAUSAL_LM",
            ),
            args=SFTConfig(
                output_dir=str(out / CHECKPOINTS),
                learning_rate=plan.rate,
                lr_scheduler_type="linear",
                num_train_epochs=plan.epochs,
                per_device_train_batch_size=plan.batch,
                gradient_accumulation_steps=plan.accumulation,
                optim="adamw_torch",
                seed=plan.seed,
                max_length=None,
                bf16=half,
                gradient_checkpointing=on_gpu,
                dataloader_pin_memory=on_gpu,
                dataset_kwargs={"skip_prepare_dataset": True},
                save_strategy="steps",
                save_steps=save_every,
                save_total_limit=1,
                logging_steps=1,
                report_to="none",
                disable_tqdm=True,
            ),
            callbacks=[_Log(out / LOG, report)],
        )
        self.trainer.remove_callback(PrinterCallback)

    @property
    def losses(self) -> list[float]:
        """Of every step, in nats."""
        return [row["loss"] for row in _rows(self.out / LOG)]

    def train(self) -> None:
        """Train to the end, from the last whole checkpoint if there is one, and draw the curve."""
        last = self._last_checkpoint()
        begun = int(last.name.rpartition("-")[2]) if last else 0
        kept = [row for row in _rows(self.out / LOG) if row["step"] <= begun]  # the rest is trained again
        (self.out / LOG).write_text("".join(json.dumps(row) + "\n" for row in kept), "utf-8")
        self.trainer.train(resume_from_checkpoint=str(last) if last else None)
        plot_curve({"tuning": self.out / LOG}, self.out / CURVE)

    def save(self, target: Path, merge: bool) -> None:
        """Write the trained model, or its adapter, into a folder that appears when it is whole."""
        last = self._last_checkpoint()
        assert last is not None, "a training ends with a checkpoint"
        new = target.with_name(target.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        model, tokenizer = read_model(self.base)  # in its own precision, and as it was
        if merge:
            with quiet():
                merged(model, str(last)).save_pretrained(new)
        else:
            new.mkdir()
            for name in ("adapter_config.json", "adapter_model.safetensors"):
                shutil.copyfile(last / name, new / name)
        tokenizer.save_pretrained(new)
        shutil.rmtree(target, ignore_errors=True)
        new.rename(target)

    def _last_checkpoint(self) -> Path | None:
        """The newest checkpoint that is whole; halves, of a process that was killed, are removed."""
        found: dict[int, Path] = {}
        for folder in (self.out / CHECKPOINTS).glob("checkpoint-*"):
            try:
                found[int(json.loads((folder / STATE).read_text("utf-8"))["global_step"])] = folder
            except (OSError, ValueError):
                shutil.rmtree(folder)
        return found[max(found)] if found else None


class _Trainer(SFTTrainer):  # type: ignore[misc]
    """trl's trainer, but for what it would send home about each training."""

    def _send_telemetry(self) -> None:
        pass


class _Log(TrainerCallback):  # type: ignore[misc]
    """Writes the loss log, which `plot_curve` draws."""

    def __init__(self, file: Path, report: Report) -> None:
        self.file, self.report = file, report

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        if logs is None or "loss" not in logs:  # the summary at the end
            return
        row = {
            "step": state.global_step,
            "loss": float(logs["loss"]),
            "accuracy": float(logs["mean_token_accuracy"]),
            "rate": float(logs["learning_rate"]),
        }
        with self.file.open("a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")
        self.report(state.global_step, state.max_steps, row["loss"])


def _rows(log: Path) -> list[dict[str, Any]]:
    """The rows of a loss log, but for half a line at its end."""
    if not log.exists():
        return []
    lines = log.read_text("utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]
