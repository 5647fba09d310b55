"""Chat models: which there are, what each can report, and the one door through which methods call them.

The names below are loaded when first used, so that the errors alone cost no import of LangChain or torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knowwhen.models.capability import Capability, capabilities, require
    from knowwhen.models.chat_with_states import ChatWithStates, StatesSource
    from knowwhen.models.cost import NO_COST, Cost, add_costs
    from knowwhen.models.door import Door
    from knowwhen.models.errors import (
        CapabilityError,
        KnowwhenError,
        ModelError,
        RetrievalError,
        SettingsError,
    )
    from knowwhen.models.evidence import Answer, Evidence, HiddenStates
    from knowwhen.models.half_depth import HalfDepth
    from knowwhen.models.reply import Reply, Retrieved, TokenLogprob
    from knowwhen.models.resolve import ModelLike, resolve_model
    from knowwhen.models.sglang_states import SGLangStates
    from knowwhen.models.transformers_chat import ChatTransformers
    from knowwhen.models.vllm_states import VLLMStates

__all__ = [
    "NO_COST",
    "Answer",
    "Capability",
    "CapabilityError",
    "ChatTransformers",
    "ChatWithStates",
    "Cost",
    "Door",
    "Evidence",
    "HalfDepth",
    "HiddenStates",
    "KnowwhenError",
    "ModelError",
    "ModelLike",
    "Reply",
    "RetrievalError",
    "Retrieved",
    "SGLangStates",
    "SettingsError",
    "StatesSource",
    "TokenLogprob",
    "VLLMStates",
    "add_costs",
    "capabilities",
    "require",
    "resolve_model",
]

_MODULES = {
    "capability": ("Capability", "capabilities", "require"),
    "chat_with_states": ("ChatWithStates", "StatesSource"),
    "cost": ("NO_COST", "Cost", "add_costs"),
    "door": ("Door",),
    "evidence": ("Answer", "Evidence", "HiddenStates"),
    "half_depth": ("HalfDepth",),
    "errors": ("CapabilityError", "KnowwhenError", "ModelError", "RetrievalError", "SettingsError"),
    "reply": ("Reply", "Retrieved", "TokenLogprob"),
    "resolve": ("ModelLike", "resolve_model"),
    "sglang_states": ("SGLangStates",),
    "transformers_chat": ("ChatTransformers",),
    "vllm_states": ("VLLMStates",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
