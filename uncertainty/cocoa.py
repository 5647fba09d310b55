"""CoCoA: how unsure the model was of its answer, times how far its samples are from that answer.

Formula: u(y) · (1/k) · Σ_s (1 − sim(y, y_s)), y the greedy answer and y_s the k samples. u is, by `base`, the
negative log-probability of y (`msp`), that divided by y's tokens (`ppl`, the logarithm of its perplexity), or
its mean token entropy (`mte`); sim is in [0, 1]: 1 for equal normal forms, else the judge's, or 0 without
one. A sample that says that the model does not know is like no answer. Range: [0, ∞); higher is less sure; 0
as soon as all samples agree. Needs: the greedy answer with log-probabilities, and the texts of k samples.
Cost: one call and k samples, and the judge's calls, at most k. Source: Vashurin et al. 2025, "CoCoA"
(k = 10, sim by a cross-encoder).
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from knowwhen.models.cost import NO_COST, Cost
from knowwhen.models.errors import SettingsError
from knowwhen.models.evidence import Answer, Evidence
from knowwhen.uncertainty.estimator import Estimator, Needs, at_least_two
from knowwhen.uncertainty.judge import Judge
from knowwhen.uncertainty.normal_form import normal_form
from knowwhen.uncertainty.reading import greedy_answer, mean, sampled_answers, token_logprobs, top_logprobs
from knowwhen.uncertainty.score import Kind, Score, Setting
from knowwhen.uncertainty.token_entropy import entropy
from knowwhen.uncertainty.unknown import means_unknown

Base = Literal["msp", "ppl", "mte"]


@dataclass(frozen=True)
class CoCoA(Estimator):
    """The greedy answer's uncertainty times its mean distance from k samples.

    Args:
        k: samples, at least 2.
        base: what the uncertainty of the greedy answer is.
        top_logprobs: how many of the most probable tokens `mte` reads at each place.
        judge: how alike answers of different normal forms are; None: not at all.
    """

    name: ClassVar[str] = "cocoa"
    kind: ClassVar[Kind] = "uncertainty"

    k: int = 10
    base: Base = "ppl"
    top_logprobs: int = 10
    judge: Judge | None = None

    def __post_init__(self) -> None:
        at_least_two(self.k, self.name)
        if self.base not in get_args(Base):
            raise SettingsError(f"there is no base {self.base!r}; choose from {', '.join(get_args(Base))}")
        if self.top_logprobs < 1:
            raise SettingsError(f"{self.name} reads top_logprobs of 1 or more, not {self.top_logprobs}")

    @property
    def needs(self) -> Needs:
        """The greedy answer with its tokens, and the samples' texts."""
        return Needs(k=self.k, greedy=True, logprobs=True, top_logprobs=self._tops)

    @property
    def settings(self) -> dict[str, Setting]:
        """What both factors depend on."""
        tops: dict[str, Setting] = {"top_logprobs": self._tops} if self._tops else {}
        return {"k": self.k, "base": self.base, "judge": self.judge.name if self.judge else None} | tops

    def score(self, evidence: Evidence) -> Score:
        """The product for the evidence's greedy answer."""
        answer = greedy_answer(evidence, self.name)
        samples = sampled_answers(evidence, self.k, self.name)
        uncertainty = self._uncertainty(answer)
        alike, cost = self._alike(evidence.prompt, answer.text, [sample.text for sample in samples])
        distance = 1 - mean(alike)
        diagnostics = {"uncertainty": uncertainty, "distance": distance}
        return self._scored(uncertainty * distance, diagnostics, cost=cost)

    @property
    def _tops(self) -> int:
        return self.top_logprobs if self.base == "mte" else 0

    def _uncertainty(self, answer: Answer) -> float:
        if self.base == "mte":
            return mean([entropy(top) for top in top_logprobs(answer, self._tops, self.name)])
        logprobs = token_logprobs(answer, self.name)
        per_token = -mean(logprobs) + 0.0
        return per_token * len(logprobs) if self.base == "msp" else per_token

    def _alike(self, prompt: str, answer: str, samples: list[str]) -> tuple[list[float], Cost]:
        """How like the answer each sample is; the judge sees each distinct sample once."""
        form = normal_form(answer)
        known: dict[str, float] = {}
        asked = []
        for sample in dict.fromkeys(samples):
            if means_unknown(sample) or means_unknown(answer):
                known[sample] = 0.0
            elif normal_form(sample) == form:
                known[sample] = 1.0
            else:
                asked.append(sample)
        if self.judge is None or not asked:
            return [known.get(sample, 0.0) for sample in samples], NO_COST
        verdict = self.judge(prompt, [(answer, sample) for sample in asked])
        for sample, alike in zip(asked, verdict.alike, strict=True):
            known[sample] = min(1.0, max(0.0, alike))
        return [known[sample] for sample in samples], verdict.cost
