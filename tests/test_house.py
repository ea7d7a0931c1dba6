"""The house: which room may import which, and the map that says so."""

from __future__ import annotations

import ast
import re
import struct
from collections import defaultdict
from pathlib import Path

import pytest

import helpers
from helpers.book.chapters import BOOK, ROOT, every_chapter
from helpers.book.register import load_register

HELPERS = ROOT / "helpers"
FLOORS = {
    "Ground floor": ("checks", "weights", "draws", "statistics"),
    "Kernels": ("kernels",),
    "The cube": ("cube",),
    "Training and covers": ("training", "covers"),
    "Nets and sharpness": ("nets", "sharpness"),
    "Rooms of the parts": tuple(p.key for p in load_register() if (HELPERS / p.key).is_dir()),
    "The book's machinery": ("book", "run"),
}
LEVEL = {room: level for level, rooms in enumerate(FLOORS.values()) for room in rooms}
PARTS = FLOORS["Rooms of the parts"]
CORE = [room for room, level in LEVEL.items() if level < LEVEL["sharper"]]


def modules() -> dict[str, Path]:
    """Every module of the package by its name below ``helpers``, such as ``nets.spec``."""
    found = {}
    for path in sorted(HELPERS.rglob("*.py")):
        name = ".".join(path.relative_to(HELPERS).with_suffix("").parts)
        found[name.removesuffix("__init__").rstrip(".")] = path
    return found


