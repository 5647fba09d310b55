"""`knowwhen search`: ask a retriever and see what it finds."""

from typing import Annotated

import typer


def search(
    query: Annotated[str, typer.Argument(help="What to search for; plain words, no query language.")],
    corpus: Annotated[
        str, typer.Option(help="What to retrieve from: an index folder, almanac, wikipedia, tavily, google.")
    ] = "almanac",
    k: Annotated[int, typer.Option(min=1, help="How many passages.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the passages that a corpus has for a query, best first."""
    import json

    from knowwhen.tools.passage import as_passages
    from knowwhen.tools.resolve import resolve_retriever

    passages = as_passages(resolve_retriever(corpus).invoke(query, k=k))
    if as_json:
        print(json.dumps({"query": query, "corpus": corpus, "passages": passages}, ensure_ascii=False))
        return
    if not passages:
        typer.echo("nothing found", err=True)
    for passage in passages:
        score = "" if passage["score"] is None else f"  ({passage['score']:.3f})"
        print(f"{passage['rank']}. {passage['title'] or passage['id']}{score}\n   {passage['text']}")
