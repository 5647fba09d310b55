"""Tests reach no hub, keep their own cache, and leave a core to whatever else the machine does."""

import os
import signal

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A shell's background job ignores it, and so would the processes whose end by Ctrl-C is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One cache for all tests and the processes they start, not the user's."""
    os.environ["KNOWWHEN_CACHE"] = str(tmp_path_factory.mktemp("cache"))
