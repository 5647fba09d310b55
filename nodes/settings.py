"""Settings that several methods share; a method's own settings inherit what it needs.

They are a graph's context schema: a server shows them with their bounds, and a run may change them.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeVar

from langgraph.runtime import get_runtime
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from knowwhen.models.errors import SettingsError
from knowwhen.models.faults import shortened

S = TypeVar("S", bound="Settings")


class Settings(BaseModel):
    """How the model is sampled."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    declared: ClassVar[type["Settings"] | None] = None  # what `with_defaults` made this class from

    def __init__(self, **given: Any) -> None:
        """Check the settings; also when they come as a run's context.

        Raises:
            SettingsError: a name is unknown or a value out of its range; says which and what is allowed.
        """
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise SettingsError(_one_line(error, type(self))) from None

    temperature: float = Field(default=0.1, ge=0, le=2, description="Sampling temperature; 0 is greedy")
    top_p: float = Field(default=0.1, gt=0, le=1, description="Probability mass that is sampled from")
    max_tokens: int = Field(default=256, ge=1, description="Longest reply of the model, in tokens")

    def sampling(self) -> dict[str, Any]:
        """The model's sampling parameters, as the door takes them."""
        return {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
        }

    def of_this_run(self) -> Self:
        """These, but for what the running graph's caller has set."""
        # A nested graph inherits its parent's context, whatever its type.
        context: Any = get_runtime().context
        if isinstance(context, type(self)):
            return context
        if self.declared is not None and isinstance(context, self.declared):
            return self.model_copy(update={name: getattr(context, name) for name in context.model_fields_set})
        return self


class ReadingSettings(Settings):
    """How the model is sampled, and how many passages it reads."""

    passages: int = Field(
        default=3, ge=1, le=100, description="How many passages are retrieved for a question"
    )


def with_defaults(settings: type[S], given: dict[str, Any]) -> type[S]:
    """A subclass of a method's settings whose defaults are the ones given, checked.

    Raises:
        SettingsError: a name is unknown or a value out of its range; says which and what is allowed.
    """
    checked = settings(**given)
    fields: dict[str, Any] = {}
    for name in given:
        field = settings.model_fields[name]
        fields[name] = (
            field.annotation,
            Field(getattr(checked, name), description=field.description, **_bounds(field.metadata)),
        )
    made = create_model(settings.__name__, __base__=settings, __doc__=settings.__doc__, **fields)
    made.declared = settings
    return made


def settings_of_run(settings: type[S], context: Any, configurable: Mapping[str, Any]) -> Settings | None:
    """The settings that one run is given, checked; None if there are none.

    Args:
        settings: of the method that is to run.
        context: what the caller passed as such.
        configurable: of the run's config; what is no setting's name in it is for others. A server repeats an
            assistant's context here.

    Raises:
        SettingsError: a name is unknown, a value out of its range, or the context no settings at all.
    """
    given = {name: configurable[name] for name in settings.model_fields if name in configurable}
    if isinstance(context, settings.declared or settings):
        given |= {name: getattr(context, name) for name in context.model_fields_set}
    elif isinstance(context, Mapping):
        given |= {str(name): value for name, value in context.items()}
    elif context is not None:
        raise SettingsError(
            f"a context is settings by name, such as {{'temperature': 0.5}}, not {shortened(repr(context))}"
        )
    return None if context is None and not given else settings(**given)


def _bounds(metadata: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for bound in metadata:
        for name in ("ge", "gt", "le", "lt"):
            if hasattr(bound, name):
                found[name] = getattr(bound, name)
    return found


def _one_line(error: ValidationError, settings: type[BaseModel]) -> str:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"]) or "settings"
    if first["type"] == "extra_forbidden":
        return f"there is no setting {name!r}; choose from {', '.join(settings.model_fields)}"
    given = shortened(repr(first["input"]))
    return f"{name}={given} is out of range: {first['msg'].lower()}"
