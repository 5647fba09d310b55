import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_openai import ChatOpenAI

from knowwhen.models.capability import Capability, capabilities, require
from knowwhen.models.errors import CapabilityError

TEXT, SAMPLES, LOGPROBS, HIDDEN, LOGITS = Capability


class Declaring(FakeListChatModel):
    reports: frozenset[Capability] = frozenset({TEXT, HIDDEN})


def openai(**settings: object) -> ChatOpenAI:
    return ChatOpenAI(model="gpt-4o-mini", api_key="x", **settings)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (FakeListChatModel(responses=["x"]), {TEXT}),
        (openai(), {TEXT, SAMPLES, LOGPROBS}),
        (openai(use_responses_api=False), {TEXT, SAMPLES, LOGPROBS}),
        (openai(use_responses_api=True), {TEXT, SAMPLES}),
        (Declaring(responses=["x"]), {TEXT, HIDDEN}),
    ],
)
def test_what_a_model_reports_is_declared_or_read_from_its_fields(model: BaseChatModel, expected: set):
    assert capabilities(model) == expected
    require(model, expected, "the test")


def refusal(model: BaseChatModel, needed: list[Capability], **ways: str) -> str:
    with pytest.raises(CapabilityError) as caught:
        require(model, needed, "self_dc's confidence='probability'", **ways)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_refusal_names_the_asker_what_is_missing_the_model_and_the_ways_out():
    said = refusal(openai(), [TEXT, HIDDEN])
    assert "self_dc's confidence='probability' needs hidden states" in said
    assert "ChatOpenAI (gpt-4o-mini) does not report; use a model that reports hidden states" in said
    fake = FakeListChatModel(responses=["x"])
    said = refusal(fake, [LOGPROBS], instead="use confidence='verbalised'")
    assert "FakeListChatModel does not report; use confidence='verbalised', or a model that reports" in said
    assert "needs n samples and log-probabilities" in refusal(fake, [LOGPROBS, SAMPLES])


def test_the_responses_api_is_named_as_the_reason_for_missing_log_probabilities():
    said = refusal(openai(use_responses_api=True), [LOGPROBS], instead="use confidence='verbalised'")
    assert "pass use_responses_api=False" in said
    assert "or use confidence='verbalised'" in said
