"""Writes the parts of the pages that the code knows best: settings and the command line.

`python docs/site/generate.py` fills what stands between `<!-- settings of keqa -->` and `<!-- end -->`. The
pages are kept so, as they are read elsewhere, too; a test tells when one is behind the code.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from command_line import command_line
from settings_table import settings_table

DOCS = Path(__file__).resolve().parents[1]
_PART = re.compile(r"(<!-- (settings of (\w+)|the command line) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def filled(page: str) -> str:
    """A page with its generated parts as the code has them now."""

    def part(found: re.Match[str]) -> str:
        made = settings_table(found[3]) if found[3] else command_line()
        return f"{found[1]}\n{made}\n\n"

    return _PART.sub(part, page)


def main() -> None:
    """Bring all pages up to date."""
    for path in sorted(DOCS.glob("*.md")):
        page = path.read_text(encoding="utf-8")
        if (now := filled(page)) != page:
            path.write_text(now, encoding="utf-8")
            print(f"{path.name} is up to date now")


if __name__ == "__main__":
    main()
