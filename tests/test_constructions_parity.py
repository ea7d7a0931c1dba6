"""PARITY by two votes: all short strings, long ones, the circuit's gates, the door."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import cube
from helpers.constructions.parity import (
    MajorityCircuit,
    inner_votes,
    nested_majority,
    parity_circuit,
)

law = settings(deadline=None, max_examples=100)
strings = st.lists(st.integers(0, 1), max_size=60).map(lambda bits: torch.tensor(bits).long())


def odd(x):
    return x.sum(-1) % 2 == 1


@pytest.mark.parametrize("n", range(13))
def test_a_string_is_odd_iff_the_nested_majority_says_so(n):
    x = cube.bits(n)
    assert torch.equal(nested_majority(x), odd(x))


@law
@given(strings)
def test_zeros_change_no_vote(x):
    assert nested_majority(x) == nested_majority(x[x == 1]) == odd(x)


@law
@given(strings)
def test_the_outer_vote_is_won_by_one_or_tied(x):
    won = (inner_votes(x) & (x == 1)).sum()
    assert 2 * won - x.sum() == x.sum() % 2


@law
@given(strings)
def test_inner_votes_count_by_hand(x):
    bits = x.tolist()
    for i, vote in enumerate(inner_votes(x).tolist()):
        assert vote == (sum(bits[: i + 1]) > sum(bits[i + 1 :]))


@pytest.mark.parametrize("n", range(1, 11))
def test_each_broken_vote_is_a_function_without_parity(n):
    x = cube.bits(n)
    assert torch.equal(nested_majority(x, inner_strict=False), x.any(-1))
    assert nested_majority(x, outer_strict=False).all()
    assert not nested_majority(x, inclusive=False).any()


@pytest.mark.parametrize("n", range(1, 13))
def test_the_circuit_computes_parity_on_every_string(n):
    x = cube.bits(n)
    assert torch.equal(parity_circuit(n)(x), odd(x))


@pytest.mark.parametrize("n", [30, 201])
def test_the_circuit_computes_parity_on_long_strings(n):
    x = torch.randint(0, 2, (40, n), generator=torch.Generator().manual_seed(0))
    assert torch.equal(parity_circuit(n)(x), odd(x))


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_the_circuit_has_the_size_it_claims_and_no_tie(n):
    circuit = parity_circuit(n)
    assert (circuit.inputs, circuit.depth, circuit.gates) == (n, 2, n + 1)
    assert circuit.wires == 2 * n**2 + 3 * n - 1
    for wires in circuit.layers:
        assert (wires.abs().sum(-1) % 2 == 1).all()


def test_an_inner_gate_is_a_one_with_its_vote():
    x = cube.bits(7)
    inner = parity_circuit(7).layers[0]
    for i in range(7):
        assert torch.equal(
            MajorityCircuit((inner[i : i + 1],))(x), inner_votes(x)[:, i] & (x[:, i] == 1)
        )


@pytest.mark.parametrize(("layer", "column"), [(0, 0), (0, 3), (1, 0), (1, 2), (1, 8)])
def test_a_missing_wire_breaks_the_circuit(layer, column):
    layers = [wires.clone() for wires in parity_circuit(6).layers]
    layers[layer][0, column] = 0
    x = cube.bits(6)
    assert not torch.equal(MajorityCircuit(tuple(layers))(x), odd(x))


def test_batches_keep_their_shape():
    x = cube.bits(6).reshape(4, 16, 6)
    assert nested_majority(x).shape == parity_circuit(6)(x).shape == (4, 16)
    assert inner_votes(x).shape == x.shape


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="bits are 0 or 1, got 2"):
        nested_majority(torch.tensor([0, 2]))
    with pytest.raises(ValueError, match="got a scalar"):
        inner_votes(torch.tensor(1))
    with pytest.raises(ValueError, match="takes 3 bits, got 4"):
        parity_circuit(3)(cube.bits(4))
    with pytest.raises(ValueError, match="at least 1, got 0"):
        parity_circuit(0)
    with pytest.raises(ValueError, match="at least one layer"):
        MajorityCircuit(())
    with pytest.raises(TypeError, match="wire counts must be int64"):
        MajorityCircuit((torch.ones(1, 2),))
    with pytest.raises(ValueError, match=r"expected \(gates, 4\)"):
        MajorityCircuit((torch.ones(1, 3).long(), torch.ones(1, 3).long()))
