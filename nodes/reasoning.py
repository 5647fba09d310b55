"""What SeaKR's steps share: its settings and the state of a reasoning.

A reasoning is a loop over steps. It has two buffers, the rationales and the knowledge (SeaKR, section 3).
"""

import operator
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from knowwhen.models.cost import Cost
from knowwhen.nodes.gauge import GaugeSettings
from knowwhen.nodes.settings import ReadingSettings
from knowwhen.nodes.state import ROOT, State
from knowwhen.tools.passage import Passage
from knowwhen.uncertainty.score import Score

Hops = Literal["many", "one"]
Retrieval = Literal["unsure", "always", "never"]
Reranking = Literal["surest", "first"]
Reasoning = Literal["surer", "rationales", "knowledge"]
Way = Literal["think on", "from rationales", "from knowledge", "one answer"]
Query = Literal["surer_tokens", "thought", "question"]


class ReasoningSettings(ReadingSettings, GaugeSettings):
    """How SeaKR samples, when it looks things up, and which of its parts are switched off (Table 3)."""

    temperature: float = Field(
        default=1.0, gt=0, le=2, description="Of the samples; answers themselves are greedy"
    )
    top_p: float = Field(default=0.9, gt=0, le=1, description="Probability mass that is sampled from")
    top_k: int = Field(default=50, ge=1, description="How many tokens are sampled from")
    max_tokens: int = Field(default=128, ge=1, description="Longest step or answer, in tokens")
    estimator: str = Field(default="gram:seakr", description="Which estimator says how sure the model is")
    threshold: float | None = Field(
        default=None,
        allow_inf_nan=False,
        description="δ: less sure, a step is looked up; None: that of the preset or thresholds",
    )
    hops: Hops = Field(
        default="many", description="many: reason step by step; one: one answer, looked up at most once"
    )
    retrieval: Retrieval = Field(default="unsure", description="When a step is looked up")
    query: Query = Field(
        default="surer_tokens",
        description="What is looked up: the thought's surer words, all of it, the question",
    )
    query_doubt: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Words with a token less probable than 1 minus this leave the query",
    )
    rerank: Reranking = Field(
        default="surest", description="Which passage is kept: that of the surest step, or the first"
    )
    reasoning: Reasoning = Field(
        default="surer", description="The final answer: from the rationales, the knowledge, or the surer one"
    )
    max_steps: int = Field(default=10, ge=1, le=20, description="Steps of one reasoning")
    max_retrievals: int = Field(default=5, ge=1, le=20, description="Look-ups for one question")

    def sampling(self) -> dict[str, Any]:
        """The model's sampling parameters, as the door takes them."""
        return {**super().sampling(), "top_k": self.top_k}


class Thought(TypedDict):
    """A step or an answer as the model wrote it, with its score."""

    text: str
    words: list[tuple[str, float]]  # with the log-probability of their least probable token
    score: dict[str, Any] | None  # a `Score`; None: none was made, or could be
    note: str | None  # why there is none


class Final(TypedDict):
    """A final answer, with what it cost."""

    answer: str
    thought: Thought
    cost: Cost


class ReasoningState(State, total=False):
    """A question on its way through SeaKR."""

    rationales: list[str]  # R
    knowledge: list[Passage]  # K
    thought: Thought  # the step at hand: the pseudo-generation
    with_passage: Thought | None  # the same step, written with the kept passage
    query: str
    queries: list[str]  # all that were looked up
    halted: str | None  # why the loop ends before the model concludes
    ways: list[Way]  # where a step leads
    finals: Annotated[dict[str, Final], operator.or_]  # by what they were reasoned from


def step_id(state: ReasoningState) -> str:
    """The place in the tree of the step at hand."""
    return f"{state.get('id', ROOT)}.{len(state['steps']) + 1}"


def score_of(thought: Thought) -> Score | None:
    """The score as an object again; in the state it is JSON."""
    return None if thought["score"] is None else Score(**thought["score"])
