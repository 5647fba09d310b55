"""A chat agent whose model calls tools on and on is stopped."""

from typing import Any

from langchain.agents.middleware import ModelCallLimitMiddleware
from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError

from knowwhen.models.errors import ModelError


class CallLimit(ModelCallLimitMiddleware[Any, Any]):
    """Ends a turn that has no answer after so many model calls, as a failure and not as an answer.

    Args:
        calls: of the model, in one turn.
    """

    name = "call_limit"

    def __init__(self, calls: int) -> None:
        super().__init__(run_limit=calls, exit_behavior="error")
        self.calls = calls

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Let the model be asked once more.

        Raises:
            ModelError: it has been asked too often.
        """
        try:
            return super().before_model(state, runtime)
        except ModelCallLimitExceededError:
            raise ModelError(
                f"after {self.calls} model calls there was no answer, but another tool call each time; put "
                "the question in other words, or use another model"
            ) from None

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Let the model be asked once more."""
        return self.before_model(state, runtime)
