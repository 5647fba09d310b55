"""Judges by name, for settings and the command line: KEQA's semantic discriminator D_s is a choice."""

from langchain_core.language_models import BaseChatModel

from knowwhen.models.door import Door
from knowwhen.models.errors import SettingsError
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.uncertainty.entailment import EntailmentJudge
from knowwhen.uncertainty.judge import Judge, ModelJudge
from knowwhen.uncertainty.matching import MatchJudge

CHOICES = "model, match, nli:<folder or hub id>, or another chat model such as openai:gpt-4o-mini"


def resolve_judge(judge: Judge | ModelLike, door: Door) -> Judge:
    """A judge as it is, or the one that a string names.

    - `model`: the door's own model, asked whether two answers say the same, through this door.
    - `match`: nobody is asked; normal forms are compared, and a date is itself in less detail.
    - `nli:<folder or hub id>`: a cross-encoder for natural language inference.
    - any other string, or a chat model: that model, as `resolve_model` takes it, asked as `model` is, through
      a door of its own with the same bounds.

    Raises:
        ModelError: a model is missing, or its package or key.
        SettingsError: the string names no judge, or the entailment model knows no entailment.
    """
    if judge in ("", "nli:"):
        raise SettingsError(f"{judge!r} names no judge; give {CHOICES}")
    if judge == "model":
        return ModelJudge(door)
    if judge == "match":
        return MatchJudge()
    if isinstance(judge, str) and judge.startswith("nli:"):
        return EntailmentJudge(judge.removeprefix("nli:"))
    if isinstance(judge, str | BaseChatModel):
        return ModelJudge(_door_to(judge, door))
    if not callable(judge) or not isinstance(getattr(judge, "name", None), str):
        raise SettingsError(f"a {type(judge).__name__} is no judge; give {CHOICES}, or a Judge")
    return judge


def _door_to(model: ModelLike, door: Door) -> Door:
    try:
        other = resolve_model(model)
    except SettingsError as error:
        raise SettingsError(f"{model!r} is no judge ({error}); give {CHOICES}") from error
    return Door(
        other,
        asked_by="the judge",
        max_concurrency=door.max_concurrency,
        max_attempts=door.max_attempts,
    )
