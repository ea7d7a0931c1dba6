"""No public function answers otherwise than it did when ``tests/answers.json`` was stored."""

import copy

import numpy as np
import pytest
import torch

from tests import answers
from tests.answers import agree, digest, line
from tests.public import PUBLIC

STORED = answers.stored()
PATIENCE = 60.0  # seconds of the processor for one call: a slow machine is no change
NOT_STORED = {}  # functions of which no answer is stored, and why


def test_every_public_function_is_stored():
    assert STORED["answers"].keys() == PUBLIC.keys(), "run python -m tests.answers"


def test_every_function_has_an_answer_or_a_reason():
    silent = {
        name
        for name, entry in STORED["answers"].items()
        if not any(isinstance(answer, list) for answer in entry.values())
    }
    assert silent == NOT_STORED.keys(), "give arguments in tests/fuzz_given.py, or say why not"


def test_defaults_and_constants_are_those_stored():
    found, expected = answers.fixed(), STORED["fixed"]
    assert found.keys() == expected.keys(), "run python -m tests.answers"
    changed = {
        name: (expected[name], found[name]) for name in found if found[name] != expected[name]
    }
    assert not changed, f"where they were meant, run python -m tests.answers {' '.join(changed)}"


@pytest.mark.parametrize("name", [name for name, entry in STORED["answers"].items() if entry])
def test_answers_are_those_stored(name):
    changed = []
    for index, expected in STORED["answers"][name].items():
        found = answers.outcome(name, int(index), PATIENCE)
        if not answers.agree(found, expected):
            changed.append(f"{answers.drawn(name, int(index))}\n  gave {expected}\n  now {found}")
    told = f"{name} changed; where it was meant, run python -m tests.answers {name}"
    assert not changed, "\n".join([told, *changed[:3]])


def test_a_changed_answer_is_seen():
    stored = [["float64[2]", "1.25", "3.5"], ["float32[]", "0.5", "0.5"], ["word"]]
    for place, entry, value in (
        (0, 1, "1.2501"),
        (0, 2, "3.4999"),
        (1, 1, "0.502"),
        (2, 0, "ward"),
    ):
        found = copy.deepcopy(stored)
        found[place][entry] = value
        assert not answers.agree(found, stored)
    near = [["float64[2]", "1.250001", "3.5"], ["float32[]", "0.5001", "0.5"], ["word"]]
    assert answers.agree(near, stored)
    assert not answers.agree(stored[:2], stored)
    assert not answers.agree("ValueError", stored)
    assert not answers.agree("ValueError", "TypeError")
    assert answers.agree("ValueError", "ValueError")


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (1e40, 1e300),
        (0.1, 0.10001),
        (1e-13, 2e-13),
        (3e-40, 1e-40),
        (torch.tensor(1e-11).double(), torch.tensor(2e-11).double()),
        (100000, 100001),
        (2**70, 2**70 + 1),
        (1, 1.0),
        (True, 1),
        (None, 0),
        (torch.tensor([100000, 7]), torch.tensor([100001, 7])),
        (torch.tensor([100000, 7]), torch.tensor([100000, 7], dtype=torch.int32)),
        (torch.tensor([[True, False]]), torch.tensor([[False, True]])),
        (np.array([0.1, 0.2]), np.array([0.1, 0.3])),
        (np.float64(0.1), np.float64(0.2)),
        (np.int64(3), np.int64(4)),
        (np.array(["a"]), np.array(["b"])),
        ([0.5] * 40, [0.5] * 41),
        ([0.5] * 40, [0.5] * 39 + [0.6]),
        ([7] * 40, [7] * 39 + [8]),
        ("a" * 50, "a" * 49 + "b"),
        (float("inf"), -float("inf")),
        (torch.Generator().manual_seed(0), torch.Generator().manual_seed(1)),
    ],
)
def test_an_answer_is_told_from_another(now, then):
    assert not agree(digest(now), digest(then))
    assert agree(digest(now), digest(now))
    assert agree(digest(then), digest(then))


def test_what_rounding_leaves_is_no_change():
    for now, then in (
        (8.0e-19, 5.9e-19),
        (0.0, 1.1e-16),
        (1.1e-16, 0.0),
        (0.1, 0.1 * (1 + 1e-7)),
        (torch.tensor([1.0, -1.0 + 1e-7]), torch.tensor([1.0, -1.0])),
        (torch.tensor([3e-15]).double(), torch.tensor([1e-16]).double()),
    ):
        assert agree([line(now)], [line(then)]), (now, then)


def test_nothing_in_an_answer_is_dropped_but_functions():
    given = (1, 1.5, "word", None, np.ones(2), np.float32(2), torch.ones(2), True, print)
    assert len(digest(given)) == len(given) - 1
    assert len(digest([0.5] * 1000)) == answers.LEAVES + 1


def test_a_call_that_writes_over_its_arguments_changes_no_other():
    before = [tensor.clone() for tensor in answers.TENSORS]
    for index in range(20):
        for given in (answers.drawn("kernels.walsh.walsh_hadamard_", index) or {}).values():
            if isinstance(given, torch.Tensor):
                given.fill_(7)
    assert all(torch.equal(a, b) for a, b in zip(answers.TENSORS, before, strict=True))
