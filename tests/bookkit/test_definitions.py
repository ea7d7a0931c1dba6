"""What a source reaches: followed by names, and more where names cannot be followed."""

import ast
import gc
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bookkit.chapters import ROOT, every_chapter
from bookkit.definitions import PACKAGES, Graph, graph
from bookkit.syntax import dotted, parse

TOOLS = """\
'''Tools.'''
import functools
import math as m

SIZE = 3
BOTH, ONE = 1, 2
TABLE = {"a": 1}


def used(x):
    '''What it does.'''
    return helper(x) + SIZE  # and why


def helper(x):
    return m.sqrt(x)


def unused(x):
    return x + BOTH


def wrapped(function):
    @functools.wraps(function)
    def called(*given):
        return function(*given)

    return called


@wrapped
def checked(x):
    return x


class Shape:
    '''A shape.'''

    side = ONE

    def area(self):
        return self.side + helper(1)


half = functools.partial(used, 2)
"""
FILES = {
    "__init__.py": '"""All."""\n',
    "tools.py": TOOLS,
    "front/__init__.py": "from helpers.tools import used as front_door\nfrom . import side\n",
    "front/side.py": "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
    "late.py": "def late():\n    from helpers.tools import helper as h\n\n    return h(4)\n",
    "star.py": "from helpers.front.side import *\n\n\ndef both():\n    return f() + g()\n",
    "registry.py": (
        "KNOWN = []\n\n\ndef register(f):\n    KNOWN.append(f)\n    return f\n\n\n"
        "def best():\n    return KNOWN[-1]\n"
    ),
    "patch.py": (
        "import helpers.front.side\n\n\ndef better():\n    return 3\n\n\n"
        "helpers.front.side.f = better\n\n\ndef nothing():\n    pass\n"
    ),
    "fast.py": (
        "from helpers.tools import SIZE\n\ntry:\n    import numba\nexcept ImportError:\n"
        "    numba = None\n\nif SIZE > 2:\n\n    def way():\n        return 1\n\n"
        "    def off():\n        return 3\n\nelse:\n\n    def way():\n        return 2\n"
    ),
    "dynamic.py": "def named(name):\n    return globals()[name]\n\n\ndef hidden():\n    return 1\n",
    "circle.py": "from helpers.circle import circle\nfrom helpers.tools import used\n",
    "train/__init__.py": "from helpers.train.train import train\n",
    "train/train.py": "def train():\n    return step()\n\n\ndef step():\n    return 1\n",
    "long.py": f"def told():\n    '''{'Long. ' * 200}'''\n",
    "loose.py": "from helpers.registry import KNOWN\n\nlist.append(KNOWN, 3)\n",
    "front/outer.py": "from math import sqrt as root\n",
}


@pytest.fixture
def package(tmp_path):
    """A package of its own, and what a source reaches in it, as one set of names."""
    for name, text in FILES.items():
        path = tmp_path / "helpers" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def reached(folder, source):
    return Graph(folder).reached(source)


def names(folder, source):
    """The definitions reached, without the package and module in front where it is tools."""
    found = reached(folder, source)
    return {f"{module}.{name}".rstrip(".") for module, of in found.items() for name in of}


def changes(folder, file, old, new, source):
    """Whether a change of a file changes what a source reaches; the file is put back."""
    path = folder / "helpers" / file
    text, before = path.read_text(), reached(folder, source)
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))
    try:
        return reached(folder, source) != before
    finally:
        path.write_text(text)


