"""Tiny models of random weights, saved as transformers saves them: real files, real tokenizers, no training.

The tokenizer is a byte-level BPE trained on a few sentences. Weights are drawn wide enough that a greedy
answer is not one token for ever.
"""

from pathlib import Path
from typing import Literal

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

torch.set_num_threads(1)  # products this small take longer on two threads, much longer on a busy machine

Family = Literal["llama", "qwen2", "mistral", "qwen3", "qwen2-mixed", "mistral-unlimited"]
FAMILIES: tuple[Family, ...] = ("llama", "qwen2", "mistral")  # mistral with a window of 16 tokens
MORE_FAMILIES: tuple[Family, ...] = (*FAMILIES, "qwen3", "qwen2-mixed", "mistral-unlimited")
BEGIN, END = "<|begin|>", "<|end|>"
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<{{ message.role }}>{{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
SENTENCES = [
    "Which of the two films has the older director?",
    "The capital of the country is a city on the river, founded in 1482.",
    "Answer: Paris. Confidence: 87. Where was she born? He was born in Köln, 東京, or Łódź.",
    "Question: who wrote the book that the film is based on?\n\nAnswer: nobody knows 🙂",
]


def tiny_tokenizer(template: bool = True, size: int = 400) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of `size` entries at most, with or without a chat template."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[BEGIN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=BEGIN, eos_token=END)
    if template:
        fast.chat_template = CHAT_TEMPLATE
    return fast


def save_tiny_model(
    folder: Path,
    family: Family = "llama",
    *,
    template: bool = True,
    width: int = 64,
    layers: int = 2,
    context: int = 512,
    seed: int = 0,
    endless: bool = False,
) -> Path:
    """Save a random model of `family` with its tokenizer to `folder` and return the folder.

    One that is `endless` gives its end token the logit 0, which is never the likeliest.
    """
    tokenizer = tiny_tokenizer(template)
    shape = {
        "vocab_size": len(tokenizer),
        "hidden_size": width,
        "intermediate_size": 2 * width,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": context,
        "initializer_range": 0.2,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "tie_word_embeddings": False,
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: LlamaForCausalLM | Qwen2ForCausalLM | Qwen3ForCausalLM | MistralForCausalLM
        if family == "llama":
            model = LlamaForCausalLM(LlamaConfig(**shape))
        elif family == "qwen2":
            model = Qwen2ForCausalLM(Qwen2Config(**shape))
        elif family == "qwen2-mixed":  # from the second layer on with a window
            windows = {"use_sliding_window": True, "sliding_window": 16, "max_window_layers": 1}
            model = Qwen2ForCausalLM(Qwen2Config(**shape, **windows))
        elif family == "qwen3":
            model = Qwen3ForCausalLM(Qwen3Config(**shape, head_dim=width // 4))
        else:
            window = 16 if family == "mistral" else None
            model = MistralForCausalLM(MistralConfig(**shape, sliding_window=window))
    if endless:
        model.lm_head.weight.data[tokenizer.eos_token_id] = 0.0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny Llama with a chat template."""
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "llama")


@pytest.fixture(scope="session")
def tiny_llama_without_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny Llama without a chat template."""
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "llama-plain", template=False)


@pytest.fixture(scope="session")
def endless_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny Llama with a long context whose greedy answers never end."""
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "endless", context=100_000, endless=True)


@pytest.fixture(scope="session", params=FAMILIES)
def tiny_model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of a tiny Llama, Qwen2 and Mistral, whose window is shorter than the prompts, in turn."""
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / request.param, request.param)
