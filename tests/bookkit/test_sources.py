"""The sources as the reference reads them, and every example on its pages and in docstrings."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re

import pytest

from bookkit import sources
from bookkit.chapters import BOOK
from bookkit.sources import Module

PAGES = sorted(path for path in (BOOK / "code").glob("*.md") if path.stem != "index")
ROOM = re.compile(r"^```\{room\} (.*)\n```$", re.M)
CORE = ("checks", "weights", "draws", "statistics", "kernels", "cube", "training", "nets")
WITHOUT = {
    "kernels.compiled.njit": "numba keeps what stands in a file, which no example does",
    "kernels.parity.ones": "a text that Triton compiles too",
    "kernels.walsh.in_threads": "a part of the CPU path, shown for who times it",
    "kernels.walsh.machine_code": "likewise",
    "kernels.walsh.plan": "likewise",
    "nets.attention.of_all": "a step of nets.transformer.forward, which has one",
    "nets.attention.of_one": "likewise",
    "nets.attention.of_bits": "likewise",
}
"""Functions of the core that have no example, and why."""
MODULES = {
    name: sources.read(name) for room in sources.rooms() for name in sources.modules_of(room)
}


EXAMPLES = {
    one.full: (module.name, one.doc)
    for module in MODULES.values()
    for entry in module.entries
    for one in (entry, *entry.members)
    if ">>> " in one.doc
}


def run(text, name, known=None):
    """How many examples ran, and what those that failed told."""
    test = doctest.DocTestParser().get_doctest(f"{text}\n", dict(known or {}), name, None, 0)
    told = []
    done = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    return done.attempted, "".join(told)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_does_what_it_shows(name):
    module, text = EXAMPLES[name]
    attempted, told = run(text, name, vars(importlib.import_module(f"helpers.{module}")))
    assert attempted > 0
    assert told == ""


def test_an_example_that_is_wrong_is_seen():
    attempted, told = run(">>> 1 + 1\n3", "wrong")
    assert attempted == 1
    assert "Got:\n    2" in told


def test_every_function_of_the_core_has_an_example():
    bare = {
        f"{name}.{entry.name}"
        for name, module in MODULES.items()
        if name.split(".")[0] in CORE and (not name.startswith("training") or "train.train" in name)
        for entry in module.entries
        if entry.kind == "function" and ">>> " not in entry.doc
    }
    assert bare <= WITHOUT.keys()


def test_every_room_is_on_one_page():
    named = [names for path in PAGES for names in ROOM.findall(path.read_text("utf-8"))]
    found = [room for names in named for room in names.split()]
    assert sorted(found) == sources.rooms()


def test_every_public_name_of_an_import_is_documented():
    for name in ("checks", "draws", "cube.fourier", "kernels.parity", "nets.transformer"):
        module = importlib.import_module(f"helpers.{name}")
        public = {
            n
            for n, found in vars(module).items()
            if not n.startswith("_")
            and (inspect.isfunction(found) or inspect.isclass(found))
            and found.__module__ == module.__name__
        }
        assert public == {
            e.name for e in MODULES[name].entries if e.kind in ("function", "class", "exception")
        }


def test_every_public_function_has_a_docstring_and_its_links_lead_somewhere():
    bare = [e.full for m in MODULES.values() for e in m.entries if e.kind != "data" and not e.doc]
    assert bare == []
    lost = {
        f"{entry.full}: {target}"
        for module in MODULES.values()
        for entry in module.entries
        for role, target in re.findall(r":(func|class|mod):`~?([\w.]+)`", entry.doc)
        if sources.resolved(target, module, entry.name) is None
    }
    assert lost == set()


SOURCE = '''
def sum_of(a: int, /, b: float = 1e-5, *more: str, key: dict[str,
        int] | None = None, **rest) -> float:
    """Sum."""

class Pair:
    def __init__(self, x: int) -> None: ...
'''


def test_a_signature_is_as_it_is_written():
    lines = SOURCE.splitlines(keepends=True)
    function, pair = ast.parse(SOURCE).body
    parts = "a: int, /, b: float = 1e-5, *more: str, key: dict[str, int] | None = None, **rest"
    laid = "".join(f"    {part},\n" for part in parts.replace("str, int", "str; int").split(", "))
    assert sources.signature(function, lines) == f"(\n{laid.replace(';', ',')}) -> float"
    assert sources.signature(pair.body[0], lines, bound=True) == "(x: int) -> None"


def test_a_docstring_becomes_fields_with_links():
    doc = "The |S| of :func:`walsh_hadamard`.\n\nArgs:\n    x: One,\n        |two|.\n\nCost: n.\n"
    text = sources.as_rst(doc, MODULES["kernels.parity"])
    assert r"The \|S\| of :py:func:`~helpers.kernels.walsh.walsh_hadamard`." in text
    assert "\n:Args:\n\n    ``x``\n        One,\n        \\|two\\|.\n" in text
    assert "\n:Cost:\n    n.\n" in text


def test_bars_of_formulas_and_examples_are_kept():
    for kept in (":math:`|x|`", "``a | b``", ".. math:: |x|\n    + |y|\n", ">>> 1 | 2\n3"):
        module = Module("draws", sources.PACKAGE / "draws.py", "", ())
        assert sources.as_rst(kept, module).strip() == kept.strip()


@pytest.mark.parametrize("room", ["attic", "", "../helpers"])
def test_a_room_that_is_not_there_is_named(room):
    with pytest.raises(ValueError, match=f"no room '{room}'"):
        sources.modules_of(room)
