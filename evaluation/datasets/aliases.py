"""2WikiMultihopQA's aliases of answers: `id_aliases.json` beside the dataset, which its scorer takes, too.

It is JSON lines, one for each entity of Wikidata: `Q_id`, `aliases` and `demonyms` (Thai for Thailand). A
question names the entity that answers it, if one does, by `answer_id`.
"""

from collections.abc import Iterator
from pathlib import Path

from knowwhen.evaluation.datasets.fields import different, is_text, listed
from knowwhen.evaluation.datasets.form import BadRecord
from knowwhen.evaluation.datasets.lines import read_lines
from knowwhen.evaluation.datasets.located import Located
from knowwhen.evaluation.datasets.skipped import Complain

FILE = "id_aliases.json"
ENTITY, ALIASES = "answer_id", "answer_aliases"


def with_aliases(rows: Iterator[Located], dataset: Path, complain: Complain) -> Iterator[Located]:
    """The records, those whose answer has aliases with these as `answer_aliases`.

    Args:
        rows: of the dataset.
        dataset: its file, beside which that of the aliases is looked for.
        complain: told of a line there that has no aliases.
    """
    known: dict[str, tuple[str, ...]] | None = None
    for row in rows:
        entity = row.record.get(ENTITY)
        if not isinstance(entity, str) or ALIASES in row.record:
            yield row
            continue
        if known is None:
            known = _aliases(dataset.with_name(FILE), complain)
        yield row._replace(record={**row.record, ALIASES: known.get(entity, ())})


def _aliases(file: Path, complain: Complain) -> dict[str, tuple[str, ...]]:
    """By the entity's id; nothing if there is no such file."""
    found: dict[str, tuple[str, ...]] = {}
    if not file.is_file():
        return found
    with file.open("rb") as lines:
        for where, _, record in read_lines(lines, str(file), complain):
            entity = record.get("Q_id")
            try:
                names = [*listed(record, "aliases"), *listed(record, "demonyms")]
            except BadRecord as bad:
                complain(where, str(bad))
                continue
            if isinstance(entity, str):
                found[entity] = different(filter(is_text, names))
            else:
                complain(where, "it has no Q_id")
    return found
