"""What mkdocs does beside building the pages: see `hooks` in mkdocs.yml."""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from names import copy_package

ROOT = Path(__file__).resolve().parents[2]

# Links from a page to the code lead somewhere in a checkout, and nowhere on the site.
_TO_THE_CODE = re.compile(r"\[([^\]\n]+)\]\((?:\.\./)+[^)\n]+\)")


def on_startup(**_: Any) -> None:
    """Lay the sources out for the API reference, which looks only into folders that are there at first."""
    copy_package(ROOT, ROOT / "build" / "names")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """A link to the code becomes its text."""
    return _TO_THE_CODE.sub(r"\1", markdown)
