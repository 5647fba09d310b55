"""A judge that is an entailment model: two answers mean the same if each follows from the other.

Both are read behind the question, as Farquhar et al. 2024 read them for semantic entropy.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from knowwhen.models.errors import ModelError, SettingsError
from knowwhen.models.faults import shortened
from knowwhen.uncertainty.judge import Judged

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_loaded: dict[str, "CrossEncoder"] = {}
_lock = threading.Lock()  # held while loading and predicting: a fast tokenizer serves one thread at a time


class EntailmentJudge:
    """Asks a cross-encoder for natural language inference about both directions of all pairs, in one batch.

    Two answers are as alike as the less probable of the two entailments, so they mean the same if each has a
    probability of 0.5 or more. The configuration is read at once, the weights at the first use, once per
    process. Texts that are too long for the model lose their beginning, which is the question's.

    Args:
        name: a folder or hub id of a sequence classifier with a label `entailment`.

    Raises:
        ModelError: there is no such model, or it is out of reach.
        SettingsError: none of its labels, or more than one, is entailment.
    """

    def __init__(self, name: str) -> None:
        self.name = f"nli:{name}"
        folder = Path(name).expanduser()
        self._path = str(folder.resolve()) if folder.is_dir() else name
        self._column = _entailment_column(name, self._path)

    def __call__(self, prompt: str, pairs: Sequence[tuple[str, str]]) -> Judged:
        """Judge all pairs: the less probable of the two entailments; no chat model is called.

        Raises:
            ModelError: the model's weights or tokenizer cannot be loaded.
        """
        if not pairs:
            return Judged(())
        texts = [(f"{prompt} {first}", f"{prompt} {second}") for first, second in pairs]
        both = texts + [(second, first) for first, second in texts]
        shares = _predicted(self._path, both)[:, self._column]
        forth, back = np.split(shares, 2)
        return Judged(tuple(float(share) for share in np.minimum(forth, back)))


def _entailment_column(name: str, path: str) -> int:
    from transformers import AutoConfig

    from knowwhen.models.weights import REFUSALS

    try:
        labels: dict[int, str] = AutoConfig.from_pretrained(path, trust_remote_code=False).id2label
    except REFUSALS as error:
        raise _not_loaded(name, error) from error
    columns = [column for column, label in labels.items() if label.casefold().startswith("entail")]
    if len(columns) != 1:
        raise SettingsError(
            f"the model {name!r} has the labels {', '.join(labels.values())}, and a judge needs one that is "
            "'entailment'; give a cross-encoder for natural language inference"
        )
    return columns[0]


def _predicted(path: str, pairs: list[tuple[str, str]]) -> Any:
    """The probability of each label for each pair: an array (pairs, labels)."""
    import torch
    from sentence_transformers import CrossEncoder

    from knowwhen.models.weights import REFUSALS

    with _lock:
        if path not in _loaded:
            try:
                model = CrossEncoder(path)
            except REFUSALS as error:
                raise _not_loaded(path, error) from error
            model.tokenizer.truncation_side = "left"  # the answers stand at the end
            _loaded[path] = model
        softmax = torch.nn.Softmax(dim=-1)  # whatever activation was saved with the model
        return _loaded[path].predict(pairs, activation_fn=softmax, show_progress_bar=False)


def _not_loaded(name: str, error: Exception) -> ModelError:
    return ModelError(
        f"cannot load the entailment model {name!r} ({shortened(str(error))}); give a folder or hub id of a "
        "cross-encoder for natural language inference"
    )
