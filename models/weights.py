"""Loading a transformers model: once per process, and refused in one line when it cannot be used."""

import inspect
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from knowwhen.models.adapter import base_of, is_adapter, merged
from knowwhen.models.errors import ModelError
from knowwhen.models.prefixes import Prefixes
from knowwhen.models.token_text import TokenBytes

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
REFUSALS = (OSError, ValueError, RuntimeError, ImportError, KeyError, SafetensorError)


@dataclass(frozen=True, eq=False)
class Weights:
    """A loaded model with what decoding needs to know of it.

    Attributes:
        model: the causal language model, in evaluation mode.
        tokenizer: its tokenizer.
        context_length: tokens that prompt and answer may have together.
        end_tokens: ids that end an answer.
        end_token: the tokenizer's own, at which hidden states are read; None if it has none.
        last_logits_only: the keyword that keeps a forward pass from computing logits of the whole prompt.
        token_bytes: the bytes of each token.
        prefixes: what prompts have begun with, computed already.
        lock: held by whoever runs the model.
    """

    model: Any
    tokenizer: Any
    context_length: int
    end_tokens: frozenset[int]
    end_token: int | None
    last_logits_only: dict[str, int]
    token_bytes: TokenBytes
    prefixes: Prefixes = field(default_factory=Prefixes)
    lock: threading.Lock = field(default_factory=threading.Lock)


_loaded: dict[tuple[str, str, str, int | None], Weights] = {}
_loading = threading.Lock()  # transformers patches module globals while it loads, so one model at a time


def load_weights(
    path: str, dtype: Dtype = "auto", device: str | None = None, layers: int | None = None
) -> Weights:
    """Load the model at `path`, or return the one already loaded for the same arguments.

    A folder that is saved anew is not read again in the same process.

    Args:
        path: a folder that transformers saved, or that of a LoRA adapter, or a hub id.
        dtype: "auto" is the one the weights were saved in.
        device: as torch names it; None is the first CUDA device, or the CPU where there is none.
        layers: how many of the first layers to load, without the output layer; None: the whole model.

    Raises:
        ModelError: nothing is there, the hub is out of reach, or it is not a complete causal language model.
    """
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    folder = Path(path).expanduser()
    key = (str(folder.resolve()) if folder.is_dir() else path, dtype, device, layers)
    if key in _loaded:  # without waiting for another model that is being loaded
        return _loaded[key]
    with _loading:
        if key not in _loaded:
            with _refusals_told(path), quiet():
                _loaded[key] = _load(key[0], dtype, device, layers)
        return _loaded[key]


@cache
def load_tokenizer(path: str) -> Any:
    """The tokenizer of the model at `path`, without its weights; read once per process.

    Raises:
        ModelError: nothing is there, or the hub is out of reach.
    """
    with _refusals_told(path), _loading, quiet():
        return _tokenizer(path)


def _tokenizer(path: str) -> Any:
    """A model's tokenizer; an adapter's own if it has one, or else that of the model that it changes."""
    folder = Path(path).expanduser()
    if is_adapter(path) and not (folder / "tokenizer_config.json").is_file():
        path = base_of(path)
    return AutoTokenizer.from_pretrained(str(Path(path).expanduser()), trust_remote_code=False)


def layers_in(path: str) -> int:
    """How many layers the model at `path` has.

    Raises:
        ModelError: nothing is there, or the hub is out of reach.
    """
    with _refusals_told(path):
        whole = base_of(path) if is_adapter(path) else str(Path(path).expanduser())
        config = AutoConfig.from_pretrained(whole, trust_remote_code=False)
        return int(config.get_text_config().num_hidden_layers)


@contextmanager
def _refusals_told(path: str) -> Iterator[None]:
    """Say in one line why a model cannot be loaded; what we say ourselves stays as it is."""
    try:
        yield
    except ModelError:
        raise
    except REFUSALS as error:
        raise _not_loaded(path, error) from error


