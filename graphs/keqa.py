"""KEQA: quiz the model on each fact that a question needs, look up what it fails, read only what helps.

The graph is Figure 2. Quizzes that refer to each other make a branch; branches run side by side, and in each
all quizzes are asked at once whose references are answered. A quiz is a graph of its own: assessed by how
well its answers agree and, if they do not, retrieved, picked and read.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from langgraph.graph import END, START

from knowwhen.graphs.branch import branch
from knowwhen.graphs.method import Graph, Method, ModelLike, add_first, begin, finished, with_prompts
from knowwhen.models.capability import Capability, require
from knowwhen.models.door import Door
from knowwhen.models.keeping_door import KeepingDoor
from knowwhen.models.resolve import resolve_model
from knowwhen.nodes import (
    assess,
    extract_sentences,
    make_quizzes,
    pick,
    quiz_demonstrations,
    read_passages,
    summarise,
)
from knowwhen.nodes.answer_directly import PROMPT as DIRECT_PROMPT
from knowwhen.nodes.branch import each_branch
from knowwhen.nodes.demonstrations import demonstrations_for
from knowwhen.nodes.fall_back import fall_back
from knowwhen.nodes.gather_answers import gather_answers
from knowwhen.nodes.make_quizzes import QuizSettings
from knowwhen.nodes.quiz import QuizState
from knowwhen.nodes.quiz_demonstrations import QuizDemonstration
from knowwhen.nodes.retrieve import retrieve
from knowwhen.nodes.settings import with_defaults
from knowwhen.nodes.sub_questions import AskedSubQuestion, DividedState, own_question
from knowwhen.tools.reference import UtilityReference
from knowwhen.tools.resolve import RetrieverLike, resolve_retriever
from knowwhen.uncertainty.judge import Judge
from knowwhen.uncertainty.judges import resolve_judge
from knowwhen.uncertainty.thresholds import with_thresholds

PROMPTS = {
    "make_quizzes": make_quizzes.PROMPT,
    "assess": assess.PROMPT,
    "pick": pick.PROMPT,
    "extract_sentences": extract_sentences.PROMPT,
    "read_passages": read_passages.PROMPT,
    "answer_directly": DIRECT_PROMPT,  # a quiz without a passage and without answers that agree
    "summarise": summarise.PROMPT,
}


class KEQASettings(QuizSettings, assess.AssessmentSettings, pick.PickingSettings):
    """The settings of KEQA; their defaults are the paper's (section 4.1), which is silent on temperatures."""


