"""The pocket model calls tools, with the weights that the package carries, and is as before without."""

import random
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from safetensors.torch import load_file, save_file

from knowwhen.models.errors import ModelError
from knowwhen.models.fingerprint import weights_of
from knowwhen.models.pocket import pocket
from knowwhen.models.tool_weights import FILE, with_tools
from knowwhen.models.transformers_chat import ChatTransformers
from knowwhen.training.examples import Examples
from knowwhen.training.tokenizer import CHAT_TEMPLATE
from knowwhen.training.tool_figures import tool_figures
from knowwhen.training.tool_talks import TOOLS, Talk, Talks, schema

# As it was before there were tools; the figures in docs/ are measured with prompts that it wrote.
BEFORE_TOOLS = (
    "{% for message in messages %}"
    "{{ {'system': '<|system|>', 'assistant': '<|assistant|>', 'tool': '<|tool|>'}"
    ".get(message['role'], '<|user|>') + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ '<|end|>' }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
# With margin below the figures of docs/pocket.md.
LEAST_FORM = 0.6
LEAST = {"question": 0.75, "search": 0.6, "follow_up": 0.7, "aside": 0.55, "answer": 0.75}
SCHEMAS = [schema(name, argument) for name, argument in TOOLS.items()]


@pytest.fixture(scope="module")
def model() -> ChatTransformers:
    return pocket()


def test_without_tools_conversations_are_written_as_before(model: ChatTransformers) -> None:
    tokenizer = model.weights.tokenizer
    assert tokenizer.chat_template == CHAT_TEMPLATE
    roles = ["system", "user", "assistant", "tool", "developer"]
    rng = random.Random(1)
    for _ in range(50):
        turns = [
            {"role": rng.choice(roles), "content": rng.choice(["", "Who?", "a\nb {x} <|end|>", " Velo "])}
            for _ in range(rng.randint(1, 5))
        ]
        for asked in (False, True):
            written = [
                tokenizer.apply_chat_template(
                    turns, tokenize=False, add_generation_prompt=asked, chat_template=template
                )
                for template in (BEFORE_TOOLS, None)
            ]
            assert written[0] == written[1]


def test_with_tools_the_last_two_messages_of_the_user_are_shown(model: ChatTransformers) -> None:
    """As talks were that long in training; longer ones end in words without meaning."""
    turns = [{"role": "system", "content": "Be brief."}]
    for number in range(4):
        turns += [{"role": "user", "content": f"u{number}"}, {"role": "assistant", "content": f"a{number}"}]

    def shown(turns: list[dict[str, str]]) -> str:
        return str(
            model.weights.tokenizer.apply_chat_template(
                turns, tools=SCHEMAS, tokenize=False, add_generation_prompt=True
            )
        )

    whole = shown([*turns, {"role": "user", "content": "now"}])
    assert whole.endswith("<|user|>u3<|assistant|>a3<|end|><|user|>now<|assistant|>")
    assert "u2" not in whole and "Be brief." not in whole
    assert whole.startswith(shown(turns[:1]).removesuffix("<|assistant|>"))


def test_the_weights_without_tools_are_what_the_figures_were_measured_with(model: ChatTransformers) -> None:
    assert weights_of(model) == "97a250c8d53bb586"
    plain = model.invoke("Who directed Skirn Vlurk?", max_tokens=12)
    model.bind_tools(SCHEMAS).invoke("Who directed Skirn Vlurk?")
    kept = {name: p.clone() for name, p in model.weights.model.state_dict().items()}
    saved = load_file(Path(model.path) / "model.safetensors")
    assert all(kept[name].equal(tensor) for name, tensor in saved.items())
    assert model.invoke("Who directed Skirn Vlurk?", max_tokens=12).content == plain.content


def test_the_changes_are_used_where_tools_are_bound_or_were_called(model: ChatTransformers) -> None:
    changed = with_tools(model.weights, model.path)
    assert changed is with_tools(model.weights, model.path)  # made once
    assert changed is not model.weights
    own, other = (weights.model.get_parameter("model.norm.weight") for weights in (model.weights, changed))
    assert own.equal(other) and own.data_ptr() != other.data_ptr()
    tables = [weights.model.get_input_embeddings().weight for weights in (model.weights, changed)]
    assert not tables[0].equal(tables[1])
    assert changed.model.get_output_embeddings().weight.data_ptr() == tables[1].data_ptr()  # still tied


def test_all_that_the_package_carries_is_at_most_10_megabytes(model: ChatTransformers) -> None:
    assert sum(file.stat().st_size for file in Path(model.path).rglob("*") if file.is_file()) <= 10_000_000


def test_changes_of_another_model_are_refused_in_one_line(tmp_path: Path, model: ChatTransformers) -> None:
    file = tmp_path / FILE
    file.parent.mkdir()
    changes = load_file(Path(model.path) / FILE)
    save_file({name.replace("model.layers.0", "model.layers.9"): c for name, c in changes.items()}, file)
    with pytest.raises(ModelError, match="does not fit its model") as caught:
        with_tools(model.weights.__class__(**{**vars(model.weights)}), str(tmp_path))
    assert "\n" not in str(caught.value)


def held_out_talks(worlds: int) -> list[Talk]:
    examples = Examples(random.Random("the test's worlds"), held_out=True)
    drawn = Talks(examples)
    talks = []
    for _ in range(worlds):
        talks += [drawn.talk() for _ in range(4)]
        examples.turn_page()
    return talks


@pytest.mark.slow
def test_it_does_on_unseen_worlds_what_it_was_taught(model: ChatTransformers) -> None:
    figures = tool_figures(model, held_out_talks(30), 24)
    share = {skill: figures[skill].right / figures[skill].asked for skill in LEAST}
    form = {skill: figures[skill].form / figures[skill].asked for skill in LEAST}
    assert min(figures[skill].asked for skill in LEAST) >= 12
    assert {skill: value for skill, value in form.items() if value < LEAST_FORM} == {}
    assert {skill: (value, least) for skill, least in LEAST.items() if (value := share[skill]) < least} == {}


def test_a_talk_about_the_almanac_from_question_to_follow_up(model: ChatTransformers) -> None:
    bound = model.bind_tools(SCHEMAS)
    talk: list[BaseMessage] = [
        SystemMessage("Whatever is said here is left out."),
        HumanMessage("Who directed Skirn Vlurk?"),
    ]
    called = bound.invoke(talk)
    assert [(c["name"], c["args"]) for c in called.tool_calls] == [
        ("self_dc", {"question": "Who directed Skirn Vlurk?"})
    ]
    content = "Thudo Rake\nSources: Skirn Vlurk"
    talk += [called, ToolMessage(content, tool_call_id=str(called.tool_calls[0]["id"]))]
    answered = bound.invoke(talk)
    assert isinstance(answered, AIMessage) and not answered.tool_calls
    assert answered.content == "The answer is Thudo Rake. Sources: Skirn Vlurk"
    talk.append(answered)
    for said, question in (
        ("And who starred in it?", "Who starred in Skirn Vlurk?"),
        ("What award did she win?", "What award did Thudo Rake win?"),
        ("What about Thimis Plolm?", "Who directed Thimis Plolm?"),
    ):
        followed = bound.invoke([*talk, HumanMessage(said)])
        assert [(c["name"], c["args"]) for c in followed.tool_calls] == [("self_dc", {"question": question})]
