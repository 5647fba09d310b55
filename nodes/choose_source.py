"""Where the answer of a query may come from: the model's own knowledge, passages, or whichever it needs.

TAIKC, section 6.2 and Table 3: its ablations take one source alone, or let another boundary decide.
"""

from typing import Literal

from pydantic import Field

from knowwhen.models.door import Door
from knowwhen.nodes.gauge import GaugeSettings
from knowwhen.nodes.node import Node, Update, as_node
from knowwhen.nodes.progress import report_progress
from knowwhen.nodes.queries import QueryState
from knowwhen.nodes.references import named
from knowwhen.nodes.state import Route, noted

Source = Literal["Confident QA", "an estimator", "internal", "external"]


class KnowledgeSettings(GaugeSettings):
    """Which knowledge is used, and what draws the boundary between the two kinds."""

    knowledge: Literal["both", "internal", "external"] = Field(
        default="both",
        description="both: passages where the model is not certain; internal: the model's own alone; "
        "external: passages for every question",
    )
    boundary: Literal["confident_qa", "estimator"] = Field(
        default="confident_qa",
        description="What says that the model is certain: its own word, or an estimator with a threshold",
    )


def choose_source(door: Door, settings: KnowledgeSettings) -> Node:
    """The node that chooses, by the settings alone, where a query's answer is sought.

    What refers to an answer that is not there, and a question that could not be divided, is looked up.
    """

    def choose_source(state: QueryState) -> Update:
        now = settings.of_this_run()
        unresolved = state.get("unresolved") or []
        source: Source = "Confident QA" if now.boundary == "confident_qa" else "an estimator"
        if now.knowledge == "internal":
            source = "internal"
        elif now.knowledge == "external" or unresolved or state.get("whole"):
            source = "external"
        route: Route = "direct" if source == "internal" else "retrieve"
        if source in ("internal", "external"):
            report_progress(state, route, None)
        note = f"{named(unresolved)} cannot be filled in" if unresolved else None
        return {"source": source, "route": route, "notes": noted(state, note)}

    return as_node(door, choose_source)
