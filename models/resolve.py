"""From what a user writes for a model to a chat model."""

import os
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from pydantic import SecretStr

from knowwhen.models.errors import ModelError, SettingsError
from knowwhen.models.faults import shortened
from knowwhen.models.standing_in import CAST

ModelLike = BaseChatModel | str

TIMEOUT = 60.0  # seconds that one request to a server may take
FORMS = (
    "pocket, transformers:<folder or hub id>, or provider:name such as openai:gpt-4o-mini or ollama:llama3.1"
)
BARE = (
    "pass the chat model within: it is asked again by itself, what is bound to it goes into its own fields "
    "or into settings, and fallbacks go around the method"
)


def resolve_model(model: ModelLike) -> BaseChatModel:
    """A chat model as it is, or the one that a string names.

    - `pocket`: the small model that the package carries.
    - `transformers:<folder or hub id>`: a local model, loaded with transformers.
    - anything that LangChain's `init_chat_model` takes: `openai:gpt-4o-mini`, `ollama:llama3.1`, … Keys and
      addresses come from the environment as usual (OPENAI_API_KEY, OPENAI_BASE_URL, …). Requests time out
      after 60 seconds and the client's own retries are off, as far as its class can be told so, because the
      door retries; OpenAI's chat completions are used rather than its Responses API, which drops
      log-probabilities.

    Raises:
        ModelError: the model, its package or its key is missing.
        SettingsError: the string has none of these forms.
    """
    if isinstance(model, BaseChatModel):
        return model
    if not isinstance(model, str):
        instead = f"; {BARE}" if isinstance(model, Runnable) else ""
        kind = type(model).__name__
        raise SettingsError(f"a model is a LangChain chat model or a string, not a {kind}{instead}")
    cast = CAST.get()
    return _resolve(model) if cast is None else cast(model, _resolve)


def _resolve(model: str) -> BaseChatModel:
    if model == "pocket":
        from knowwhen.models.pocket import pocket

        return pocket()
    if model and ":" not in model and Path(model).is_dir():
        raise SettingsError(f"{model!r} is a folder; write transformers:{model} to load the model in it")
    scheme, colon, name = model.partition(":")
    if not scheme or (colon and not name):
        raise SettingsError(f"{model!r} names no model; write {FORMS}")
    if scheme == "transformers":
        from knowwhen.models.transformers_chat import ChatTransformers

        return ChatTransformers(path=name)
    return _from_provider(model)


def _from_provider(name: str) -> BaseChatModel:
    """The chat model that init_chat_model makes, told what the door needs where its class takes it.

    Which places there are is seen on a first one, made with nothing but the name, which opens no connection.
    """
    draft = _built(name)
    for field, variable in draft.lc_secrets.items():
        key = getattr(draft, field, None)
        if isinstance(key, SecretStr) and not key.get_secret_value():  # ChatAnthropic asks without a key
            raise ModelError(f"model {name!r} needs a key; set {variable}")
    fields = type(draft).model_fields
    known = set(fields) | {field.alias for field in fields.values()}
    settings: dict[str, Any] = {}
    if "timeout" in known:
        settings["timeout"] = TIMEOUT
    if "max_retries" in known:
        settings["max_retries"] = 0
    if "client_kwargs" in known:  # ChatOllama
        settings["client_kwargs"] = {"timeout": TIMEOUT}
    if "use_responses_api" in known and not getattr(draft, "use_responses_api", None):  # some have no other
        settings["use_responses_api"] = False
    if "stream_usage" in known:  # or a stream's tokens go uncounted on any server but OpenAI's
        settings["stream_usage"] = True
    return _built(name, **settings)


def _built(name: str, **settings: Any) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    try:
        model: BaseChatModel = init_chat_model(name, **settings)
    except Exception as error:  # classes of many packages, with errors of their own
        said = str(error)
        if isinstance(error, ValueError) and ("model provider" in said or "Unsupported provider" in said):
            raise SettingsError(f"{name!r} names no known model; write {FORMS}") from error
        raise ModelError(f"model {name!r} cannot be set up ({shortened(said)}){_key_hint(error)}") from error
    return model


def _key_hint(error: Exception) -> str:
    if "credentials" in str(error) and os.environ.get("OPENAI_BASE_URL", os.environ.get("OPENAI_API_BASE")):
        return "; any text will do as the key of a server that checks none"
    return ""
