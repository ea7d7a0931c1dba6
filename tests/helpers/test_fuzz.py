"""Every checked public function, given what it was not made for: an answer, or an error by name.

Functions and their arguments are found by inspection, so that a new function is tried as well. Each
is first given values of the annotated types until it answers; then each of its numbers and tensors
in turn is replaced by NaN, infinity, 1.5, -1, 0, True, a list, an array, nothing at all.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch
from torch import Tensor

from helpers.checks import OrInfinite
from tests.public import ERRORS, PUBLIC, TRIED, Hang, call, good_call, has_nan

UNANSWERED = 3  # of a hundred: the most for which no values may be found that they answer
LOSES_NAN = {  # where an answer without NaN is right although NaN was given
    "training.batches.fixed": "the answer is a source of batches, which have it",
    "training.ensemble.require_one_each": "how many there are is looked at, not what",
}
NAMELESS = re.compile("^(math |int too large|cannot convert|Result too large)")


@pytest.fixture(autouse=True, scope="module")
def _torch_is_whole():
    """The first gradient imports a part of torch, which takes longer than a call may."""
    torch.func.grad(torch.sum)(torch.ones(1))


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
        bare = NAMELESS.match(text) and ", given " not in text
        return None if named and not bare else f"{type(error).__name__}: {text}"
    except Exception as error:  # any other kind is the finding
        return f"{type(error).__name__}: {error}"
    nan = has_nan(answer)
    if must_fail is None:
        lost = value.numel() and not nan and name not in LOSES_NAN
        return f"answers {str(answer)[:60]}, and loses NaN" if lost else None
    if must_fail:
        return f"answers {str(answer)[:60]}"
    return "answers NaN" if nan else None


@pytest.mark.parametrize("name", PUBLIC)
def test_bad_numbers_are_answered_or_named(name):
    function, taken = PUBLIC[name]
    good = good_call(name)
    if good is None:
        pytest.skip("no values of its annotations were found that it answers")
    wrong = []
    for argument, (kind, parameter) in taken.items():
        endless = kind is float and parameter.default in (math.inf, -math.inf)
        for value, must_fail in bad_values(OrInfinite if endless else kind, good.get(argument)):
            found = complaint(name, function, good, argument, value, must_fail)
            if found:
                wrong.append(f"{argument} = {value!r}: {found}")
    assert not wrong, "\n".join([f"{name}, from {good}:", *wrong])


def test_nearly_every_function_is_tried():
    """A call cannot be guessed where arguments have to fit each other in a way of their own."""
    assert {name.split(".")[0] for name in PUBLIC} == set(TRIED)
    assert len(PUBLIC) >= 55
    silent = [name for name in PUBLIC if good_call(name) is None]
    assert 100 * len(silent) <= UNANSWERED * len(PUBLIC), (
        f"no values were found that these answer: {', '.join(silent)}; "
        "give tests/public.py values for what they take"
    )
