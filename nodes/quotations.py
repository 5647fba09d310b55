"""What a reply says itself, without what it quotes: a passage's words are not the model's."""

import re

# Within quotation marks, in a block of code, or on a line marked as quoted.
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‘[^’\n]*’(?!\w)|(?<!\w)'[^'\n]*'(?!\w)"
    r"|^[ \t]*>.*$",
    re.DOTALL | re.MULTILINE,
)


def unquoted(reply: str, mark: re.Pattern[str]) -> str:
    """The reply without its quotations, but for those that hold a mark and nothing else.

    Models copy the quotation marks around a word that they are told to write, and put it in bold or in code.
    """

    def kept(quotation: re.Match[str]) -> str:
        said = quotation[0].removeprefix("```").removesuffix("```").strip(" \t\n`\"“”„«»‘’'>*_.!")
        return f" {said} " if mark.fullmatch(said) else " "

    return _QUOTED.sub(kept, reply)