USED = {"helpers.tools.used", "helpers.tools.helper", "helpers.tools.SIZE"}


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("from helpers.tools import used", set()),
        ("from helpers.tools import used\nused(1)", USED),
        ("from helpers.tools import used as u\nu(1)", USED),
        ("import helpers.tools\nhelpers.tools.used(1)", USED),
        ("import helpers.tools as t\nt.used(1)", USED),
        ("from helpers import tools\ntools.used(1)", USED),
        ("def f():\n    from helpers.tools import used\n    return used(1)", USED),
        ("from helpers.tools import half\nhalf()", {"helpers.tools.half", *USED}),
        (
            "from helpers.tools import Shape\nShape().area()",
            {f"helpers.tools.{name}" for name in ("Shape", "ONE", "BOTH", "helper")},
        ),
        (
            "from helpers.tools import checked\nchecked(1)",
            {"helpers.tools.checked", "helpers.tools.wrapped"},
        ),
        (
            "from helpers.front import front_door\nfront_door(1)",
            USED,
        ),
        (
            "from helpers import front\nfront.side.g()",
            {"helpers.front.side.g"},
        ),
        (
            "from helpers.front import side\nside.g()",
            {"helpers.front.side.g"},
        ),
        ("from helpers.late import late\nlate()", {"helpers.late.late", "helpers.tools.helper"}),
        (
            "from helpers.train import train\ntrain()",
            {"helpers.train.train.train", "helpers.train.train.step"},
        ),
        ("from helpers.circle import used\nused(1)", USED),
        ("from helpers.long import told\ntold()", {"helpers.long.told"}),
        ("import torch\ntorch.ones(3)", set()),
        # evaluation mode is not the builtin: the module does not count as a whole
        ("from helpers.tools import used\nused(1)\nmodel.eval()\nself.still.eval()", USED),
    ],
)
def test_names_are_followed(package, source, wanted):
    found = names(package, source)
    assert found == wanted


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("from helpers.front.side import *", {"helpers.front.side.f", "helpers.front.side.g"}),
        (
            "from helpers.star import both\nboth()",
            {"helpers.star.both", "helpers.front.side.f", "helpers.front.side.g"},
        ),
        (
            "from helpers.front import side\nprint(getattr(side, name))",
            {"helpers.front.side.f", "helpers.front.side.g"},
        ),
        ("from helpers.front import side\nside.__dict__", {"helpers.front.side.f"}),
        ('import sys\nsys.modules["helpers.front.side"]', {"helpers.front.side.g"}),
        ("from helpers import front\nvars(front)", {"helpers.front.side.g", "helpers.tools.used"}),
    ],
)
def test_where_names_end_the_whole_module_counts(package, source, wanted):
    assert wanted <= names(package, source)


def test_layout_comments_and_docstrings_do_not_count(package):
    source = "from helpers.tools import checked, used, Shape\nused(checked(Shape().area()))"
    for old, new in (
        ("'''What it does.'''", "'''Another.'''"),
        ("'''What it does.'''\n    ", ""),
        ("'''A shape.'''\n", "'''Other.'''\n"),
        ("'''Tools.'''", ""),
        ("  # and why", ""),
        ("SIZE = 3", "SIZE = (\n    3\n)"),
        ("m.sqrt(x)", "m.sqrt(\n        x,\n    )"),
        ("\n", "\r\n"),
    ):
        assert not changes(package, "tools.py", old, new, source), (old, new)


@pytest.mark.parametrize(
    ("file", "old", "new", "source"),
    [
        ("tools.py", "m.sqrt", "m.log", "from helpers.tools import used\nused(1)"),
        (
            "tools.py",
            "import math as m",
            "import cmath as m",
            "from helpers.tools import half\nhalf",
        ),
        ("tools.py", "SIZE = 3", "SIZE = 4", "from helpers.tools import half\nhalf()"),
        ("tools.py", "(used, 2)", "(used, 3)", "from helpers.tools import half\nhalf()"),
        ("tools.py", "ONE = 1, 2", "ONE = 1, 3", "from helpers.tools import Shape\nShape()"),
        ("tools.py", "(*given)\n", "(*given) + 1\n", "from helpers.tools import checked\nchecked"),
        ("tools.py", "@wrapped\n", "", "from helpers.tools import checked\nchecked(1)"),
        (
            "front/__init__.py",
            "import used",
            "import helper",
            "from helpers import front\nfront.front_door",
        ),
        ("registry.py", "[-1]", "[0]", "from helpers.registry import best\nbest()"),
        ("patch.py", "return 3", "return 4", "from helpers.patch import nothing\nnothing()"),
        ("fast.py", "> 2", "> 1", "from helpers.fast import way\nway()"),
        ("tools.py", "SIZE = 3", "SIZE = 2", "from helpers.fast import way\nway()"),
        ("fast.py", "return 2", "return 4", "from helpers.fast import way\nway()"),
        (
            "dynamic.py",
            "return 1",
            "return 2",
            "from helpers.dynamic import named\nnamed('hidden')",
        ),
        ("loose.py", "KNOWN, 3", "KNOWN, 4", "import helpers.loose"),
        ("front/outer.py", "sqrt", "exp", "from helpers.front.outer import root\nroot(2)"),
        ("train/train.py", "return 1", "return 2", "from helpers import train\ntrain.train()"),
    ],
)
def test_a_change_that_can_change_outputs_is_seen(package, file, old, new, source):
    assert changes(package, file, old, new, source)


