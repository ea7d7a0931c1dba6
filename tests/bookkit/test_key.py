"""The key of a chapter, in pieces: what counts, what does not, and how a change is named."""

import ast
import json
import subprocess
import sys

import pytest

from bookkit import chapters, key
from bookkit.chapters import ROOT, every_chapter
from bookkit.definitions import PACKAGES, Graph
from bookkit.parameters import ChapterError
from tests.small_book import HEAD, copy_packages

CHAPTERS = every_chapter()
SOME = CHAPTERS[::6]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package, to change."""
    folder = tmp_path_factory.mktemp("package")
    copy_packages(folder)
    return folder


def test_two_runs_of_one_book_lose_none_of_each_others_entries(tmp_path):
    """Each reads the lock file, adds an entry and writes the file: not both at once."""
    names = {k: [f"part/{k}{i}" for i in range(25)] for k in "ab"}
    (tmp_path / "book" / "part").mkdir(parents=True)
    for name in (*names["a"], *names["b"]):
        (tmp_path / "book" / f"{name}.py").touch()
    code = (
        "import json, sys; from pathlib import Path; from bookkit import key\n"
        'made = json.dumps({"metadata": {"book": {"outputs": "x"}}})\n'
        "print('ready', flush=True); input()\n"
        "for name in sys.argv[2:]: key.store(name, Path(sys.argv[1]), {}, made)"
    )
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", code, tmp_path]
    runs = [subprocess.Popen([*command, *of], cwd=ROOT, **piped) for of in names.values()]
    assert [run.stdout.readline() for run in runs] == ["ready\n", "ready\n"]
    for run in runs:
        run.stdin.write("\n")
        run.stdin.flush()
    assert [run.wait() for run in runs] == [0, 0]
    kept = json.loads((tmp_path / "book" / key.LOCK).read_text(encoding="utf-8"))
    assert sorted(kept) == sorted((*names["a"], *names["b"]))


def stale_by(monkeypatch, folder):
    """By chapter why it is stale, were the package that in a folder."""
    new = Graph(folder)
    monkeypatch.setattr(key, "graph", lambda: new)
    entries = json.loads((ROOT / "book" / key.LOCK).read_text(encoding="utf-8"))
    found = {c.name: key.differences(entries[c.name], c.pieces({})) for c in SOME}
    return {name: reasons for name, reasons in found.items() if reasons}


def edited(path, change):
    text = path.read_text(encoding="utf-8")
    assert change(text) != text
    path.write_text(change(text), encoding="utf-8")


def test_words_of_the_package_make_no_chapter_stale(monkeypatch, package):
    """A comment and another docstring in every module, and every body laid out anew."""
    for path in (p for name in PACKAGES for p in (package / name).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
                node.body[0] = ast.parse("'''Other words.'''").body[0]
        path.write_text(f"# A comment.\n{ast.unparse(tree)}\n", encoding="utf-8")
    stored = stale_by(monkeypatch, ROOT)
    assert stale_by(monkeypatch, package) == stored


def test_a_width_makes_all_chapters_stale_that_draw_and_a_colour_none(monkeypatch, package):
    before = stale_by(monkeypatch, package)
    edited(package / "bookkit/book.mplstyle", lambda text: text.replace("#0072B2", "#0072B3", 1))
    assert stale_by(monkeypatch, package) == before
    edited(package / "bookkit/figures.py", lambda text: text.replace("WIDTH = 6.8", "WIDTH = 6.9"))
    found = stale_by(monkeypatch, package)
    drawing = {c.name for c in SOME if "figures.new(" in c.text}
    assert drawing
    assert drawing <= found.keys()
    new = {n: [r for r in why if r not in before.get(n, [])] for n, why in found.items()}
    assert all(new[n] == ["bookkit.figures.WIDTH changed"] for n in drawing)


def test_one_definition_makes_those_stale_that_reach_it(monkeypatch, package):
    before = stale_by(monkeypatch, package)
    edited(package / "helpers/statistics.py", lambda text: text + "\n\nNEW = 1\n")
    assert stale_by(monkeypatch, package) == before
    reach = {c.name for c in SOME if "slope" in c.pieces({}).get("helpers.statistics", {})}
    assert 0 < len(reach) < len(SOME)
    path = package / "helpers/statistics.py"
    edited(path, lambda text: text.replace("def slope(", "def slope(*, ", 1))
    found = stale_by(monkeypatch, package)
    reason = "helpers.statistics.slope changed"
    assert {n for n, why in found.items() if reason in why} == reach
    rest = {n: [r for r in why if r != reason] for n, why in found.items()}
    assert {n: why for n, why in rest.items() if why} == before


CELLS = HEAD + "\n# %%\nprint(size)\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# # A small chapter", "# # Another"),
        ("print(size)", "print(size)  # a word"),
        ("print(size)", "print(\n    size,\n)"),
        ("# %%\nprint", '# %% tags=["hide-input"] mystnb={"figure": {"caption": "c"}}\nprint'),
        ("# %%\nprint", "# %% [markdown]\n# Words.\n\n# %%\nprint"),
        ("# how many", "# how very many"),
    ],
)
def test_text_is_no_part_of_the_code(old, new):
    assert list(key._code(CELLS)) == list(key._code(CELLS.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print(size)", "print(size + 1)"),
        ("print(size)", "print(size);"),
        ("print(size)", "print(size); # quiet"),
        ("import time\n", "import time\n\n# %%\n1\n\n# %%\n"),
        ("import time\n\n# %%\n", "import time\n"),
        ("size = 3", "size = 4"),
        ("# %%\nprint", '# %% tags=["raises-exception"]\nprint'),
        ("print(size)", "'a string'"),
    ],
)
def test_what_a_cell_does_is_its_code(old, new):
    assert list(key._code(CELLS)) != list(key._code(CELLS.replace(old, new)))


def test_versions_are_those_of_what_computes():
    pins = (ROOT / "environment.yml").read_text(encoding="utf-8")
    found = key._versions(pins, "import torch")
    assert found.keys() == set(key.COMPUTES)
    assert found["torch"] == "2.13.0"
    more = key._versions(pins, "def f():\n    import networkx as nx\n    from sympy.core import x")
    assert more.keys() - found.keys() == {"networkx", "sympy"}
    own = "dependencies: [python=3.11, numpy=2.1, {pip: [jax==0.4, '-e .']}]"
    assert key._versions(own, "import jax") == {"numpy": "2.1", "jax": "0.4"}


def test_reasons_are_in_order_and_cut_short():
    old = {
        "code": {"": "a"},
        "environment.yml": {"torch": "2.13.0", "numba": "1"},
        "helpers.a": {"f": "1", "g": "1", "": "1"},
        "text": {"": "1"},
    }
    new = {
        "code": {"": "b"},
        "environment.yml": {"torch": "2.14.0"},
        "helpers.a": {"f": "2", "": "2"},
        "helpers.b": {"h": "1"},
        "text": {"": "2"},
    }
    reasons = key.differences(old, new)
    assert reasons == [
        "its code changed",
        "environment.yml: numba 1 -> none",
        "environment.yml: torch 2.13.0 -> 2.14.0",
        "helpers.a changed",
        "helpers.a.f changed",
        "helpers.a.g gone",
        "helpers.b.h added",
    ]
    assert key.shortened(reasons) == f"{'; '.join(reasons[:3])}; 4 more"
    assert key.shortened(reasons[:3]) == "; ".join(reasons[:3])
    assert key.combined(old) != key.combined(new)
    assert key.combined(old) == key.combined(old | {"text": {"": "3"}})


def test_the_lock_file_has_a_line_a_module_and_loses_no_entry(tmp_path):
    book = tmp_path / "book" / "a"
    book.mkdir(parents=True)
    made = json.dumps({"metadata": {"book": {"outputs": "x"}}})
    for name in ("a/two", "a/one", "a/gone"):
        (tmp_path / "book" / f"{name}.py").write_text("")
        key.store(name, tmp_path, {"helpers.b": {"f": "1", "g": "2"}, "text": {"": "3"}}, made)
    (book / "gone.py").unlink()
    key.store("a/two", tmp_path, {"helpers.b": {"f": "2"}}, made)
    text = (tmp_path / "book" / "keys.json").read_text()
    assert text.splitlines() == [
        "{",
        ' "a/one": {',
        '  "helpers.b": {"f": "1", "g": "2"},',
        '  "notebook": {"": "x"},',
        '  "text": {"": "3"}',
        " },",
        ' "a/two": {',
        '  "helpers.b": {"f": "2"},',
        '  "notebook": {"": "x"}',
        " }",
        "}",
    ]


def test_a_lock_file_with_an_open_merge_is_named(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "keys.json").write_text("<<<<<<< HEAD\n{}\n")
    with pytest.raises(ChapterError, match=r"keys\.json is no JSON .*settle the merge"):
        key.store("a/b", tmp_path, {}, '{"metadata": {"book": {"outputs": "x"}}}')


@pytest.mark.parametrize("text", ["{", '{"metadata": {}}', "[]", '{"metadata": {"book": {}}}'])
def test_a_notebook_that_cannot_be_read_was_never_executed(tmp_path, text):
    path = tmp_path / "x.ipynb"
    assert key.stale("a/b", tmp_path, path, {}) == ["never executed"]
    path.write_text(text)
    assert key.stale("a/b", tmp_path, path, {}) == ["never executed"]


def test_the_key_depends_on_the_parameters():
    chapter = chapters.find("cube/average_sensitivity")
    mine, other = chapter.pieces({}), chapter.pieces({"n_max": 9})
    assert mine == chapter.pieces({})
    assert key.differences(mine, other) == ["parameters changed"]
    assert "parameters changed" in key.stale(chapter.name, ROOT, chapter.notebook, other)


def test_the_lock_file_is_that_of_the_book():
    text = (ROOT / "book" / key.LOCK).read_text(encoding="utf-8")
    entries = json.loads(text)
    assert key.written(entries) == text
    assert entries.keys() == {c.name for c in CHAPTERS}
