"""What a running graph tells whoever streams it: each question of the tree as its route is chosen.

Streamed in the mode `custom`, with subgraphs; answered questions are seen in the `updates`.
"""

from langgraph.config import get_stream_writer
from typing_extensions import TypedDict

from knowwhen.nodes.state import ROOT, Route, State


class Progress(TypedDict):
    """A question whose route has just been chosen."""

    id: str
    question: str
    route: Route
    score: float | None


def report_progress(state: State, route: Route, score: float | None) -> None:
    """Tell whoever streams the running graph."""
    get_stream_writer()(
        Progress(id=state.get("id", ROOT), question=state["question"], route=route, score=score)
    )
