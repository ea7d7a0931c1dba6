"""The chain of thought for PARITY: its bits, its leak, its shared scores, the door."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.sharper import chain_of_thought as chain
from helpers.sharper import network as sharper

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
    for scale in (None, 40.0, (2 * math.log(2 * n), 3.0)):
        _, outputs = chain.generate(*chain.construct(n, scale), cube.bits(n))
        error = (outputs - (1 - running_parity(cube.bits(n)))).abs().max().item()
        assert error == pytest.approx(chain.leaks(n, scale)[1], abs=ROUNDING)


@law
@given(st.integers(2, 60), st.floats(0, 12), st.integers(0, 10**6))
def test_the_chain_is_right_whenever_the_leaks_are_small(n, scale, seed):
    bits = torch.randint(0, 2, (8, n), generator=torch.Generator().manual_seed(seed))
    epsilon, lost = chain.leaks(n, scale)
    if epsilon <= 1 / 8 and lost < 1 / 2:
        written, _ = chain.generate(*chain.construct(n, scale), bits)
        assert written.tolist() == running_parity(bits).tolist()


def test_the_default_scale_is_always_large_enough():
    for n in range(1, 2000):
        epsilon, lost = chain.leaks(n)
        assert epsilon <= 1 / 8
        assert lost < 1 / 2


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
    spec, weights = chain.construct(n, 40.0)
    assert torch.allclose(chain.forward(spec, weights, strings)[0], wanted, atol=ROUNDING, rtol=0)


def test_the_attention_of_the_last_token_is_on_its_two_codes():
    spec, weights = chain.construct(5, 40.0)
    strings = torch.zeros(1, 8, dtype=torch.bool)
    _, inside = chain.forward(spec, weights, strings)
    wanted = torch.zeros(8, dtype=torch.float64)
    wanted[[2, 7]] = 0.5
    assert torch.allclose(inside["attention1"][0, -1], wanted, atol=1e-15)
    assert torch.allclose(inside["attention2"][0], wanted, atol=1e-15)


def test_weights_with_leading_axes_run_as_an_ensemble():
    spec, weights = chain.construct(3)
    factors = torch.tensor([1.0, 0.5, 2.0]).double()
    many = {
        k: v * factors[:, None, None] if v.ndim == 2 else v.expand(3, -1)
        for k, v in weights.items()
    }
    strings = torch.randint(0, 2, (4, 5), generator=torch.Generator().manual_seed(0))
    together, _ = chain.forward(spec, many, strings)
    assert together.shape == (3, 4)
    for i in range(3):
        alone, _ = chain.forward(spec, {k: v[i] for k, v in many.items()}, strings)
        assert torch.allclose(together[i], alone, atol=ROUNDING, rtol=1e-14)


def test_a_gradient_reaches_every_block():
    spec, weights = chain.construct(3)
    weights = {k: v.clone().requires_grad_() for k, v in weights.items()}
    chain.forward(spec, weights, torch.tensor([[1, 0, 1, 0]]))[0].sum().backward()
    assert all(v.grad is not None and v.grad.isfinite().all() for v in weights.values())


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_the_least_scores_have_the_margin_and_the_norm(n):
    W = chain.least_scores(n, 3.0)
    margins = W.diag()[:, None] - W + 3.0 * torch.eye(n, dtype=torch.float64)
    assert margins.min().item() == pytest.approx(3.0, rel=4 * EPS)
    assert W.square().sum().item() == pytest.approx((n - 1) * 9.0, rel=4 * n * EPS)


@law
@given(st.integers(2, 6), st.integers(0, 10**6))
def test_no_other_scores_with_the_margin_are_smaller(n, seed):
    rng = torch.Generator().manual_seed(seed)
    V = torch.randn(n, n, generator=rng, dtype=torch.float64)
    off = V + (-math.inf * torch.eye(n, dtype=torch.float64)).nan_to_num(0.0, neginf=-math.inf)
    V = V + torch.diag(1.0 + off.amax(-1) - V.diag())  # margin 1 in every row, with equality once
    assert V.norm() >= chain.least_scores(n, 1.0).norm() * (1 - 4 * n * EPS)


def test_the_least_scores_run_the_chain():
    n = 6
    spec, weights = chain.construct(n)
    least = torch.nn.functional.pad(chain.least_scores(n, 2 * math.log(2 * n)), (0, 1, 0, 1))
    bits = cube.bits(n)
    written, _ = chain.generate(spec, weights | {"WKQ1": least, "WKQ2": least}, bits)
    assert written.tolist() == running_parity(bits).tolist()


def test_no_inputs_give_no_outputs():
    written, outputs = chain.generate(*chain.construct(3), torch.zeros(0, 3, dtype=torch.int64))
    assert written.shape == outputs.shape == (0, 3)


def test_bad_input_is_named():
    spec, weights = chain.construct(3)
    for n in (0, -1, 2.0, True):
        with pytest.raises(ValueError, match="n must be an integer of at least 1"):
            chain.construct(n)
    with pytest.raises(ValueError, match="finite and at least 0, got -1"):
        chain.construct(3, -1.0)
    with pytest.raises(ValueError, match="finite and at least 0, got nan"):
        chain.construct(3, (1.0, math.nan))
    with pytest.raises(ValueError, match="one scale or a pair, got 3"):
        chain.construct(3, (1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match=r"shape \(B, 3\), got \(4, 2\)"):
        chain.generate(spec, weights, torch.zeros(4, 2, dtype=torch.int64))
    with pytest.raises(TypeError, match=r"integer or bool, got torch\.float64"):
        chain.generate(spec, weights, torch.zeros(4, 3, dtype=torch.float64))
    with pytest.raises(ValueError, match="bits are 0 or 1, got 2"):
        chain.generate(spec, weights, torch.full((4, 3), 2))
    with pytest.raises(ValueError, match="k from 1 to 6, got"):
        chain.tokens(spec, torch.zeros(2, 7, dtype=torch.int64))
    with pytest.raises(TypeError, match="strings must be integer or bool"):
        chain.tokens(spec, torch.zeros(2, 4))
    with pytest.raises(ValueError, match="weights are for 3 bits, the sizes for 4"):
        chain.forward(chain.ChainSpec(4), weights, torch.zeros(2, 5, dtype=torch.int64))
    with pytest.raises(ValueError, match="margin must be finite"):
        chain.least_scores(3, -1.0)
