"""Pieces of a layer in one call: the plain form is the judge, for outputs and two derivatives."""

import itertools

import pytest
import torch

from helpers.nets import feedforward, fused
from helpers.nets.spec import TransformerSpec
from helpers.nets.transformer import forward, initial_weights

MODELS = [
    TransformerSpec(5, 8, layers, heads, 12, norm, activation, readout=readout, join=join)
    for layers, heads, (norm, activation), readout, join in itertools.product(
        (1, 2),
        (1, 2),
        (("post", "relu"), ("pre", "gelu"), ("none", "tanh"), ("pre", "relu")),
        ("cls", "last", "every"),
        ("add", "concat"),
    )
]


def run(spec, frozen=()):
    """Outputs of three models, first and second derivatives in all weights but the frozen."""
    drawn = initial_weights(spec, 3, torch.Generator().manual_seed(1), dtype=torch.float64)
    leaves = {k: v.requires_grad_(k not in frozen) for k, v in drawn.items()}
    moving = [v for v in leaves.values() if v.requires_grad]
    tokens = torch.randint(0, 2, (3, 7, spec.n), generator=torch.Generator().manual_seed(2))

    def slopes(**options):
        output = forward(spec, leaves, tokens, form="plain")
        found = torch.autograd.grad(output.sin().sum(), moving, allow_unused=True, **options)
        return output, [g for g in found if g is not None]

    output, once = slopes()
    _, again = slopes(create_graph=True)
    bends = torch.autograd.grad(sum(g.square().sum() for g in again), moving, allow_unused=True)
    return [output, *once, *(b for b in bends if b is not None)]


def counted(monkeypatch, names):
    """How often each piece ran."""
    calls = dict.fromkeys(names, 0)
    for module, name in names:
        piece = getattr(module, name)

        def apply(*given, piece=piece.apply, key=(module, name)):
            calls[key] += 1
            return piece(*given)

        monkeypatch.setattr(piece, "apply", apply)
    return calls


@pytest.mark.parametrize("spec", MODELS, ids=str)
def test_pieces_are_the_plain_form_in_outputs_and_two_derivatives(spec, monkeypatch):
    monkeypatch.setattr(feedforward, "WORTH", 0)
    monkeypatch.setattr(fused, "CACHE", 400)  # so that models are taken in several parts
    whole = run(spec)
    monkeypatch.setattr(fused, "applies", lambda *_: False)
    for a, b in zip(whole, run(spec), strict=True):
        torch.testing.assert_close(a, b)


def test_every_piece_is_used(monkeypatch):
    monkeypatch.setattr(feedforward, "WORTH", 0)
    pieces = [(feedforward, "_OneByOne")]
    pieces += [(fused, name) for name in ("_OfBits", "_See", "_LastToken")]
    calls = counted(monkeypatch, pieces)
    run(TransformerSpec(5, 8, 2, 2, 12, "post"))
    assert all(calls.values()), calls


def test_weights_that_do_not_move_need_no_gradient(monkeypatch):
    monkeypatch.setattr(feedforward, "WORTH", 0)
    frozen = ("layers.0.hidden", "layers.0.norm1.gain", "embedding", "positions", "cls")
    spec = TransformerSpec(5, 8, 2, 1, 12, "post", readout="cls")
    found = run(spec, frozen)
    monkeypatch.setattr(fused, "applies", lambda *_: False)
    for a, b in zip(found, run(spec, frozen), strict=True):
        torch.testing.assert_close(a, b)


def test_nothing_is_kept_where_no_gradient_is_recorded(monkeypatch):
    monkeypatch.setattr(feedforward, "WORTH", 0)
    calls = counted(monkeypatch, [(feedforward, "_OneByOne")])
    spec = TransformerSpec(5, 8, 2, 1, 12, "post")
    weights = initial_weights(spec, 3, torch.Generator().manual_seed(1))
    tokens = torch.randint(0, 2, (7, 5), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        silent = forward(spec, weights, tokens)
    assert not any(calls.values())
    recorded = forward(spec, {k: v.requires_grad_() for k, v in weights.items()}, tokens)
    assert any(calls.values())
    assert torch.equal(silent, recorded)


def test_one_large_model_alone_takes_the_plain_form():
    assert not fused.applies(torch.zeros(2, 3, 4), 4)
    assert fused.applies(torch.zeros(1, 2, 3, 4), 4)
    inside = []
    torch.func.vmap(lambda x: (inside.append(fused.applies(x, 1)), x)[1])(torch.zeros(2, 3))
    assert inside == [False]


@pytest.mark.parametrize("norm", ["post", "pre", "none"])
@pytest.mark.parametrize(
    "part", ["", "query", "value", "hidden", "output_bias", "embedding", "gain"]
)
@pytest.mark.parametrize(("tokens_lead", "layers"), [((), 1), ((3,), 1), ((), 2), ((3,), 2)])
def test_weights_of_one_model_among_those_of_several(norm, part, tokens_lead, layers, monkeypatch):
    """Some weights with an axis of models, the others without, or with one of length 1."""
    monkeypatch.setattr(feedforward, "WORTH", 0)
    spec = TransformerSpec(5, 8, layers, 2, 12, norm, readout="cls")
    g = torch.Generator().manual_seed(1)
    one = initial_weights(spec, None, g, dtype=torch.float64)
    several = initial_weights(spec, 3, g, dtype=torch.float64)
    tokens = torch.randint(0, 2, (*tokens_lead, 7, 5), generator=g)
    chosen = {k for k in one if part and k.endswith(part)}
    for shared in (lambda v: v, lambda v: v[None]):
        mixed = {k: several[k] if k in chosen else shared(v) for k, v in one.items()}
        found = forward(spec, mixed, tokens)
        for e in range(3 if chosen or tokens_lead else 1):
            own = {k: several[k][e] if k in chosen else v for k, v in one.items()}
            alone = forward(spec, own, tokens[e] if tokens_lead else tokens)
            torch.testing.assert_close(found[e] if found.ndim > 1 else found, alone)
