"""The pocket model: the small language model that the package carries; no key, no network, no server."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from knowwhen.models.errors import ModelError
from knowwhen.models.transformers_chat import ChatTransformers


@cache
def pocket() -> ChatTransformers:
    """The pocket model, one for the whole process.

    Raises:
        ModelError: the package was installed without it.
    """
    folder = Path(str(files("knowwhen.models"))) / "pocket"
    if not (folder / "config.json").is_file():
        raise ModelError(
            f"no pocket model in {folder}; reinstall knowwhen, or train the model with knowwhen train pocket"
        )
    return ChatTransformers(path=str(folder))
