"""Verbalised confidence: what the model says of its own answer.

Formula: the stated 0 to 100 divided by 100. Range: [0, 1]; higher is surer. Needs: an answer to a prompt that
asks for the confidence too, or a door through which it is asked afterwards. Cost: one call, or two. Source:
Self-DC, section 4.2 and Table 21; after Lin et al. 2022.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from knowwhen.models.cost import NO_COST
from knowwhen.models.door import Door
from knowwhen.models.evidence import Evidence
from knowwhen.models.faults import shortened
from knowwhen.uncertainty.estimator import Estimator, Needs
from knowwhen.uncertainty.reading import greedy_answer
from knowwhen.uncertainty.score import EvidenceError, Kind, Score, Setting

# A scale that the reply repeats: (0-100), [0–100%], (0 = a guess, 100 = sure), (out of 100), from 0 to 100.
_SCALE = re.compile(
    r"[(\[]\s*(?:0\b[^()\[\]\n]{0,40}?\b1(?:00?)?|(?:out\s+)?of\s+100?)\b[^()\[\]\n\d]{0,40}[)\]]"
    r"|\b(?:from\s+)?0\s*%?\s*(?:-|–|to)\s*100\b\s*%?",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"""confidence
    (?: [^\d\n:=.;]{0,40} [:=] (?: [\W_]{0,20}? | [^\d\n.;]{0,40}? )    # "Confidence in it: high, some 80"
      | (?:[ ](?:level|score))? (?:[ ]in[ ](?:my|this|the)[ ]answer)?
        (?:[ ](?:is|of|at))? (?:[ ](?:about|around))? [^\w\n.;]{0,10}?  # "My confidence is about 80"
    )
    (?P<number> [-−]? (?: \d{1,3} (?:\.\d+|,\d{1,2})? | \.\d+ ) ) (?! [.,]?\d )
    [\s*_`)\]]{0,5}
    (?: (?P<percent> % | percent ) | (?: / | out\s+of ) \s* (?P<whole>\d{1,4}) )?
    """,
    re.IGNORECASE | re.VERBOSE,
)


PROMPT = """\
{prompt}

The reply was: {answer}
How sure are you that it is right? Write "Confidence:" and a number from 0 for a guess to 100 for certain."""


@dataclass(frozen=True)
class Verbalised(Estimator):
    """The confidence stated in the greedy answer, or when asked for it afterwards.

    Args:
        door: to the model, for prompts that ask for no confidence; None: it is read in the answer itself.
    """

    name: ClassVar[str] = "verbalised"
    kind: ClassVar[Kind] = "confidence"

    door: Door | None = None

    @property
    def needs(self) -> Needs:
        """The greedy answer's text."""
        return Needs(greedy=True)

    def score(self, evidence: Evidence) -> Score:
        """The confidence that the evidence's greedy answer states."""
        text, cost = greedy_answer(evidence, self.name).text, NO_COST
        if self.door is not None:
            asked = PROMPT.format(prompt=evidence.prompt, answer=text)
            reply = self.door.ask(asked, temperature=0, max_tokens=32)
            text, cost = reply.text, reply.cost
        stated = verbalised(text)
        if stated is None:
            raise EvidenceError(
                f"no confidence is stated in {shortened(text)!r}; ask for one in the prompt", cost
            )
        return self._scored(stated, cost=cost)

    @property
    def settings(self) -> dict[str, Setting]:
        """Whether it was asked for afterwards."""
        return {"afterwards": self.door is not None}


def verbalised(text: str) -> float | None:
    """The confidence that a reply states, in [0, 1]; None if it states none, or one out of range.

    Read are "Confidence: 80", "Confidence (0-100): 80%", "confidence = 0.8", "Confidence: 8/10" and
    "**Confidence level:** 85 percent"; the last one stated counts, since models think before they settle.
    """
    found = list(_STATED.finditer(_SCALE.sub("", text)))
    if not found:
        return None
    last = found[-1]
    number = float(last["number"].replace(",", ".").replace("−", "-"))
    if last["whole"]:
        whole = float(last["whole"])
    else:
        whole = 1.0 if "." in last["number"] and number <= 1 and not last["percent"] else 100.0
    return number / whole if whole and 0 <= number <= whole else None
