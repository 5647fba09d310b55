"""Generate-then-read's first half: the model writes the passage itself (Self-DC, Table 17)."""

PROMPT = """\
Write a short background passage that holds the facts needed to answer the question.
Question: {question}"""
