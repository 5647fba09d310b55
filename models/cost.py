"""What answering a question cost, counted by the door and added up along the question tree."""

from collections.abc import Mapping
from typing import Any, Final

from typing_extensions import TypedDict


class Cost(TypedDict):
    """Counts only, so costs of parts add up to the cost of the whole, and all of it is JSON."""

    model_calls: int  # requests that the model answered; n samples of one prompt are one
    sequences: int  # texts sampled; n for n samples
    input_tokens: int  # as the model reported them; 0 for a model that reports none
    output_tokens: int  # over all sequences
    retrievals: int  # queries that the retriever answered
    passages: int  # passages that came back, over all retrievals


NO_COST: Final[Cost] = Cost(
    model_calls=0, sequences=0, input_tokens=0, output_tokens=0, retrievals=0, passages=0
)


def add_costs(left: Cost | Mapping[str, Any], right: Cost | Mapping[str, Any]) -> Cost:
    """The sum of two costs, as a new one; usable as a reducer: `cost: Annotated[Cost, add_costs]`.

    A count that is missing is zero, because LangGraph starts a channel of this type with an empty dict.
    """
    return Cost(
        model_calls=left.get("model_calls", 0) + right.get("model_calls", 0),
        sequences=left.get("sequences", 0) + right.get("sequences", 0),
        input_tokens=left.get("input_tokens", 0) + right.get("input_tokens", 0),
        output_tokens=left.get("output_tokens", 0) + right.get("output_tokens", 0),
        retrievals=left.get("retrievals", 0) + right.get("retrievals", 0),
        passages=left.get("passages", 0) + right.get("passages", 0),
    )
