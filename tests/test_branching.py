"""Answers that branch off one prompt in one cache are those of plain passes, and so are their states."""

import threading
from pathlib import Path

import pytest
import torch
from scipy.stats import chisquare
from tiny_models import MORE_FAMILIES, endless_llama, save_tiny_model, tiny_llama  # noqa: F401
from transformers import LogitsProcessorList, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from knowwhen.models.branching import Branches, Request, branch
from knowwhen.models.decoding import Decoding
from knowwhen.models.evidence import Site
from knowwhen.models.generation import Sample
from knowwhen.models.probing import unfit
from knowwhen.models.weights import Dtype, Weights, load_weights

LAYERS = 4
SAMPLING = {"temperature": 1.0, "top_k": 50, "top_p": 0.9, "seed": 1}


@pytest.fixture(scope="module", params=MORE_FAMILIES)
def weights(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Weights:
    """A tiny model of each family, whose windows, where it has any, are shorter than the prompts."""
    folder = tmp_path_factory.mktemp("tiny") / request.param
    weights = load_weights(str(save_tiny_model(folder, request.param, layers=LAYERS)))
    assert unfit(weights) == ""
    return weights


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Weights:
    weights = load_weights(str(save_tiny_model(tmp_path_factory.mktemp("tiny") / "llama", layers=LAYERS)))
    assert unfit(weights) == ""
    return weights


def prompt_of(number: int, tokens: int = 40) -> list[int]:
    generator = torch.Generator().manual_seed(number)
    return torch.randint(2, 300, (tokens,), generator=generator).tolist()


def answered(
    weights: Weights,
    *prompts: list[int],
    states: tuple[int, Site] | None = None,
    greedy: bool = True,
    memory_limit: int | None = None,
    prefix_memory: int = 0,
    **decoding: object,
) -> list[Branches]:
    settings = Decoding.model_validate({"n": 6, "max_tokens": 12, "logprobs": True, **SAMPLING, **decoding})
    request = Request(settings, greedy, True, states, memory_limit, prefix_memory)
    with weights.lock:
        return branch(weights, prompts, request, threading.Event())


def ids(sample: Sample) -> list[int]:
    return [choice.token for choice in sample.choices()]


def logits_behind(weights: Weights, tokens: list[int]) -> torch.Tensor:
    """What follows each token in one plain pass, (tokens, vocabulary)."""
    with torch.inference_mode():
        return weights.model(torch.tensor([tokens])).logits[0]


# Answers


def test_greedy_answers_are_those_of_transformers_generate_on_a_hundred_prompts(llama: Weights):
    prompts = [prompt_of(number, 20 + number) for number in range(100)]
    for prompt, branches in zip(prompts, answered(llama, *prompts, n=1), strict=True):
        tokens = torch.tensor([prompt])
        with torch.inference_mode():
            out = llama.model.generate(
                tokens,
                attention_mask=torch.ones_like(tokens),
                max_new_tokens=12,
                do_sample=False,
                pad_token_id=0,
            )
        expected = [token for token in out[0, len(prompt) :].tolist() if token not in llama.end_tokens]
        assert ids(branches.greedy[0]) == expected


def test_log_probabilities_of_every_branch_are_those_of_a_plain_pass(weights: Weights):
    prompt = prompt_of(0)
    (branches,) = answered(weights, prompt, top_logprobs=4)
    for sample in branches.greedy + branches.samples:
        logits = logits_behind(weights, prompt + ids(sample))[len(prompt) - 1 : -1]
        behind, totals = logits.log_softmax(dim=-1), logits.logsumexp(dim=-1)
        top, top_ids = behind.topk(4, dim=-1)
        places = zip(sample.choices(), behind, totals, top, top_ids, strict=True)
        for choice, expected, total, likeliest, tokens in places:
            assert choice.normaliser == pytest.approx(total.item(), abs=1e-4)
            assert choice.logprob == pytest.approx(expected[choice.token].item(), abs=1e-4)
            assert [token for token, _ in choice.top] == tokens.tolist()
            assert [logprob for _, logprob in choice.top] == pytest.approx(likeliest.tolist(), abs=1e-4)
    assert len({tuple(ids(sample)) for sample in branches.samples}) == 6


def test_every_step_of_a_greedy_branch_beside_samples_takes_the_likeliest_token(weights: Weights):
    prompt = prompt_of(3)
    (branches,) = answered(weights, prompt)
    tokens = ids(branches.greedy[0])
    assert logits_behind(weights, prompt + tokens)[len(prompt) - 1 : -1].argmax(dim=-1).tolist() == tokens


def test_first_and_second_tokens_are_drawn_as_transformers_would_draw_them(llama: Weights):
    prompt, draws = prompt_of(5), 4000
    settings = {"temperature": 1.5, "top_k": 20, "top_p": 0.8}
    warp = LogitsProcessorList(
        [TemperatureLogitsWarper(1.5), TopKLogitsWarper(20), TopPLogitsWarper(0.8)]  # as generate orders them
    )

    def p_value(tokens: list[int], before: list[int]) -> float:
        probabilities = warp(None, logits_behind(llama, before)[-1:])[0].softmax(dim=-1).double()
        counts = torch.bincount(torch.tensor(tokens), minlength=len(probabilities))
        assert counts[probabilities == 0].sum() == 0
        likely = probabilities * len(tokens) >= 5
        observed = [*counts[likely].tolist(), counts[~likely].sum().item()]
        expected = [*probabilities[likely].tolist(), probabilities[~likely].sum().item()]
        if expected[-1] == 0:
            observed, expected = observed[:-1], expected[:-1]
        assert len(observed) > 3
        total = sum(expected)
        return float(chisquare(observed, [len(tokens) * share / total for share in expected]).pvalue)

    (branches,) = answered(llama, prompt, n=draws, max_tokens=2, **settings)
    answers = [ids(sample) for sample in branches.samples if len(ids(sample)) == 2]
    firsts = [answer[0] for answer in answers]
    assert len(firsts) == draws  # the end token is not among the twenty likeliest
    assert p_value(firsts, prompt) > 0.01
    first = max(set(firsts), key=firsts.count)
    assert p_value([second for one, second in answers if one == first], [*prompt, first]) > 0.01


# States


@pytest.mark.parametrize("site", ["residual", "mlp"])
def test_states_are_those_of_a_plain_pass_however_a_sample_ended(weights: Weights, site: Site):
    prompt = prompt_of(7)
    uniform = {"temperature": 20.0, "top_p": None, "top_k": None, "max_tokens": 60, "n": 24}
    endings: set[str] = set()
    for settings in ({"max_tokens": 6}, {"stop": ["e", "1"]}, uniform):
        (branches,) = answered(weights, prompt, states=(2, site), **settings)
        assert branches.states is not None
        assert (branches.states.layer, branches.states.site) == (2, site)
        for sample, state in zip(branches.samples, branches.states.values, strict=True):
            read = state_of(weights, [*prompt, *ids(sample), weights.end_token], site)
            torch.testing.assert_close(torch.from_numpy(state), read, atol=1e-4, rtol=0)
            cut = sample.finish_reason == "stop" and "stop" in settings
            endings.add("stop string" if cut else sample.finish_reason)
    assert endings == {"length", "stop string", "stop"}


def state_of(weights: Weights, tokens: list[int], site: Site) -> torch.Tensor:
    """The second layer's state at the last token, in a plain pass through the whole model."""
    outputs: list[torch.Tensor] = []
    mlp = weights.model.model.layers[1].mlp
    hook = mlp.register_forward_hook(lambda _module, _inputs, output: outputs.append(output))
    with torch.inference_mode():
        states = weights.model(torch.tensor([tokens]), output_hidden_states=True).hidden_states
    hook.remove()
    return (states[2] if site == "residual" else outputs[0])[0, -1]


def test_tokens_that_a_stop_string_cut_off_leave_no_trace_in_the_state(llama: Weights):
    prompt = prompt_of(9)
    (whole,) = answered(llama, prompt, max_tokens=20)
    text = whole.samples[0].text
    stop = [text[len(text) // 2 :][:12]]  # of several tokens
    (cut,) = answered(llama, prompt, max_tokens=20, stop=stop, states=(2, "residual"))
    sample = cut.samples[0]
    assert sample.drawn > len(ids(sample)) + 1 and sample.text == text[: text.index(stop[0])]
    assert cut.states is not None
    read = state_of(llama, [*prompt, *ids(sample), llama.end_token], "residual")
    torch.testing.assert_close(torch.from_numpy(cut.states.values[0]), read, atol=1e-4, rtol=0)


def test_an_empty_sample_has_a_state_too(llama: Weights):
    prompt = prompt_of(11)
    first = answered(llama, prompt, n=1, temperature=0, max_tokens=1)[0].greedy[0].text
    (branches,) = answered(llama, prompt, n=1, temperature=0, stop=[first[0]], states=(2, "mlp"))
    assert branches.samples[0].text == ""
    assert branches.states is not None
    read = state_of(llama, [*prompt, *ids(branches.samples[0]), llama.end_token], "mlp")
    torch.testing.assert_close(torch.from_numpy(branches.states.values[0]), read, atol=1e-4, rtol=0)


def test_states_cost_one_pass_through_the_layers_up_to_the_one_read(llama: Weights):
    tokens: list[list[int]] = [[] for _ in range(LAYERS)]
    hooks = [
        layer.register_forward_hook(lambda _m, inputs, _o, seen=seen: seen.append(inputs[0].shape[1]))
        for layer, seen in zip(llama.model.model.layers, tokens, strict=True)
    ]
    answered(llama, prompt_of(13), states=(2, "residual"), temperature=0.1, greedy=False)
    for hook in hooks:
        hook.remove()
    assert tokens[0] == tokens[1][:-1] + tokens[0][-1:]  # the hook that ends the pass comes before this one
    assert len(tokens[0]) == len(tokens[2]) + 1 == len(tokens[3]) + 1


@pytest.mark.parametrize(
    ("dtype", "attention", "error"), [("float32", "eager", 1e-4), ("bfloat16", "sdpa", 0.5)]
)
def test_eager_attention_and_half_precision_branch_too(
    tmp_path: Path, dtype: Dtype, attention: str, error: float
):
    weights = load_weights(str(save_tiny_model(tmp_path / "tiny", "mistral", layers=LAYERS)), dtype)
    weights.model.set_attn_implementation(attention)
    assert unfit(weights) == "" and weights.model.config._attn_implementation == attention
    prompt = prompt_of(17)
    (branches,) = answered(weights, prompt, states=(2, "residual"))
    assert branches.states is not None
    for sample, state in zip(branches.samples, branches.states.values, strict=True):
        read = state_of(weights, [*prompt, *ids(sample), weights.end_token], "residual").float()
        torch.testing.assert_close(torch.from_numpy(state), read, atol=error, rtol=0)
        assert read.abs().max() > 10 * error  # so that the error is small


# Long prompts, many samples


def same(one: Branches, other: Branches) -> None:
    assert [ids(sample) for sample in one.samples] == [ids(sample) for sample in other.samples]
    assert [ids(sample) for sample in one.greedy] == [ids(sample) for sample in other.greedy]
    for left, right in zip(one.samples, other.samples, strict=True):
        logprobs = [choice.logprob for choice in right.choices()]
        assert [choice.logprob for choice in left.choices()] == pytest.approx(logprobs, abs=1e-4)
    if one.states is not None and other.states is not None:
        torch.testing.assert_close(one.states.values, other.states.values, atol=1e-4, rtol=0)


def test_a_memory_limit_changes_how_much_is_computed_at_once_but_not_what_comes_out(weights: Weights):
    prompt = prompt_of(15, 200)
    (whole,) = answered(weights, prompt, n=10, states=(3, "residual"))
    lengths: list[int] = []
    embed = weights.model.get_input_embeddings()
    hook = embed.register_forward_hook(lambda _module, inputs, _output: lengths.append(inputs[0].shape[1]))
    (parts,) = answered(weights, prompt, n=10, states=(3, "residual"), memory_limit=700_000)
    hook.remove()
    same(parts, whole)
    assert max(lengths[:2]) < 200
    assert max(lengths[-5:]) < 11
