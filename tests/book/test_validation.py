"""Validation can fail: each way to falsify a stored notebook turns it red; rounding does not."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from helpers.book.chapters import ROOT
from helpers.book.claims import MIME

CHAPTER = "cube/average_sensitivity"
NOTEBOOK = f"book/{CHAPTER}.ipynb"
NEEDED = (
    "environment.yml",
    "pyproject.toml",
    "conftest.py",
    "helpers",
    "tests",
    "book/register.yml",
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


def lint(checkout):
    return check(checkout, "tests/book/test_notebooks.py", "-k", CHAPTER.replace("/", " and "))


def nbval(checkout):
    return check(checkout, "--nbval", "--nbval-current-env", NOTEBOOK)


@pytest.fixture
def stored(checkout):
    """The stored notebook, put back afterwards."""
    path = checkout / NOTEBOOK
    text = path.read_text(encoding="utf-8")
    yield path
    path.write_text(text, encoding="utf-8")


def edit_outputs(path, pattern, replace):
    """Change the first match in what the notebook shows as text."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            held, name = (output, "text") if "text" in output else (output["data"], "text/plain")
            shown = "".join(held.get(name, ""))
            changed = re.sub(pattern, replace, shown, count=1)
            if changed != shown:
                held[name] = changed
                path.write_text(json.dumps(notebook), encoding="utf-8")
                return
    raise AssertionError(f"nothing in the outputs matches {pattern!r}")


def scaled(factor):
    return lambda match: f"{float(match[0]) * factor:.12f}"


def test_what_is_stored_is_green(checkout):
    for validate in (lint, nbval):
        green, out = validate(checkout)
        assert green, out


def test_a_drift_of_rounding_size_stays_green(checkout, stored):
    edit_outputs(stored, r"(?<= )[1-9]\.\d{6}", scaled(1 + 1e-7))
    green, out = nbval(checkout)
    assert green, out


@pytest.mark.parametrize(
    ("pattern", "replace"),
    [(r"(?<= )[1-9]\.\d{6}", scaled(1 + 1e-3)), ("MAJORITY", "MINORITY"), ("679064", "679065")],
    ids=["number", "word", "integer"],
)
def test_a_changed_output_turns_nbval_red(checkout, stored, pattern, replace):
    edit_outputs(stored, pattern, replace)
    green, out = nbval(checkout)
    assert not green
    assert "Cell outputs differ" in out


def test_a_changed_verdict_turns_both_red(checkout, stored):
    notebook = json.loads(stored.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            for claim in output.get("data", {}).get(MIME, {}).get("claims", []):
                claim["verdict"] = {"holds": "refuted"}.get(claim["verdict"], "holds")
    stored.write_text(json.dumps(notebook), encoding="utf-8")
    assert not lint(checkout)[0]
    assert not nbval(checkout)[0]


@pytest.mark.parametrize(
    ("key", "value"),
    [("alt", "Another picture altogether, described at length."), ("count", 99), ("key", "0" * 16)],
)
def test_a_changed_notebook_turns_the_lint_red(checkout, stored, key, value):
    notebook = json.loads(stored.read_text(encoding="utf-8"))
    figure = next(c for c in notebook["cells"] if "image" in c["metadata"].get("mystnb", {}))
    if key == "alt":
        figure["metadata"]["mystnb"]["image"]["alt"] = value
    elif key == "count":
        figure["execution_count"] = value
    else:
        notebook["metadata"]["book"]["key"] = value
    stored.write_text(json.dumps(notebook), encoding="utf-8")
    assert not lint(checkout)[0]


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


@pytest.mark.parametrize("helper", ["cube/fourier.py", "kernels/walsh.py", "book/claims.py"])
def test_a_changed_helper_turns_the_lint_red(checkout, helper):
    with changed(checkout / "helpers" / helper, lambda text: text + "\n"):
        green, out = lint(checkout)
    assert not green
    assert "is stale" in out


def test_a_wrong_formula_in_a_helper_turns_nbval_red(checkout):
    halved = ("_set_sizes(f)).sum(-1)", "_set_sizes(f)).sum(-1) / 2")
    with changed(checkout / "helpers" / "cube" / "fourier.py", lambda text: text.replace(*halved)):
        green, out = nbval(checkout)
    assert not green
    assert "Notebook cell execution failed" in out


def test_a_helper_that_the_chapter_does_not_reach_changes_nothing(checkout):
    with changed(checkout / "helpers" / "book" / "results.py", lambda text: text + "\n"):
        green, out = lint(checkout)
    assert green, out
