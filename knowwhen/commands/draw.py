"""`knowwhen draw`: a method's graph as Mermaid text, made offline."""

from typing import Annotated

import typer


def draw(
    method: Annotated[str, typer.Argument(help="Which method: self_dc, retrieve_then_read, direct, …")],
    inside: Annotated[bool, typer.Option("--inside", help="Draw the graphs inside the graph, too.")] = False,
) -> None:
    """Print a method's graph as Mermaid text, which GitHub, GitLab and mermaid.live draw."""
    from knowwhen.graphs.building import build_method

    graph = build_method(method, "pocket", "almanac", {}).get_graph(xray=inside)
    print(graph.draw_mermaid().strip())
