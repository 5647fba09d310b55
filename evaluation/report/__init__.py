"""The report of an evaluation: tables, plots and every question, from the journals alone."""

from knowwhen.evaluation.report.writing import Written, write_report

__all__ = ["Written", "write_report"]
