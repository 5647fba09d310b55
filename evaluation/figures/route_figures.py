"""How questions were answered: shares of the routes, as in the papers' figures."""

from pydantic import BaseModel

from knowwhen.evaluation.figures.columns import Columns
from knowwhen.nodes.state import Route


class RouteFigures(BaseModel, frozen=True, extra="forbid"):
    """How the questions of a run, or of a part of it, were answered; every route is named in each."""

    questions: dict[Route, float]
    """Share of the questions as asked; they add up to 1, or to less where a method left no steps."""
    steps: dict[Route, float]
    """Share of all steps, sub-questions too; they add up to 1, or are all 0 without steps."""
    steps_a_question: float


def route_figures(finished: Columns) -> RouteFigures:
    """The routes of one question or more that did not fail."""
    number = len(finished)
    roots = finished.root_routes
    taken = {name: int((roots.codes == code).sum()) for code, name in enumerate(roots.names)}
    totals = {route: int(column.sum()) for route, column in finished.steps.items()}
    steps = sum(totals.values())
    return RouteFigures(
        questions={route: taken.get(route, 0) / number for route in totals},
        steps={route: total / max(1, steps) for route, total in totals.items()},
        steps_a_question=steps / number,
    )
