"""Tests reach no hub, keep their own cache, leave a core to others, and do the same every time they run."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A shell's background job ignores it, and so would the processes whose end by Ctrl-C is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What fails here is to fail everywhere, on a busy machine too; `pytest --hypothesis-profile default` looks
# for examples that nobody has seen.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One cache for all tests and the processes they start, not the user's."""
    os.environ["KNOWWHEN_CACHE"] = str(tmp_path_factory.mktemp("cache"))
