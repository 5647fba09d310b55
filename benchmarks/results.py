"""Every method on the almanac's test split, as its paper has it and calibrated: makes docs/results.md.

Gates are calibrated on the calibration split (`knowwhen calibrate`), then all methods are asked the same
questions of the test split (`knowwhen compare`), and the report's tables and plots are put beside curves of
recorded runs. Takes half an hour or more on two cores; stopped, it goes on with the same folder.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
PLAIN = ("direct", "chain_of_thought", "generate_then_read", "retrieve_then_read")
GATES = {"self_dc": "1", "keqa": "0.5", "taikc": "0.5", "seakr": "0.5"}
"""Each with the retrievals that a question may take; all but Self-DC's are calibrated on single facts."""
RECORDED = HERE.parent.parent / "shared" / "data" / "recorded"
NQ = ("seakr_nq_direct.jsonl", "seakr_nq_rag.jsonl", "seakr_nq_gold.json")

PAGE = """# Results

Made by `python benchmarks/results.py`: every method built so far on the almanac's test split, with the
package's pocket model, as its paper or preset has it and with a gate calibrated on the calibration split.
The pocket model is an instrument: these numbers tell how the methods behave where it is known what a
model knows, not how they rank with a large one. What each figure means is in [metrics.md](metrics.md). Do not
compare their seconds: they depend on what else the machine does, and runs may be of several sittings.

## Calibration

What `knowwhen calibrate` says of each gate. Self-DC is calibrated on questions of all kinds, the others
on single facts, as their gates judge those.

```
@CALIBRATED@
```

## Comparison

@COMPARED@

## Recorded runs

Llama-3.1-8B on 500 questions of Natural Questions, as published by AdaRAGUE (MIT), replayed by `knowwhen
calibrate --records` with two of the recorded scores, SeaKR's U and the perplexity of the answer:

@RECORDED@
"""


def knowwhen(*words: str) -> str:
    """Run a command; what it prints."""
    program = (sys.executable, "-c", "from knowwhen.cli import main; main()")
    print("knowwhen", *words, file=sys.stderr)
    return subprocess.run([*program, *words], check=True, text=True, stdout=subprocess.PIPE).stdout


def calibrated(folder: Path, questions: int) -> str:
    """Calibrate each gate; what the commands said, as text."""
    said = []
    for gate, retrievals in GATES.items():
        file = folder / f"{gate}.json"
        told = knowwhen(
            *("calibrate", "--method", gate, "--dataset", "almanac:calibration", "--limit", str(questions)),
            *("--max-retrievals", retrievals, "--out", str(file)),
        )
        said.append(told.strip())
    return "\n\n".join(said)


def compared(folder: Path, questions: int) -> None:
    """All methods on the same questions."""
    methods = [*PLAIN, *GATES, *(f"{gate}-calibrated={gate}" for gate in GATES)]
    given = [f"{gate}-calibrated.thresholds={folder / gate}.json" for gate in GATES]
    knowwhen(
        *("compare", "--methods", ",".join(methods), "--dataset", "almanac:test", "--limit", str(questions)),
        *("--out", str(folder / "compared"), *(word for each in given for word in ("--set", each))),
    )


def recorded(folder: Path) -> str:
    """The trade-off of a published run, where its data are there; as Markdown."""
    if not all((RECORDED / name).exists() for name in NQ):
        return ""
    records = folder / "nq.jsonl"
    knowwhen("calibrate", "convert", "seakr", *(str(RECORDED / name) for name in NQ), "--out", str(records))
    parts = []
    for estimator in ("gram", "perplexity"):
        file = folder / f"nq-{estimator}.json"
        said = knowwhen(
            *("calibrate", "--method", "seakr", "--records", str(records), "--estimator", estimator),
            *("--max-retrievals", "0.5", "--model", "Llama-3.1-8B", "--out", str(file)),
        )
        picture = f"results-nq-{estimator}.png"
        shutil.copy(file.with_suffix(".curve.png"), DOCS / picture)
        parts.append(f"```\n{said.strip()}\n```\n\n![{estimator}: quality against retrievals]({picture})")
    return "\n\n".join(parts)


def kept(report: str) -> list[str]:
    """The report's lines without other files, and of all pairs each gate with itself calibrated."""
    lines, pairs = [], False
    for line in report.splitlines():
        if line.startswith("## "):
            pairs = line.startswith("## Differences")
        elsewhere = "report.html" in line or "](figures/" in line
        if elsewhere or (pairs and " − " in line and not _same_gate(line)):
            continue
        if line or (lines and lines[-1]):
            lines.append(line)
    return lines


def _same_gate(line: str) -> bool:
    one, other = line.replace("\\", "").split("|")[1].strip().split(" − ")
    return other == f"{one}-calibrated"


def main() -> None:
    """Calibrate, compare, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of the runs")
    parser.add_argument("--questions", type=int, default=200, help="of the test split")
    parser.add_argument("--calibration", type=int, default=100, help="questions of the calibration split")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    said = calibrated(given.out, given.calibration)
    compared(given.out, given.questions)
    curves = recorded(given.out)
    report = given.out / "compared"
    tables = (report / "report.md").read_text("utf-8")
    for svg in sorted((report / "figures").glob("*.svg")):
        if svg.stem.startswith("quality-"):
            shutil.copy(svg, DOCS / f"results-{svg.name}")
    lines = kept(tables.replace("](figures/quality-", "](results-quality-"))
    page = PAGE.replace("@CALIBRATED@", said)
    page = page if curves else page[: page.index("## Recorded runs")]
    body = "\n".join(lines).replace("# Evaluation\n", "", 1).replace("\n## ", "\n### ")
    page = page.replace("@COMPARED@", body.strip()).replace("@RECORDED@", curves)
    (DOCS / "results.md").write_text("\n".join(map(str.rstrip, page.splitlines())) + "\n", "utf-8")
    print(json.dumps({"page": "docs/results.md", "questions": given.questions}))


if __name__ == "__main__":
    main()
