"""The chain of thought for PARITY: its bits, its leak, its shared scores, bad input."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.rng import Rng
from papers.sharper import chain_of_thought as chain
from papers.sharper import network as sharper

law = settings(deadline=None, max_examples=30)
EPS = torch.finfo(torch.float64).eps
ROUNDING = 12 * 4 * 4 * EPS  # twelve hidden units with slopes up to 4 on values up to 2


def running_parity(bits):
    return bits.cumsum(-1) % 2


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 9])
def test_every_bit_that_is_written_is_the_parity_so_far(n):
    bits = cube.bits(n)
    written, outputs = chain.generate(*chain.construct(n), bits)
    assert written.dtype == torch.int64
    assert written.tolist() == running_parity(bits).tolist()
    assert ((outputs < 0.5) == (written == 1)).all()


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_the_largest_error_of_the_output_is_the_leak(n):
    for scale in (None, 40.0, math.log(7 * n)):
        _, outputs = chain.generate(*chain.construct(n, scale), cube.bits(n))
        error = (outputs - (1 - running_parity(cube.bits(n)))).abs().max().item()
        assert error == pytest.approx(chain.leak(n, scale), abs=ROUNDING)


@law
@given(st.integers(2, 60), st.floats(0, 12), st.integers(0, 10**6))
def test_the_chain_is_right_whenever_the_leaks_are_small(n, scale, seed):
    bits = torch.randint(0, 2, (8, n), generator=torch.Generator().manual_seed(seed))
    if chain.leak(n, scale) <= 1 / 8:
        written, _ = chain.generate(*chain.construct(n, scale), bits)
        assert written.tolist() == running_parity(bits).tolist()


def test_the_default_scale_is_always_large_enough():
    for n in range(1, 2000):
        assert chain.leak(n) <= 1 / 8


def test_without_scores_the_chain_is_wrong():
    written, _ = chain.generate(*chain.construct(6, 0.0), cube.bits(6))
    assert (written != running_parity(cube.bits(6))).any()


@pytest.mark.parametrize("step", [1, 2, 4])
def test_a_step_is_the_network_for_two_bits_in_the_limit(step):
    n = 4
    pair = cube.SparseFunction(n, torch.tensor([3]), torch.ones(1).double(), "even_parity")
    four = torch.nn.functional.pad(cube.bits(2), (0, n - 2))
    wanted = sharper.forward(*sharper.construct(pair, 40.0), four)
    strings = torch.ones(4, n + step, dtype=torch.int64)
    strings[:, step - 1], strings[:, -1] = four[:, 0], four[:, 1]
    codes, weights = chain.construct(n, 40.0)
    assert torch.allclose(chain.forward(codes, weights, strings)[0], wanted, atol=ROUNDING, rtol=0)


def test_the_attention_of_the_last_token_is_on_its_two_codes():
    codes, weights = chain.construct(5, 40.0)
    strings = torch.zeros(1, 8, dtype=torch.bool)
    _, inside = chain.forward(codes, weights, strings)
    wanted = torch.zeros(8, dtype=torch.float64)
    wanted[[2, 7]] = 0.5
    assert torch.allclose(inside["attention1"][0, -1], wanted, atol=1e-15)
    assert torch.allclose(inside["attention2"][0], wanted, atol=1e-15)


def test_weights_with_leading_axes_run_as_an_ensemble():
    codes, weights = chain.construct(3)
    factors = torch.tensor([1.0, 0.5, 2.0]).double()
    many = {
        k: v * factors[:, None, None] if v.ndim == 2 else v.expand(3, -1)
        for k, v in weights.items()
    }
    strings = torch.randint(0, 2, (4, 5), generator=torch.Generator().manual_seed(0))
    together, _ = chain.forward(codes, many, strings)
    assert together.shape == (3, 4)
    for i in range(3):
        alone, _ = chain.forward(codes, {k: v[i] for k, v in many.items()}, strings)
        assert torch.allclose(together[i], alone, atol=ROUNDING, rtol=1e-14)


def test_a_gradient_reaches_every_block():
    codes, weights = chain.construct(3)
    weights = {k: v.clone().requires_grad_() for k, v in weights.items()}
    chain.forward(codes, weights, torch.tensor([[1, 0, 1, 0]]))[0].sum().backward()
    assert all(v.grad is not None and v.grad.isfinite().all() for v in weights.values())


def fan(n):
    """Codes with every inner product one half."""
    codes = torch.cat((torch.ones(n, 1), torch.eye(n)), 1).double()
    return codes / math.sqrt(2)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_short_codes_write_every_bit_and_stay_within_the_leak(n):
    for codes in (chain.sign_codes(n, Rng(n)), fan(n)):
        wrong, off = chain.errors(*chain.construct(n, None, codes), cube.bits(n))
        assert wrong == 0
        assert off <= chain.leak(n) * (1 + 1e-9)


def test_equal_inner_products_attain_the_leak():
    assert chain.overlap(fan(6)) == pytest.approx(0.5, rel=4 * EPS)
    _, off = chain.errors(*chain.construct(6, None, fan(6)), cube.bits(6))
    assert off == pytest.approx(chain.leak(6), rel=1e-9)


def test_codes_without_their_margin_fail():
    codes = torch.tensor([[1.0, 0.0], [0.999, math.sqrt(1 - 0.999**2)], [-1.0, 0.0]]).double()
    codes = codes / codes.norm(dim=1, keepdim=True)
    bits, scale = cube.bits(3), 2 * math.log(6)
    assert chain.errors(*chain.construct(3, scale, codes), bits)[0] == 0
    undivided = scale * (1 - chain.overlap(codes))
    assert chain.errors(*chain.construct(3, undivided, codes), bits)[0] > 0


@pytest.mark.parametrize("n", [2, 4, 7, 16, 100])
def test_the_norms_of_score_matrices_are_those_of_the_weights(n):
    norms = chain.score_norms(n)
    _, weights = chain.construct(n, 1.0)
    assert weights["WKQ1"].square().sum().item() == pytest.approx(norms["one-hot"], rel=1e-12)
    _, weights = chain.construct(n, 1.0, chain.sign_codes(n, Rng(1)))
    assert weights["WKQ1"].square().sum().item() <= norms["random signs"]
    assert norms["random signs"] >= 64 * math.log(n) > norms["random signs"] - 4
    rest = sum(v.square().sum().item() for k, v in weights.items() if "KQ" not in k)
    assert rest == pytest.approx(chain.OTHER_BLOCKS, rel=1e-12)
    total = sum(v.square().sum().item() for v in chain.construct(n)[1].values())
    assert total == pytest.approx(chain.squared_norm(n, "one-hot"), rel=1e-12)
    least = torch.eye(n).double() - 1 / n
    assert least.square().sum().item() == pytest.approx(norms["one-hot, least"], rel=1e-12)
    assert norms["any"] <= min(v for k, v in norms.items() if k != "any")


def test_the_largest_of_n_normal_numbers():
    assert chain.normal_maximum(1) == pytest.approx(0, abs=1e-10)
    assert chain.normal_maximum(2) == pytest.approx(1 / math.sqrt(math.pi), rel=1e-9)
    assert chain.normal_maximum(3) == pytest.approx(1.5 / math.sqrt(math.pi), rel=1e-9)
    drawn = Rng(0).normal(4000, 500).amax(1)
    assert chain.normal_maximum(500) == pytest.approx(drawn.mean().item(), abs=0.03)
    assert 0.9 < chain.normal_maximum(2.0**60) / math.sqrt(2 * 60 * math.log(2)) < 1


def test_no_inputs_give_no_outputs():
    written, outputs = chain.generate(*chain.construct(3), torch.zeros(0, 3, dtype=torch.int64))
    assert written.shape == outputs.shape == (0, 3)


def turned(inner):
    """Two codes with that inner product."""
    return torch.tensor([[1.0, 0.0], [inner, math.sqrt(1 - inner**2)]], dtype=torch.float64)


def test_codes_may_miss_length_1_by_rounding_and_must_differ_by_more():
    codes, weights = chain.construct(1, None, torch.tensor([[1 + 0.9e-9]], dtype=torch.float64))
    assert codes.item() == 1 + 0.9e-9
    assert chain.generate(codes, weights, cube.bits(1))[0].tolist() == [[0], [1]]
    with pytest.raises(ValueError, match="expected 1 codes of length 1, got shape"):
        chain.construct(1, None, torch.tensor([[1 + 1.2e-9]], dtype=torch.float64))
    _, weights = chain.construct(2, 3.0, turned(1 - 1.2e-9))
    assert weights["WKQ1"].max().item() == pytest.approx(3 / 1.2e-9, rel=1e-6)
    with pytest.raises(ValueError, match="two are the same"):
        chain.construct(2, 3.0, turned(1 - 0.9e-9))


def test_bad_input_is_named():
    codes, weights = chain.construct(3)
    for n, words in ((0, "at least 1"), (-1, "at least 1"), (2.0, "a whole"), (True, "a whole")):
        with pytest.raises((ValueError, TypeError), match=f"n must be {words}"):
            chain.construct(n)
    with pytest.raises(ValueError, match="finite and at least 0, got -1"):
        chain.construct(3, -1.0)
    with pytest.raises(ValueError, match=r"finite.*got nan"):
        chain.construct(3, math.nan)
    with pytest.raises(ValueError, match=r"shape \(B, 3\), got \(4, 2\)"):
        chain.generate(codes, weights, torch.zeros(4, 2, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"shape \(B, 3\), got \(2, 4, 3\)"):
        chain.generate(codes, weights, torch.zeros(2, 4, 3, dtype=torch.int64))
    with pytest.raises(TypeError, match=r"integer or bool, got torch\.float64"):
        chain.generate(codes, weights, torch.zeros(4, 3, dtype=torch.float64))
    with pytest.raises(ValueError, match="bits are 0 or 1, got 2"):
        chain.generate(codes, weights, torch.full((4, 3), 2))
    with pytest.raises(ValueError, match="m from 1 to 6, got"):
        chain.forward(codes, weights, torch.zeros(2, 7, dtype=torch.int64))
    with pytest.raises(TypeError, match="strings must be integer or bool"):
        chain.forward(codes, weights, torch.zeros(2, 4))
    with pytest.raises(ValueError, match="codes of 3 columns, not 4"):
        chain.forward(chain.construct(4)[0], weights, torch.zeros(2, 5, dtype=torch.int64))
    with pytest.raises(ValueError, match="expected 3 codes of length 1, got shape"):
        chain.construct(3, None, torch.ones(3, 2).double())
    with pytest.raises(ValueError, match="expected 3 codes of length 1, got shape"):
        chain.construct(3, None, fan(4))
    with pytest.raises(ValueError, match=r"3 codes of length 1, got shape \(3, 3, 1\)"):
        chain.construct(3, None, torch.eye(3).double()[..., None])
    with pytest.raises(ValueError, match="two are the same"):
        chain.construct(2, None, torch.ones(2, 1).double())


def test_the_squared_gradient_is_that_of_every_block():
    codes, weights = chain.construct(3)
    strings = torch.tensor([[1, 0, 1, 0], [0, 1, 1, 1]])
    free = {k: v.clone().requires_grad_() for k, v in weights.items()}
    for string, found in zip(strings, chain.squared_gradient(codes, weights, strings), strict=True):
        output = chain.forward(codes, free, string[None])[0].sum()
        by_block = torch.autograd.grad(output, list(free.values()))
        wanted = sum(g.square().sum().item() for g in by_block)
        assert found.item() == pytest.approx(wanted, rel=1e-12)
