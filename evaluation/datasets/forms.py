"""Every form that a dataset can have, and which of them a record is of."""

from typing import Any

from knowwhen.evaluation.datasets.bamboogle import BAMBOOGLE
from knowwhen.evaluation.datasets.flashrag import FLASHRAG
from knowwhen.evaluation.datasets.form import Form
from knowwhen.evaluation.datasets.freshqa import FRESHQA
from knowwhen.evaluation.datasets.hotpotqa import HOTPOTQA
from knowwhen.evaluation.datasets.iirc import IIRC
from knowwhen.evaluation.datasets.musique import MUSIQUE
from knowwhen.evaluation.datasets.natural_questions import NQ, NQ_ORACLE
from knowwhen.evaluation.datasets.popqa import POPQA
from knowwhen.evaluation.datasets.squad import SQUAD
from knowwhen.evaluation.datasets.strategyqa import STRATEGYQA, STRATEGYQA_PARAGRAPHS
from knowwhen.evaluation.datasets.triviaqa import TRIVIAQA
from knowwhen.evaluation.datasets.two_wiki import TWO_WIKI
from knowwhen.evaluation.datasets.webquestions import WEBQUESTIONS

# The first that fits is taken: 2WikiMultihopQA before HotpotQA and TriviaQA before Bamboogle, whose fields
# they have.
FORMS: tuple[Form, ...] = (
    FLASHRAG,
    MUSIQUE,
    TWO_WIKI,
    HOTPOTQA,
    STRATEGYQA,
    IIRC,
    SQUAD,
    NQ_ORACLE,
    TRIVIAQA,
    POPQA,
    FRESHQA,
    WEBQUESTIONS,
    BAMBOOGLE,
    NQ,
    STRATEGYQA_PARAGRAPHS,
)
KINDS: tuple[str, ...] = tuple(form.kind for form in FORMS if form is not STRATEGYQA_PARAGRAPHS)
"""What a dataset's `kind` can be."""


def form_called(kind: str) -> Form:
    """The form of a name, which is one of `KINDS`."""
    return next(form for form in FORMS if form.kind == kind)


def form_of(record: Any) -> Form | None:
    """The form that a record is of; None: of none, or it is no object."""
    return next((form for form in FORMS if isinstance(record, dict) and form.fits(record)), None)
