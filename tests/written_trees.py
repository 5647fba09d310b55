"""Question trees as models write them: the paper's own, and random ones with faults of every kind."""

from random import Random
from typing import Any

from hypothesis import strategies as st

Queries = list[tuple[int, str, str]]  # number, question and id of each
Nodes = list[dict[str, Any]]  # what a tree is written from

# A brace is missing from Table 12 and from one tree of Table 16.
TABLE_12 = """{ "query1": { "question": "What is the nationality of Han Sai Por?", "children": { "query2": {
"question": "What is the nationality of Gabriele Oettingen?" } } }"""
TABLE_14 = """{
  "query1": {
    "question": "Who directed the film The Carousel Of Death?",
    "children": {
      "query2": {
         "question": "What is the birth year of #query1?"
      }
    }
  },
  "query3": {
    "question": "Who directed the film Nameless Star?",
    "children": {
      "query4": {
         "question": "What is the birth year of #query3?"
      }
    }
  }
}"""
TABLE_15 = """{
"query1": {
    "question": "Who is the performer of the song Sommer I Palma?",
    "children": {
        "query2": {
            "question": "How did Nora Brockstedt die?"
        }
    }
}
}"""
TABLE_16 = {
    "beside": """{
  "query1": {
    "question": "When was the magazine Arthur's Magazine started?"
    },
  "query2": {
    "question": "When was the magazine First for Women started?"
    }
}""",
    "below, a brace missing": """{
  "query1": {
    "question": "Who was James Henry Miller's wife?",
    "children": {
      "query2": {
         "question": "What is the nationality of #query1?"
      }
    }
}""",
    "two films": """{
  "query1": {
    "question": "Who directed the film Charge It To Me?",
    "children": {
      "query2": {
         "question": "What is the birth year of #query1?"
      }
    }
  },
  "query3": {
    "question": "Who directed the film Danger: Diabolik?",
    "children": {
      "query4": {
         "question": "What is the birth year of #query3?"
      }
    }
  }
}""",
}

WORDS = [
    "Who", "directed", "Arthur's", "O'Neill's", "Danger: Diabolik", "A, B", "[sic]", "“Alien”", "„Heimat“",
    "東京", "C++", "http://a.b/c", "5:3", "1918", "the", "born in", "(film)", "// 1", "é", "- and", "«Roma»",
    "😀",
]  # fmt: skip


@st.composite
def trees(draw: st.DrawFn) -> Nodes:
    """Up to ten queries under numbers with gaps, each its parent's place and a reference backwards."""
    count = draw(st.integers(1, 10))
    numbers = draw(st.lists(st.integers(0, 999), min_size=count, max_size=count, unique=True))
    nodes: Nodes = []
    for place, number in enumerate(numbers):
        parent = draw(st.none() | st.integers(0, place - 1)) if place else None
        if parent is not None and nodes[parent]["depth"] == 8:
            parent = None
        words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
        refers = draw(st.none() | st.integers(0, place - 1)) if place else None
        depth = 1 if parent is None else nodes[parent]["depth"] + 1
        nodes.append(
            {"number": number, "parent": parent, "words": words, "depth": depth}
            | {"refers": None if refers is None else numbers[refers]}
        )
    return nodes


def asked(node: dict[str, Any], reference: str) -> str:
    told = "" if node["refers"] is None else f" of {reference.format(node['refers'])}"
    return f"Who {' '.join(node['words'])}{told}?"


def meant(nodes: Nodes) -> Queries:
    """What is to be read of a tree, in pre-order."""

    def below(parent: int | None, id: str) -> Queries:
        children = [place for place, node in enumerate(nodes) if node["parent"] == parent]
        found = []
        for nth, place in enumerate(children, 1):
            found += [(nodes[place]["number"], asked(nodes[place], "#{}"), f"{id}.{nth}")]
            found += below(place, f"{id}.{nth}")
        return found

    return below(None, "1")


REFERENCES = ["#query{}", "#Query{}", "#query {}", "#query_{}", "# query{}", "#{{query{}}}", "#{}"]
BEFORE = ["", "", "Here it is:\n", "I use {braces} and [1]: ", "```json\n", "Let's see:\n```\n"]


class Writer:
    """A model with bad habits, drawn at random: each of its faults stands all over its trees."""

    def __init__(self, rng: Random) -> None:
        self.quote = rng.choice('""\'')
        self.name = rng.choice(["query{}", "Query {}", "query_{}", "q{}"])
        self.reference = rng.choice(REFERENCES)
        self.comma = rng.choice(["", "", ",", " ,\n"])
        self.blank = rng.choice(["", " ", "\n", "\n    ", "\r\n\t"])
        self.comment = rng.choice(["", "", " // the first\n", " /* it's {one} */ ", " # see #query1\n"])
        self.children = rng.choice(["object", "list", "beside"])
        self.empty = rng.choice([None, None, "{}", "[]", "null"])
        self.before = rng.choice(BEFORE)
        self.wrapper = rng.choice([None, None, "queries", "tree"])
        self.list = rng.choice([False, False, True])
        self.missing = 0 if self.comma else rng.choice([0, 0, 1, 2])  # both look like JSON that is cut off
        self.behind = rng.choice(["", "\n", "\n\nI hope it's {right}, see [1]."])
        if not self.missing:  # else its braces would be taken for the tree's
            self.behind = rng.choice([self.behind, ' This is {X}, {"status": "done"}.'])

    def written(self, nodes: Nodes) -> str:
        body = self.level(nodes, None)
        if self.list:
            body = f"[{body}]"
        if self.wrapper:
            body = f"{{{self.text(self.wrapper)}: {body}}}"
        for _ in range(self.missing):
            shorter = body.removesuffix("}").rstrip()
            body = shorter if shorter.endswith("}") else body
        closed = "\n```" if "```" in self.before else ""
        return f"{self.before}{body}{closed}{self.behind}"

    def text(self, text: str) -> str:
        return f"{self.quote}{text}{self.quote}"

    def object(self, pairs: list[tuple[str, str]]) -> str:
        written = [f"{self.blank}{self.text(name)}: {value}" for name, value in pairs]
        return f"{{{self.comment}{','.join(written)}{self.comma}{self.blank}}}"

    def node(self, nodes: Nodes, place: int) -> str:
        pairs = [("question", self.text(asked(nodes[place], self.reference)))]
        if any(node["parent"] == place for node in nodes):
            if self.children == "beside":
                pairs += self.pairs(nodes, place)
            else:
                below = self.level(nodes, place)
                pairs.append(("children", f"[{below}]" if self.children == "list" else below))
        elif self.empty:
            pairs.append(("children", self.empty))
        return self.object(pairs)

    def pairs(self, nodes: Nodes, parent: int | None) -> list[tuple[str, str]]:
        return [
            (self.name.format(node["number"]), self.node(nodes, place))
            for place, node in enumerate(nodes)
            if node["parent"] == parent
        ]

    def level(self, nodes: Nodes, parent: int | None) -> str:
        return self.object(self.pairs(nodes, parent))
