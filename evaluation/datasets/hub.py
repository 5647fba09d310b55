"""Datasets of the Hugging Face hub or in its library's files: `hf:<name>[/config][:split]`.

The name has its owner, as all have on the hub: `hf:rajpurkar/squad:validation`,
`hf:mandarjoshi/trivia_qa/rc:validation`. A folder or file is also taken: one that `save_to_disk` wrote, or
one of Parquet or JSON lines. Rows come one after the other, as they are needed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from knowwhen.evaluation.datasets.located import Located
from knowwhen.models.errors import KnowwhenError, SettingsError

PREFIX = "hf:"
FILE_FORMATS = {".jsonl": "json", ".json": "json", ".parquet": "parquet", ".csv": "csv"}


def hub_rows(dataset: str) -> Iterator[Located]:
    """The rows of a dataset.

    Args:
        dataset: with the prefix, `hf:`.

    Raises:
        SettingsError: there is no such dataset, or it has several splits and none is given.
        KnowwhenError: `datasets` is not installed, or the dataset cannot be loaded.
    """
    name, _, split = dataset.removeprefix(PREFIX).partition(":")
    if not name.strip("/"):
        raise SettingsError(f"{dataset} names no dataset; give hf:owner/name[/config][:split]")
    return _located(_loaded(name, split, dataset), dataset)


def _located(rows: Any, dataset: str) -> Iterator[Located]:
    number = 0
    try:
        for number, row in enumerate(rows, start=1):
            yield Located(f"{dataset}, row {number}", number, row)
    except _faults() as error:
        raise KnowwhenError(f"{dataset} cannot be read behind row {number}: {_line(error)}") from None


def _loaded(name: str, split: str, dataset: str) -> Any:
    try:
        import datasets
    except ModuleNotFoundError:
        raise KnowwhenError(
            f"{dataset} is read by the library datasets, which is not installed; pip install 'knowwhen[hub]'"
        ) from None
    try:
        found = _load(name)
    except _faults() as error:
        raise KnowwhenError(
            f"{dataset} cannot be loaded: {_line(error)}; give hf:owner/name[/config][:split], which needs a "
            "network or an earlier fetch, or a file"
        ) from None
    if not isinstance(found, datasets.DatasetDict | datasets.IterableDatasetDict):
        found = {str(found.split or "train"): found}
    splits = ", ".join(map(str, found))
    if not split and len(found) > 1:
        raise SettingsError(f"{dataset} has the splits {splits}; give one: {dataset}:{next(iter(found))}")
    if split and split not in found:
        raise SettingsError(f"{dataset} has no split {split!r}; give one of {splits}")
    return found[split] if split else next(iter(found.values()))


def _faults() -> tuple[type[Exception], ...]:
    """What the library raises: its own errors, and those of its files, of Arrow and of the network."""
    import httpx
    from datasets.exceptions import DatasetsError

    return (DatasetsError, OSError, ValueError, TypeError, RuntimeError, httpx.HTTPError)


def _line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _load(name: str) -> Any:
    import datasets

    path = Path(name)
    if path.is_file():
        kind = FILE_FORMATS.get(path.suffix, "json")
        return datasets.load_dataset(kind, data_files=name, streaming=True)
    if (path / "state.json").is_file() or (path / "dataset_dict.json").is_file():
        return datasets.load_from_disk(name)
    if path.is_dir():
        return datasets.load_dataset(name, streaming=True)
    owner_and_name, config = "/".join(name.split("/")[:2]), "/".join(name.split("/")[2:])
    return datasets.load_dataset(owner_and_name, config or None, streaming=True)
