"""`knowwhen index`: build an index from files, add to it, check it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from knowwhen.tools.entry import BadEntries
    from knowwhen.tools.manifest import Manifest

app = typer.Typer(help="Build, extend and check the indexes that retrievers search.", no_args_is_help=True)

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE…",
        help="JSONL, TSV, CSV (each also .gz), Parquet, .txt or .md files, or folders of them; or a dataset "
        "that carries paragraphs, such as HotpotQA's JSON.",
        show_default=False,
    ),
]
Skip = Annotated[bool, typer.Option("--skip-bad", help="Leave bad entries out and count them.")]


@app.command()
def build(
    files: Files,
    out: Annotated[Path, typer.Option(help="Folder of the new index; an index there is replaced.")],
    kind: Annotated[
        Literal["bm25", "dense", "hybrid"], typer.Option(help="By words, by meaning, or both fused.")
    ] = "bm25",
    encoder: Annotated[
        str | None,
        typer.Option(
            help="For dense and hybrid: folder or hub id of a sentence-transformers model.",
            show_default="sentence-transformers/all-MiniLM-L6-v2",
        ),
    ] = None,
    skip_bad: Skip = False,
) -> None:
    """Build an index from files, one passage for each line, row or hundred words."""
    from knowwhen.commands.progress import shown
    from knowwhen.evaluation.datasets.paragraphs import CORPUS_READERS
    from knowwhen.tools.corpus import Corpus
    from knowwhen.tools.entry import BadEntries
    from knowwhen.tools.index import build_index

    if encoder and kind == "bm25":
        raise typer.BadParameter("an encoder is for --kind dense or hybrid")
    bad = BadEntries(skip_bad)
    with shown(Corpus(files, bad, CORPUS_READERS)) as entries:
        manifest = build_index(entries, out, kind=kind, encoder=encoder, bad=bad)
    _report(out, manifest, bad)


@app.command()
def add(
    files: Files,
    corpus: Annotated[Path, typer.Option(help="Folder of the index to add to.")],
    skip_bad: Skip = False,
) -> None:
    """Add the passages of files to an index; until it is done the index stays as it was."""
    from knowwhen.commands.progress import shown
    from knowwhen.evaluation.datasets.paragraphs import CORPUS_READERS
    from knowwhen.tools.corpus import Corpus
    from knowwhen.tools.entry import BadEntries
    from knowwhen.tools.index import add_to_index

    bad = BadEntries(skip_bad)
    with shown(Corpus(files, bad, CORPUS_READERS)) as entries:
        manifest = add_to_index(entries, corpus, bad=bad)
    _report(corpus, manifest, bad)


@app.command()
def check(corpus: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the index.")]) -> None:
    """Read every byte of an index and compare it with its manifest."""
    from knowwhen.tools.opening import check_index

    manifest = check_index(corpus)
    print(f"{corpus}: sound; {_summary(manifest)}")


def _report(folder: Path, manifest: "Manifest", bad: "BadEntries") -> None:
    if bad.count:
        typer.echo(f"{bad.count:,} bad entries left out, the first: {bad.first}", err=True)
    print(f"{folder}: {_summary(manifest)}")


def _summary(manifest: "Manifest") -> str:
    size = sum(record.bytes for record in manifest.files.values())
    return f"{manifest.passages:,} passages, {manifest.kind}, {size / 1e6:,.1f} MB"
