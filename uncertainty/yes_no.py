"""The yes/no prompt: the model is asked whether it knows enough to answer.

Formula: 1 if it says yes, else 0; graded, P(yes)/(P(yes) + P(no)) of the first token that it would say.
Range: [0, 1]; higher is surer. Needs: the prompt alone; graded, a model that reports log-probabilities. Cost:
one short call of its own. Source: SeaKR, section 5.1 ("prompt"); graded after Kadavath et al. 2022.
"""

import math
import re
from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.capability import Capability, require
from knowwhen.models.door import Door
from knowwhen.models.evidence import Evidence
from knowwhen.models.faults import shortened
from knowwhen.models.reply import Reply
from knowwhen.uncertainty.estimator import Estimator, Needs
from knowwhen.uncertainty.score import EvidenceError, Kind, Score, Setting

PROMPT = """\
{prompt}

Do not answer yet. Do you know enough to answer this correctly, without looking anything up?
Reply with yes or no."""

TOP_LOGPROBS = 20  # as many as servers report


@dataclass(frozen=True)
class YesNo(Estimator):
    """What the model says when asked whether it knows.

    Args:
        door: to the model that is asked.
        graded: whether the probability of yes is read, not the word.
        prompt: with the place `{prompt}` for what is to be answered.
    """

    name: ClassVar[str] = "yes_no"
    kind: ClassVar[Kind] = "confidence"

    door: Door
    graded: bool = False
    prompt: str = PROMPT

    def __post_init__(self) -> None:
        if self.graded:
            require(self.door.model, [Capability.LOGPROBS], f"{self.name} graded", "use graded=False")

    @property
    def needs(self) -> Needs:
        """Nothing but the prompt."""
        return Needs()

    @property
    def settings(self) -> dict[str, Setting]:
        """How the reply is read, and the prompt if it is another."""
        other: dict[str, Setting] = {} if self.prompt == PROMPT else {"prompt": self.prompt}
        return {"graded": self.graded} | other

    def score(self, evidence: Evidence) -> Score:
        """Ask the model; a reply that is neither yes nor no counts as no, and the diagnostics show it."""
        asked = self.prompt.format(prompt=evidence.prompt)
        tops = TOP_LOGPROBS if self.graded else None
        reply = self.door.ask(asked, temperature=0, max_tokens=8, logprobs=self.graded, top_logprobs=tops)
        value = self._graded(reply) if self.graded else float(_says(reply.text) == "yes")
        return self._scored(value, {"reply": shortened(reply.text)}, cost=reply.cost)

    def _graded(self, reply: Reply) -> float:
        first = next((token for token in (reply.token_logprobs or ((),))[0] if token.token.strip()), None)
        shares = {"yes": 0.0, "no": 0.0}
        for token, logprob in first.top if first else ():
            said = _says(token)
            if said:
                shares[said] += math.exp(min(0.0, logprob))
        total = sum(shares.values())
        if not total > 0:
            raise EvidenceError(
                f"{self.name} found neither yes nor no among the first tokens of {shortened(reply.text)!r}; "
                "use graded=False or another prompt",
                reply.cost,
            )
        return shares["yes"] / total


def _says(text: str) -> str | None:
    said = re.match(r"\W*(yes|no)\b", text, re.IGNORECASE)
    return said[1].lower() if said else None
