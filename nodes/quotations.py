"""What a reply says itself, without what it quotes: a passage's words are not the model's."""

import re

# In a block of code, on a line marked as quoted, or within quotation marks. Apostrophes and marks for inches
# open none: they stand behind a letter or digit.
_QUOTED = re.compile(
    r"```[\s\S]*?(?:```|\Z)|`[^`\n]*`|^[ \t]*>[^\n]*"
    r"|(?<!\w)\"[^\"\n]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|»[^«]*«|‚[^‘’\n]*[‘’]"
    r"|(?<!\w)‘(?:[^’\n]|’(?=\w))*’|(?<!\w)'(?!\d\d)(?:[^'\n]|(?<=\w)'(?=\w))*'(?!\w)",
    re.MULTILINE,
)
_AROUND = " \t\n`\"“”„«»‚‘’'>*_.!"


def unquoted(reply: str, mark: re.Pattern[str]) -> str:
    """The reply without its quotations, but for those that hold a mark and nothing else.

    Models copy the quotation marks around a word that they are told to write, and put it in bold or in code.
    """

    def kept(quotation: re.Match[str]) -> str:
        said = re.sub(r"\A```(?:\w*\n)?", "", quotation[0]).strip(_AROUND)
        return f" {said} " if mark.fullmatch(said) else " "

    return _QUOTED.sub(kept, reply)
