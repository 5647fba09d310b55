"""Names over columns."""

CELLS = {"exact_match": "EM", "f1": "F1"}  # as the papers' tables have them


def heading(name: str) -> str:
    """A metric's or a count's name over a column."""
    return CELLS.get(name, name.replace("_", " "))
