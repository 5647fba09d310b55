"""Fine-tunes a local model on chat JSONL by LoRA, at TAIKC's hyperparameters (Appendix F.2).

A run's folder holds what it was begun with (`plan.json`), the loss log (`log.jsonl`) and its picture
(`loss.png`), the checkpoints that a stopped run goes on from, and in the end the model.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, Field, ValidationError
from safetensors import SafetensorError

from knowwhen.models.adapter import is_adapter
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.fingerprint import fingerprint, weights_of
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.models.transformers_chat import ChatTransformers
from knowwhen.training.turns import Turn, read_turns

EXTRA = ("peft", "trl", "datasets", "accelerate", "matplotlib")
PLAN, LOG, LOCK, CURVE, MODEL = "plan.json", "log.jsonl", "tune.lock", "loss.png", "model"
CHECKPOINTS = "checkpoints"


class TuningPlan(BaseModel, frozen=True, extra="forbid"):
    """How a model is tuned; the defaults are the paper's where it names them."""

    rank: int = Field(default=16, ge=1, description="Rank of the LoRA matrices")
    alpha: int = Field(default=32, ge=1, description="Their scale: alpha / rank")
    rate: float = Field(default=5e-5, gt=0, description="Learning rate of AdamW, falling linearly to zero")
    epochs: int = Field(default=3, ge=1, description="Rounds over the data")
    batch: int = Field(default=2, ge=1, description="Turns computed at once")
    accumulation: int = Field(default=8, ge=1, description="Batches to a step")
    longest: int = Field(default=2048, ge=1, description="Tokens of a turn; longer ones are left out")
    seed: int = Field(default=0, ge=0, description="Of the order of the data and of the first LoRA matrices")


class TuningOrigin(TuningPlan, frozen=True, extra="forbid"):
    """Everything that a run depends on; one that was begun otherwise is not gone on with."""

    model: str
    weights: str
    """A fingerprint of a local model's weights; empty for a hub id."""
    data: str
    """A fingerprint of the turns."""


@dataclass(frozen=True)
class TuningSummary:
    """What was learnt."""

    model: str
    """What to give as a model: `transformers:<folder>`."""
    turns: int
    left_out: int
    """Turns that are too long."""
    steps: int
    first_loss: float
    """Mean over the replies' tokens of the first step, in nats."""
    last_loss: float
    """The same over the last tenth of the steps."""

    def as_json(self) -> dict[str, object]:
        """The same as plain JSON."""
        return asdict(self)


