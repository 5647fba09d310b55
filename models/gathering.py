"""Evidence from a model that shows only its answers: a greedy request and one for k samples, per prompt."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables.config import ContextThreadPoolExecutor

from knowwhen.models.cost import NO_COST, Cost, add_costs
from knowwhen.models.evidence import Answer, Evidence
from knowwhen.models.reply import Reply
from knowwhen.models.sampling import Sampling

Prompt = str | Sequence[BaseMessage]  # the user's turn, or a conversation


def gather(
    ask: Callable[[Prompt, Sampling], Reply],
    prompts: Sequence[Prompt],
    greedy: bool,
    sampled: bool,
    sampling: Sampling,
    threads: int,
) -> list[Evidence]:
    """Ask all that is wanted about each prompt, up to `threads` requests at a time.

    Args:
        ask: makes one request.
        prompts: what is asked.
        greedy: whether to ask for the most probable answer.
        sampled: whether to ask for samples.
        sampling: of the samples; the greedy answer shares all but their number and randomness.
        threads: requests under way at most.
    """
    most_probable = replace(sampling, n=1, temperature=0.0, top_p=None, top_k=None)
    wanted = [most_probable] * greedy + [sampling] * sampled
    requests = [(prompt, each) for prompt in prompts for each in wanted]
    with ContextThreadPoolExecutor(threads) as pool:  # the surrounding run's callbacks go with the context
        replies = iter(list(pool.map(lambda request: ask(*request), requests)))
    return [
        _evidence(prompt, next(replies) if greedy else None, next(replies) if sampled else None)
        for prompt in prompts
    ]


def messages_of(prompt: Prompt) -> list[BaseMessage]:
    """The conversation that a prompt is."""
    return [HumanMessage(prompt)] if isinstance(prompt, str) else list(prompt)


def _evidence(prompt: Prompt, greedy: Reply | None, samples: Reply | None) -> Evidence:
    cost: Cost = NO_COST
    for reply in filter(None, (greedy, samples)):
        cost = add_costs(cost, reply.cost)
    return Evidence(
        prompt="\n\n".join(str(message.text) for message in messages_of(prompt)),
        greedy=_answers(greedy)[0] if greedy else None,
        samples=_answers(samples) if samples else (),
        cost=cost,
    )


def _answers(reply: Reply) -> tuple[Answer, ...]:
    tokens = reply.token_logprobs or (None,) * len(reply.texts)
    return tuple(Answer(text, logprobs) for text, logprobs in zip(reply.texts, tokens, strict=True))
