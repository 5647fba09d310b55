"""k answers and their states: one shared cache against transformers' generate, in time and memory.

    python benchmarks/sampling.py

A random Llama of 30 million parameters on the processor, one thread, k = 20 samples of 20 new tokens.
`generate` draws them with num_return_sequences=20 and output_hidden_states=True; knowwhen draws as many and a
greedy answer beside them, and reads the states at the end-of-sequence token in the middle layer. Every row is
a process of its own. Seconds are the process's processor time, without loading, so a busy machine matters
little; MiB is the peak above what the loaded model takes.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

K, NEW = 20, 20
ENTRIES = 4096  # of the vocabulary
PROMPT, PREFIX, PASSAGE = 1024, 768, 256
LIMIT = 64  # MiB, for the row that keeps within a limit

Case = Callable[[Any, list[str]], object]


def save_model(folder: str) -> None:
    """A random Llama whose tokens are words, so that a prompt has as many tokens as words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    entries = {"<unknown>": 0, "<end>": 1} | {f"w{number}": number for number in range(2, ENTRIES)}
    words = Tokenizer(models.WordLevel(entries, unk_token="<unknown>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<end>").save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=ENTRIES,
        hidden_size=512,
        intermediate_size=1376,
        num_hidden_layers=8,
        num_attention_heads=8,
        max_position_embeddings=2048,
        bos_token_id=2,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def words(tokens: int, seed: str) -> str:
    source = random.Random(seed)
    return " ".join(f"w{source.randrange(3, ENTRIES)}" for _ in range(tokens))


def rerank(question: str) -> list[str]:
    """Three passages behind one prefix, which ends in a question."""
    prefix = f"{words(PREFIX - len(question.split()), 'demonstrations')} {question}"
    return [f"{prefix} {words(PASSAGE, f'{question} {number}')}" for number in range(3)]


def generated(model: Any, prompts: list[str]) -> None:
    import torch

    for prompt in prompts:
        ids = torch.tensor([model.get_token_ids(prompt)])
        with torch.inference_mode():
            model.weights.model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                do_sample=True,
                temperature=1.0,
                top_k=50,
                top_p=0.9,
                num_return_sequences=K,
                max_new_tokens=NEW,
                min_new_tokens=NEW,
                output_hidden_states=True,
                return_dict_in_generate=True,
                pad_token_id=0,
            )


def sampled(model: Any, prompts: list[str]) -> None:
    from knowwhen.models import Door

    settings = {"top_k": 50, "top_p": 0.9, "max_tokens": NEW, "seed": 1}
    for one in Door(model).sample(prompts, K, states=(None, "residual"), logprobs=True, **settings):
        assert one.states is not None and one.states.values.shape == (K, 512)


ONE, THREE = [words(PROMPT, "one")], rerank("w5 w6 w7")
CASES: dict[str, tuple[Case, list[str], list[str], int | None]] = {  # what, prompts, asked before, MiB
    "generate": (generated, ONE, [], None),
    "knowwhen": (sampled, ONE, [], None),
    f"knowwhen, memory_limit {LIMIT} MiB": (sampled, ONE, [], LIMIT),
    "three passages: generate": (generated, THREE, [], None),
    "three passages: knowwhen": (sampled, THREE, [], None),
    "three passages: knowwhen, prefix kept": (sampled, THREE, rerank("w8 w9 w10"), None),
}


def measure(name: str, folder: str) -> dict[str, float]:
    """Run one case in this process."""
    import torch

    from knowwhen.models import ChatTransformers

    torch.set_num_threads(1)
    run, prompts, before, limit = CASES[name]
    model = ChatTransformers(path=folder, device="cpu")
    run(model, [words(32, "warm up")])
    if before:
        run(model, before)
    if limit:
        model = model.model_copy(update={"memory_limit": limit * 2**20})
    assert all(len(model.get_token_ids(prompt)) == PROMPT for prompt in prompts)
    base = forget_peak()
    began = processor_seconds()
    run(model, prompts)
    return {"seconds": round(processor_seconds() - began, 2), "mib": round((peak() - base) / 2**20, 1)}


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def forget_peak() -> int:
    """Let the peak start from what is resident now, where the system can; returns bytes."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """The most that has been resident, in bytes."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024


def main() -> None:
    rows = {}
    print(f"{'k = 20, 20 new tokens':38} {'seconds':>8} {'MiB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        save_model(folder)
        for name in CASES:
            command = [sys.executable, __file__, name, folder]
            alone = os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
            done = subprocess.run(command, env=alone, stdout=subprocess.PIPE, text=True, check=True)
            rows[name] = json.loads(done.stdout.splitlines()[-1])
            print(f"{name:38} {rows[name]['seconds']:8.2f} {rows[name]['mib']:8.1f}", flush=True)
    print(json.dumps({"benchmark": "sampling", **verdict(rows)}))


def verdict(rows: dict[str, dict[str, float]]) -> dict[str, object]:
    """The ratios, whether they keep their bars, and the rows."""

    def ratio(what: str, ours: str, theirs: str) -> float:
        return round(rows[ours][what] / rows[theirs][what], 4)

    time_ratio, memory_ratio = (ratio(what, "knowwhen", "generate") for what in ("seconds", "mib"))
    rerank_ratio = ratio("seconds", "three passages: knowwhen", "three passages: generate")
    return {
        "time_ratio": time_ratio,
        "memory_ratio": memory_ratio,
        "rerank_ratio": rerank_ratio,
        "time_at_most_a_tenth": time_ratio <= 1 / 10,
        "memory_at_most_a_sixth": memory_ratio <= 1 / 6,
        "rerank_at_most_a_fifteenth": rerank_ratio <= 1 / 15,
        "within_the_memory_limit": rows[f"knowwhen, memory_limit {LIMIT} MiB"]["mib"] <= LIMIT,
        "rows": [{"name": name, **figures} for name, figures in rows.items()],
    }


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(*sys.argv[1:])))
    else:
        main()
