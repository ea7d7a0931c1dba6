"""No public function answers otherwise than it did when ``tests/answers.json`` was stored."""

import copy

import pytest

from tests import answers
from tests.public import PUBLIC

STORED = answers.stored()
PATIENCE = 60.0  # seconds of the processor for one call: a slow machine is no change


def test_every_public_function_is_stored():
    assert STORED["answers"].keys() == PUBLIC.keys(), "run python -m tests.answers"


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
