"""Index a million generated passages of 100 words through the shell: time, peak memory, disk, p50.

    python benchmarks/index_million.py [PASSAGES]

The words are invented and drawn by Zipf's law, so that some stand everywhere and most are rare. The indexing
runs in a process of its own; its peak resident memory is what the kernel says of it.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from knowwhen.tools import Entry, open_index

PASSAGES = 1_000_000
WORDS = 100
VOCABULARY = 200_000
BLOCK = 1_000
QUERIES = 200
MEMORY_BAR = 600  # MiB


def vocabulary() -> list[str]:
    """Invented words: the number of a word, written in syllables."""
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    numbers = range(VOCABULARY)
    return [syllables[n // 4900 % 70] + syllables[n // 70 % 70] + syllables[n % 70] for n in numbers]


def generated(count: int, seed: int = 1) -> Iterator[Entry]:
    """Passages of `WORDS` words with a title of two."""
    words = np.array(vocabulary())
    weights = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    rng = np.random.default_rng(seed)
    for start in range(0, count, BLOCK):
        draws = rng.random((min(BLOCK, count - start), WORDS)) * weights[-1]
        for row, chosen in enumerate(words[np.searchsorted(weights, draws)]):
            text = " ".join(chosen)
            yield Entry(str(start + row), " ".join(chosen[-2:]), text, "generated")


def queries(count: int) -> list[str]:
    """Questions of eight words of a passage."""
    return [" ".join(entry.text.split()[10:18]) for entry in generated(count, seed=2)]


def write_corpus(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for entry in generated(count):
            print(json.dumps({"id": entry.id, "title": entry.title, "text": entry.text}), file=file)


def measure(count: int, folder: Path) -> dict[str, float]:
    corpus, index = folder / "corpus.jsonl", folder / "index"
    write_corpus(corpus, count)
    command = [sys.executable, "-c", "from knowwhen.cli import main; main()", "index", "build"]
    environment = {**os.environ, "TERM": "dumb"}
    began = time.perf_counter()
    subprocess.run([*command, str(corpus), "--out", str(index)], check=True, env=environment)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # KiB on Linux
    began = time.perf_counter()
    retriever = open_index(index)
    opened = time.perf_counter() - began
    searches = [seconds_of(retriever.invoke, query) for query in queries(QUERIES)]
    return {
        "passages": count,
        "build_s": round(seconds, 1),
        "passages_per_s": round(count / seconds),
        "peak_mib": round(peak),
        "corpus_mb": round(corpus.stat().st_size / 1e6),
        "disk_mb": round(sum(file.stat().st_size for file in index.rglob("*") if file.is_file()) / 1e6),
        "open_ms": round(opened * 1000, 1),
        "p50_ms": round(statistics.median(searches) * 1000, 2),
    }


def seconds_of(search, query: str) -> float:
    began = time.perf_counter()
    search(query)
    return time.perf_counter() - began


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else PASSAGES
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(count, Path(folder))
    figures["under_600_mib"] = figures["peak_mib"] < MEMORY_BAR
    for name, value in figures.items():
        print(f"{name:16} {value:>12,}")
    print(json.dumps({"benchmark": "index_million", **figures}))


if __name__ == "__main__":
    main()
