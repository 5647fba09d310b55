"""Tuning by LoRA: what is learnt, what a stopped run goes on from, and how the result is loaded."""

import json
import signal
import subprocess
import sys
from importlib import util
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock
from langchain_core.messages import HumanMessage
from safetensors.torch import load_file
from scripted import ScriptedChat
from tiny_models import CHAT_TEMPLATE, save_tiny_model, tiny_tokenizer
from typer.testing import CliRunner

from knowwhen.cli import app
from knowwhen.models.errors import KnowwhenError, ModelError, SettingsError
from knowwhen.models.pocket import pocket
from knowwhen.models.prompt_tokens import prompt_tokens
from knowwhen.models.transformers_chat import ChatTransformers
from knowwhen.models.weights import load_weights, read_model
from knowwhen.training.lessons import NO_LOSS, lesson
from knowwhen.training.tune import TuningSummary, tune_model
from knowwhen.training.turns import Turn, write_turns

CAPITALS = {"Brol": "Velo", "Thrun": "Kaiken", "Nokel": "RAG_REQUIRED", "Mulek": "Olan Taray"}
TURNS = [
    Turn("k", str(n), f"What is the capital of {land}?", city)
    for n, (land, city) in enumerate(CAPITALS.items())
]
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
THINKING = (  # as some models' templates do, a past reply is written unlike one that is under way
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant><think>{% endif %}"
)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "llama")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_turns(tmp_path / "data.jsonl", TURNS)
    return tmp_path / "data.jsonl"


def tune(model: Path, data: Path, out: Path, **given: Any) -> TuningSummary:
    plan = {"rate": 1e-2, "epochs": 2, "batch": 2, "accumulation": 1, **given}
    return tune_model(f"transformers:{model}", [data], out, **plan)


def said(model: str, prompt: str, **given: Any) -> str:
    return str(ChatTransformers(path=model, **given).invoke(prompt, temperature=0.0, max_tokens=12).text)


