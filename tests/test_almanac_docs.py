"""docs/almanac.md tells of the default world as it is."""

import json
import re
from pathlib import Path

from knowwhen.almanac import SPLITS, AlmanacCounts, default_world, write_almanac

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "almanac.md").read_text(encoding="utf-8")
SHOWN = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def rows(counts: AlmanacCounts) -> list[str]:
    """The table of questions, from the numbers written."""
    lines = []
    for kind in counts.questions["train"]:
        cells = []
        for split in SPLITS:
            numbers = {name.split()[1]: count for name, count in counts.questions[split][kind].items()}
            mixed = "–" if kind == "one_hop" else numbers.get("mixed", 0)
            cells.append(f"{numbers.get('known', 0)} / {numbers.get('unknown', 0)} / {mixed}")
        lines.append(f"| `{kind}` | {' | '.join(cells)} |")
    totals = [sum(sum(each.values()) for each in counts.questions[split].values()) for split in SPLITS]
    return [*lines, f"| all | {' | '.join(f'{total:,}' for total in totals)} |"]


def test_its_numbers_and_examples_are_the_default_worlds(tmp_path: Path) -> None:
    counts = write_almanac(tmp_path)
    for row in rows(counts):
        assert row in PAGE
    for kind, number in counts.passages.items():
        assert re.search(rf"`{kind}`[\w ]*\({number}\)", PAGE), kind
    assert f"has {sum(counts.passages.values())}." in PAGE
    known = [default_world().knowledge(key) for key in default_world().now]
    for word in ("known", "unknown", "known wrongly"):
        assert re.search(rf"\| {word} \| .* \| {known.count(word):,} \|", PAGE)
    passage, question = SHOWN
    assert f"{json.dumps(passage)}\n" in (tmp_path / "corpus.jsonl").read_text(encoding="utf-8")
    lines = (tmp_path / "questions-test.jsonl").read_text(encoding="utf-8").splitlines()
    (record,) = [found for line in lines if (found := json.loads(line))["id"] == question["id"]]
    facts = record["metadata"].pop("facts")
    assert all(fact in facts for fact in question["metadata"].pop("facts"))
    assert record == question
    asked = {json.loads(line)["question"] for line in lines}
    examples = re.findall(r"^\| `\w+` \| \d \| (.+) \|$", PAGE, re.MULTILINE)
    assert len(examples) == 8
    assert set(examples) <= asked
