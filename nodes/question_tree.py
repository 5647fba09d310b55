"""The question tree as models write it: nested JSON, more or less (TAIKC, section 3.1, Tables 14 to 16).

`{"query1": {"question": "…", "children": {"query2": {"question": "… #query1 …"}}}, "query3": …}`
"""

import re
from collections.abc import Iterator
from typing import Any

import json_repair

from knowwhen.models.faults import shortened
from knowwhen.nodes.listing import bare
from knowwhen.nodes.queries import Query
from knowwhen.nodes.references import named, references_in, rounds, unresolvable
from knowwhen.nodes.state import ROOT

MOST_QUERIES = 64
DEEPEST = 8
MOST_ROUNDS = 10  # two supersteps each, and a graph in a pipe or as a tool may take 25
LONGEST = 50_000  # letters that are looked at

_REFERENCE = re.compile(r"#\s*\{?\s*(?:query|question)?[\s_-]*(\d{1,3})\b\}?", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,3}")
_QUESTION, _CHILDREN = ("question", "query", "text"), ("children", "child", "sub_queries", "subqueries")

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
            with a reference that nothing answers.
    """
    branches = _branches(_parsed(reply))
    if len(branches) == 1:
        asked, children = _parts(*branches[0])
        if bare(asked) == bare(question) and children:
            branches = children
    written = list(_in_pre_order(branches, root, 1))
    if not written:
        raise NoTree(f"no query in {shortened(reply)!r}")
    if len(written) > 1 and any(bare(asked) == bare(question) for _, asked, _ in written):
        raise NoTree("the queries repeat the question")
    queries = _numbered(written)
    _check_references(queries)
    return queries


def _parsed(reply: str) -> Any:
    opened = reply.rfind("{")
    if opened < 0 and "[" not in reply:
        raise NoTree(f"no JSON in {shortened(reply)!r}")
    if len(reply) > LONGEST:
        raise NoTree(f"a reply of {len(reply):,} letters is too long")
    if opened >= 0 and "}" not in reply[opened:]:
        raise NoTree("the JSON is cut off")
    try:
        return json_repair.loads(reply)
    except RecursionError:
        raise NoTree("the JSON is nested too deeply") from None
    except ValueError as error:
        raise NoTree(f"no JSON can be made of {shortened(reply)!r}: {error}") from None


def _branches(value: Any) -> Written:
    """The names and nodes that stand beside each other, in an object, a list or a wrapper around them."""
    if isinstance(value, dict):
        if _is_node(value):
            return [("", value)]
        nodes = [(str(name), node) for name, node in value.items() if isinstance(node, dict | str | list)]
        wrapped = len(nodes) == 1 and not _NUMBER.search(nodes[0][0]) and not isinstance(nodes[0][1], str)
        if wrapped and not _is_node(nodes[0][1]):
            return _branches(nodes[0][1])
        return nodes
    if isinstance(value, list):
        return [pair for each in value if isinstance(each, dict | list) for pair in _branches(each)]
    return []


def _is_node(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(key), str) for key in _keys(value, _QUESTION))


def _keys(value: dict[str, Any], wanted: tuple[str, ...]) -> list[str]:
    return [key for key in value if key.strip().casefold() in wanted]


def _parts(name: str, node: Any) -> tuple[str, Written]:
    """A node's question, on one line, and its children."""
    if isinstance(node, str):
        return " ".join(node.split()), []
    if not isinstance(node, dict):
        raise NoTree(f"{name or 'a query'} has no question")
    asked = next((node[key] for key in _keys(node, _QUESTION) if isinstance(node[key], str)), "")
    children = [pair for key in _keys(node, _CHILDREN) for pair in _branches(node[key])]
    if not asked.strip():
        raise NoTree(f"{name or 'a query'} has no question")
    return " ".join(asked.split()), children


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
    found = [_NUMBER.search(name) for name, _, _ in written]
    if any(found) and not all(found):
        lacking = next(name for (name, _, _), number in zip(written, found, strict=True) if not number)
        raise NoTree(f"{lacking or 'a query'} has no number, and others have")
    numbers = [int(number[0]) if number else place for place, number in enumerate(found, 1)]
    for number in numbers:
        if numbers.count(number) > 1:
            raise NoTree(f"query{number} is there twice")
    return [
        Query(number=number, question=_REFERENCE.sub(r"#\1", asked), id=id, parent=id.rpartition(".")[0])
        for number, (_, asked, id) in zip(numbers, written, strict=True)
    ]


def _check_references(queries: list[Query]) -> None:
    questions = {query["number"]: query["question"] for query in queries}
    for number, lost in unresolvable(questions).items():
        unknown = [each for each in lost if each not in questions]
        if unknown:
            raise NoTree(f"query{number} refers to {named(unknown)}, which is not there")
        raise NoTree(f"query{number} refers to {named(lost)} in a circle")
    if len(rounds(questions)) > MOST_ROUNDS:
        raise NoTree(f"a chain of {len(rounds(questions))} queries is longer than {MOST_ROUNDS}")


def written_with_names(question: str) -> str:
    """A query as the paper writes it: `#query2` for `#2`."""
    for number in references_in(question):
        question = re.sub(rf"#{number}(?!\w)", f"#query{number}", question)
    return question
