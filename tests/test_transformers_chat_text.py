"""How tokens become text, where stop strings cut it, and which token is chosen."""

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import tiny_tokenizer
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers
from transformers import PreTrainedTokenizerFast, TopKLogitsWarper, TopPLogitsWarper

from knowwhen.models.decoding import Decoding, choose
from knowwhen.models.stopping import StopStrings
from knowwhen.models.token_text import GrowingText, TokenBytes

TEXTS = [
    "Köln and 東京 are cities; Łódź too 🙂👩‍👩‍👧 and ﷽.",
    "  two leading spaces,\n\nblank lines\tand tabs  ",
    "don't join , these . spaces !",
    "日本語だけの文章です。",
]


def sentencepiece_like() -> PreTrainedTokenizerFast:
    """A tokenizer built like Llama 2's: a metaspace for blanks and single bytes for unknown characters."""
    single_bytes = [f"<0x{byte:02X}>" for byte in range(256)]
    pieces = ["<unk>", "<s>", "</s>", *single_bytes, "▁", *"abcdefghijklmnoprstu", "▁a", "▁t"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(
        models.BPE(vocabulary, [("▁", "a"), ("▁", "t")], unk_token="<unk>", byte_fallback=True, fuse_unk=True)
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(pattern=" ", content="▁")]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")


TOKENIZERS = {"byte-level": tiny_tokenizer(size=300), "metaspace": sentencepiece_like()}


@pytest.fixture(params=list(TOKENIZERS))
def tokenizer(request: pytest.FixtureRequest) -> PreTrainedTokenizerFast:
    return TOKENIZERS[request.param]


def grown(tokenizer: PreTrainedTokenizerFast, ids: list[int]) -> list[str]:
    growing = GrowingText(tokenizer)
    return [*(growing.push(token) for token in ids), growing.rest()]


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_of_text_are_whole_characters_and_add_up(tokenizer: PreTrainedTokenizerFast, text: str):
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    pieces = grown(tokenizer, ids)
    assert "".join(pieces) == tokenizer.decode(ids, skip_special_tokens=True) == text
    assert "\ufffd" not in "".join(pieces)
    assert sum(bool(piece) for piece in pieces) > len(text) / 4


@given(ids=st.lists(st.integers(0, 299), max_size=40))
def test_any_byte_level_tokens_grow_into_their_decoded_text(ids: list[int]):
    tokenizer = TOKENIZERS["byte-level"]
    assert "".join(grown(tokenizer, ids)) == tokenizer.decode(ids, skip_special_tokens=True)


@pytest.mark.parametrize("text", TEXTS)
def test_the_bytes_of_the_tokens_make_up_the_text(tokenizer: PreTrainedTokenizerFast, text: str):
    token_bytes = TokenBytes(tokenizer)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    whole = b"".join(token_bytes[token] for token in ids).decode()
    assert whole.removeprefix(" ") == text.removeprefix(" ") or whole == f" {text}"


def test_a_special_token_and_an_id_without_a_token_have_bytes_too():
    tokenizer = tiny_tokenizer()
    tokenizer.add_tokens([AddedToken("<|ünïcode|>")])
    token_bytes = TokenBytes(tokenizer)
    assert token_bytes[tokenizer.eos_token_id] == b"<|end|>"
    assert token_bytes[len(tokenizer) - 1] == "<|ünïcode|>".encode()
    assert token_bytes[len(tokenizer) + 5] == b""


def cut(pieces: list[str], stop: list[str]) -> tuple[str, bool]:
    guard = StopStrings(stop)
    text = "".join(guard.push(piece) for piece in pieces)
    return text + guard.rest(), guard.found


@given(
    text=st.text("ab\n", max_size=30),
    stop=st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3),
    seed=st.integers(0, 9),
)
def test_a_text_is_cut_before_the_stop_string_that_is_complete_first(text: str, stop: list[str], seed: int):
    division = random.Random(seed)
    pieces, rest = [], text
    while rest:
        size = division.randint(1, 4)
        pieces.append(rest[:size])
        rest = rest[size:]
    ends = [text.find(string) + len(string) for string in stop if string in text]
    if not ends:
        expected = text
    else:
        written = text[: min(ends)]
        expected = min((written.removesuffix(string) for string in stop), key=len)
    assert cut(pieces, stop) == (expected, bool(ends))


def test_only_what_may_become_a_stop_string_is_held_back():
    guard = StopStrings(["\n\nQ:", "."])
    assert guard.push("Paris\n") == "Paris"
    assert guard.push("\nR") == "\n\nR"
    assert guard.push("ome\n\nQ") == "ome"
    assert guard.rest() == "\n\nQ"


def drawn(logits: torch.Tensor, count: int, **settings: object) -> torch.Tensor:
    """Share of each token among `count` draws."""
    source = random.Random(0)
    rows = logits[None].expand(count, -1)
    choices = choose(rows, Decoding(**settings), [source.random() for _ in range(count)])
    return torch.bincount(torch.tensor([choice.token for choice in choices]), minlength=len(logits)) / count


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 1.0},
        {"temperature": 0.5},
        {"temperature": 2.0, "top_p": 0.8},
        {"temperature": 1.0, "top_k": 3},
    ],
)
def test_tokens_are_drawn_as_often_as_transformers_would_draw_them(settings: dict):
    logits = torch.randn(12, generator=torch.Generator().manual_seed(1)) * 2
    scores = logits[None] / settings["temperature"]
    if "top_k" in settings:
        scores = TopKLogitsWarper(settings["top_k"])(None, scores)
    if "top_p" in settings:
        scores = TopPLogitsWarper(settings["top_p"])(None, scores)
    expected = scores.softmax(dim=-1)[0]
    shares = drawn(logits, 20_000, **settings)
    assert torch.equal(shares > 0, expected > 0)
    assert (shares - expected).abs().max() < 0.015


APART = st.integers(-50_000, 50_000).map(lambda thousandths: thousandths / 1000)  # at any temperature


@given(
    row=st.lists(APART, min_size=2, max_size=20),
    top_p=st.one_of(st.none(), st.floats(0.01, 1)),
    top_k=st.one_of(st.none(), st.integers(1, 30)),
    temperature=st.floats(1e-30, 1e5),
    draw=st.floats(0, 1, exclude_max=True),
)
def test_no_token_outside_the_nucleus_is_drawn(row, top_p, top_k, temperature, draw):
    logits = torch.tensor([row])
    settings = Decoding(temperature=temperature, top_p=top_p, top_k=top_k)
    (choice,) = choose(logits, settings, [draw])
    better = int((logits[0] > logits[0, choice.token]).sum())
    assert better < (top_k or len(row))
    mass = (logits.double() - logits.max()).div(temperature).softmax(dim=-1)[0]
    assert float(mass[logits[0] > logits[0, choice.token]].sum()) <= (top_p or 1) + 1e-5


def test_a_draw_next_to_one_never_takes_an_impossible_token():
    logits = torch.zeros(1, 1000)
    logits[0, 900:] = -torch.inf
    (choice,) = choose(logits, Decoding(temperature=1.0), [1 - 2**-53])
    assert choice.token < 900
