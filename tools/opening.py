"""Opening an index as a retriever, and checking it."""

from pathlib import Path

from knowwhen.tools.bm25 import BM25Retriever
from knowwhen.tools.encoder import known_encoder
from knowwhen.tools.manifest import (
    PASSAGES,
    VECTORS,
    EncoderRecord,
    Manifest,
    damaged,
    sound_manifest,
)
from knowwhen.tools.retriever import PassageRetriever
from knowwhen.tools.store import PassageStore


def open_index(folder: Path) -> PassageRetriever:
    """Open an index as a retriever, having checked it.

    Raises:
        RetrievalError: If there is none, or it is incomplete, damaged, foreign or of a newer format, or its
            encoder is not to be had.
    """
    manifest = sound_manifest(folder)
    store = _open_store(folder, manifest)
    bm25 = BM25Retriever(store=store, analyzer=manifest.analyzer)
    if manifest.encoder is None:
        return bm25
    dense = _open_dense(folder, manifest, manifest.encoder, store)
    if manifest.kind == "dense":
        return dense
    from knowwhen.tools.fusion import FusionRetriever

    return FusionRetriever(retrievers=[bm25, dense])


def check_index(folder: Path) -> Manifest:
    """Read every byte of an index and compare it with the manifest.

    Raises:
        RetrievalError: If there is none, or it is incomplete, damaged, foreign or of a newer format.
    """
    manifest = sound_manifest(folder, thorough=True)
    _open_store(folder, manifest)
    return manifest


def _open_store(folder: Path, manifest: Manifest) -> PassageStore:
    try:
        store = PassageStore(folder / manifest.generation / PASSAGES, manifest.analyzer)
    except ValueError as error:
        raise damaged(folder, f"tantivy cannot read it ({error})") from None
    if len(store) != manifest.passages:
        raise damaged(folder, f"it holds {len(store):,} passages instead of {manifest.passages:,}")
    return store


def _open_dense(
    folder: Path, manifest: Manifest, record: EncoderRecord, store: PassageStore
) -> PassageRetriever:
    # faiss takes as long to import as a whole BM25 search, which does not need it.
    from knowwhen.tools.dense import DenseRetriever
    from knowwhen.tools.vectors import VectorStore

    try:
        vectors = VectorStore(folder / manifest.generation / VECTORS)
    except ValueError as error:
        raise damaged(folder, f"faiss cannot read it ({error})") from None
    if len(vectors) != manifest.passages or vectors.dimension != record.dimension:
        raise damaged(folder, f"{VECTORS} does not belong to its passages")
    return DenseRetriever(store=store, vectors=vectors, encoder=known_encoder(record))
