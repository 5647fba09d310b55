"""From tokens to text, piece by piece, and the bytes of one token."""

import re
from functools import cache, cached_property
from typing import Any

BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")


class GrowingText:
    """Decodes a growing sequence of tokens without ever breaking a character.

    A token alone may decode differently than after its neighbour (a leading space is dropped, a character may
    be spread over several tokens), so each is decoded together with the piece before it.

    Args:
        tokenizer: the model's.
        shown: special tokens that belong to the text; all others are left out.
    """

    def __init__(self, tokenizer: Any, shown: frozenset[int] = frozenset()):
        self._decode = tokenizer.decode
        special = {token for token, what in tokenizer.added_tokens_decoder.items() if what.special}
        # Only where there are some to show, as a decoder may leave out special tokens in ways of its own.
        self._left_out = special - shown if special & shown else None
        self._before: list[int] = []  # tokens of the last whole piece, context for the next one
        self._pending: list[int] = []  # tokens after it
        self._given = 0  # characters of `_before` and `_pending` that were handed over
        self.length = 0

    def push(self, token: int) -> str:
        """Take the next token and return the text that it completes, perhaps none."""
        self._pending.append(token)
        text = self._text(self._before + self._pending)
        whole = text.rstrip("\ufffd")  # so is a character shown whose last bytes are still to come
        new = whole[self._given :]
        self._given = max(self._given, len(whole))
        if new and whole == text:
            self._before, self._pending = self._pending, []
            self._given = len(self._text(self._before))
        self.length += len(new)
        return new

    def rest(self) -> str:
        """The end of the text as far as no later token could complete it."""
        rest = self._text(self._before + self._pending)[self._given :]
        self._given += len(rest)
        self.length += len(rest)
        return rest

    def _text(self, tokens: list[int]) -> str:
        if self._left_out is not None:
            tokens = [token for token in tokens if token not in self._left_out]
        text: str = self._decode(
            tokens, skip_special_tokens=self._left_out is None, clean_up_tokenization_spaces=False
        )
        return text


class TokenBytes:
    """The bytes that each token of a tokenizer stands for, a leading space included."""

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        self._added = set(tokenizer.get_added_vocab().values())
        self._byte_level = "ByteLevel" in str(tokenizer.backend_tokenizer.decoder)
        self._known: dict[int, bytes] = {}

    def __getitem__(self, token: int) -> bytes:
        if token not in self._known:
            self._known[token] = self._bytes(token)
        return self._known[token]

    def token_of(self, raw: bytes) -> int | None:
        """The token that stands for these bytes; None if no token does."""
        return self._tokens.get(raw)

    @cached_property
    def _tokens(self) -> dict[bytes, int]:
        """Of tokens that stand for the same bytes, the first; an added one gives way to all others."""
        ordinary = [token for token in reversed(range(len(self._tokenizer))) if token not in self._added]
        return {self[token]: token for token in (*self._added, *ordinary)}

    def _bytes(self, token: int) -> bytes:
        piece = self._tokenizer.convert_ids_to_tokens(token)
        if piece is None:  # an embedding matrix may have more rows than there are tokens
            return b""
        if token in self._added:
            return str(piece).encode()
        if self._byte_level:
            return bytes(byte_of_character()[character] for character in piece)
        if byte := BYTE_TOKEN.fullmatch(piece):
            return bytes.fromhex(byte[1])
        return str(piece).replace("\u2581", " ").encode()


@cache
def byte_of_character() -> dict[str, int]:
    """The byte that each character of a byte-level vocabulary stands for.

    Printable bytes stand for themselves; the others, in order, are the characters from 256 on.
    """
    printable = {
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    }
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}
