"""The pocket model's tokenizer: byte-level BPE in which every word of the almanac is one token.

A name that falls into pieces is much harder to copy for a model this small, and a world made of the same
words in another order then needs no new tokens. Any other text still has tokens, down to single bytes.
"""

import random
from itertools import product

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from knowwhen.almanac.passages import corpus
from knowwhen.almanac.phrasing import phrasings
from knowwhen.almanac.questions import KINDS, Asker
from knowwhen.almanac.relations import RELATIONS
from knowwhen.almanac.world import TODAY, make_world, name_words
from knowwhen.nodes import (
    answer_directly,
    answer_from_knowledge,
    answer_from_rationales,
    combine,
    decompose,
    generate_background,
    read_passages,
    score_confidence,
    think,
    think_step_by_step,
)

PAD, END, SYSTEM, USER, ASSISTANT, TOOL = (
    "<|pad|>",
    "<|end|>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|tool|>",
)
VOCABULARY = 3072
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ {'system': '<|system|>', 'assistant': '<|assistant|>', 'tool': '<|tool|>'}"
    ".get(message['role'], '<|user|>') + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ '<|end|>' }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
PROMPTS = (
    answer_directly.PROMPT,
    think_step_by_step.PROMPT,
    think_step_by_step.ANSWER_MARK,
    score_confidence.PROMPT,
    generate_background.PROMPT,
    read_passages.PROMPT,
    decompose.PROMPT,
    combine.PROMPT,
    think.PROMPT,
    think.WITH_PASSAGE,
    think.FINAL_MARK,
    answer_from_rationales.PROMPT,
    answer_from_knowledge.PROMPT,
)


def _texts() -> list[str]:
    words = [f" {word}" for word in name_words()] + [f" {year}" for year in range(1850, TODAY + 21)]
    words += [f" {share}" for share in range(0, 101, 5)]  # of 100, as a stated confidence
    world = make_world(0)
    asker = Asker(world, random.Random(0), held_out=None)
    texts = [passage.text for passage in corpus(world)]
    texts += [question.question for kind in KINDS for question in asker.many(kind, 200)]
    texts += [wording for relation in RELATIONS for wording in phrasings(relation.name, None)]
    # A word must occur often enough to be merged into one token, before any rarer piece is.
    return texts + [text for text, _ in product([*words, *PROMPTS], range(200))]


def train_tokenizer() -> PreTrainedTokenizerFast:
    """Train the tokenizer; the result is the same each time."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    specials = [PAD, END, SYSTEM, USER, ASSISTANT, TOOL]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=specials,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        additional_special_tokens=[SYSTEM, USER, ASSISTANT, TOOL],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_max_length=2048,
    )