def tune_model(
    model: ModelLike,
    data: Sequence[Path],
    out: Path,
    *,
    merge: bool = True,
    save_every: int = 50,
    report: Callable[[int, int, float], None] = lambda step, steps, loss: None,
    **plan: float,
) -> TuningSummary:
    """Tune a model on prompts and replies; the loss is on the replies alone.

    Stopped at any moment, it goes on from its last checkpoint when it is called again with the same folder.

    Args:
        model: `pocket` or `transformers:<folder or hub id>`; it is left as it is.
        data: files of chat JSONL, or folders of them (`training/turns.py`).
        out: the run's folder; the tuned model lies in `out/model`.
        merge: whether to save the whole model, or the adapter alone, which needs the model that it changes.
        save_every: steps between checkpoints.
        report: called after each step with its number, that of all steps, and the loss in nats.
        plan: fields of `TuningPlan`.

    Raises:
        SettingsError: a name or number is unknown or out of its range, or `out` was begun otherwise.
        KnowwhenError: the extra `training` is not installed, or the data or the folder cannot be used.
        ModelError: the model is not to be had.
    """
    settings = _checked(plan)
    if save_every < 1:
        raise SettingsError("save_every must be at least 1 step")
    _require_extra()
    learner = _local(model)
    turns = [turn for each in data for turn in read_turns(Path(each))]
    if not turns:
        raise KnowwhenError(f"{', '.join(map(str, data))} holds no turn; give data that does")
    origin = TuningOrigin(
        **settings.model_dump(),
        model=model if isinstance(model, str) else learner.path,
        weights=weights_of(learner),
        data=_fingerprint(turns),
    )
    from knowwhen.training.lora import Run  # brings trl and peft

    with _own_folder(out, origin):
        run = Run(learner.path, turns, settings, out, save_every, report)
        run.train()
        run.save(out / MODEL, merge)
    losses = run.losses
    tail = losses[-max(1, len(losses) // 10) :]
    return TuningSummary(
        model=f"transformers:{out / MODEL}",
        turns=len(turns) - run.left_out,
        left_out=run.left_out,
        steps=len(losses),
        first_loss=losses[0],
        last_loss=sum(tail) / len(tail),
    )


def _checked(plan: dict[str, float]) -> TuningPlan:
    try:
        return TuningPlan.model_validate(plan)
    except ValidationError as error:
        first = error.errors()[0]
        name = first["loc"][0]
        if first["type"] == "extra_forbidden":
            known = ", ".join(TuningPlan.model_fields)
            raise SettingsError(f"there is no setting {name!r}; choose from {known}") from None
        raise SettingsError(f"{name}={first['input']!r} is out of range: {first['msg'].lower()}") from None


def _require_extra() -> None:
    if missing := [name for name in EXTRA if find_spec(name) is None]:
        raise KnowwhenError(f"tuning needs {', '.join(missing)}; pip install 'knowwhen[training]'")


def _local(model: ModelLike) -> ChatTransformers:
    learner = resolve_model(model)
    if not isinstance(learner, ChatTransformers):
        raise SettingsError(
            f"{model} cannot be tuned, as its weights are not here; give pocket or "
            "transformers:<folder or hub id>"
        )
    if is_adapter(learner.path):
        raise SettingsError(
            f"{learner.path} is an adapter; give a whole model, such as its base with it merged"
        )
    return learner


def _fingerprint(turns: Sequence[Turn]) -> str:
    return fingerprint(part.encode() for turn in turns for part in (turn.prompt, turn.reply))


@contextmanager
def _own_folder(out: Path, origin: TuningOrigin) -> Iterator[None]:
    """Keep the folder for this run, which goes on there if it is the one that was begun there."""
    try:
        if out.exists() and not out.is_dir():
            raise KnowwhenError(f"{out} is a file; choose another place for the run")
        names = sorted(path.name for path in out.iterdir() if path.name != LOCK) if out.exists() else []
        if names and PLAN not in names and names != ["plan.new"]:
            raise KnowwhenError(f"{out} holds {names[0]}, which is no tuning's; choose an empty folder")
        out.mkdir(parents=True, exist_ok=True)
        with FileLock(out / LOCK, timeout=0):
            _begin(out / PLAN, origin)
            yield
    except Timeout:
        raise KnowwhenError(f"{out} is in use by another process; wait for it to end") from None
    except (OSError, SafetensorError) as error:
        raise _unwritable(out, error) from None
    except RuntimeError as error:
        if "PytorchStreamWriter" in str(error) or "file write failed" in str(error):  # torch.save's own
            raise _unwritable(out, error) from None
        raise


def _begin(file: Path, origin: TuningOrigin) -> None:
    if not file.exists():
        new = file.with_suffix(".new")
        new.write_text(origin.model_dump_json(indent=1) + "\n", "utf-8")
        new.replace(file)
        return
    try:
        begun = json.loads(file.read_text("utf-8"))
        items = dict(begun)
    except (ValueError, TypeError):
        raise KnowwhenError(f"{file} is damaged; begin anew in another folder") from None
    for name, value in origin.model_dump().items():
        if items.get(name) != value:
            raise SettingsError(
                f"{file.parent} was begun with {name} {items.get(name)!r}, which is now {value!r}; go on "
                "with what it was begun with, or begin anew in another folder"
            )


def _unwritable(out: Path, error: BaseException) -> KnowwhenError:
    said = (getattr(error, "strerror", None) or str(error)).splitlines()[0]
    return KnowwhenError(
        f"{out} could not be written: {said}; make room and run again, it goes on from the last checkpoint"
    )
