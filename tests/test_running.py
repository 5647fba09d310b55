"""Methods over datasets: the journal, failures, going on after a kill; by script, server and pocket model."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_openai import ChatOpenAI
from openai_server import serve
from processes import started
from scripted import ScriptedChat

from knowwhen.cli import main
from knowwhen.evaluation.arms import Arm, arm
from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.evaluation.journal import open_journal
from knowwhen.evaluation.long_journal import read_journal
from knowwhen.evaluation.outcome import Outcome
from knowwhen.evaluation.question_set import QuestionSet
from knowwhen.evaluation.running import RUN, Ran, compare, run
from knowwhen.evaluation.scoring import Scorer
from knowwhen.graphs import direct, retrieve_then_read
from knowwhen.models.errors import KnowwhenError, SettingsError

KNOWWHEN = [sys.executable, "-c", "from knowwhen.cli import main; main()"]


def number_of(prompt: str) -> int:
    return int(prompt.split("film ")[1].split("?")[0])


def script(prompt: str) -> str:
    """Knows who directed the even films."""
    return "Velo Taray" if number_of(prompt) % 2 == 0 else "Zed Taray"


def write_dataset(path: Path, count: int) -> Path:
    records = [
        {
            "id": f"q{number}",
            "question": f"Who directed film {number}?",
            "golden_answers": ["Velo Taray"],
            "metadata": {"kind": "one_hop", "hops": 1},
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "d.jsonl", 6)


def direct_of(model: BaseChatModel, **more: Any) -> Arm:
    return arm(direct(model, **more), model=model)


def ask(model: BaseChatModel, dataset: Path, out: Path, **how: Any) -> Ran:
    return run(direct_of(model), QuestionSet(dataset), out, **how)


def outcomes(ran: Ran) -> dict[str, Outcome]:
    return {each.question_id: each for each in read_journal(ran.folder, RUN)}


# What is kept.


def test_every_question_is_kept_with_its_trace_and_its_scores(dataset: Path, tmp_path: Path) -> None:
    ran = ask(ScriptedChat(script), dataset, tmp_path / "e")
    assert ran.folder == tmp_path / "e" / "runs" / "direct"
    kept = outcomes(ran)
    assert set(kept) == {f"q{number}" for number in range(6)}
    one = kept["q1"]
    assert (one.question, one.golden_answers) == ("Who directed film 1?", ("Velo Taray",))
    assert one.metadata == {"kind": "one_hop", "hops": 1}
    assert one.metrics == {"exact_match": 0, "f1": 0.5, "contains": 0}
    assert (one.error, one.seconds > 0) == ("", True)
    assert one.output
    assert one.output["answer"] == "Zed Taray"
    assert [step["route"] for step in one.output["steps"]] == ["direct"]
    assert one.output["cost"]["model_calls"] == 1
    means = ran.tally.means()
    assert (means["exact_match"], means["f1"], means["contains"]) == (0.5, 0.75, 0.5)
    assert (means["model_calls"], means["retrievals"]) == (1, 0)
    assert (ran.tally.done, ran.tally.failed, ran.tally.total) == (6, 0, 6)
    header = json.loads((ran.folder / "journal.jsonl").read_text().splitlines()[0])
    assert header["origin"] | {"prompts": "", "settings": ""} == {
        "method": "direct", "settings": "", "model": "ScriptedChat", "weights": "", "corpus": "",
        "passages": "", "prompts": "", "dataset": str(dataset), "limit": None, "seed": 0,
        "metrics": ["exact_match", "f1", "contains"], "judge": "",
    }  # fmt: skip
    assert json.loads(header["origin"]["settings"]) == {"temperature": 0.1, "top_p": 0.1, "max_tokens": 256}
