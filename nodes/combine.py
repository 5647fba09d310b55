"""Combination: answer a question from its sub-questions and their answers (Self-DC, Table 21)."""

PROMPT = """\
Question: {question}
These smaller questions have been answered:
{pairs}
Answer the question from them with just a few words.
Question: {question}
Answer:"""


def as_pairs(questions: list[str], answers: list[str]) -> str:
    """The lines that show the model each sub-question with its answer."""
    return "\n".join(f"#{i}: {q} {a}" for i, (q, a) in enumerate(zip(questions, answers, strict=True), 1))
