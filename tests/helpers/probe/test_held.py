"""What was made of weights once and is kept: refused where outputs read it, and only there."""

import pytest
import torch
from torch import nn

from helpers.probe import probe

FEW = {"samples": 16, "draws": 2}


class Tied(nn.Module):
    """A linear map, its inverse direction by something that was made before, and a read-out."""

    def __init__(self, make, back):
        super().__init__()
        self.a, self.out, self.back_of = nn.Linear(4, 4, bias=False), nn.Linear(4, 1), back
        make(self)

    def forward(self, x):
        """One number a string."""
        hidden = torch.tanh(self.a(x))
        return self.out(hidden @ self.back_of(self))


def holds(change, name="back", frozen=False):
    """A maker that stores a function of the weight."""

    def make(model):
        model.a.requires_grad_(not frozen)
        setattr(model, name, change(model.a.weight))

    return make


def in_buffer(model):
    model.register_buffer("back", model.a.weight.detach().t())


def in_list(model):
    model.all = {"back": [model.a.weight.detach().t()]}


def at_first_call(model):
    if not hasattr(model, "back"):
        model.back = 2 * model.a.weight
    return model.back


def at_each_call(model):
    model.back = 2 * model.a.weight
    return model.back


def nothing(model):
    return None


def attribute(model):
    return model.back


@pytest.mark.parametrize(
    ("make", "back", "name"),
    [
        (holds(torch.t), attribute, "back"),
        (holds(torch.t, frozen=True), attribute, "back"),
        (holds(lambda w: w.detach()[:, :]), attribute, "back"),
        (holds(lambda w: 2 * w), attribute, "back"),
        (in_buffer, attribute, "back"),
        (in_list, lambda model: model.all["back"][0], r"all\['back'\]\[0\]"),
        (nothing, at_first_call, "back"),
    ],
)
def test_what_was_made_of_a_weight_once_is_refused(make, back, name):
    model = Tied(make, back)
    with pytest.raises(
        ValueError, match=rf"attribute .{name}. of the model is made of its weight 'a\.weight' and"
    ):
        probe(model, 4, "parity", **FEW)
    assert torch.isfinite(model(torch.ones(2, 4))).all()


class InHook(nn.Module):
    """A weight that a hook makes anew before each call, as the older weight norm does."""

    def __init__(self):
        super().__init__()
        self.raw, self.out = nn.Parameter(torch.randn(4, 4)), nn.Linear(4, 1)
        self.made = 2 * self.raw
        self.register_forward_pre_hook(lambda model, given: setattr(model, "made", 2 * model.raw))

    def forward(self, x):
        """One number a string."""
        return self.out((x @ self.made).tanh())


def test_what_each_call_makes_anew_is_measured():
    torch.manual_seed(0)
    model = Tied(nothing, at_each_call)
    model(torch.ones(2, 4))
    made = Tied(nothing, lambda m: 2 * m.a.weight)
    made.load_state_dict(model.state_dict())
    found, wanted = probe(model, 4, **FEW), probe(made, 4, **FEW)
    assert found.trace == wanted.trace
    assert found.direction_sharpness == wanted.direction_sharpness
    hooked = probe(InHook(), 4, **FEW)
    assert hooked.trace["raw"].value > 0


def keeps_without_reading(model):
    """A log, a view, and weights that lie side by side in one memory."""
    model.log = [model.a.weight.detach()]
    model.double, model.view = 2 * model.a.weight, model.a.weight.t()
    both = torch.randn(4, 8)
    model.left, model.right = nn.Parameter(both[:, :4]), nn.Parameter(both[:, 4:])


def test_what_is_kept_and_not_read_is_no_harm():
    torch.manual_seed(0)
    report = probe(Tied(keeps_without_reading, lambda m: m.left @ m.right), 4, **FEW)
    assert {"a", "left", "right"} <= report.trace.keys()


def test_a_constant_that_was_made_without_a_graph_is_one():
    def make(model):
        with torch.no_grad():
            model.back = 2 * model.a.weight

    assert probe(Tied(make, attribute), 4, **FEW).trace["a"].value > 0


@pytest.mark.parametrize("cut", [lambda w: w, lambda w: w.T, lambda w: w[:, 2:], lambda w: w[1:]])
def test_two_weights_in_the_same_memory_are_refused(cut):
    def make(model):
        model.other = nn.Parameter(cut(model.a.weight.data))

    with pytest.raises(ValueError, match=r"weights '.*' and '.*' .* same memory.*one parameter"):
        probe(Tied(make, lambda m: m.a.weight), 4, **FEW)
    held = Tied(nothing, lambda m: m.a.weight)
    nn.utils.vector_to_parameters(
        nn.utils.parameters_to_vector(held.parameters()), held.parameters()
    )
    assert len(probe(held, 4, **FEW).trace) == 4
