"""Runs notebooks from top to bottom and keeps their outputs: python notebooks/run.py [NAME.ipynb …].

Without names all of them. Nothing of the clock or of the machine is kept, so that a run that changes nothing
leaves a notebook as it is, but for what its plots look like; on another machine samples may be others too.
How long each took is printed.
"""

import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
LONGEST = 240  # seconds that a cell may take, on a machine that does much besides


def executed(path: Path) -> nbformat.NotebookNode:
    """A notebook with the outputs that it has now.

    Raises:
        CellExecutionError: a cell raised an error.
    """
    notebook = nbformat.read(path, as_version=4)
    os.environ.setdefault("TQDM_DISABLE", "1")  # no progress bars among the outputs, and no word of them
    os.environ.setdefault("PYTHONWARNINGS", "ignore:IProgress not found")
    client = NotebookClient(
        notebook,
        timeout=LONGEST,
        record_timing=False,
        coalesce_streams=True,  # however the prints arrived
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    notebook.metadata["language_info"] = {"name": "python"}  # not the version that it ran on
    return notebook


def main() -> None:
    """Run notebooks and write them."""
    for path in [Path(name) for name in sys.argv[1:]] or sorted(HERE.glob("*.ipynb")):
        began = time.monotonic()
        nbformat.write(executed(path), path)
        print(f"{path.name}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
