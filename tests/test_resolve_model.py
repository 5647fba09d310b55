"""What a user may write for a model, and what is said when it cannot be had."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from scripted import ScriptedChat
from tiny_models import save_tiny_model

from knowwhen import models
from knowwhen.models import ChatTransformers, ModelError, SettingsError, resolve_model
from knowwhen.models.pocket import pocket

KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY", "OLLAMA_HOST")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


def refused(model: object) -> str:
    """The one line with which `model` is refused."""
    with pytest.raises((ModelError, SettingsError)) as raised:
        resolve_model(model)  # type: ignore[arg-type]
    message = str(raised.value)
    assert "\n" not in message
    return message


def test_a_chat_model_is_taken_as_it_is() -> None:
    model = ScriptedChat([])
    assert resolve_model(model) is model


def test_an_openai_string_takes_chat_completions_a_timeout_and_no_retries_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    model = resolve_model("openai:some-model")
    assert isinstance(model, ChatOpenAI)
    assert model.model_name == "some-model"
    assert model.use_responses_api is False
    assert model.stream_usage is True
    assert model.root_client.max_retries == 0
    assert model.root_client.timeout == 60
    assert str(model.root_client.base_url) == "http://127.0.0.1:9/v1/"


def test_a_model_that_only_the_responses_api_serves_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    model = resolve_model("openai:gpt-5-pro")
    assert isinstance(model, ChatOpenAI)
    assert model.use_responses_api is True


def test_an_anthropic_string_takes_a_timeout_and_no_retries_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    model = resolve_model("anthropic:claude-of-tests")
    assert isinstance(model, ChatAnthropic)
    assert (model._client.max_retries, model._client.timeout) == (0, 60)


def test_an_ollama_string_takes_a_timeout() -> None:
    model = resolve_model("ollama:llama3.1:8b")
    assert isinstance(model, ChatOllama)
    assert model.model == "llama3.1:8b"
    assert model._client._client.timeout.read == 60


def test_a_transformers_string_names_a_folder(tmp_path: Path) -> None:
    tiny_llama = save_tiny_model(tmp_path / "tiny")
    model = resolve_model(f"transformers:{tiny_llama}")
    assert isinstance(model, ChatTransformers)
    assert model.path == str(tiny_llama)


@pytest.fixture
def package_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in place of the package's own."""
    monkeypatch.setattr("knowwhen.models.pocket.files", lambda package: tmp_path)
    pocket.cache_clear()
    yield tmp_path
    pocket.cache_clear()


def test_the_pocket_model_is_the_packages_own_folder_and_one_for_the_process(package_folder: Path) -> None:
    save_tiny_model(package_folder / "pocket")
    model = resolve_model("pocket")
    assert isinstance(model, ChatTransformers)
    assert model.path == str(package_folder / "pocket")
    assert resolve_model("pocket") is model


def test_a_package_without_the_pocket_model_says_how_to_get_it(package_folder: Path) -> None:
    assert "knowwhen train pocket" in refused("pocket")


def test_a_bare_folder_is_told_its_prefix(tmp_path: Path) -> None:
    assert f"transformers:{tmp_path}" in refused(str(tmp_path))


@pytest.mark.parametrize("name", ["nosuch:thing", "thing", "", ":", "transformers:", "openai:"])
def test_a_string_of_no_known_form_is_told_the_forms(name: str) -> None:
    assert "openai:gpt-4o-mini" in refused(name)


def test_something_else_is_no_model() -> None:
    assert "not a int" in refused(5)


def test_a_missing_key_is_named() -> None:
    assert "OPENAI_API_KEY" in refused("openai:gpt-4o-mini")
    assert "ANTHROPIC_API_KEY" in refused("anthropic:claude-of-tests")


def test_a_missing_key_for_a_server_of_ones_own_may_be_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert "any text will do" in refused("openai:some-model")


def test_a_missing_package_is_named() -> None:
    assert "pip install langchain-ibm" in refused("ibm:granite")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    assert str(tmp_path) in refused(f"transformers:{tmp_path / 'nothing'}")


def test_the_public_names_are_all_there() -> None:
    assert all(getattr(models, name) is not None for name in models.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        models.nothing  # noqa: B018


def test_the_errors_alone_load_neither_langchain_nor_torch() -> None:
    script = (
        "import sys; from knowwhen.models.errors import ModelError; import knowwhen.models;"
        "sys.exit(bool({'langchain_core', 'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