def keqa(
    model: ModelLike = "pocket",
    retriever: RetrieverLike = "almanac",
    *,
    judge: Judge | str = "model",
    picker: ModelLike | None = None,
    reference: UtilityReference | str | Path | None = None,
    demonstrations: str | Path | Sequence[QuizDemonstration] | None = None,
    thresholds: str | Path | None = None,
    prompts: Mapping[str, str] | None = None,
    max_concurrency: int = 16,
    **settings: Any,
) -> Method:
    """Build KEQA (KEQA, section 3, Algorithm 2).

    Args:
        model: a chat model, `pocket`, `transformers:<folder or hub id>` or any string that LangChain knows.
        retriever: a retriever, `almanac`, the folder of a built index, `wikipedia`, `tavily` or `google`.
        judge: D_s, which says whether two answers mean the same: `model` (the model itself), `match` (normal
            forms alone), `nli:<folder or hub id>` of a cross-encoder, another model, or any `Judge`.
        picker: D_u, which says whether a passage helps; None for the model itself.
        reference: R, passages whose utility is known: the folder that `knowwhen train reference` has made;
            None for the package's own, which belongs to the pocket model.
        demonstrations: questions with their quizzes, or a file of them (`nodes/quiz_demonstrations.py`); None
            for the package's own, which the pocket model goes without: it has learnt the form.
        thresholds: a file that `knowwhen calibrate` wrote for this model, estimator and prompts.
        prompts: the user's own, by name: the keys of `PROMPTS`.
        max_concurrency: model requests in flight at once, over all quizzes and all questions.
        settings: fields of `KEQASettings`.

    Raises:
        CapabilityError: the model does not draw several samples in one request, which assessing needs.
        SettingsError: a setting or prompt is out of its range, there is no reference set to show from, or
            `thresholds` belong to another model or prompts.
        ModelError: a model cannot be had.
        RetrievalError: the index or the reference set cannot be had.
    """
    wording = with_prompts(PROMPTS, prompts)
    chat = resolve_model(model)
    given = with_thresholds(thresholds, "keqa", chat, wording, settings)
    defaults = with_defaults(KEQASettings, given)()
    asked_by = "keqa's assessment of quizzes"
    door = KeepingDoor(chat, resolve_retriever(retriever), asked_by=asked_by, max_concurrency=max_concurrency)
    if defaults.assess:
        require(door.model, [Capability.SAMPLES], asked_by, "pass assess=False to look every quiz up")
    u_door = door if picker is None else KeepingDoor(resolve_model(picker), max_concurrency=max_concurrency)

    reference = pick.reference_for(u_door.model, defaults, reference)
    quiz = _quiz(door, u_door, defaults, wording, resolve_judge(judge, door), reference)

    graph = begin(defaults, state=DividedState)
    shown = quiz_demonstrations.as_text(
        demonstrations_for(door.model, quiz_demonstrations.DEFAULT, demonstrations)
    )
    add_first(
        graph, "make_quizzes", make_quizzes.make_quizzes(door, defaults, wording["make_quizzes"], shown)
    )
    graph.add_node("answer_branch", branch(door, defaults, quiz))
    graph.add_node("gather_answers", gather_answers(door))
    graph.add_node("summarise", summarise.summarise(door, defaults, wording["summarise"]))
    graph.add_edge(START, "make_quizzes")
    graph.add_conditional_edges("make_quizzes", each_branch, {"each branch": "answer_branch"})
    graph.add_edge("answer_branch", "gather_answers")
    graph.add_conditional_edges("gather_answers", whether_divided, {"quizzes": "summarise", "own quiz": END})
    graph.add_edge("summarise", END)
    return finished(graph, "keqa")


def _quiz(
    door: Door,
    u_door: Door,
    defaults: KEQASettings,
    wording: Mapping[str, str],
    judge: Judge,
    reference: UtilityReference | None,
) -> Graph:
    """One quiz, a graph within the graph: UKP for what QKE finds unknown."""
    quiz = begin(defaults, AskedSubQuestion, QuizState)
    add_first(
        quiz,
        "assess",
        assess.assess(door, defaults, judge, wording["assess"]),
        AskedSubQuestion,
    )
    quiz.add_node("retrieve", retrieve(door, defaults))
    quiz.add_node("pick", pick.pick(u_door, defaults, reference, wording["pick"]))
    quiz.add_node(
        "extract_sentences",
        extract_sentences.extract_sentences(door, defaults, wording["extract_sentences"]),
    )
    quiz.add_node(
        "read_passages",
        read_passages.read_passages(door, defaults, wording["read_passages"], wording["answer_directly"]),
    )
    quiz.add_node("fall_back", fall_back(door))
    quiz.add_edge(START, "assess")
    quiz.add_conditional_edges("assess", by_consistency, {"known": END, "unknown": "retrieve"})
    quiz.add_edge("retrieve", "pick")
    quiz.add_conditional_edges(
        "pick",
        by_what_is_kept,
        {"read": "read_passages", "extract": "extract_sentences", "none kept": "fall_back"},
    )
    quiz.add_edge("extract_sentences", "read_passages")
    quiz.add_edge("read_passages", END)
    quiz.add_edge("fall_back", END)
    return quiz.compile(name="answer_quiz")


def by_consistency(state: QuizState) -> Literal["known", "unknown"]:
    """Whether the model knows the quiz."""
    return "known" if state["route"] == "confident" else "unknown"


def by_what_is_kept(state: QuizState) -> Literal["read", "extract", "none kept"]:
    """What is done with the passages that help; what without any."""
    if not state["passages"]:
        return "none kept" if state["consistent"] is not None else "read"  # as if asked directly
    return "extract" if state["extract"] else "read"


def whether_divided(state: DividedState) -> Literal["quizzes", "own quiz"]:
    """Whether there is anything to sum up."""
    return "own quiz" if own_question(state) else "quizzes"
