"""A method as it is run: a graph, and what its answers depend on besides the questions."""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from knowwhen.evaluation.processes import Answering
from knowwhen.graphs import METHODS, Method
from knowwhen.models.capability import describe
from knowwhen.models.errors import SettingsError
from knowwhen.models.fingerprint import fingerprint, weights_of
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.models.standing_in import ModelRecord
from knowwhen.tools.corpus_fingerprint import passages_of
from knowwhen.tools.resolve import RetrieverLike

LABEL = re.compile(r"\w[\w.+-]*")  # a folder of this name can be made everywhere


class ArmOrigin(BaseModel, frozen=True, extra="forbid"):
    """Who answers, and how."""

    method: str
    settings: str
    """All of them, in JSON, with those that were left at their defaults."""
    model: str
    weights: str
    """A fingerprint of a local model's weights; empty for others."""
    corpus: str
    """Empty for a method that looks nothing up."""
    passages: str
    """A fingerprint of the corpus; empty for one that is not ours."""
    prompts: str
    """A fingerprint of the method's prompts."""


@dataclass(frozen=True)
class Arm:
    """A graph, or processes that have it, under the name that its folder and its row in the tables bear."""

    label: str
    method: Answering
    origin: ArmOrigin
    models: Mapping[str, ModelRecord] = field(default_factory=dict)
    """What its models say of themselves, by the strings that named them; a recording keeps it."""

    def __post_init__(self) -> None:
        if not LABEL.fullmatch(self.label):
            raise SettingsError(f"{self.label!r} cannot be a folder's name; use letters, digits, - _ . and +")


def arm(
    method: Method,
    label: str | None = None,
    *,
    model: ModelLike = "",
    corpus: RetrieverLike = "",
    more: dict[str, Any] | None = None,
    models: Mapping[str, ModelRecord] | None = None,
) -> Arm:
    """A graph with what is known of it, by which a run that goes on later knows that it is the same one.

    A compiled graph does not tell its model and its corpus; tell them here where they may change.

    Args:
        method: the graph; any whose input is a question and whose output an answer (`nodes/state.py`).
        label: its folder and its row; None: the graph's name.
        model: who answers; empty: not told.
        corpus: where it looks things up.
        more: what it was built with besides its settings, in JSON.
        models: what `standing_in.noting_models` has noted while it was built.

    Raises:
        SettingsError: the label cannot be a folder's name.
    """
    return Arm(
        label or method.name,
        method,
        ArmOrigin(
            method=method.name,
            settings=json.dumps({**_settings(method), **(more or {})}, sort_keys=True),
            model=model if isinstance(model, str) else describe(model),
            weights=weights_of(resolve_model(model)) if model else "",
            corpus=str(corpus) if isinstance(corpus, str | Path) else type(corpus).__name__,
            passages=passages_of(corpus),
            prompts=prompts_of(method.name),
        ),
        models or {},
    )


def prompts_of(method: str) -> str:
    """A fingerprint of a method's own prompts; empty for a method that is not ours."""
    if method not in METHODS:
        return ""
    module = vars(sys.modules[METHODS[method].__module__])
    texts = {name: value for name, value in module.items() if "PROMPT" in name}
    return fingerprint([json.dumps(texts, sort_keys=True).encode()])


def _settings(method: Method) -> dict[str, Any]:
    """The settings with which a run goes that changes none."""
    if method.context_schema is None:
        return {}
    settings: dict[str, Any] = TypeAdapter(Any).dump_python(method.context_schema(), mode="json")
    return settings
