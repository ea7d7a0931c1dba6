"""Every public function of numbers, given what it was not made for: an answer, or an error by name.

Functions and their arguments are found by inspection, so that a new function is tried as well. Each
is first given values of the annotated types, or what ``tests/fuzz_given.py`` has for it, until it
answers; then each of its numbers and tensors in turn is replaced by NaN, infinity, 1.5, -1, 0,
True, a list, an array, nothing at all.
"""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
import torch
from torch import Tensor

from helpers import cube
from helpers.checks import OrInfinite
from helpers.draws import Draws, f64
from tests.fuzz_given import given as given_to
from tests.public import ERRORS, FIRST, PUBLIC, Hang, call, has_nan, needed

UNANSWERED = {  # and those that no list of values can be right for
    "covers.capacity.dudley": "scales fall while log sizes rise: two tensors that belong together",
    "cube.functions.SparseFunction": "distinct masks and one coefficient for each",
    "kernels.flips.PackedTable": "words of a length that n says, with bits beyond it at 0",
    "lengthfree.single_layer.measured_norms": "five matrices of one width",
    "retrieval.heads.read": "outputs of the heads, codes and labels of one prompt",
    "sensitive.brittle.aligned": "runs and the step of each at which they are aligned",
    "sensitive.two_norms.reciprocal_mean": "a step of more numbers than all its parts have",
    "sharper.rivals.trauger": "numbers or tensors that broadcast, which its decorator checks",
}
LOSES_NAN = {  # where an answer without NaN is right although NaN was given
    "sensitive.brittle.first_below": "a value that is NaN is not below the level",
    "training.batches.fixed": "the answer is a source of batches, which have it",
    "training.ensemble.require_one_each": "how many there are is looked at, not what",
    "variables.planted.errors": "an answer that no label equals is wrong",
    "variables.planted.onsets": "a run that is over has NaN from there on",
}
WHOLE, NUMBERS = (2, 3, 1, 5, 8, 20), (0.5, 0.1, 2.0, 1.0, 10.0)
EYE = torch.eye(3, dtype=torch.float64)
TENSORS = (cube.parity(3), f64([0.1, 0.2, 0.4, 0.3]), EYE, cube.bits(3), cube.parity(3) > 0)
TENSORS = (*TENSORS, torch.stack((EYE, EYE)))
KINDS = {int: WHOLE, float: NUMBERS, OrInfinite: NUMBERS, Tensor: TENSORS, bool: (False, True)}
KINDS |= {torch.Generator: (torch.Generator,), Draws: (Draws,)}
NAMELESS = re.compile("^(math |int too large|cannot convert|Result too large)")


TRIED = {  # those that take a number
    name: made
    for name, made in PUBLIC.items()
    if {kind for kind, _ in made[1].values()} & {int, float, OrInfinite}
}


def good_call(function, taken, ready):
    """Arguments that are answered; None where none of the first few hundred is."""
    need = needed(taken)
    lists = []
    for name, kind in need.items():
        if name in ready:
            lists.append([ready[name]])
            continue
        first = [v for v in FIRST.get(name, ()) if type(v) is kind]
        lists.append([*first, *KINDS[kind]])
    places = [range(min(len(each), 3 if len(lists) > 5 else 11)) for each in lists]
    for place in itertools.islice(sorted(itertools.product(*places), key=sum), 500):
        given = {name: each[i] for name, each, i in zip(need, lists, place, strict=True)}
        try:
            if not has_nan(call(function, given)):
                return given
        except (*ERRORS, RuntimeError, IndexError):
            continue
    return None


def bad_values(kind, good):
    """What is put in the place of an argument, and whether any answer would be wrong.

    None where it is a tensor whose NaN an answer may pass on, but not lose.
    """
    if kind is int:
        yield from ((v, True) for v in (math.nan, math.inf, 1.5, True, [], [1.0], np.ones(2), "2"))
        yield from ((v, False) for v in (-1, 0, np.int64(2)))
    elif kind in (float, OrInfinite):
        yield from ((v, True) for v in (math.nan, True, [], [1.0], np.ones(2), "2"))
        yield from ((v, kind is float) for v in (math.inf, -math.inf))
        yield from ((v, False) for v in (-1.0, 0.0, np.float64(0.5), 1))
    elif kind is Tensor and isinstance(good, Tensor):
        yield from ((v, True) for v in (math.nan, 1.5, good.tolist(), good.numpy(), [], "2"))
        yield good.new_zeros(0), None
        if good.is_floating_point():
            yield good * math.nan, None


def complaint(name, function, given, argument, value, must_fail):
    """What is wrong with what comes of a call; None if nothing is."""
    try:
        answer = call(function, given | {argument: value})
    except Hang:
        return "does not come back"
    except ERRORS as error:
        text = str(error)
        named = re.search(rf"\b({'|'.join(given)}|{argument})\b", text) or str(value) in text
        named = named or (isinstance(value, Tensor) and re.search(r"shape|finite|\(0,\)", text))
        return None if named and not NAMELESS.match(text) else f"{type(error).__name__}: {text}"
    except Exception as error:  # any other kind is the finding
        return f"{type(error).__name__}: {error}"
    nan = has_nan(answer)
    if must_fail is None:
        lost = value.numel() and not nan and name not in LOSES_NAN
        return f"answers {str(answer)[:60]}, and loses NaN" if lost else None
    if must_fail:
        return f"answers {str(answer)[:60]}"
    return "answers NaN" if nan else None


@pytest.mark.parametrize("name", TRIED)
def test_bad_numbers_are_answered_or_named(name):
    function, taken = TRIED[name]
    guessed = set(needed(taken).values()) <= KINDS.keys()
    good = good_call(function, taken, {} if guessed else given_to(name))
    if name in UNANSWERED:
        assert good is None, f"{name} answers: take it off the list"
        return
    assert good is not None, f"{name}: no values were found that it answers; say why in UNANSWERED"
    wrong = []
    for argument, (kind, parameter) in taken.items():
        endless = kind is float and parameter.default in (math.inf, -math.inf)
        for value, must_fail in bad_values(OrInfinite if endless else kind, good.get(argument)):
            found = complaint(name, function, good, argument, value, must_fail)
            if found:
                wrong.append(f"{argument} = {value!r}: {found}")
    assert not wrong, "\n".join([f"{name}, from {good}:", *wrong])


def test_most_functions_are_tried():
    assert len(TRIED) - len(UNANSWERED) >= 290
