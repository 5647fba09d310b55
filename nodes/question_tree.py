"""The question tree as models write it: nested JSON, more or less (TAIKC, section 3.1, Tables 14 to 16).

`{"query1": {"question": "…", "children": {"query2": {"question": "… #query1 …"}}}, "query3": …}`
"""

import re
from collections.abc import Iterator
from typing import Any

from knowwhen.models.faults import shortened
from knowwhen.nodes.faulty_json import NoJSON, Object, values_in
from knowwhen.nodes.listing import bare
from knowwhen.nodes.queries import Query
from knowwhen.nodes.references import named, rounds, unresolvable
from knowwhen.nodes.state import ROOT

MOST_QUERIES = 64
DEEPEST = 8
MOST_ROUNDS = 10  # two supersteps each, and a graph in a pipe or as a tool may take 25

_WORD = r"(?:query|question|answer|q)[\s_-]*"
_REFERENCE = re.compile(
    rf"(?:#(?:\s*\{{?\s*{_WORD}|\{{\s*)?|\{{?\bquery[\s_-]?)(\d{{1,3}})\b(?:\s*\}})?", re.IGNORECASE
)
_NO_REFERENCE = re.compile(r"#\s*\{?\s*query|[{}]", re.IGNORECASE)  # or JSON taken for a question
_NUMBER = re.compile(r"\D*(\d{1,3})\D*")
_QUESTION = ("question", "query", "text")
_CHILDREN = ("children", "child", "sub_queries", "subqueries", "sub_questions", "subquestions", "queries")
_NAME = ("id", "name", "number", "query")

Written = list[tuple[str, Any]]  # names and what stands behind them


class NoTree(ValueError):
    """A reply that holds no usable tree; says why."""


def read_tree(reply: str, question: str, root: str = ROOT) -> list[Query]:
    """The queries of a tree in pre-order, with `#2` for what the model wrote as `#query2`.

    Code fences, prose around, trailing commas, missing braces, other quotation marks, other spellings of
    names and references, lists in place of objects and gaps in the numbers are taken as they are meant.

    Args:
        reply: the model's.
        question: the one that was divided; a root that repeats it is left out.
        root: its id.

    Raises:
        NoTree: There is no JSON, no query, more than 64, one below 8 others, without a question, twice or
            with a reference that nothing answers; or the JSON is cut off, or too long or deep to be read.
    """
    try:
        branches = _branches(values_in(reply))
        if len(branches) == 1:
            asked, children = _parts(*branches[0])
            if bare(asked) == bare(question) and children:
                branches = children
        written = list(_in_pre_order(branches, root, 1))
    except NoJSON as error:
        raise NoTree(str(error)) from None
    except RecursionError:
        raise NoTree("the JSON is nested too deeply") from None
    if not written:
        raise NoTree(f"no query in {shortened(reply)!r}")
    if len(written) > 1 and any(bare(asked) == bare(question) for _, asked, _ in written):
        raise NoTree("the queries repeat the question")
    queries = _numbered(written)
    _check_references(queries)
    return queries


def _branches(value: Any, name: str = "") -> Written:
    """The queries in a value that stand beside each other; wrappers around them are looked through."""
    if isinstance(value, list):
        asked = any(isinstance(each, str) and "?" in each for each in value)
        return [
            pair
            for each in value
            for pair in ([(name, each)] if asked and isinstance(each, str) else _branches(each, name))
        ]
    if isinstance(value, Object) and _texts(value):
        return [(_name(value, name), value)]
    if re.search(r"\d", name) or (isinstance(value, str) and "?" in value and bare(value)):
        return [(name, value)]  # which may yet turn out to be no question
    return [pair for key, each in value for pair in _branches(each, key)] if isinstance(value, Object) else []


def _texts(node: Object) -> list[Any]:
    """What stands in an object where its question is to stand."""
    texts = [(_key(name), each) for name, each in node if not isinstance(each, Object | list)]
    found = ([text for name, text in texts if name == wanted] for wanted in _QUESTION)
    return next(filter(None, found), [])


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.casefold())


def _name(node: Object, outside: str) -> str:
    """A node's name, which stands before it or, as in lists, within."""
    within = (str(each) for name, each in node if _key(name) in _NAME)
    return outside if re.search(r"\d", outside) else next(filter(_NUMBER.fullmatch, within), outside)


def _parts(name: str, node: Any) -> tuple[str, Written]:
    """A node's question and its children."""
    texts = _texts(node) if isinstance(node, Object) else [node]
    asked = texts[0] if texts and isinstance(texts[0], str) else ""
    if not bare(_REFERENCE.sub("", asked)):
        raise NoTree(f"{name or 'a query'} has no question")
    if len(texts) > 1:
        raise NoTree(f"{name or 'a query'} has two questions")
    children = []
    for key, each in node if isinstance(node, Object) else ():
        if _key(key) not in _QUESTION or isinstance(each, Object | list):
            below = _branches(each, key)
            if each and not below and _key(key) in _CHILDREN:
                raise NoTree(f"the children of {name or 'a query'} cannot be read")
            children += below
    return asked, children


def _in_pre_order(branches: Written, parent: str, depth: int) -> Iterator[tuple[str, str, str]]:
    """Name, question and id of every node."""
    for place, (name, node) in enumerate(branches, 1):
        if depth > DEEPEST:
            raise NoTree(f"the tree is more than {DEEPEST} deep")
        asked, children = _parts(name, node)
        id = f"{parent}.{place}"
        yield name, asked, id
        yield from _in_pre_order(children, id, depth + 1)


def _numbered(written: list[tuple[str, str, str]]) -> list[Query]:
    """The queries under the numbers in their names; under their places if none has one."""
    if len(written) > MOST_QUERIES:
        raise NoTree(f"{len(written)} queries are more than {MOST_QUERIES}")
    found = [_NUMBER.fullmatch(name) for name, _, _ in written]
    if any(found) and not all(found):
        lacking = next(asked for (_, asked, _), number in zip(written, found, strict=True) if not number)
        raise NoTree(f"{shortened(lacking)!r} has no number, and others have")
    numbers = [int(number[1]) if number else place for place, number in enumerate(found, 1)]
    for number in numbers:
        if numbers.count(number) > 1:
            raise NoTree(f"query{number} is there twice")
    return [
        Query(number=number, question=_REFERENCE.sub(r"#\1", asked), id=id, parent=id.rpartition(".")[0])
        for number, (_, asked, id) in zip(numbers, written, strict=True)
    ]


def _check_references(queries: list[Query]) -> None:
    questions = {query["number"]: query["question"] for query in queries}
    for number, question in questions.items():
        if _NO_REFERENCE.search(question):
            raise NoTree(f"query{number} cannot be read: {shortened(question)!r}")
    for number, lost in unresolvable(questions).items():
        unknown = [each for each in lost if each not in questions]
        if unknown:
            raise NoTree(f"query{number} refers to {named(unknown)}, which is not there")
        raise NoTree(f"query{number} refers to {named(lost)} in a circle")
    if len(rounds(questions)) > MOST_ROUNDS:
        raise NoTree(f"a chain of {len(rounds(questions))} queries is longer than {MOST_ROUNDS}")
