"""Metrics: how good is an answer, how good is a gate."""
