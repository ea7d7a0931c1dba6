"""Validation can fail: each way to falsify a stored notebook turns it red; rounding does not."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from bookkit import key
from bookkit.chapters import ROOT, Chapter
from bookkit.claims import MIME
from bookkit.definitions import Graph
from tests.small_book import copy_machine_code

CHAPTER = "cube/average_sensitivity"
NOTEBOOK = f"book/{CHAPTER}.ipynb"
GLUED = "application/papermill.record/text/plain"
NEEDED = (
    "environment.yml",
    "pyproject.toml",
    "conftest.py",
    "helpers",
    "papers",
    "bookkit",
    "tests",
    "book/register.yml",
    "book/keys.json",
    f"book/{CHAPTER}.py",
    NOTEBOOK,
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of what validating one chapter needs."""
    copy = tmp_path_factory.mktemp("validation") / "checkout"
    ignored = shutil.ignore_patterns("__pycache__", "vendor")
    for name in NEEDED:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copy / name)
    copy_machine_code(copy)
    return copy


def check(checkout, *arguments):
    """Run pytest in the copy; whether it is green, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode == 0, done.stdout


def lint(checkout, *options):
    words = ("tests/bookkit/test_notebooks.py", "-k", CHAPTER.replace("/", " and "))
    return check(checkout, *words, *options)


def nbval(checkout, *options):
    return check(checkout, "--nbval", "--nbval-current-env", NOTEBOOK, *options)


def failures(report):
    """What pytest found wrong, by the test's name; nothing for what was green."""
    cases = ET.parse(report).getroot().iter("testcase")
    return {c.get("name").partition("[")[0]: c.findtext("failure", default="") for c in cases}


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def edit_outputs(notebook, pattern, replace, untouched):
    """Change the first match in what a cell shows or glues, if none did; which cell that is."""
    for i, cell in enumerate(code_cells(notebook)):
        for output in cell["outputs"]:
            held = output["data"]
            for name in held.keys() & {"text/plain", GLUED}:
                shown = "".join(held[name])
                changed = re.sub(pattern, replace, shown, count=1)
                if changed != shown and i not in untouched:
                    held[name] = changed
                    return i
    raise AssertionError(f"nothing in the outputs matches {pattern!r}")


def edit_verdicts(notebook):
    """Turn every verdict of the ledger round; which cell shows them."""
    for i, cell in enumerate(code_cells(notebook)):
        for output in cell["outputs"]:
            claims = output.get("data", {}).get(MIME, {}).get("claims", [])
            for claim in claims:
                claim["verdict"] = {"holds": "refuted"}.get(claim["verdict"], "holds")
            if claims:
                return i
    raise AssertionError("no ledger was shown")


def scaled(factor):
    return lambda match: f"{float(match[0]) * factor:.12f}"


OUTPUTS = {
    "integer": ("679064", "679065"),
    "glued": (r"^[1-9]\.\d{6,}", scaled(1 + 1e-3)),
    "number": (r"(?<= )[1-9]\.\d{6}", scaled(1 + 1e-3)),
    "drift": (r"^[1-9]\.\d{6,}", scaled(1 + 1e-7)),
    "word": ("PARITY", "PURITY"),
}


@pytest.fixture(scope="module")
def falsified(checkout):
    """The stored notebook falsified in every way, each in a cell of its own, or found by one test.

    Returns the cell of each change, and what nbval and the lint found wrong, by cell and by test.
    """
    path, report = checkout / NOTEBOOK, checkout / "report.xml"
    text = path.read_text(encoding="utf-8")
    notebook, cells = json.loads(text), {}
    cells["verdict"] = edit_verdicts(notebook)
    for name, change in OUTPUTS.items():
        cells[name] = edit_outputs(notebook, *change, cells.values())
    figure = next(c for c in notebook["cells"] if "image" in c["metadata"].get("mystnb", {}))
    figure["metadata"]["mystnb"]["image"]["alt"] = "Another picture altogether, at length."
    figure["execution_count"] = 99
    notebook["metadata"]["book"]["outputs"] = "0" * 12
    path.write_text(json.dumps(notebook), encoding="utf-8")
    found = []
    try:
        for validate in (nbval, lint):
            green, out = validate(checkout, f"--junitxml={report}")
            assert not green, out
            found.append(failures(report))
    finally:
        path.write_text(text, encoding="utf-8")
    return cells, *found


def test_a_drift_of_rounding_size_stays_green(falsified):
    cells, by_cell, _ = falsified
    assert by_cell[f"Cell {cells['drift']}"] == ""


@pytest.mark.parametrize("change", ["integer", "glued", "number", "word"])
def test_a_changed_output_turns_nbval_red(falsified, change):
    cells, by_cell, _ = falsified
    assert "Cell outputs differ" in by_cell[f"Cell {cells[change]}"]


def test_a_changed_verdict_turns_both_red(falsified):
    cells, by_cell, by_test = falsified
    assert by_cell[f"Cell {cells['verdict']}"]
    assert by_test["test_the_verdicts_are_those_of_the_numbers"]


@pytest.mark.parametrize(
    "test",
    [
        "test_the_pair_is_in_sync",  # an alternative text was changed
        "test_the_cells_were_run_in_order_without_error",  # and a count
        "test_the_key_is_current",  # and the hash of all that
    ],
)
def test_a_changed_notebook_turns_the_lint_red(falsified, test):
    assert falsified[2][test]


def test_no_other_cell_and_no_other_test_turns_red(falsified):
    cells, by_cell, by_test = falsified
    assert 4 <= sum(map(bool, by_test.values())) < len(by_test) - 1, by_test
    assert len({*cells.values()}) == len(cells) == 6
    assert {name for name, reasons in by_cell.items() if reasons} == {
        f"Cell {cell}" for name, cell in cells.items() if name != "drift"
    }


@contextlib.contextmanager
def changed(path, change):
    """A file of the copy with its text changed, put back afterwards."""
    text = path.read_text(encoding="utf-8")
    assert change(text) != text
    path.write_text(change(text), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")


def test_a_wrong_formula_in_a_helper_turns_nbval_red(checkout):
    halved = ("_set_sizes(f)).sum(-1)", "_set_sizes(f)).sum(-1) / 2")
    with changed(checkout / "helpers" / "cube" / "fourier.py", lambda text: text.replace(*halved)):
        green, out = nbval(checkout)
    assert not green
    assert "Notebook cell execution failed" in out


@pytest.mark.parametrize(
    ("helper", "old", "new", "reason"),
    [
        ("helpers/cube/fourier.py", "def spectrum(", "def spectrum(*, ", "spectrum"),
        ("helpers/kernels/walsh.py", "def walsh_hadamard(", "def walsh_hadamard(*, ", "walsh"),
        ("bookkit/claims.py", '"equals": "="', '"equals": "=="', "bookkit.claims"),
        ("bookkit/moving.py", "import re\n", "import re, sys\n\nsys.exit()\n", ""),
    ],
)
def test_a_helper_makes_the_notebook_stale_if_the_chapter_reaches_it(
    checkout, monkeypatch, helper, old, new, reason
):
    """As test_the_key_is_current asks, which the lint above has seen turn red."""
    with changed(checkout / helper, lambda text: text.replace(old, new, 1)):
        graph = Graph(checkout)
        monkeypatch.setattr(key, "graph", lambda: graph)
        reasons = Chapter(CHAPTER, checkout).stale()
    assert (len(reasons) > 0) == bool(reason), reasons
    assert all(reason in line and line.endswith(" changed") for line in reasons)
