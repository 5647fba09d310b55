"""A LoRA adapter's folder: small matrices beside the name of the model that they change."""

import json
from pathlib import Path
from typing import Any

from knowwhen.models.errors import ModelError

CONFIG = "adapter_config.json"


def is_adapter(path: str) -> bool:
    """Whether a folder holds an adapter and no whole model."""
    folder = Path(path).expanduser()
    return (folder / CONFIG).is_file() and not (folder / "config.json").is_file()


def base_of(path: str) -> str:
    """The folder or hub id of the model that an adapter changes.

    Raises:
        ModelError: its configuration does not tell.
    """
    file = Path(path).expanduser() / CONFIG
    try:
        base = json.loads(file.read_text("utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError):
        base = None
    if not isinstance(base, str) or not base:
        raise ModelError(f"{file} names no base model; give the folder of an adapter that peft has saved")
    return base


def merged(model: Any, path: str) -> Any:
    """The base model with an adapter added to its weights, an ordinary model again.

    Raises:
        ModelError: peft is not installed.
    """
    try:
        from peft import PeftModel
    except ImportError:
        raise ModelError(
            f"{path} is an adapter, and peft is not installed; pip install 'knowwhen[training]'"
        ) from None
    return PeftModel.from_pretrained(model, str(Path(path).expanduser())).merge_and_unload()
