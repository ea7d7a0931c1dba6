"""Ranges of parameters hold in a notebook too: cells that were executed, and papermill by hand."""

import math
import re
import subprocess
import sys

import jupytext
import nbformat
import pytest

from bookkit.chapters import every_chapter
from bookkit.parameters import ChapterError, check_cells, check_notebook, parse_parameters
from tests.small_book import PATIENCE, small_book

__all__ = ["small_book"]
CELL = "size = 3  # how many [1..20]\nscale = 0.5  # a factor [0..10]\nword = 'odd'  # any text\n"
BODY = """\
from bookkit.claims import Ledger

ledger = Ledger("part/ranged")

# %%
print("reached", size, scale)
"""


def checked(injected, **values):
    """The notebook's variables after its cells were checked."""
    given = {"size": 3, "scale": 0.5, "word": "odd", "torch": None} | values
    check_cells(["", CELL, f"# Parameters\n{injected}\n", "import torch"], given, "part/x")
    return given


def test_what_the_runner_takes_passes():
    assert checked("size = 20", size=20)["size"] == 20
    assert checked("scale = 1", scale=1)["scale"] == 1.0
    assert isinstance(checked("scale = 1", scale=1)["scale"], float)
    check_cells([], {}, "part/x")
    check_cells(["def f(:", "size = size + 1"], {"size": 99}, "part/x")


@pytest.mark.parametrize(
    ("injected", "values", "message"),
    [
        ("size = 90", {"size": 90}, "'size' takes int from 1 to 20, such as 3; got 90 (how many"),
        ("size = 1.5", {"size": 1.5}, "'size' takes int from 1 to 20, such as 3; got 1.5"),
        ("size = True", {"size": True}, "'size' takes int from 1 to 20, such as 3; got True"),
        ("word = 1", {"word": 1}, "'word' takes str, such as 'odd'; got 1"),
        ("sise = 4", {"sise": 4}, "part/x has no parameter 'sise'; it has: size, scale, word"),
    ],
)
def test_what_it_refuses_stops(injected, values, message):
    with pytest.raises(ChapterError, match=re.escape(message)):
        checked(injected, **values)


def test_an_edited_parameters_cell_is_checked():
    with pytest.raises(ChapterError, match="got 90"):
        check_cells([CELL, CELL.replace("3", "90", 1)], {"size": 90}, "part/x")


@pytest.mark.parametrize("line", ["a.b = 3", "a.b = size = 3", "size: int = 3", "size += 1"])
def test_a_parameters_cell_assigns_to_names(line):
    with pytest.raises(ChapterError, match=r"part/x: the parameters cell holds more than assign"):
        parse_parameters(f"{CELL}{line}\n", "part/x")


@pytest.mark.parametrize(
    ("default", "good", "bad"),
    [
        (
            "[8, 16]  # [8..32]",
            ["[9]", "[8, 32, 8]"],
            ["[]", "['a', 'b']", "[True]", "[8.5]", "[[8]]", "[8, None]", "(8, 16)", "[8, 33]"],
        ),
        ("[0.5]", ["[1]", "[2.5, 3]"], ["[]", "['1']", "[True]"]),
        (
            "[[2, 1], [3, 2]]  # [1..9]",
            ["[[4, 5]]"],
            ["[[1]]", "[[1, 2, 3]]", "[1, 2]", "[[1, 10]]"],
        ),
        ("[]", ["[]", "[1]"], ["()", "1"]),
        ("3  # [1..1_000]", ["1000"], ["1001", "0"]),
        ("3  # at least one [1..inf]", ["10", "1000000"], ["0"]),
    ],
)
def test_lists_hold_what_the_default_holds_within_the_range(default, good, bad):
    parameter = parse_parameters(f"a = {default}\n", "part/x")["a"]
    for text in good:
        parameter.parse(text)
    for text in bad:
        with pytest.raises(ChapterError, match="parameter 'a' takes"):
            parameter.parse(text)


@pytest.mark.parametrize(
    "span", ["[1..]", "[..5]", "[0..1.2.3]", "[1e..3]", "[5..1]", "[low..high]"]
)
def test_a_range_that_is_none_is_named(span):
    with pytest.raises(ChapterError, match=r"part/x: a has the range .*, which is no \[low"):
        parse_parameters(f"a = 3  # how many {span}\n", "part/x")


def test_a_default_outside_its_range_is_named():
    with pytest.raises(ChapterError, match="part/x: the default of parameter 'a' takes int from 4"):
        parse_parameters("a = 3  # how many [4..9]\n", "part/x")


def test_an_injected_name_is_checked_whatever_its_value_is():
    with pytest.raises(ChapterError, match="part/x has no parameter 'sise'"):
        checked("sise = float('nan')", sise=math.nan)
    with pytest.raises(ChapterError, match=r"'scale' takes float from 0 to 10, .*; got nan"):
        checked("scale = float('nan')", scale=math.nan)


def test_two_names_of_one_value_are_refused():
    with pytest.raises(ChapterError, match=r"part/x: 'a = b = 3' names several parameters: give"):
        parse_parameters(f"{CELL}a = b = 3\n", "part/x")


def test_outside_a_notebook_nothing_is_checked():
    check_notebook("part/x")


def test_every_chapter_asks_for_its_ledger_before_it_computes():
    """In the cell after the parameters, so that a wrong one stops at once."""
    for chapter in every_chapter():
        notebook = jupytext.reads(chapter.text, fmt="py:percent")
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert "parameters" in code[0].metadata.get("tags", []), chapter.name
        assert "Ledger(" in code[1].source, chapter.name


def papermill(book, *arguments):
    """Plain papermill on a chapter with a ledger: the status, what it wrote, the notebook."""
    source = book.write("part/ranged", BODY)
    notebook, out = source.with_suffix(".ipynb"), book.root / "out.ipynb"
    nbformat.write(jupytext.read(source), notebook)
    done = subprocess.run(
        [sys.executable, "-m", "papermill", notebook, out, "--no-progress-bar", *arguments],
        cwd=book.root,
        env=book.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout + done.stderr, out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("-p", "size", "90"),
            "error: parameter 'size' takes int from 1 to 20, such as 3; got 90 (how many [1..20])",
        ),
        (
            ("-p", "sise", "4"),
            "error: part/ranged has no parameter 'sise'; it has: size, scale, word, pause",
        ),
    ],
)
def test_plain_papermill_stops_with_one_line(small_book, arguments, message):
    status, errors, out = papermill(small_book, *arguments)
    assert status != 0
    assert [line for line in errors.splitlines() if line.startswith("error: ")] == [message]
    assert "Traceback (most recent call last)\n" not in out
    assert '"text"' not in out
    runner = small_book.run("part/ranged", *arguments, "--out", "elsewhere")
    assert (runner.returncode, runner.stderr.strip()) == (2, message)


def test_plain_papermill_runs_what_is_allowed(small_book):
    status, errors, out = papermill(small_book, "-p", "size", "20", "-p", "scale", "2")
    assert status == 0, errors
    assert "reached 20 2.0\\n" in out
