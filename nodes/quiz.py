"""What flows through one quiz of KEQA on its way to an answer."""

from knowwhen.nodes.state import State
from knowwhen.nodes.sub_questions import AskedSubQuestion


class QuizState(AskedSubQuestion, State, total=False):
    """One quiz on its way to an answer."""

    consistent: str | None  # A_c, the answer of the largest cluster; None: there is no cluster
    extract: bool  # whether the passages kept are to be shortened
