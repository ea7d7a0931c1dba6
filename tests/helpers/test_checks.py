"""The checks: what passes, what is refused, and that the error names both."""

import math

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from helpers import checks
from helpers.kernels.parity import evaluate
from helpers.kernels.sensitivity import influences
from helpers.kernels.walsh import walsh_hadamard
from helpers.rng import Rng
from helpers.training.batches import spawn
from helpers.weights import ensemble_of


def test_what_is_allowed_passes():
    checks.require_choice("form", "plain", ("plain", "lean"))
    checks.require_positive(n=1, width=2.5)
    checks.require_scale(sigma=1e-300)
    checks.require_amount(sigma=0)
    checks.require_probability(delta=1e-300, level=1 - 1e-16)
    checks.require_floating(X=torch.zeros(0))
    checks.require_whole(bits=torch.zeros(2, dtype=torch.bool), words=torch.arange(3))


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float64])
def test_bits_of_every_dtype_pass(dtype):
    checks.require_bits(torch.tensor([[0, 1], [1, 0]]).to(dtype))
    checks.require_bits(torch.zeros(0, 3, dtype=dtype))


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (
            lambda: checks.require_choice("form", "soft", ("plain", "lean")),
            ValueError,
            "unknown form 'soft'; choose one of plain, lean",
        ),
        (lambda: checks.require_positive(a=1, n=0), ValueError, "n must be at least 1, got 0"),
        (lambda: checks.require_positive(n=math.inf), ValueError, "n must be at least 1, got inf"),
        (lambda: checks.require_positive(n=math.nan), ValueError, "n must be at least 1, got nan"),
        (lambda: checks.require_scale(s=0.0), ValueError, "s must be positive and finite, got 0.0"),
        (lambda: checks.require_scale(s=math.inf), ValueError, "finite, got inf"),
        (lambda: checks.require_scale(s=math.nan), ValueError, "finite, got nan"),
        (lambda: checks.require_amount(s=-0.1), ValueError, "s must be finite and at least 0, got"),
        (lambda: checks.require_amount(s=math.inf), ValueError, "at least 0, got inf"),
        (lambda: checks.require_probability(p=0), ValueError, "p must lie between 0 and 1, got 0"),
        (lambda: checks.require_probability(p=1.0), ValueError, "between 0 and 1, got 1.0"),
        (lambda: checks.require_probability(p=math.nan), ValueError, "between 0 and 1, got nan"),
        (
            lambda: checks.require_floating(X=torch.zeros(1), Y=torch.arange(2)),
            TypeError,
            "Y must be floating, got torch.int64",
        ),
        (
            lambda: checks.require_whole(bits=torch.zeros(1)),
            TypeError,
            "bits must be integer or bool, got torch.float32",
        ),
        (
            lambda: checks.require_whole(bits=torch.zeros(1, dtype=torch.complex64)),
            TypeError,
            "got torch.complex64",
        ),
        (lambda: checks.require_bits(torch.tensor([0, 1, 2])), ValueError, "0 or 1, got 2"),
        (lambda: checks.require_bits(torch.tensor([[0.5]])), ValueError, "0 or 1, got 0.5"),
        (lambda: checks.require_bits(torch.tensor([math.nan])), ValueError, "0 or 1, got nan"),
    ],
)
def test_what_is_refused_is_named(call, error, named):
    with pytest.raises(error, match=named):
        call()


def test_inside_vmap_no_value_is_read():
    seen = []

    def given(bits):
        seen.append(checks.readable(bits))
        checks.require_bits(bits)
        return bits

    torch.func.vmap(given)(torch.tensor([[0, 2]]))
    assert seen == [False]
    assert checks.readable(torch.zeros(1))


def test_inside_vmap_every_number_passes():
    given = torch.tensor([1.0, math.nan, math.inf])

    def through(v):
        checks.require_finite(v=v)
        _, scale, top, _ = halved(3, v, v)
        return scale + top

    torch.testing.assert_close(torch.func.vmap(through)(given), 2 * given, equal_nan=True)


@checks.validated
def halved(
    n: int,
    scale: float = 1.0,
    top: float = math.inf,
    at: torch.Tensor | None = None,
    source: torch.Generator | None = None,
):
    """Checked: what it was given, or a division by n - 2."""
    return (n, scale, top, at) if at is None else (1 / (n - 2), at @ torch.ones(3))


