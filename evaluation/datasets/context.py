"""Paragraphs and facts in the shapes that datasets write them in: officially, on the hub, in FlashRAG."""

import json
from collections.abc import Iterator
from typing import Any

from knowwhen.evaluation.datasets.form import BadRecord, Paragraph

TEXTS = ("text", "paragraph_text", "sentences", "content", "contents")


def titled(context: Any) -> Iterator[Paragraph]:
    """The paragraphs of a context, which is one of these.

    Objects with `title` and a text (MuSiQue, FlashRAG); pairs of a title and sentences (HotpotQA); one object
    of a list of titles and a list of texts (both on the hub); or one of these as JSON in a text.

    Raises:
        BadRecord: it is none of these.
    """
    for each in _rows(unpacked(context)):
        if isinstance(each, dict):
            text = next((each[name] for name in TEXTS if each.get(name) is not None), None)
            title, supports = each.get("title"), each.get("is_supporting") or each.get("isgold")
        elif isinstance(each, list | tuple) and len(each) == 2:
            (title, text), supports = each, False
        else:
            raise BadRecord("its context is not a list of paragraphs with titles")
        yield Paragraph(_text(title or ""), _text(text), bool(supports))


def supporting_facts(facts: Any) -> list[list[Any]]:
    """The facts that an answer rests on, each a title and the number of a sentence.

    Raises:
        BadRecord: they are no such list.
    """
    facts = unpacked(facts) or []
    if isinstance(facts, dict):
        facts = list(zip(facts.get("title") or (), facts.get("sent_id") or (), strict=False))
    if not isinstance(facts, list) or not all(isinstance(fact, list | tuple) and fact for fact in facts):
        raise BadRecord("its supporting_facts is not a list of pairs")
    return [list(fact) for fact in facts]


def unpacked(value: Any) -> Any:
    """What is written as JSON in a text, as some tables have it; anything else as it is.

    Raises:
        BadRecord: the text is no JSON.
    """
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise BadRecord(f"{value[:40]!r} is no JSON") from None


def _rows(context: Any) -> list[Any]:
    if isinstance(context, dict):
        texts = next((context[name] for name in TEXTS if isinstance(context.get(name), list)), None)
        titles = context.get("title")
        if not isinstance(titles, list) or texts is None or len(titles) != len(texts):
            raise BadRecord("its context has not as many titles as texts")
        return list(zip(titles, texts, strict=True))
    if not isinstance(context, list):
        raise BadRecord("its context is not a list of paragraphs with titles")
    return context


def _text(text: Any) -> str:
    if isinstance(text, list) and all(isinstance(sentence, str) for sentence in text):
        # HotpotQA's sentences begin with the space between them, 2WikiMultihopQA's do not.
        spaced = any(sentence[:1].isspace() for sentence in text[1:])
        text = ("" if spaced else " ").join(text)
    if not isinstance(text, str):
        raise BadRecord("a paragraph of its context has no text")
    return text.strip()
