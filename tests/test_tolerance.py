"""What the comparison of notebooks lets pass and what it does not."""

import pytest

from tests.nbval_tolerance import TolerantText, as_text


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ("slope 0.5000001", "slope 0.5000002"),
        ("error 0.0", "error 3.1e-16"),
        ("1.0e-3  x", "0.001 x"),
        ("a\n  b", "a\n b"),
    ],
)
def test_a_drift_within_the_tolerance_passes(stored, found):
    assert TolerantText(stored) == found


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ("slope 0.500", "slope 0.501"),
        ("slope 0.5", "slope 0.50001"),
        ("count 12", "count 13"),
        ("holds", "refuted"),
        ("x 1.5 y", "x 1.5"),
        ("n = 3", "n = 3.0"),
        ("value nan", "value 1.0"),
        ("2.5", "-2.5"),
    ],
)
def test_anything_else_does_not_pass(stored, found):
    assert TolerantText(stored) != found
    assert not TolerantText(stored) == found  # noqa: SIM201 - both operators are defined


def test_json_is_compared_like_text():
    assert as_text({"a": 0.25, "b": "holds"}) == as_text({"a": 0.2500001, "b": "holds"})
    assert as_text({"a": 0.25, "b": "holds"}) != as_text({"a": 0.26, "b": "holds"})
    assert as_text({"a": 0.25, "b": "holds"}) != as_text({"a": 0.25, "b": "refuted"})
