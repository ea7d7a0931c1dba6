"""A book of the reader's own: made from the template, executed from elsewhere, compared, built."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bookkit import own, place, results
from bookkit.chapters import ROOT, read_record
from tests.small_book import copy_packages

PLUGIN = "bookkit.tolerance"


def run(folder, *words, **environment):
    """Run a module of this Python in a folder, with this checkout's package and no book named."""
    given = {k: v for k, v in os.environ.items() if k != place.VARIABLE}
    return subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        cwd=folder,
        env=given | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A copy of the template in an empty folder, executed from a folder outside it."""
    folder = tmp_path_factory.mktemp("reader") / "mine"
    shutil.copytree(ROOT / "templates" / "book", folder)
    done = run(folder.parent, "bookkit.run", "--book", "mine")
    assert done.returncode == 0, done.stderr
    return folder


def notebook(book):
    return book / "book" / "first" / "harmonic.ipynb"


def compare(book, **environment):
    """Compare by nbval in the book's folder, where no conftest.py loads the comparison."""
    words = ("-q", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env", "book")
    return run(book, "pytest", *words, **environment)


def test_the_template_is_executed_from_elsewhere_and_current_in_its_own_folder(book):
    (claim,) = read_record(notebook(book))["claims"]
    assert (claim["id"], claim["verdict"]) == ("first.harmonic", "holds")
    for done in (
        run(book / "book" / "first", "bookkit.run", "--check"),
        run("/", "bookkit.run", "--check", "--book", book),
    ):
        assert (done.returncode, done.stdout) == (0, "every chapter is current\n"), done.stderr


def test_the_register_of_the_book_names_its_results(book, monkeypatch):
    monkeypatch.setenv(place.VARIABLE, str(book))
    ledger = own.Ledger("first/harmonic")
    assert ledger.result("first.harmonic").entry.ref == "Theorem 1"
    for foreign in ("first.harmonics", "sensitive.majority_point"):
        with pytest.raises(KeyError, match=r"did you mean first\.harmonic|it has 1 others"):
            ledger.result(foreign)
    monkeypatch.setenv(place.VARIABLE, str(book / "nowhere"))
    assert ledger.result("first.harmonics").entry is None


def test_its_pages_name_its_own_results(book):
    ask = (
        "from bookkit.chapters import REGISTER; from bookkit.register import full_refs; "
        "from bookkit.findings import Finding, _ref; "
        "import dataclasses as d; print(full_refs(REGISTER)); "
        "values = {f.name: () for f in d.fields(Finding)} | {'id': 'first.harmonic'}; "
        "print(_ref(Finding(**values)))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT), place.VARIABLE: str(book)}
    done = subprocess.run(
        [sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1].endswith("Theorem 1"), done.stderr
    assert "sharper" not in done.stdout


def test_results_are_loaded_from_the_book_s_own_folder(tmp_path, monkeypatch):
    made = {"folder": str(tmp_path / "results"), "chapter": "a/b", "parameters": {}, "key": ""}
    monkeypatch.setenv("BOOK_RUN", json.dumps(made | {"command": ""}))
    monkeypatch.setenv(place.VARIABLE, str(tmp_path))
    assert own.load("a/b", "runs") is None
    assert own.save is results.save
    own.save("runs", {"seed": [1, 2]})
    assert own.load("a/b", "runs")["seed"] == [1, 2]


def test_a_drift_of_rounding_size_stays_green_without_a_conftest_and_no_more(book, tmp_path):
    """Also where the path to a temporary folder is too long for the sockets of a kernel."""
    stored, long = notebook(book), tmp_path / ("t" * 60) / ("u" * 60)
    long.mkdir(parents=True)
    text = stored.read_text(encoding="utf-8")
    try:
        for digits, status in (("0.983351", 0), ("0.983450", 1)):
            assert text.count("0.983350") >= 2
            stored.write_text(text.replace("0.983350", digits), encoding="utf-8")
            done = compare(book, TMPDIR=str(long))
            assert done.returncode == status, done.stdout + done.stderr
        assert "Cell outputs differ" in done.stdout
    finally:
        stored.write_text(text, encoding="utf-8")


def test_a_tag_in_a_claim_or_a_glued_word_is_text(book, tmp_path):
    mine = tmp_path / "mine"
    shutil.copytree(book, mine, ignore=shutil.ignore_patterns("_build"))
    source = mine / "book" / "first" / "harmonic.py"
    text = source.read_text(encoding="utf-8")
    text = text.replace('"largest 2n', '"largest <script>one()</script> 2n')
    text = text.replace("glue(largest", 'glue(word="<script>two()</script>", largest')
    text = text.replace("and stays below one.", "and stays below one {glue:text}`word`.")
    source.write_text(text, encoding="utf-8")
    assert run(mine, "bookkit.run").returncode == 0
    build = Path(sys.executable).with_name("jupyter-book")
    done = subprocess.run(
        [build, "build", ".", "--keep-going", "-q"],
        cwd=mine,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = mine / "_build" / "html" / "book" / "first" / "harmonic.html"
    html = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;one()" in html
    assert "two()" in html
    assert "<script>one()" not in html
    assert "<script>two()" not in html


def test_the_template_builds_without_a_warning(book):
    build = Path(sys.executable).with_name("jupyter-book")
    done = subprocess.run(
        [build, "build", ".", "-W", "-n", "--keep-going", "-q"],
        cwd=book,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = book / "_build" / "html" / "book"
    board = (pages / "scoreboard.html").read_text(encoding="utf-8")
    assert 'class="verdict verdict-good">holds<' in board
    assert "0.999833" in (pages / "first" / "harmonic.html").read_text(encoding="utf-8")


def test_outside_any_book_the_runner_says_so_in_one_line(tmp_path):
    package, outside = tmp_path / "site", tmp_path / "outside"
    copy_packages(package)
    outside.mkdir()
    for words, told in (
        ((), f"no book around {outside}"),
        (("--check",), f"no book around {outside}"),
        (("--book", "."), f"no folder book in {outside}"),
        (("part/name", "--book", "nowhere"), f"no folder book in {outside / 'nowhere'}"),
    ):
        done = run(outside, "bookkit.run", *words, PYTHONPATH=str(package))
        assert done.returncode == 2
        assert done.stderr == f"error: {told}; go where a book is, or name it: --book DIR\n"
    assert not list(outside.iterdir())
    own = run(outside, "bookkit.run", "--check")  # this checkout's package, which has a book
    assert (own.returncode, own.stdout) == (2, "")
    assert own.stderr.startswith(f"error: no book around {outside};")


def test_a_book_is_named_or_lies_around_the_current_folder(tmp_path, monkeypatch):
    inner = tmp_path / "mine" / "book" / "part"
    inner.mkdir(parents=True)
    monkeypatch.delenv(place.VARIABLE, raising=False)
    monkeypatch.chdir(inner)
    assert place.find_root() is None
    (inner.parent / "register.yml").touch()
    assert place.find_root() == tmp_path / "mine"
    monkeypatch.setenv(place.VARIABLE, str(tmp_path))
    assert place.find_root() == tmp_path


def test_pytest_finds_the_comparison_by_itself_and_loads_it_once(pytestconfig):
    entries = [e for e in importlib.metadata.entry_points(group="pytest11") if e.value == PLUGIN]
    assert {e.name for e in entries} == {PLUGIN}, "set up again: make test"
    names = [name for name, _ in pytestconfig.pluginmanager.list_name_plugin() if name == PLUGIN]
    assert names == [PLUGIN]
