"""The options that commands over a dataset share."""

from pathlib import Path
from typing import Annotated

import typer

Dataset = Annotated[
    str | None,
    typer.Option(
        help="A file of questions in any form of docs/datasets.md, almanac:test, almanac:calibration, "
        "almanac:train, or hf:<name>."
    ),
]
Kind = Annotated[
    str | None, typer.Option(help="The form of the file's records.", show_default="it is recognised")
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Go on without records that are no question, and count them.")
]
Model = Annotated[
    str, typer.Option(help="pocket, transformers:<folder or hub id>, openai:<name>, ollama:<name>, …")
]
Corpus = Annotated[
    str, typer.Option(help="What to retrieve from: an index folder, almanac, wikipedia, tavily, google.")
]
Out = Annotated[
    Path | None,
    typer.Option(help="Folder of the journals and the report; a stopped run goes on from what is there."),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, help="How many questions, drawn at random.", show_default="all, in their order"),
]
Seed = Annotated[int, typer.Option(help="Seed of the draw and of the intervals.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Questions under way, and model requests in flight.")]
Processes = Annotated[
    int,
    typer.Option(
        min=1,
        help="That ask, with --concurrency shared out among them: for servers that answer hundreds of "
        "requests a second.",
    ),
]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        help="A dataset's own metric, beside exact match, F1 and containment; repeatable.",
        show_default="those of --kind",
    ),
]
Judge = Annotated[str | None, typer.Option(help="A model that says whether an answer implies a right one.")]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Ask the questions again that failed in an earlier run.")
]
Record = Annotated[
    Path | None,
    typer.Option(help="Folder that keeps every reply of models and retrievers.", show_default="none is kept"),
]
Replay = Annotated[
    Path | None,
    typer.Option(
        help="Such a folder: run on its replies, without model and corpus.", show_default="they are asked"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
