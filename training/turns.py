"""What a model is to learn: a prompt and its reply, as chat JSONL that trl and other trainers read.

A line is `{"messages": [{"role": "user", …}, {"role": "assistant", …}], "kind": …, "id": …}`; `kind` is what
is learnt by it, `id` the question that it came from.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from langchain_core.language_models import BaseChatModel

from knowwhen.evaluation.journal import JOURNAL, unwritable
from knowwhen.models.errors import KnowwhenError, SettingsError
from knowwhen.models.transformers_chat import ChatTransformers


@dataclass(frozen=True)
class Turn:
    """One prompt with the reply to learn."""

    kind: str
    question_id: str
    prompt: str
    reply: str


@dataclass(frozen=True)
class TurnCounts:
    """How many turns there are and how long they are on average, as in the paper's Tables 1, 5 and 6."""

    number: int
    input_length: float
    output_length: float


def write_turns(file: Path, turns: Iterable[Turn]) -> None:
    """Write chat JSONL in one move, so that a kill leaves either the old file or the new one.

    Raises:
        KnowwhenError: the file cannot be written.
    """
    new = file.with_suffix(".new")
    try:
        with new.open("w", encoding="utf-8") as lines:
            for turn in turns:
                messages = [
                    {"role": "user", "content": turn.prompt},
                    {"role": "assistant", "content": turn.reply},
                ]
                record = {"messages": messages, "kind": turn.kind, "id": turn.question_id}
                lines.write(json.dumps(record, ensure_ascii=False) + "\n")
        new.replace(file)
    except OSError as error:
        raise unwritable(file, error) from None


def read_turns(data: Path) -> list[Turn]:
    """The turns in a file of chat JSONL, or in all of a folder's.

    Raises:
        SettingsError: there is no such file, or none in the folder.
        KnowwhenError: a line is no conversation of a user's turn and the assistant's; says which.
    """
    files = [data]
    if data.is_dir():
        files = sorted(file for file in data.glob("*.jsonl") if file.name != JOURNAL)
    if not files or not all(file.is_file() for file in files):
        raise SettingsError(
            f"there is no chat JSONL at {data}; give a file or folder that knowwhen train boundary or "
            "knowwhen train instructions wrote"
        )
    return [turn for file in files for turn in _read(file)]


def _read(file: Path) -> Iterator[Turn]:
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _turn(line, f"{file}:{number}")
    except OSError as error:
        raise KnowwhenError(f"{file} cannot be read: {error.strerror or error}") from None


def _turn(line: bytes, where: str) -> Turn:
    try:
        record = json.loads(line)
        asked, answered = record["messages"]
        roles, texts = (asked["role"], answered["role"]), (asked["content"], answered["content"])
    except (ValueError, KeyError, TypeError, RecursionError):
        roles, texts, record = ("", ""), ("", ""), {}
    if roles != ("user", "assistant") or not all(isinstance(text, str) and text.strip() for text in texts):
        raise KnowwhenError(
            f"{where}: these are not two messages with text, a user's and then the assistant's; mend the line"
        )
    return Turn(str(record.get("kind", "")), str(record.get("id", "")), *texts)


def count_turns(turns: Sequence[Turn], length: Callable[[str], int]) -> TurnCounts:
    """Number and mean lengths; 0 where there is no turn."""
    if not turns:
        return TurnCounts(0, 0.0, 0.0)
    return TurnCounts(
        len(turns), fmean(length(turn.prompt) for turn in turns), fmean(length(turn.reply) for turn in turns)
    )


def measure_of(model: BaseChatModel) -> tuple[str, Callable[[str], int]]:
    """What lengths are counted in: a local model's own tokens, words for others; and the count.

    The paper's are tokens: its RAG_REQUIRED, one word, has a length of 4.0 (Table 6).
    """
    if isinstance(model, ChatTransformers):
        return "tokens", lambda text: len(model.get_token_ids(text))
    return "words", lambda text: len(text.split())
