"""Numbers of things as people read them."""

from collections.abc import Mapping
from typing import Any


def many(number: int, noun: str) -> str:
    """How many there are: `1 passage`, `3 passages`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def cost_line(cost: Mapping[str, Any]) -> str:
    """What an answer cost."""
    asked = f"{many(cost['model_calls'], 'model call')}, {many(cost['input_tokens'], 'token')} in"
    read = f"{many(cost['retrievals'], 'retrieval')}, {many(cost['passages'], 'passage')}"
    return f"{asked}, {cost['output_tokens']} out, {read}"
