"""How the answers of a run are scored: by metrics of the two texts, and by a judge if there is one."""

import asyncio
from collections.abc import Mapping, Sequence

from knowwhen.evaluation.datasets import GoldQuestion
from knowwhen.evaluation.judge_accuracy import JudgeAccuracy
from knowwhen.evaluation.metric_names import JUDGE, METRICS, USUAL
from knowwhen.models.capability import describe
from knowwhen.models.door import Door
from knowwhen.models.errors import SettingsError
from knowwhen.models.resolve import ModelLike, resolve_model
from knowwhen.models.standing_in import ModelRecord, noting_models


class Scorer:
    """Scores a prediction, in [0, 1] by each metric.

    Args:
        metrics: names of `METRICS`, besides the usual ones, which are always told.
        judge: a model that says whether the prediction implies a gold answer; its cost is not the method's.
        max_concurrency: questions to the judge at once.

    Raises:
        SettingsError: there is no such metric.
        ModelError: the judge cannot be had.
    """

    def __init__(
        self, metrics: Sequence[str] = (), judge: ModelLike | None = None, max_concurrency: int = 16
    ) -> None:
        unknown = next((name for name in metrics if name not in METRICS), None)
        if unknown is not None:
            raise SettingsError(f"there is no metric {unknown!r}; choose from {', '.join(METRICS)}")
        self._metrics = {name: METRICS[name] for name in dict.fromkeys((*USUAL, *metrics))}
        self.judge_name = ""
        self.models: dict[str, ModelRecord] = {}
        """What the judge says of itself, by the string that named it."""
        self._judge: JudgeAccuracy | None = None
        if judge is not None:
            with noting_models() as self.models:
                door = Door(
                    resolve_model(judge), asked_by="the judge of answers", max_concurrency=max_concurrency
                )
            self._judge = JudgeAccuracy(door)
            self.judge_name = judge if isinstance(judge, str) else describe(judge)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all that an answer is scored by."""
        return (*self._metrics, *([JUDGE] if self._judge else []))

    async def __call__(self, question: GoldQuestion, prediction: str) -> Mapping[str, float]:
        """The scores of one prediction.

        Raises:
            ModelError: the judge failed.
        """
        golds = question.golden_answers
        scores = {name: metric(prediction, golds) for name, metric in self._metrics.items()}
        if self._judge:
            verdict = await asyncio.to_thread(self._judge, question.question, prediction, golds)
            scores[JUDGE] = verdict.value
        return scores
