"""From text to the words that are indexed: one analyzer for passages and questions alike.

A stemmed index that is asked with unstemmed words finds a fifth fewer supporting paragraphs. So the
analyzer's parameters stand in the index's manifest, and a question is analysed by what stands there.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from tantivy import TextAnalyzer


class Analyzer(BaseModel, frozen=True, extra="forbid"):
    """How a text becomes index terms. Every parameter is part of the manifest."""

    tokenizer: Literal["simple"] = "simple"
    """Cuts at everything that is neither letter nor digit."""
    lowercase: Literal[True] = True
    stemmer: Literal["english"] = "english"
    stop_words: Literal["none"] = "none"
    """Removing English stop words moved recall by less than .01 either way (docs/retrieval.md)."""
    title_weight: int = Field(default=2, ge=0)
    """How many times a passage's title counts beside its text."""

    @cached_property
    def text_analyzer(self) -> "TextAnalyzer":
        """The same analyzer in tantivy's terms."""
        from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

        builder = TextAnalyzerBuilder(Tokenizer.simple())
        return builder.filter(Filter.lowercase()).filter(Filter.stemmer(self.stemmer)).build()

    def terms(self, text: str) -> list[str]:
        """The index terms of a text, in its order."""
        terms: list[str] = self.text_analyzer.analyze(text)
        return terms

    def contents(self, title: str, text: str) -> str:
        """What is indexed of a passage: its text, and its title as often as it weighs."""
        return "\n".join([title] * self.title_weight + [text])
