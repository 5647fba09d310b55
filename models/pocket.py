"""The pocket model: the small language model that the package carries; no key, no network, no server."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.language_models import BaseChatModel

from knowwhen.models.errors import ModelError

if TYPE_CHECKING:
    from knowwhen.models.transformers_chat import ChatTransformers


@cache
def pocket() -> "ChatTransformers":
    """The pocket model, one for the whole process.

    Raises:
        ModelError: the package was installed without it.
    """
    from knowwhen.models.transformers_chat import ChatTransformers

    folder = _folder()
    if not (folder / "config.json").is_file():
        raise ModelError(
            f"no pocket model in {folder}; reinstall knowwhen, or train the model with knowwhen train pocket"
        )
    return ChatTransformers(path=str(folder))


def is_pocket(model: BaseChatModel) -> bool:
    """Whether this is the pocket model."""
    return getattr(model, "path", None) == str(_folder())


def _folder() -> Path:
    return Path(str(files("knowwhen.models"))) / "pocket"
