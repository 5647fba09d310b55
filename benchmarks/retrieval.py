"""Recall of supporting paragraphs by BM25, and time per query, against Lucene's scoring and LangChain's.

    python benchmarks/retrieval.py

Real questions: ../shared/data/{hotpotqa,2wikimultihopqa,musique}.jsonl. Without that folder only the speed is
measured, on generated passages. Recall@k is the mean share of a question's supporting paragraphs among the
first k; of equal paragraphs one is kept. "Lucene" is bm25s with Lucene's formula (k1 1.2, b .75) behind
Lucene's English analyzer, written here anew, so that nothing is shared with what it is compared to.
"""

import json
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import bm25s
import Stemmer
from index_million import generated, queries
from langchain_community.retrievers import BM25Retriever as LangChainBM25

from knowwhen.tools import Entry, build_index, open_index
from knowwhen.tools.analyzer import Analyzer

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
DATASETS = ("hotpotqa", "2wikimultihopqa", "musique")
GENERATED = 100_000
ON_GENERATED = f"{GENERATED:,} generated"
LANGCHAIN_QUERIES = 30  # it takes a third of a second for each on the generated passages
LUCENE_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these "
    "they this to was will with"
)

Search = Callable[[str], list[str]]
Question = tuple[str, set[str]]  # the question and the ids of its supporting paragraphs


def read_questions(dataset: str, ids: dict[tuple[str, str], str]) -> list[Question]:
    """Read a dataset; its paragraphs get ids, equal ones the same."""
    questions = []
    with (DATA / f"{dataset}.jsonl").open(encoding="utf-8") as file:
        for record in map(json.loads, file):
            gold = set()
            for paragraph in record.get("paragraphs") or record["metadata"]["context"]:
                text = paragraph.get("text") or paragraph.get("paragraph_text") or ""
                identity = ids.setdefault((paragraph["title"], text), str(len(ids)))
                if paragraph["is_supporting"]:
                    gold.add(identity)
            questions.append((record["question"], gold))
    return questions


def as_corpus(ids: dict[tuple[str, str], str]) -> list[Entry]:
    return [Entry(identity, title, text, "") for (title, text), identity in ids.items()]


def ours(title_weight: int) -> Callable[[Sequence[Entry]], Search]:
    def build(corpus: Sequence[Entry]) -> Search:
        with tempfile.TemporaryDirectory() as folder:  # an open index survives the deletion of its files
            build_index(corpus, Path(folder) / "index", analyzer=Analyzer(title_weight=title_weight))
            retriever = open_index(Path(folder) / "index")
        return lambda question: [hit.metadata["id"] for hit in retriever.invoke(question, k=10)]

    return build


def lucene(corpus: Sequence[Entry]) -> Search:
    stem = Stemmer.Stemmer("porter").stemWord
    stop_words = set(LUCENE_STOP_WORDS.split())

    def analyse(text: str) -> list[str]:
        words = re.findall(r"\w+(?:['\u2019.]\w+)*", text.lower())
        possessed = (re.sub(r"['\u2019]s$", "", word) for word in words)
        return [stem(word) for word in possessed if word not in stop_words]

    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index([analyse(f"{entry.title}\n{entry.text}") for entry in corpus], show_progress=False)

    def search(question: str) -> list[str]:
        found, _ = index.retrieve([analyse(question)], k=10, show_progress=False)
        return [corpus[number].id for number in found[0]]

    return search


def langchain(corpus: Sequence[Entry]) -> Search:
    texts = [f"{entry.title}\n{entry.text}" for entry in corpus]
    retriever = LangChainBM25.from_texts(texts, [{"id": entry.id} for entry in corpus], k=10)
    return lambda question: [hit.metadata["id"] for hit in retriever.invoke(question)]


OURS = "knowwhen, titles double"
LANGCHAIN = "LangChain BM25Retriever"
RANKERS = {
    OURS: ours(2),
    "knowwhen, titles once": ours(1),
    "Lucene's BM25 (bm25s)": lucene,
    LANGCHAIN: langchain,
}


def recall(search: Search, questions: Sequence[Question]) -> dict[str, float]:
    found = [(gold, search(question)) for question, gold in questions]
    return {
        f"@{k}": round(statistics.mean(len(gold & set(ids[:k])) / len(gold) for gold, ids in found), 3)
        for k in (5, 10)
    }


def milliseconds(search: Search, questions: Sequence[str]) -> float:
    """The median time of a query."""

    def one(question: str) -> float:
        began = time.perf_counter()
        search(question)
        return time.perf_counter() - began

    return round(statistics.median(one(question) for question in questions) * 1000, 4)


def measure_recall() -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield for every corpus and ranker: recall, and milliseconds per query."""
    alone: dict[tuple[str, str], str] = {}
    hotpotqa = read_questions("hotpotqa", alone)
    pooled: dict[tuple[str, str], str] = {}
    by_dataset = {dataset: read_questions(dataset, pooled) for dataset in DATASETS}
    for ranker, build in RANKERS.items():
        search = build(as_corpus(alone))
        yield "hotpotqa", ranker, recall(search, hotpotqa)
        search = build(as_corpus(pooled))
        for dataset, questions in by_dataset.items():
            figures = recall(search, questions)
            if dataset == "hotpotqa":
                figures["ms"] = milliseconds(search, [question for question, _ in questions[:100]])
            yield f"pooled: {dataset}", ranker, figures


def main() -> None:
    rows: list[tuple[str, str, dict[str, float]]] = []
    if DATA.is_dir():
        rows += measure_recall()
    else:
        print(f"{DATA} is absent: no recall, only speed")
    corpus = list(generated(GENERATED))
    for ranker, count in ((OURS, 1000), (LANGCHAIN, LANGCHAIN_QUERIES)):
        search = RANKERS[ranker](corpus)
        rows.append((ON_GENERATED, ranker, {"ms": milliseconds(search, queries(count))}))
    print(f"{'passages: questions':26} {'ranker':26} {'@5':>6} {'@10':>6} {'ms':>9}")
    for passages, ranker, figures in rows:
        cells = [str(figures.get(key, "")) for key in ("@5", "@10", "ms")]
        print(f"{passages:26} {ranker:26} {cells[0]:>6} {cells[1]:>6} {cells[2]:>9}")
    print(json.dumps({"benchmark": "retrieval", **verdict(rows)}))


def verdict(rows: Sequence[tuple[str, str, dict[str, float]]]) -> dict[str, object]:
    """All figures, and whether the bars hold: Lucene's recall less .005, more with titles double, 1/100."""
    table = {(passages, ranker): figures for passages, ranker, figures in rows}
    ratios = {}
    for passages in sorted({key[0] for key, figures in table.items() if "ms" in figures}):
        slow, fast = (table[passages, ranker]["ms"] for ranker in (LANGCHAIN, OURS))
        ratios[passages] = round(slow / fast)
    result: dict[str, object] = {"times_faster_than_langchain": ratios}
    result["under_a_hundredth_on_generated"] = ratios[ON_GENERATED] > 100
    for passages in ("hotpotqa", "pooled: hotpotqa"):
        if (passages, "Lucene's BM25 (bm25s)") in table:
            double, once, other = (table[passages, ranker] for ranker in list(RANKERS)[:3])
            result[f"{passages}: at least Lucene"] = all(once[k] >= other[k] - 0.005 for k in ("@5", "@10"))
            result[f"{passages}: titles above Lucene"] = all(double[k] > other[k] for k in ("@5", "@10"))
    result["rows"] = [{"passages": p, "ranker": r, **figures} for p, r, figures in rows]
    return result


if __name__ == "__main__":
    main()
