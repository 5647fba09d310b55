"""BM25 over a built index: words weighed by rarity, k1 1.2 and b .75 as in Lucene."""

from collections import Counter

import tantivy
from langchain_core.documents import Document

from knowwhen.tools.analyzer import Analyzer
from knowwhen.tools.retriever import PassageRetriever
from knowwhen.tools.store import PassageStore


class BM25Retriever(PassageRetriever):
    """Ranks the passages of an index by BM25.

    The question is data, never a query language: it is analysed as the passages were, and each of its words
    is one optional term. A question without a word in it finds nothing.
    """

    store: PassageStore
    analyzer: Analyzer

    def search(self, query: str, k: int) -> list[Document]:
        """Return at most k passages that share a word with the query, best first."""
        words = Counter(self.analyzer.terms(query))
        if not words:
            return []
        terms = [(tantivy.Occur.Should, self._term(word, count)) for word, count in words.items()]
        return self.store.best(tantivy.Query.boolean_query(terms), k)

    def _term(self, word: str, count: int) -> tantivy.Query:
        term = tantivy.Query.term_query(self.store.schema, "contents", word, "freq")
        return term if count == 1 else tantivy.Query.boost_query(term, float(count))
