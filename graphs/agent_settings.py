"""A run of the chat agent may change its methods' settings: its context holds those of each by its name."""

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import get_runtime
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from knowwhen.graphs.method import Method
from knowwhen.models.errors import SettingsError


class AgentSettings(BaseModel):
    """The settings of the agent's methods, by their names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __init__(self, **given: Any) -> None:
        """Check the settings.

        Raises:
            SettingsError: a method is not the agent's, or a setting not the method's or out of its range.
        """
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise SettingsError(_one_line(error, type(self))) from None


def settings_of(methods: Sequence[Method]) -> type[AgentSettings]:
    """The settings that a run of an agent with these methods may change, with their defaults."""
    fields: dict[str, Any] = {}
    for method in methods:
        own = cast("type[BaseModel]", method.builder.context_schema)
        fields[method.name] = (own, Field(default=own(), description=f"Settings of {method.name}"))
    return create_model("AgentSettings", __base__=AgentSettings, __doc__=AgentSettings.__doc__, **fields)


class AsSet(Runnable[Any, Any]):
    """A method that is run with the settings that the agent's run has for it."""

    def __init__(self, method: Method) -> None:
        self.method = method
        self.name = method.name

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Answer a question."""
        return self.method.invoke(input, config, context=self._context(), **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Answer a question."""
        return await self.method.ainvoke(input, config, context=self._context(), **kwargs)

    def _context(self) -> Any:
        context: Any = get_runtime().context
        return getattr(context, self.method.name) if isinstance(context, AgentSettings) else None


def _one_line(error: ValidationError, settings: type[AgentSettings]) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        return (
            f"the agent has no method {name!r} with settings; choose from {', '.join(settings.model_fields)}"
        )
    return f"{name}: {first['msg'].removeprefix('Value error, ')}"
