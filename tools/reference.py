"""KEQA's utility reference set R: passages labelled by what they did to an answer, found by likeness.

In its folder: `reference.jsonl`, one label a line; `vectors.faiss`, the vector of each line's question and
passage, in the same order; `manifest.json`.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from knowwhen.models.errors import RetrievalError, SettingsError
from knowwhen.tools.encoder import Vectors
from knowwhen.tools.labelled import HARMFUL, HELPFUL, LEAST, SHOWN, Origin
from knowwhen.tools.labelled import Labelled as Labelled
from knowwhen.tools.letters import AnyEncoder, resolve_encoder
from knowwhen.tools.manifest import VECTORS, EncoderRecord, file_record
from knowwhen.tools.reference_manifest import (
    BUILD,
    MANIFEST,
    LabelCounts,
    ReferenceManifest,
    check_file,
    damaged,
    read_reference_manifest,
)

if TYPE_CHECKING:
    from knowwhen.tools.vectors import VectorStore

RECORDS = "reference.jsonl"
NEW = ".new"
ENCODED_AT_ONCE = 512


class UtilityReference:
    """Labelled passages, to be shown as demonstrations; `open_reference` makes one. Safe to use from threads.

    Attributes:
        records: all labels, +1 and -1.
        manifest: how they were made.
    """

    def __init__(
        self,
        records: Sequence[Labelled],
        vectors: "VectorStore",
        encoder: AnyEncoder,
        manifest: ReferenceManifest,
    ) -> None:
        self.records = tuple(records)
        self.manifest = manifest
        self._vectors = vectors
        self._encoder = encoder
        self._total = Counter(record.utility for record in records)

    def __len__(self) -> int:
        return len(self.records)

    def nearest(
        self, question: str, title: str, text: str, k: int = SHOWN, least: int = LEAST
    ) -> list[Labelled]:
        """The k labels whose question and passage are most like these (R_u of the paper), the nearest last.

        At least `least` are helpful and as many harmful: where one label lacks, the farthest of the other
        make room for the nearest of it. Fewer only where the set has no more, or k is less than twice that.

        Raises:
            SettingsError: k is below 1, or `least` below 0.
        """
        least = _within(k, least)
        if not self.records:
            return []
        vector = self._encoder.queries([_described(question, title, text)])
        wanted = k
        while not self._suffices(order := self._ranked(vector, wanted), least) and wanted < len(self):
            wanted *= 4
        return self._first_of_both(order, k, least)

    def sampled(self, k: int = SHOWN, least: int = LEAST, seed: int | str = 0) -> list[Labelled]:
        """k labels at random, of each at least `least` as above (the paper's ablation with random R).

        Raises:
            SettingsError: k is below 1, or `least` below 0.
        """
        least = _within(k, least)
        order = random.Random(seed).sample(range(len(self)), len(self))
        return self._first_of_both(order, k, least)

    def _ranked(self, vector: Vectors, count: int) -> list[int]:
        """Numbers of the nearest records, best first, those as near in their own order."""
        numbers, scores = self._vectors.nearest(vector, count)
        return [number for _, number in sorted(zip((-s for s in scores), numbers, strict=True))]

    def _suffices(self, order: Sequence[int], least: int) -> bool:
        found = Counter(self.records[number].utility for number in order)
        return all(found[label] >= min(least, self._total[label]) for label in (HELPFUL, HARMFUL))

    def _first_of_both(self, order: Sequence[int], k: int, least: int) -> list[Labelled]:
        """The first k in this order, but at least so many of each label; the first one comes last."""
        kept = {
            number
            for label in (HELPFUL, HARMFUL)
            for number in [each for each in order if self.records[each].utility == label][:least]
        }
        kept.update([number for number in order if number not in kept][: k - len(kept)])
        return [self.records[number] for number in reversed(order) if number in kept]


def write_reference(
    folder: Path, labels: Iterable[Labelled], encoder: AnyEncoder, origin: Origin
) -> ReferenceManifest:
    """Write a reference set; one that is there is replaced once the new one is complete.

    Args:
        folder: where it is to be; made if need be.
        labels: all of them; the neutral ones are counted and left out.
        encoder: of questions with passages; opening the set needs it again.
        origin: how the labels were made.

    Raises:
        RetrievalError: It could not be written; a set that was there is as it was.
    """
    labels = list(labels)
    records = [label for label in labels if label.utility]
    utilities = Counter(label.utility for label in labels)
    counts = LabelCounts(helpful=utilities[1], harmful=utilities[-1], neutral=utilities[0])
    pending = {name: folder / f"{name}{NEW}" for name in (RECORDS, VECTORS, MANIFEST)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_lines(pending[RECORDS], records)
        _write_vectors(pending[VECTORS], records, encoder)
        manifest = ReferenceManifest(
            labels=counts,
            origin=origin,
            encoder=encoder.record(),
            files={name: file_record(pending[name]) for name in (RECORDS, VECTORS)},
        )
        _write_text(pending[MANIFEST], manifest.as_text())
        # Killed from here on, the set is incomplete and says so; it is never a mixture of two.
        (folder / MANIFEST).unlink(missing_ok=True)
        for name, path in pending.items():
            path.replace(folder / name)
    except OSError as error:
        raise RetrievalError(
            f"{folder} could not be written: {error.strerror or error}; make room and run {BUILD} again"
        ) from None
    finally:
        for path in pending.values():
            path.unlink(missing_ok=True)
    return manifest


def open_reference(folder: Path | str) -> UtilityReference:
    """Open a reference set, having checked it.

    Raises:
        RetrievalError: If there is none, or it is incomplete, damaged, foreign or of a newer format, or its
            encoder is not to be had.
    """
    from knowwhen.tools.vectors import VectorStore  # brings faiss

    folder = Path(folder)
    manifest = read_reference_manifest(folder)
    check_file(folder, RECORDS, manifest)
    check_file(folder, VECTORS, manifest)
    try:
        with (folder / RECORDS).open("rb") as lines:
            records = [Labelled.model_validate_json(line) for line in lines]
        vectors = VectorStore(folder / VECTORS)
    except (OSError, ValidationError, ValueError) as error:
        raise damaged(folder, f"it cannot be read ({str(error).splitlines()[0]})") from None
    counted = manifest.labels.helpful + manifest.labels.harmful
    if not len(records) == len(vectors) == counted or vectors.dimension != manifest.encoder.dimension:
        raise damaged(folder, f"{VECTORS} does not belong to its {RECORDS}")
    return UtilityReference(records, vectors, _same_encoder(folder, manifest.encoder), manifest)


def _same_encoder(folder: Path, record: EncoderRecord) -> AnyEncoder:
    encoder = resolve_encoder(record.name)
    try:
        encoder.check(record)
    except RetrievalError:
        raise RetrievalError(
            f"{folder} was made when the encoder {record.name} gave other vectors; bring back the model of "
            f"then, or rebuild it with {BUILD}"
        ) from None
    return encoder


def _described(question: str, title: str, text: str) -> str:
    """What is encoded: the question and the passage as one text."""
    # A question that is asked may hold what is no text, as half a surrogate pair; no encoder takes it.
    return f"{question}\n{title}\n{text}".encode("utf-8", "replace").decode()


def _within(k: int, least: int) -> int:
    """How many of each label k places have room for."""
    if k < 1 or least < 0:
        raise SettingsError(f"k must be at least 1 and least at least 0, not k={k}, least={least}")
    return min(least, k // 2)


def _write_lines(path: Path, records: Sequence[Labelled]) -> None:
    _write_text(
        path, "".join(json.dumps(record.model_dump(), ensure_ascii=False) + "\n" for record in records)
    )


def _write_text(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _write_vectors(path: Path, records: Sequence[Labelled], encoder: AnyEncoder) -> None:
    from knowwhen.tools.vectors import VectorStore, VectorWriter

    writer = VectorWriter(encoder.dimension)
    for first in range(0, len(records), ENCODED_AT_ONCE):
        some = records[first : first + ENCODED_AT_ONCE]
        writer.add(encoder.queries([_described(each.question, each.title, each.text) for each in some]))
    try:
        writer.write(path)
        VectorStore(path)  # faiss says nothing of a last piece that found no room
    except (RetrievalError, ValueError) as error:
        raise OSError(str(error)) from None
