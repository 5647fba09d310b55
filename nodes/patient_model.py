"""The chat agent's own model is asked as patiently as a method's."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse

from knowwhen.models.capability import describe
from knowwhen.models.errors import ModelError
from knowwhen.models.faults import Fault
from knowwhen.models.retrying import apatiently, patiently

ATTEMPTS = 5


class PatientModel(AgentMiddleware[Any, Any, Any]):
    """Tries again what may pass; what does not is one error in one line."""

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Ask the model.

        Raises:
            ModelError: its server refused, or failed `ATTEMPTS` times.
        """
        return patiently(lambda: handler(request), ATTEMPTS, _failed(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Ask the model."""
        return await apatiently(lambda: handler(request), ATTEMPTS, _failed(request))


def _failed(request: ModelRequest[Any]) -> Callable[[Fault, int], ModelError]:
    return lambda fault, attempts: ModelError(f"{describe(request.model)} {fault.report(attempts)}")