def _not_loaded(path: str, error: BaseException) -> ModelError:
    return ModelError(
        f"cannot load the model {path}: {_first_line(error)}; give a folder that save_pretrained wrote, or a "
        "hub id that can be reached"
    )


def check_folder(path: str) -> None:
    """Refuse a `path` that is meant as a folder and holds no model; a hub id is looked up when it is loaded.

    An adapter's folder counts as a model.

    Raises:
        ModelError: no such folder, or one without config.json.
    """
    folder = Path(path).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file() and not is_adapter(path):
            raise ModelError(
                f"{path} is not a transformers model: it has no config.json; give a saved model's folder"
            )
    elif folder.is_absolute() or path.startswith((".", "~")) or path.count("/") > 1:
        raise ModelError(
            f"there is no model folder {path}; check the path, or give a hub id such as owner/name"
        )


def read_model(path: str, dtype: Dtype = "auto") -> tuple[Any, Any]:
    """A model of one's own, not shared with anybody, on the CPU, and its tokenizer; an adapter is merged in.

    Raises:
        ModelError: nothing is there, the hub is out of reach, or it is not a complete causal language model.
    """
    with _refusals_told(path), _loading, quiet():
        return _read(path, dtype, None)


def _read(path: str, dtype: str, layers: int | None) -> tuple[Any, Any]:
    if not is_adapter(path):
        model = _read_whole(path, dtype, layers)
        return model, _tokenizer(path)
    if layers is not None:
        raise ModelError(
            f"{path} is an adapter, which cannot be loaded in part; merge it into its model first"
        )
    tokenizer = _tokenizer(path)
    return merged(_read_whole(base_of(path), dtype, None), path), tokenizer


def _read_whole(path: str, dtype: str, layers: int | None) -> Any:
    kind = AutoModelForCausalLM if layers is None else AutoModel
    cut = {} if layers is None else {"config": _first_layers(path, layers)}
    model, report = kind.from_pretrained(
        path, dtype=dtype, trust_remote_code=False, output_loading_info=True, **cut
    )
    if missing := sorted(report["missing_keys"]):
        raise ModelError(
            f"the model {path} lacks {len(missing)} weights ({missing[0]}, …) and would answer at random; "
            "give a complete causal language model"
        )
    return model


def _load(path: str, dtype: str, device: str, layers: int | None) -> Weights:
    model, tokenizer = _read(path, dtype, layers)
    takes = inspect.signature(model.forward).parameters
    if "past_key_values" not in takes:
        raise ModelError(
            f"the model {path} keeps no key-value cache; give a transformer such as Llama or Qwen"
        )
    tokenizer("x", truncation=False)  # drops a truncation saved with the tokenizer before threads share it
    return Weights(
        model=model.to(device).eval(),
        tokenizer=tokenizer,
        context_length=_context_length(model, tokenizer),
        end_tokens=end_tokens(model, tokenizer),
        end_token=tokenizer.eos_token_id,
        last_logits_only={"logits_to_keep": 1} if "logits_to_keep" in takes else {},
        token_bytes=TokenBytes(tokenizer),
    )


def _first_layers(path: str, layers: int) -> Any:
    """The configuration of a model cut to its first layers."""
    config = AutoConfig.from_pretrained(path, trust_remote_code=False)
    inner = config.get_text_config()
    inner.num_hidden_layers = layers
    if getattr(inner, "layer_types", None):
        inner.layer_types = inner.layer_types[:layers]
    return config


def _context_length(model: Any, tokenizer: Any) -> int:
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return int(min(positions or sys.maxsize, tokenizer.model_max_length))


def end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Ids of the tokens that end an answer of this model."""
    settings = getattr(model, "generation_config", None)  # none without an output layer
    ends = getattr(settings, "eos_token_id", None)
    ends = ends if isinstance(ends, list) else [ends]
    return frozenset(end for end in [*ends, tokenizer.eos_token_id] if end is not None)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' progress bars and reports while it loads or saves; what matters is raised."""
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return textwrap.shorten(lines[0], 200, placeholder=" …").rstrip(".") if lines else type(error).__name__