def log(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


# What is learnt.


@pytest.mark.parametrize("template", [CHAT_TEMPLATE, CHATML, THINKING, None])
@pytest.mark.parametrize("reply", ["Velo", "Łódź 🙂\nby night", " RAG_REQUIRED"])
def test_a_lesson_is_the_prompt_as_it_is_asked_and_the_reply_with_an_end(
    template: str | None, reply: str
) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = template
    end = tokenizer.eos_token_id
    learnt = lesson(tokenizer, Turn("k", "1", "What is it?", reply), {end})
    prompt = prompt_tokens(tokenizer, [HumanMessage("What is it?")])
    assert learnt.ids[: len(prompt)] == prompt
    assert learnt.labels == [NO_LOSS] * len(prompt) + learnt.ids[len(prompt) :]
    assert learnt.ids[len(prompt) :].count(end) == 1 and learnt.ids[-1] == end
    assert tokenizer.decode(learnt.ids[len(prompt) : -1]) == reply + "\n" * (template == CHAT_TEMPLATE)


def test_without_an_end_token_nothing_can_be_learnt() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.eos_token = None
    with pytest.raises(ModelError, match="has no end-of-sequence token"):
        lesson(tokenizer, TURNS[0], frozenset())


def test_the_loss_is_on_the_replies_alone(llama: Path, data: Path, tmp_path: Path) -> None:
    summary = tune(llama, data, tmp_path / "t", batch=4)
    weights = load_weights(str(llama), device="cpu")
    losses = []
    for turn in TURNS:  # the first LoRA matrices change nothing
        learnt = lesson(weights.tokenizer, turn, weights.end_tokens)
        with torch.inference_mode():
            logits = weights.model(torch.tensor([learnt.ids])).logits[0, :-1]
        targets = torch.tensor(learnt.labels[1:])
        each = torch.nn.functional.cross_entropy(logits, targets, ignore_index=NO_LOSS, reduction="none")
        losses += [float(loss) for loss, target in zip(each, targets, strict=True) if target != NO_LOSS]
    assert summary.first_loss == pytest.approx(sum(losses) / len(losses), rel=1e-4)
    assert (summary.turns, summary.left_out, summary.steps) == (4, 0, 2)
    assert [row["step"] for row in log(tmp_path / "t")] == [1, 2]
    assert (tmp_path / "t" / "loss.png").stat().st_size > 1000


def test_the_tuned_model_says_what_it_learnt_merged_or_as_an_adapter(
    llama: Path, data: Path, tmp_path: Path
) -> None:
    before = (llama / "model.safetensors").read_bytes()
    summary = tune(llama, data, tmp_path / "t", epochs=40)
    assert summary.model == f"transformers:{tmp_path / 't' / 'model'}"
    assert summary.last_loss < 0.1 < summary.first_loss
    asked = {turn.prompt: turn.reply for turn in TURNS}
    assert {prompt: said(str(tmp_path / "t" / "model"), prompt).strip() for prompt in asked} == asked
    assert {prompt: said(str(llama), prompt).strip() for prompt in asked} != asked
    assert (llama / "model.safetensors").read_bytes() == before

    merged = tmp_path / "merged"
    (tmp_path / "t" / "model").rename(merged)
    again = tune(llama, data, tmp_path / "t", epochs=40, merge=False)  # nothing is trained again
    assert (again.steps, again.last_loss) == (summary.steps, summary.last_loss)
    adapter = tmp_path / "t" / "model"
    assert not (adapter / "config.json").exists()
    assert {prompt: said(str(adapter), prompt).strip() for prompt in asked} == asked
    one, other = (read_model(str(folder))[0].state_dict() for folder in (merged, adapter))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_an_adapter_is_loaded_whole_or_refused_in_one_line(
    llama: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune(llama, data, tmp_path / "t", merge=False)
    adapter = tmp_path / "t" / "model"
    with pytest.raises(ModelError, match="is an adapter, which cannot be loaded in part; merge it"):
        load_weights(str(adapter), layers=1)
    with pytest.raises(SettingsError, match="is an adapter; give a whole model"):
        tune(adapter, data, tmp_path / "u")
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "peft", None)
        with pytest.raises(ModelError, match=r"peft is not installed; pip install 'knowwhen\[training\]'"):
            load_weights(str(adapter))
    config = adapter / "adapter_config.json"
    config.write_text("{}")
    with pytest.raises(ModelError, match=r"adapter_config.json names no base model"):
        load_weights(str(adapter))


def test_the_pocket_model_can_be_tuned(data: Path, tmp_path: Path) -> None:
    write_turns(data, TURNS[:2])
    options = ["--rate", "0.002", "--epochs", "40", "--accumulation", "1", "--json"]
    command = ["train", "tune", "--model", "pocket", "--data", str(data.parent), *options]
    ended = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "t")])
    assert ended.exit_code == 0, ended.output
    assert "step 40 of 40" in ended.stderr
    told = json.loads(ended.stdout)
    assert (told["turns"], told["steps"]) == (2, 40)
    tuned = str(tmp_path / "t" / "model")
    assert told["model"] == f"transformers:{tuned}"
    asked = {turn.prompt: turn.reply for turn in TURNS[:2]}
    assert {prompt: said(tuned, prompt).strip() for prompt in asked} == asked
    own, made = (load_file(f"{folder}/model.safetensors") for folder in (pocket().path, tuned))
    assert {name: (each.shape, each.dtype) for name, each in made.items()} == {
        name: (each.shape, each.dtype) for name, each in own.items()
    }


def test_a_tuning_reaches_no_network_and_tells_nobody(
    llama: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[Any] = []

    def reach(*address: Any, **options: Any) -> None:
        reached.append(address)
        raise OSError("no network")

    monkeypatch.setattr("socket.getaddrinfo", reach)
    monkeypatch.setattr("trl.trainer.base_trainer.send_telemetry", reach)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.delenv("CI", raising=False)
    tune(llama, data, tmp_path / "t")
    tune(llama, data, tmp_path / "u", merge=False)
    assert reached == []


def test_turns_that_are_too_long_are_left_out(llama: Path, data: Path, tmp_path: Path) -> None:
    long = Turn("k", "9", "What is the capital? " * 40, "Velo")
    write_turns(tmp_path / "more.jsonl", [*TURNS, long])
    summary = tune(llama, tmp_path / "more.jsonl", tmp_path / "t", longest=100)
    assert (summary.turns, summary.left_out) == (4, 1)
    with pytest.raises(
        KnowwhenError, match=r"every turn is longer than 5 tokens, the shortest has \d+; allow"
    ):
        tune(llama, data, tmp_path / "u", longest=5)


# A run that was stopped.

# Kills itself after a step, as kill -9 does, or may not write much.
CHILD = """
import os, signal, sys
from pathlib import Path
from test_train_tune import *

LIMIT
def report(step, steps, loss):
    if step == int(sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)

tune(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), epochs=5, save_every=3, report=report)
"""


def child(limit: str = "") -> list[str]:
    here = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})"
    return [sys.executable, "-c", here + CHILD.replace("LIMIT", limit)]