@pytest.mark.parametrize(
    ("file", "old", "new", "source"),
    [
        ("tools.py", "x + BOTH", "x - BOTH", "from helpers.tools import used\nused(1)"),
        ("fast.py", "return 3", "return 5", "from helpers.fast import way\nway()"),
        ("front/side.py", "return 1", "return 5", "from helpers.front import side\nside.g()"),
    ],
)
def test_a_change_that_is_not_reached_is_none(package, file, old, new, source):
    assert not changes(package, file, old, new, source)


def test_no_decorator_keeps_what_it_decorates():
    """One that does would bring a definition where its name does not stand."""
    own = Graph(ROOT)
    decorators, mutable = set(), {}
    for path in (p for name in PACKAGES for p in (ROOT / name).rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        module = own.module(name)
        for statement in ast.walk(parse(path.read_text(encoding="utf-8"))):
            assert getattr(statement, "name", "") != "__init_subclass__", name
            for decorator in getattr(statement, "decorator_list", []):
                called = getattr(decorator, "func", decorator)
                decorators |= own._meant(module, (dotted(called) or "").split("."))
        for bound, statements in module.bound.items():
            kinds = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.Call
            if any(isinstance(getattr(s, "value", None), kinds) for s in statements):
                mutable[name, bound] = statements
    assert {name for _, name in decorators} >= {"validated", "elementwise"}
    for module, name in decorators:
        statements = own.module(module).bound[name]
        used = {n for s in statements for n in own._references(own.module(module), s)}
        keeps = used & mutable.keys() - {(module, name)}
        changed = {k for k in keeps if not all(is_constant(s) for s in mutable[k])}
        assert not changed, f"{module}.{name} may keep what it decorates, in {changed}"


def is_constant(statement):
    """Whether a call in an assignment makes a value that no decorator changes."""
    value = statement.value
    made = dotted(value.func) if isinstance(value, ast.Call) else ""
    return made in ("TypeVar", "frozenset", "tuple", "re.compile", "functools.partial")


def test_a_changed_file_is_read_again(package):
    source = "from helpers.tools import used\nused(1)"
    before = graph(package).reached(source)
    path = package / "helpers" / "tools.py"
    path.write_text(path.read_text().replace("x) + SIZE", "x) * SIZE"))
    after = graph(package).reached(source)
    was, now = before["helpers.tools"], after["helpers.tools"]
    assert {name for name in was if was[name] != now[name]} == {"used"}


def test_threads_of_one_worker_read_modules_at_once(package):
    """Python 3.11's parser fails if another thread parses while it waits for a collection."""
    sources = [f"from helpers.tools import used\nused({i})" for i in range(8)]
    gc.callbacks.append(give_way := lambda *_: time.sleep(0))
    try:
        with ThreadPoolExecutor(4) as pool:
            shared = Graph(ROOT)
            assert len(list(pool.map(shared.reached, [c.text for c in every_chapter()[:8]]))) == 8
            one = Graph(package)
            found = {json.dumps(r) for r in pool.map(one.reached, sources)}
    finally:
        gc.callbacks.remove(give_way)
    assert len(found) == 1


def test_the_package_hides_nothing_that_a_chapter_reaches():
    """A name for a definition everywhere: no chapter falls back on the text of whole modules."""
    for chapter in every_chapter():
        found = graph().reached(chapter.text)
        assert any(name for of in found.values() for name in of), chapter.name
