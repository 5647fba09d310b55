"""Whether a model's answers can branch off one prompt in one cache: tried once, on a few tokens."""

import inspect
from functools import cache

import torch

from knowwhen.models.trunk import Trunk
from knowwhen.models.weights import Weights

ATTENTIONS = ("sdpa", "eager")  # which take any mask; flash attention takes none
KINDS = {"full_attention", "sliding_attention"}  # of layers, for which a mask can be made
PROMPT = 5  # tokens
FAULTS = (TypeError, ValueError, RuntimeError, AttributeError, LookupError)


@cache
def unfit(weights: Weights) -> str:
    """Why answers of this model cannot share one cache; empty if they can.

    Beside what its configuration tells, two branches of two tokens are compared with plain passes, as some
    architectures take a mask and positions and make nothing of them. The caller holds the weights' lock.
    """
    config = weights.model.config.get_text_config()
    attention = config._attn_implementation
    if attention not in ATTENTIONS:
        return f"its attention, {attention}, takes no mask"
    if "position_ids" not in inspect.signature(weights.model.forward).parameters:
        return "it takes no positions"
    if others := set(getattr(config, "layer_types", None) or ()) - KINDS:
        return f"it has layers of the kind {', '.join(sorted(others))}"
    try:
        return "" if _branches_like_plain_passes(weights) else "its branches would see each other"
    except FAULTS as error:
        return f"it fails with {type(error).__name__}"


def _branches_like_plain_passes(weights: Weights) -> bool:
    entries = weights.model.get_input_embeddings().num_embeddings
    prompt = [number % entries for number in range(PROMPT)]
    answers = [[number % entries for number in answer] for answer in ((6, 8), (7, 9))]
    with torch.inference_mode():
        trunk = Trunk(weights)
        list(trunk.read(prompt, PROMPT))
        for at, tokens in enumerate(zip(*answers, strict=True)):
            branched = trunk.grow(list(tokens), [0, 1], [PROMPT + at] * 2)
        ids = torch.tensor([prompt + answer for answer in answers], device=branched.device)
        plain = weights.model(input_ids=ids)[0][:, -1].float()
    return not bool((branched - plain).abs().max() > plain.std() / 10)  # half precision errs far less