def test_killed_in_the_middle_it_goes_on_to_the_same_model(llama: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "t"
    ended = subprocess.run([*child(), str(llama), str(data), str(out), "8"], capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    assert [row["step"] for row in log(out)] == list(range(1, 9))
    assert [folder.name for folder in (out / "checkpoints").glob("checkpoint-*")] == ["checkpoint-6"]
    assert not (out / "model").exists()
    (out / "checkpoints" / "checkpoint-9").mkdir()  # half of one, begun when the process was killed
    (out / "checkpoints" / "checkpoint-9" / "adapter_model.safetensors").write_bytes(b"half")
    with (out / "log.jsonl").open("a") as rows:
        rows.write('{"step": 9, "lo')
    asked: list[int] = []
    tune(llama, data, out, epochs=5, save_every=3, report=lambda step, steps, loss: asked.append(step))
    assert asked == [7, 8, 9, 10]
    tune(llama, data, tmp_path / "whole", epochs=5, save_every=3)
    assert log(out) == log(tmp_path / "whole")
    one, other = (load_file(run / "model" / "model.safetensors") for run in (out, tmp_path / "whole"))
    assert all(torch.equal(one[name], other[name]) for name in other)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX limits")
def test_a_disk_that_is_full_is_one_line_and_the_run_goes_on_afterwards(
    llama: Path, data: Path, tmp_path: Path
) -> None:
    # A file may not grow beyond this: the kernel refuses the write as it does on a full disk. Some of the
    # checkpoint's files are smaller, its optimiser's state is larger.
    limit = (
        "import resource; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))"
    )
    out = tmp_path / "t"
    command = [*child(limit), str(llama), str(data), str(out), "0"]
    ended = subprocess.run(command, capture_output=True, text=True)
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith(f"knowwhen.models.errors.KnowwhenError: {out} could not be written: ")
    assert last.endswith("; make room and run again, it goes on from the last checkpoint")
    assert tune(llama, data, out, epochs=5, save_every=3).steps == 10


def test_what_was_begun_otherwise_is_not_gone_on_with(llama: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "t"
    tune(llama, data, out)
    with pytest.raises(
        SettingsError, match=r"was begun with rate 0.01, which is now 0.02; go on with what it"
    ):
        tune(llama, data, out, rate=0.02)
    with pytest.raises(SettingsError, match="was begun with epochs 2, which is now 3"):
        tune(llama, data, out, epochs=3)
    other = save_tiny_model(tmp_path / "other", seed=1)
    with pytest.raises(SettingsError, match="was begun with model 'transformers:"):
        tune(other, data, out)
    write_turns(data, TURNS[:3])
    with pytest.raises(SettingsError, match="was begun with data '"):
        tune(llama, data, out)
    with (
        FileLock(tmp_path / "t" / "tune.lock"),
        pytest.raises(KnowwhenError, match="is in use by another process; wait for it to end"),
    ):
        tune(llama, data, out)
    (out / "plan.json").write_text("{")
    with pytest.raises(KnowwhenError, match=r"plan.json is damaged; begin anew in another folder"):
        tune(llama, data, out)


def test_what_cannot_be_tuned_is_refused_in_one_line(
    llama: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "t"
    with pytest.raises(SettingsError, match="cannot be tuned, as its weights are not here; give pocket or"):
        tune_model(ScriptedChat([]), [data], out)
    with pytest.raises(SettingsError, match="rank=0 is out of range: input should be greater than or equal"):
        tune(llama, data, out, rank=0)
    with pytest.raises(SettingsError, match="there is no setting 'ranks'; choose from rank, alpha"):
        tune(llama, data, out, ranks=1)
    with pytest.raises(SettingsError, match="save_every must be at least 1"):
        tune(llama, data, out, save_every=0)
    with pytest.raises(SettingsError, match="there is no chat JSONL at"):
        tune(llama, tmp_path / "none.jsonl", out)
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(KnowwhenError, match=r"empty.jsonl holds no turn; give data that does"):
        tune(llama, tmp_path / "empty.jsonl", out)
    assert not out.exists()
    out.mkdir()
    (out / "thesis.md").write_text("years")
    with pytest.raises(KnowwhenError, match=r"holds thesis.md, which is no tuning's; choose an empty folder"):
        tune(llama, data, out)
    with pytest.raises(KnowwhenError, match=r"data.jsonl is a file; choose another place for the run"):
        tune(llama, data, data)
    monkeypatch.setattr(
        "knowwhen.training.tune.find_spec", lambda name: None if name == "trl" else util.find_spec(name)
    )
    with pytest.raises(KnowwhenError, match=r"tuning needs trl; pip install 'knowwhen\[training\]'"):
        tune(llama, data, tmp_path / "u")
