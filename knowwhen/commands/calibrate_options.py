"""The options of `calibrate`."""

from pathlib import Path
from typing import Annotated

import typer

Method = Annotated[str, typer.Option(help="Whose gate: self_dc, keqa, seakr or taikc.")]
Estimator = Annotated[
    str | None,
    typer.Option(
        help="Whose scores it goes by: probability, gram, …",
        show_default="the only one recorded, or the method's own",
    ),
]
Records = Annotated[Path | None, typer.Option(help="Calibrate on recorded outcomes, without asking a model.")]
Model = Annotated[
    str | None,
    typer.Option(help="pocket, transformers:<folder or hub id>, openai:<name>, …; of records, their model."),
]
Retrievals = Annotated[
    float | None, typer.Option(min=0, help="A question on average, as near as can be: to compare gates at.")
]
MaxRetrievals = Annotated[float | None, typer.Option(min=0, help="A question on average, at most.")]
RetrievalPrice = Annotated[
    float, typer.Option(min=0, help="Quality that a retrieval must bring: 0.05 is five points.")
]
TokenPrice = Annotated[float, typer.Option(min=0, help="Quality that 1,000 tokens must bring.")]
Dataset = Annotated[
    str | None,
    typer.Option(help="Questions with answers to ask the model: a file, almanac:calibration, …"),
]
Corpus = Annotated[
    str, typer.Option(help="What to retrieve from: an index folder, almanac, wikipedia, tavily, google.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method, repeatable."),
]
Limit = Annotated[int, typer.Option(min=2, help="How many questions, drawn at random.")]
Metric = Annotated[str, typer.Option(help="Of the answers: exact_match, f1, contains, …")]
TwoStages = Annotated[
    bool, typer.Option("--two-stages", help="Self-DC: α at β = 0.1 first, then β, as the paper does.")
]
OfKind = Annotated[
    str | None,
    typer.Option(help="confidence or uncertainty, for recorded scores that knowwhen does not know."),
]
Folds = Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")]
Seed = Annotated[int, typer.Option(help="Of the draw, the folds and the intervals.")]
Out = Annotated[
    Path | None,
    typer.Option(help="The thresholds file; the curve and its plot lie beside it.", show_default="none"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
