"""A fingerprint of what is retrieved from, whose name does not tell what it holds."""

from pathlib import Path

from knowwhen.almanac.world import default_world
from knowwhen.models.fingerprint import fingerprint
from knowwhen.tools.almanac import almanac_entries
from knowwhen.tools.manifest import MANIFEST, read_manifest
from knowwhen.tools.resolve import RetrieverLike


def passages_of(corpus: RetrieverLike) -> str:
    """A fingerprint of the almanac's passages or of an index's files; empty for any other corpus.

    Raises:
        RetrievalError: the index is damaged.
    """
    if corpus == "almanac":
        entries = almanac_entries(default_world())
        return fingerprint(text.encode() for each in entries for text in (each.id, each.title, each.text))
    if not isinstance(corpus, str | Path) or not str(corpus) or not (Path(corpus) / MANIFEST).is_file():
        return ""
    files = read_manifest(Path(corpus)).files
    return fingerprint(files[name].sha256.encode() for name in sorted(files))
