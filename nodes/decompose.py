"""Decomposition: split a question into independent sub-questions (Self-DC, Table 21)."""

PROMPT = """\
Split the question into smaller questions that can each be answered alone.
If it cannot be split, repeat it as #1.
Write one question a line, as #1: and #2: and so on.
Question: {question}"""
