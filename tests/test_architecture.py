"""Which package may import which, how large a module is, and habits of the code."""

from __future__ import annotations

import ast
import re
import struct
from collections import defaultdict
from pathlib import Path

import pytest

from bookkit.chapters import BOOK, ROOT, every_chapter
from bookkit.register import load_register

PACKAGES = ("helpers", "papers", "bookkit")
LAYERS = (
    ("checks", "weights", "rng", "statistics"),
    ("kernels",),
    ("cube",),
    ("training", "covers"),
    ("nets", "sharpness"),
    ("probe",),
)
"""Of ``helpers`` the modules and packages, the lowest first."""
LEVEL = {f"helpers.{name}": level for level, names in enumerate(LAYERS) for name in names}
PARTS = tuple(p.key for p in load_register() if (ROOT / "papers" / p.key).is_dir())


def modules() -> dict[str, Path]:
    """Every module of the three packages by its name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


MODULES = modules()


def imports(path: Path) -> dict[str, set[str]]:
    """Modules of the packages that a file imports, and the names that it takes of each."""
    found = defaultdict(set)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found[inner if inner in MODULES else node.module].add(alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in PACKAGES:
                    found[alias.name].add(alias.name)
    return dict(found)


def reached_into(path: Path) -> set[str]:
    """Private names that a file reads off a module of the packages: ``walsh._checked``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES
        for alias in node.names
        if f"{node.module}.{alias.name}" in MODULES
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


def package(module: str) -> str:
    """The package, below the first name: ``helpers.cube``, ``papers.sharper``; or ``bookkit``."""
    parts = module.split(".")
    return parts[0] if parts[0] == "bookkit" else ".".join(parts[:2])


ARROWS = {(a, b) for a, path in MODULES.items() for b in imports(path)}


def test_every_package_has_its_layer_and_no_module_is_too_large():
    core = {package(m) for m in MODULES if m.startswith("helpers.")}
    assert core == set(LEVEL)
    assert {package(m) for m in MODULES if m.startswith("papers.")} == {
        f"papers.{p}" for p in PARTS
    }
    bare = {m: _EXAMPLE.sub("", p.read_text(encoding="utf-8")) for m, p in MODULES.items()}
    long = {m: n for m, text in bare.items() if (n := text.count("\n")) > 450}
    assert not long, f"modules above 450 lines without their examples: {long}"


def test_imports_run_downwards():
    upwards = [
        (a, b)
        for a, b in ARROWS
        if package(a) in LEVEL and LEVEL.get(package(b), len(LAYERS)) > LEVEL[package(a)]
    ]
    assert not upwards, "helpers imports what is below, and neither papers nor bookkit"
    beside = [
        (a, b)
        for a, b in ARROWS
        if a.startswith("papers.")
        and not b.startswith("helpers")
        and package(b) != package(a)
        and (package(a) != "papers.beyond" or b.startswith("bookkit"))
    ]
    assert not beside, "a package of a paper imports helpers and itself; beyond other papers too"
    machinery = [
        (a, b) for a, b in ARROWS if a.startswith("bookkit") and not b.startswith("bookkit")
    ]
    assert not machinery, "bookkit is for any book"


def test_there_is_no_circle():
    for nodes, arrows in (
        (
            {package(m) for m in MODULES},
            {(package(a), package(b)) for a, b in ARROWS if package(a) != package(b)},
        ),
        (set(MODULES), {(a, b) for a, b in ARROWS if a != "bookkit"}),  # it loads by name
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
    inside = path.parent == ROOT / "helpers" / "kernels"
    assert inside or not taken | reached_into(path)


@pytest.mark.parametrize("chapter", every_chapter(), ids=lambda c: c.name)
def test_a_chapter_imports_helpers_its_own_paper_and_those_of_chapters_it_needs(chapter):
    part = chapter.name.split("/")[0]
    papers = {m.split(".")[1] for m in imports(chapter.source) if m.startswith("papers.")}
    start = chapter.text.index("**Needs**")
    needs = chapter.text[start : chapter.text.index("\n", start)]
    near = {
        p
        for p in PARTS
        for c in BOOK.glob(f"{p}/*.py")
        if f"ch-{c.stem}`".replace("_", "-") in needs
    }
    assert part == "beyond" or papers <= {part} | near, "name the chapter under Needs"


def test_the_tests_mirror_the_packages():
    """A test file has the name of a module or a package beside it, or is about more than one."""
    for package in PACKAGES:
        for path in sorted((ROOT / "tests" / package).rglob("test_*.py")):
            place = ROOT / path.relative_to(ROOT / "tests").parent
            assert (place / "__init__.py").is_file(), f"{path} mirrors no package"


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
    sources = [*MODULES.values(), *(chapter.source for chapter in every_chapter())]
    lines = {str(p): rounded_first(ast.parse(p.read_text(encoding="utf-8"))) for p in sources}
    assert {path: found for path, found in lines.items() if found} == {}


def test_an_einsum_takes_two_tensors():
    """Of three torch chooses the order by opt_einsum where that is installed: another rounding."""
    many = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in (*PACKAGES, "book", "counterexamples")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("einsum")
        and len(node.args) > 3
    ]
    assert not many
