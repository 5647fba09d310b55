"""A thresholds file: what a gate's thresholds are on a user's own model, and all that they belong to.

They do not carry over, so the file names the model, the estimator and the prompts that they were found with,
and is refused for any other. `knowwhen calibrate` writes it; `docs/calibrate.md` shows one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from knowwhen.models.capability import describe
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.faults import shortened
from knowwhen.models.fingerprint import fingerprint, weights_of
from knowwhen.models.pocket import is_pocket
from knowwhen.uncertainty.score import Kind, Setting

FORMAT: Literal["knowwhen thresholds"] = "knowwhen thresholds"


class OfModel(BaseModel, frozen=True, extra="forbid"):
    """The model that thresholds belong to."""

    name: str = Field(min_length=1)
    weights: str = ""
    """A fingerprint of a local model's weights; empty for a model that lies in no folder."""

    @classmethod
    def of(cls, model: BaseChatModel) -> Self:
        """Which model this is."""
        return cls(name="pocket" if is_pocket(model) else describe(model), weights=weights_of(model))

    def fits(self, other: "OfModel") -> bool:
        """Whether both are one: by their weights where these are known, else by their names."""
        if self.weights and other.weights:
            return self.weights == other.weights
        return self.name == other.name


class OfEstimator(BaseModel, frozen=True, extra="forbid"):
    """The estimator that thresholds belong to."""

    name: str = Field(min_length=1)
    kind: Kind
    settings: dict[str, Setting] = {}


class FoundOn(BaseModel, frozen=True, extra="forbid"):
    """How thresholds were come by, and what they promise."""

    dataset: str = ""
    questions: int = Field(default=0, ge=0)
    metric: str = ""
    budget: dict[str, float] = {}
    expected: dict[str, tuple[float, float | None, float | None]] = {}
    """Means of as many new questions, each with the ends of its interval of 95 %."""


class Thresholds(BaseModel, frozen=True, extra="forbid"):
    """The content of a thresholds file."""

    format: Literal["knowwhen thresholds"] = FORMAT
    version: Literal[1] = 1
    method: str
    thresholds: dict[str, FiniteFloat] = Field(min_length=1)
    """By the names of the method's settings: `alpha`, `beta`; `threshold`; …"""
    settings: dict[str, Setting] = {}
    """What else the method must be set to for them: `confidence`, `estimator`, `samples`, …"""
    estimator: OfEstimator
    model: OfModel
    prompts: str = ""
    """A fingerprint of the method's prompts; empty: not known."""
    found_on: FoundOn = FoundOn()

    def save(self, file: str | Path) -> None:
        """Write the file.

        Raises:
            KnowwhenError: if that fails.
        """
        try:
            Path(file).write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise KnowwhenError(f"{file} could not be written: {error.strerror or error}") from None


def read_thresholds(file: str | Path) -> Thresholds:
    """The content of a thresholds file.

    Raises:
        SettingsError: the file cannot be read, or is no thresholds file.
    """
    try:
        return Thresholds.model_validate_json(Path(file).read_bytes())
    except OSError as error:
        raise SettingsError(f"the thresholds {file} cannot be read: {error.strerror or error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        said = shortened(f"{place}: {first['msg']}" if place else first["msg"])
        raise SettingsError(
            f"{file} is no thresholds file ({said}); write one with knowwhen calibrate"
        ) from None


def prompts_hash(prompts: Mapping[str, str]) -> str:
    """A fingerprint of a method's prompts, whatever their order."""
    return fingerprint(text.encode() for name in sorted(prompts) for text in (name, prompts[name]))


def with_thresholds(
    file: str | Path | None,
    method: str,
    model: BaseChatModel,
    prompts: Mapping[str, str],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """A method's settings, with those of a thresholds file where the user gave none.

    Args:
        file: the thresholds; None: the settings stay as they are.
        method: whose settings.
        model: what it is to run with.
        prompts: its prompts, by name.
        settings: the user's own. A threshold among them comes before the file's.

    Raises:
        SettingsError: the file is no thresholds file, or was found for another method, model, estimator or
            other prompts; one line says which.
    """
    if file is None:
        return dict(settings)
    found = read_thresholds(file)
    if found.method != method:
        raise SettingsError(
            f"the thresholds {file} are for {found.method}, not for {method}; calibrate it, too"
        )
    own = OfModel.of(model)
    if not found.model.fits(own):
        other = " with other weights" if found.model.name == own.name else ""
        raise SettingsError(
            f"the thresholds {file} were found on {found.model.name}, not on {own.name}{other}: they do not "
            "carry over; calibrate this model"
        )
    if found.prompts and found.prompts != prompts_hash(prompts):
        raise SettingsError(
            f"the thresholds {file} were found with other prompts of {method}; calibrate anew"
        )
    for name, value in found.settings.items():
        if name in settings and settings[name] != value:
            raise SettingsError(
                f"the thresholds {file} were found with {name}={value!r}, not {settings[name]!r}; "
                f"leave {name} out or calibrate anew"
            )
    given = {
        name: value for name, value in settings.items() if value is not None or name not in found.thresholds
    }
    return found.settings | found.thresholds | given
