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
# Without tools and calls: a mark for each role, and an end behind what the assistant said. With tools their
# names and arguments stand first, and what a system message says is left out: how to use tools has been
# learnt, not read. Of a conversation the user's last two messages and what follows them are shown, as talks
# were that long in training. Calls are in the form of Qwen3-Coder, in which a value may stand behind a space,
# so that its words are the tokens that they were in the question; in JSON, behind a quotation mark, they are
# others.
CHAT_TEMPLATE = (
    "{% if tools %}{{ '<|system|>' }}{% for tool in tools %}"
    "{{ tool['function']['name'] + '(' + tool['function']['parameters']['properties'] | join(', ') + ')' }}"
    "{% if not loop.last %}{{ ' ' }}{% endif %}"
    "{% endfor %}{% endif %}"
    "{% set seen = namespace(asked=0, first=0) %}"
    "{% for message in messages | reverse %}{% if tools and message['role'] == 'user' %}"
    "{% set seen.asked = seen.asked + 1 %}"
    "{% if seen.asked == 2 %}{% set seen.first = messages | length - loop.index %}{% endif %}"
    "{% endif %}{% endfor %}"
    "{% for message in messages %}"
    "{% if not tools or (message['role'] != 'system' and loop.index0 >= seen.first) %}"
    "{{ {'system': '<|system|>', 'assistant': '<|assistant|>', 'tool': '<|tool|>'}"
    ".get(message['role'], '<|user|>') + message['content'] }}"
    "{% for call in message['tool_calls'] or [] %}"
    "{{ '<tool_call><function=' + call['function']['name'] + '>' }}"
    "{% for name, value in call['function']['arguments'].items() %}"
    "{{ '<parameter=' + name + '> ' + (value if value is string else value | tojson) + '</parameter>' }}"
    "{% endfor %}"
    "{{ '</function></tool_call>' }}"
    "{% endfor %}"
    "{% if message['role'] == 'assistant' %}{{ '<|end|>' }}{% endif %}"
    "{% endif %}{% endfor %}"
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
