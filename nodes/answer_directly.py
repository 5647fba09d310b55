"""Direct prompting: the model answers from its own knowledge (Self-DC, Table 14)."""

PROMPT = """\
Answer the question with just a few words.
Question: {question}
Answer:"""
