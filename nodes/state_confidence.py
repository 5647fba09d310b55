"""Verbalised confidence: the model answers and says how sure it is (Self-DC, Table 21)."""

PROMPT = """\
Answer the question and say how sure you are, from 0 for a guess to 100 for certain.
Use two lines:
Answer: your answer in a few words
Confidence: your number
Question: {question}"""