def test_what_is_annotated_passes():
    assert halved(3) == (3, 1.0, math.inf, None)
    found = halved(torch.tensor(3), scale=2, top=math.inf)[0]
    assert (found, type(found)) == (3, int)
    assert halved(3, at=torch.ones(3))[0] == 1.0


@pytest.mark.parametrize(
    ("given", "error", "named"),
    [
        ({"n": 1.5}, TypeError, "n must be a whole number, got 1.5"),
        ({"n": math.nan}, TypeError, "n must be a whole number, got nan"),
        ({"n": True}, TypeError, "n must be a whole number, got True"),
        ({"scale": math.nan}, ValueError, "scale must be finite, got nan"),
        ({"scale": -math.inf}, ValueError, "scale must be finite, got -inf"),
        ({"scale": torch.tensor(math.inf)}, ValueError, "scale must be finite, got inf"),
        ({"top": torch.tensor(math.nan)}, ValueError, "top must be a number, got nan"),
        ({"top": math.nan}, ValueError, "top must be "),
        ({"scale": [1.0]}, TypeError, r"scale must be a number, got list \[1.0\]"),
        ({"at": [1.0, 2.0]}, TypeError, r"at must be a torch.Tensor, got list \[1.0, 2.0\]"),
        (
            {"n": 2, "at": torch.ones(3)},
            ValueError,
            r"^division by zero \(in .*halved, given n = 2, at = a tensor of shape \(3,\)",
        ),
        ({"at": torch.ones(2)}, ValueError, r"given n = 3, at = a tensor of shape \(2,\)"),
        ({"source": Rng(0)}, TypeError, r"source must be a torch.Generator, got Rng .*\.generator"),
    ],
)
def test_bad_arguments_are_refused_by_name(given, error, named):
    with pytest.raises(error, match=named):
        halved(**({"n": 3} | given))


@pytest.mark.parametrize("source", [None, Rng(0), 0])
def test_a_missing_generator_is_not_replaced_by_that_of_torch(source):
    with pytest.raises(TypeError, match=r"generator must be a torch\.Generator"):
        spawn(2, source)


def test_a_message_begins_with_what_was_wrong():
    """What is wrong stands before the arguments, of which a function may have a dozen."""
    with pytest.raises(ValueError, match=r"^an ensemble has at least 1 model, got 0 \(in helpers"):
        ensemble_of(0, lambda: {})


@pytest.mark.parametrize("value", [[1.0, -1.0], torch.ones(2).numpy(), 1.0])
def test_a_kernel_guesses_no_dtype(value):
    with pytest.raises(TypeError, match="x must be a torch"):
        walsh_hadamard(value)
    with pytest.raises(TypeError, match="table must be a torch"):
        influences(value)
    with pytest.raises(TypeError, match="points must be a torch"):
        evaluate(torch.tensor([1]), torch.ones(1), value)


def test_what_can_be_read_is_told_apart():
    assert checks.readable(torch.ones(2))
    assert checks.readable(torch.ones(0))
    assert not checks.readable(torch.ones(2, device="meta"))
    with FakeTensorMode():
        assert not checks.readable(torch.ones(2))
    seen = []
    torch.vmap(lambda v: (seen.append(checks.readable(v)), v)[1])(torch.ones(2, 3))
    torch.autograd.functional.jacobian(  # the gradients are batched by the older vmap
        lambda v: Seen.apply(v, seen), torch.ones(3), vectorize=True
    )
    assert seen == [False, False]


class Seen(torch.autograd.Function):
    """The identity, which notes whether its gradient can be read."""

    @staticmethod
    def forward(ctx, x, seen):
        """Keep the list."""
        ctx.seen = seen
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        """Note it there."""
        ctx.seen.append(checks.readable(gradient))
        return gradient, None


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x[5:],
        lambda x: x[::3],
        lambda x: x.view(4, 4).T,
        lambda x: x[:1].expand(7),
        lambda x: x[:0],
    ],
)
def test_a_view_needs_the_memory_that_it_reaches_and_no_more(view):
    base = torch.ones(16)
    x = view(base)
    checks.require_tensors(x=x)
    last = max((i for i in range(16) if view(torch.arange(16)).eq(i).any()), default=-1)
    base.untyped_storage().resize_(4 * (last + 1))
    checks.require_tensors(x=x)
    if last >= 0:
        base.untyped_storage().resize_(4 * last)
        with pytest.raises(ValueError, match=r"x = .* has no memory: its storage was freed"):
            checks.require_tensors(x=x)
