"""Zero-shot chain of thought: reason first, then answer (Self-DC, Table 15)."""

PROMPT = """\
Think step by step, then write "So the answer is" and the answer in a few words.
Question: {question}"""

ANSWER_MARK = "So the answer is"