def imports(path: Path) -> dict[str, set[str]]:
    """Modules of the package that a file imports, below ``helpers``, and the names it takes."""
    known, found = modules(), defaultdict(set)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] == "helpers"
        ):
            base = node.module.removeprefix("helpers").lstrip(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}".lstrip(".")
                found[inner if inner in known else base].add(alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "helpers":
                    found[alias.name.removeprefix("helpers").lstrip(".")].add(alias.name)
    return dict(found)


def reached_into(path: Path) -> set[str]:
    """Private names that a file reads off a module of the package: ``walsh._checked``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = modules()
    own = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "helpers"
        for alias in node.names
        if f"{node.module}.{alias.name}".removeprefix("helpers.") in known
    }
    return {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and isinstance(node.value, ast.Name)
        and node.value.id in own
    }


_EXAMPLE = re.compile(r"^ *Example:\n(?: {8}.*\n)+", re.MULTILINE)


def room(module: str) -> str:
    return module.split(".")[0]


MODULES = {name: path for name, path in modules().items() if name}
ARROWS = {(a, b) for a, path in MODULES.items() for b in imports(path) if b}


def test_every_room_is_on_a_floor_and_none_is_too_large():
    assert {room(m) for m in MODULES} == set(LEVEL)
    assert len(LEVEL) <= 20
    assert len(FLOORS) <= 7
    bare = {m: _EXAMPLE.sub("", p.read_text()) for m, p in MODULES.items()}
    long = {m: n for m, text in bare.items() if (n := text.count("\n")) > 450}
    assert not long, f"modules above 450 lines without their examples: {long}"


def test_imports_run_downwards():
    upwards = [(a, b) for a, b in ARROWS if LEVEL[room(a)] < LEVEL[room(b)]]
    assert not upwards
    beside = {
        (a, b)
        for a, b in ARROWS
        if room(a) in PARTS and room(b) in PARTS and room(a) not in ("beyond", room(b))
    }
    assert not beside, "a room of a part imports the core and itself"
    machinery = {(a, b) for a, b in ARROWS if room(a) in ("book", "run") and room(b) in PARTS}
    assert not machinery


def test_there_is_no_circle():
    for nodes, arrows in (
        (set(LEVEL), {(room(a), room(b)) for a, b in ARROWS if room(a) != room(b)}),
        (set(MODULES), ARROWS),
    ):
        left = set(nodes)
        while left:
            free = {n for n in left if not any(a == n and b in left for a, b in arrows)}
            assert free, f"a circle among {sorted(left)}"
            left -= free


@pytest.mark.parametrize(
    "path",
    [*MODULES.values(), *sorted(BOOK.glob("*/*.py")), *sorted((ROOT / "benchmarks").glob("*.py"))],
    ids=lambda p: p.relative_to(ROOT).as_posix(),
)
def test_no_private_name_crosses_a_file(path):
    taken = {
        f"{m}.{n}"
        for m, names in imports(path).items()
        for n in names
        if any(part.startswith("_") for part in (*m.split("."), n))
    }
    inside = path.parent == HELPERS / "kernels"
    assert inside or not taken | reached_into(path)


@pytest.mark.parametrize("chapter", every_chapter(), ids=lambda c: c.name)
def test_a_chapter_imports_the_core_its_own_room_and_those_of_chapters_it_needs(chapter):
    part = chapter.name.split("/")[0]
    rooms = {room(m) for m in imports(chapter.source) if m} & set(PARTS)
    start = chapter.text.index("**Needs**")
    needs = chapter.text[start : chapter.text.index("\n", start)]
    near = {
        p
        for p in PARTS
        for c in BOOK.glob(f"{p}/*.py")
        if f"ch-{c.stem}`".replace("_", "-") in needs
    }
    assert part == "beyond" or rooms <= {part} | near, "name the chapter under Needs"


def test_the_map_is_the_folder():
    def line(name: str) -> str:
        text = ast.get_docstring(ast.parse(modules()[name].read_text(encoding="utf-8"))) or ""
        return f"    {name:<28}{text.splitlines()[0]}"

    wanted = []
    for floor, rooms in FLOORS.items():
        wanted += ["", f"{floor}::", ""]
        for name in rooms:
            inner = [
                m
                for m in MODULES
                if m.startswith(f"{name}.") and not m.split(".")[1].startswith("_")
            ]
            wanted += map(line, [name, *inner])
    words, _, listed = (helpers.__doc__ or "").partition("\n\nGround floor::")
    assert words
    assert listed.splitlines()[1:] == wanted[2:], "helpers/__init__.py does not list the folder"


def rounded_first(tree: ast.AST) -> list[int]:
    """Lines that make float64 of a number that was rounded to float32 before."""
    found = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        made = node.func.value
        if node.func.attr != "double" or not isinstance(made, ast.Call):
            continue
        name = ast.unparse(made.func)
        if name not in {"torch.full", "torch.tensor"} or any(
            k.arg == "dtype" for k in made.keywords
        ):
            continue
        values = made.args[1:] if name == "torch.full" else made.args[:1]
        numbers = [n.value for v in values for n in ast.walk(v) if isinstance(n, ast.Constant)]
        numbers = [n for n in numbers if isinstance(n, float)]
        computed = name == "torch.full" and not isinstance(values[0], ast.Constant)
        if computed or any(struct.unpack("f", struct.pack("f", n))[0] != n for n in numbers):
            found.append(node.lineno)
    return found


def test_no_number_passes_through_single_precision():
    for text in ("torch.full((3,), n**-0.5).double()", "torch.tensor([2.1]).double()"):
        assert rounded_first(ast.parse(text)) == [1]
    for text in ("torch.full((3,), 0.25).double()", "torch.tensor([2.1], dtype=d).double()"):
        assert not rounded_first(ast.parse(text))
    sources = [*modules().values(), *(chapter.source for chapter in every_chapter())]
    lines = {str(p): rounded_first(ast.parse(p.read_text(encoding="utf-8"))) for p in sources}
    assert {path: found for path, found in lines.items() if found} == {}


def test_an_einsum_takes_two_tensors():
    """Of three torch chooses the order by opt_einsum where that is installed: another rounding."""
    many = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in ("helpers", "book", "counterexamples")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("einsum")
        and len(node.args) > 3
    ]
    assert not many
