"""How a reply is to be sampled, and how each family of chat models is told so."""

from dataclasses import asdict, dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel

from knowwhen.models.errors import SettingsError

FIELDS = {  # what LangChain's integrations call each parameter
    "n": ("n",),
    "logprobs": ("logprobs",),
    "top_logprobs": ("top_logprobs",),
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "top_k": ("top_k",),
    "max_tokens": (
        "max_tokens",
        "num_predict",
        "max_output_tokens",
        "max_new_tokens",
        "max_completion_tokens",
    ),
    "seed": ("seed", "random_seed"),
}


@dataclass(frozen=True)
class Sampling:
    """The parameters of one request; None leaves a parameter to the model."""

    n: int = 1  # texts, at least 1
    logprobs: bool = False
    top_logprobs: int | None = None  # most probable tokens reported at each place
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None  # of one text
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.n < 1:
            raise SettingsError(f"n must be at least 1 sample, not {self.n}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise SettingsError(f"max_tokens must be at least 1, not {self.max_tokens}")

    def given(self) -> dict[str, Any]:
        """The parameters that say something, by name."""
        named = {name: value for name, value in asdict(self).items() if value is not None}
        if self.n == 1:
            del named["n"]
        if not self.logprobs:
            del named["logprobs"]
            named.pop("top_logprobs", None)
        return named


def prepared(model: BaseChatModel, sampling: Sampling, stop: bool) -> tuple[BaseChatModel, dict[str, Any]]:
    """The model to call and the keywords to call it with, so that it samples as asked.

    A model that declares `reports` was written for the door and takes the parameters as call keywords under
    the door's names. Every other is told through the fields of a copy (which shares its client and costs next
    to nothing), because some refuse unknown keywords (ChatOllama) and each has names of its own. A parameter
    that it has no field for is left to the model, and so are temperature, top-p and top-k where its profile
    says that it takes none, as reasoning models answer them with status 400. Anthropic's newer models refuse
    temperature and top-p together: there top-p gives way. ChatOpenAI asks for the tokens of a stream only at
    OpenAI's own address, so it is told to ask everywhere, unless its maker said otherwise.

    Args:
        model: any chat model.
        sampling: what to ask for.
        stop: whether the call names stop strings; they then replace the model's own, as ChatOllama takes only
            one of the two.
    """
    fields = type(model).model_fields
    wanted = sampling.given()
    update: dict[str, Any] = {}
    if sampling.n > 1 or sampling.logprobs:  # a stream carries one text, and not always its log-probabilities
        update["disable_streaming"] = True
        if "streaming" in fields:
            update["streaming"] = False
    if hasattr(model, "reports"):
        return (model.model_copy(update=update) if update else model), wanted
    if (model.profile or {}).get("temperature") is False:
        wanted = {
            name: value for name, value in wanted.items() if name not in ("temperature", "top_p", "top_k")
        }
    if "anthropic" in model._llm_type and "temperature" in wanted:
        wanted.pop("top_p", None)
    for name, value in wanted.items():
        own = next((field for field in FIELDS[name] if field in fields), None)
        if own is not None:
            update[own] = value
    if "stream_usage" in fields and "stream_usage" not in model.model_fields_set:
        update["stream_usage"] = True
    if stop and "stop" in fields:
        update["stop"] = None
    return (model.model_copy(update=update) if update else model), {}
