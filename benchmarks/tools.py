"""How the pocket model calls tools and passes on what they find: worlds and wordings that it never met.

Run without arguments to measure the package's model, or with the folder of another one.
"""

import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from knowwhen.models.resolve import resolve_model
from knowwhen.training.examples import Examples
from knowwhen.training.tool_figures import tool_figures
from knowwhen.training.tool_talks import Talk, Talks

EACH = 200  # replies of each skill


def talks(seed: int) -> Iterator[Talk]:
    """Talks without end, ten to a world, in held-out wordings."""
    examples = Examples(random.Random(f"tool figures {seed}"), held_out=True)
    drawn = Talks(examples)
    while True:
        yield from (drawn.talk() for _ in range(10))
        examples.turn_page()


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    model = resolve_model(f"transformers:{folder}" if folder else "pocket")
    figures = tool_figures(model, talks(4711), EACH)
    table = Table("reply", "asked", "right form", "copied", "right tool", "right in all")
    for skill, figure in figures.items():
        counts = (figure.form, figure.copied, figure.tool, figure.right)
        table.add_row(skill, str(figure.asked), *(f"{count / figure.asked:.3f}" for count in counts))
    Console().print(table)
    print(json.dumps({skill: asdict(figure) for skill, figure in figures.items()}))


if __name__ == "__main__":
    main()
