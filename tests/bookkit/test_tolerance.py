"""What the comparison of notebooks lets pass and what it does not."""

import subprocess
import sys

import pytest

from bookkit.tolerance import TolerantText, as_text


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ("slope 0.5000001", "slope 0.5000002"),
        ("error 0.0", "error 3.1e-16"),
        ("1.0e-3  x", "0.001 x"),
        ("the slope is 0.5000001.", "the slope is 0.5000002."),
        ("(.25, 1.e-3)", "(0.25, 1e-3)"),
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
        ("There are 1000000.", "There are 1000001."),
        ("1000000. All hold", "1000001. All hold"),
        ("[1. 2.]", "[1. 3.]"),
        ("scales 1 within 1e-06, 3 rows", "scales 1, 3 rows"),
        ("scales 1 within 1e-06", "scales 1 within 1e-09"),
        ("version 1.25.0", "version 1.25.1"),
    ],
)
def test_anything_else_does_not_pass(stored, found):
    assert TolerantText(stored) != found
    assert not TolerantText(stored) == found  # noqa: SIM201 - both operators are defined


def test_json_is_compared_like_text():
    assert as_text({"a": 0.25, "b": "holds"}) == as_text({"a": 0.2500001, "b": "holds"})
    assert as_text({"a": 0.25, "b": "holds"}) != as_text({"a": 0.26, "b": "holds"})
    assert as_text({"a": 0.25, "b": "holds"}) != as_text({"a": 0.25, "b": "refuted"})


CLAIM = "x.a: largest gap: {}, required = 0 ± 1e-07, control {}: repaired"


def test_a_claim_s_residue_of_rounding_is_compared_as_the_bound_it_meets():
    assert TolerantText(CLAIM.format("6.661e-10", "0.98")) == CLAIM.format("1.11e-09", "0.98")
    assert TolerantText(CLAIM.format("6.661e-10", "0.98")) == CLAIM.format("0.0", "0.98")
    assert TolerantText(CLAIM.format("6.661e-10", "0.98")) != CLAIM.format("2e-07", "0.98")
    assert TolerantText(CLAIM.format("6.661e-10", "0.98")) != CLAIM.format("6.661e-10", "0.97")
    assert TolerantText(CLAIM.format("0.17", "5e-17")) == CLAIM.format("0.17", "8e-09")
    assert TolerantText("gap 6.661e-10, limit 1e-07") != "gap 1.11e-09, limit 1e-07"


@pytest.mark.parametrize(
    ("stored", "found", "same"),
    [
        ("error  < 1e-06  n 4", "error 0 n 4", True),
        ("error  < 1e-12  n 4", "error 0.00e+00 n 4", True),
        ('<td class="number">&lt; 1e-06</td>', '<td class="number">0</td>', True),
        ('<td class="number">&lt; 10⁻⁶</td>', '<td class="number">0</td>', True),
        ("<td>&lt; 2.5 × 10⁻¹²</td>", "<td>&lt; 3.5 × 10⁻¹¹</td>", True),
        ("<td>&lt; 2.5 × 10⁻⁵</td>", "<td>&lt; 3.5 × 10⁻⁵</td>", False),
        ("<td>2.5 × 10⁻¹²</td>", "<td>2.5 × 10⁻¹¹</td>", False),
        ("gap: < 1e-09, required = 0 ± 1e-09", "gap: 0.0, required = 0 ± 1e-09", True),
        (
            "ratio: 1 within 1e-12, required = 1 ± 1e-12, control 2.5: holds",
            "ratio: 1.0, required = 1 ± 1e-12, control 2.5: holds",
            True,
        ),
        ("| 1 within 1e-12 | = 1 ± 1e-12 | 2.5 |", "| 1.0 | = 1 ± 1e-12 | 2.5 |", True),
        ("| 1 within 1e-12 ± 0.5 | = 1 ± 1e-12 | 2 |", "| 1 ± 0.5 | = 1 ± 1e-12 | 2 |", True),
        ("| 2.5 | ≤ 1 ± 1e-12 | 1 within 1e-12 |", "| 2.5 | ≤ 1 ± 1e-12 | 1 |", True),
        ("| 1 within 1e-12 | = 1 ± 1e-09 | 2.5 |", "| 1 | = 1 ± 1e-09 | 2.5 |", False),
        ("| 1 within 1e-12 | = 2 ± 1e-12 | 2.5 |", "| 1 | = 2 ± 1e-12 | 2.5 |", False),
        ("ratio: 1 within 1e-12, required = 1", "ratio: 1, required = 1", False),
        ("error < 1e-06", "error 1e-05", False),
        ("error < 1e-06", "error 1", False),
        ("error < 0.001", "error 0", False),
        ("error < 1e-05", "error 0", False),
        ("error < 1e-06 n 0", "error < 1e-06 n 1", False),
        ("n from 1.0 to 5", "n from 1.0", False),
        ("n from 1.0 to 1e-03", "n from 1.0", False),
    ],
)
def test_a_table_s_residue_is_compared_as_the_number_that_it_is_up_to_rounding(stored, found, same):
    assert (TolerantText(stored) == found) == same
    assert (TolerantText(found) == stored) == same


def test_the_same_in_a_ledger_s_record():
    def record(**changes):
        claim = {"measured": 6e-10, "bound": 0, "tol": 1e-7, "control": 0.98, "verdict": "holds"}
        return as_text({"chapter": "x", "claims": [claim | changes]})

    assert record() == record(measured=1.1e-9)
    assert record() != record(measured=2e-7)
    assert record() != record(control=0.97)
    assert record() != record(tol=1e-6)


@pytest.mark.parametrize("text", ["between nan and nan", "-inf", "x = (0.5, inf)", "[nan 1.0]"])
def test_a_number_that_is_not_finite_equals_nothing(text):
    assert TolerantText(text) != text
    assert TolerantText("1.0") != text


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_neither_does_one_in_a_record(value):
    assert as_text({"a": [0.5, value]}) != as_text({"a": [0.5, value]})
    assert as_text({"a": [0.5, 1.0]}) == as_text({"a": [0.5, 1.0]})


@pytest.mark.parametrize(
    "text", [r"$\inf_x f$, nanometres, info, inference", "∞", "from - to (none)", "x_inf", "inf_x"]
)
def test_a_declared_word_and_an_infimum_are_text(text):
    assert TolerantText(text) == text


def test_the_drawing_and_the_numbers_of_a_figure_are_compared_as_little_as_its_picture(tmp_path):
    import nbformat

    code = "from IPython.display import display\ndisplay({forms}, raw=True)"
    green = {"image/png": "AAAA", "image/svg+xml": "<svg/>", "text/csv": "1", "text/plain": "one"}
    cells = []
    for changed in ({"image/svg+xml": "<svg>2</svg>", "text/csv": "2"}, {"text/plain": "two"}):
        cell = nbformat.v4.new_code_cell(code.format(forms=green), execution_count=1)
        cell.outputs = [nbformat.v4.new_output("display_data", green | changed)]
        cells.append(cell)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), tmp_path / "f.ipynb")
    words = ("-q", "-n", "0", "-p", "no:cacheprovider", "-p", "bookkit.tolerance")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "--nbval", "--nbval-current-env", "f.ipynb"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "two" in done.stdout
