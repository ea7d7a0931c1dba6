"""Setting up: one list of pins, and one clear line when something is missing."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from bookkit.chapters import ROOT

MAKE = shutil.which("make")
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PIN = re.compile(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.]+(; sys_platform == 'linux')?")


@pytest.fixture
def checkout(tmp_path):
    for name in ("Makefile", "environment.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def make(folder, *arguments, **environment):
    # What `make test PYTHON=...` hands down is not meant for the make that is tested here.
    ours = {k for k in os.environ if k.startswith("MAKE") or k == "PYTHON"}
    clean = {k: v for k, v in os.environ.items() if k not in ours}
    return subprocess.run(
        [MAKE, *arguments],
        cwd=folder,
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def pip_lines():
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    return next(d["pip"] for d in dependencies if isinstance(d, dict))


def pins():
    return [line for line in pip_lines() if not line.startswith("-")]


def test_every_dependency_is_pinned_once():
    assert all(PIN.fullmatch(pin) for pin in pins())
    names = [pin.split("==")[0].lower().replace("_", "-") for pin in pins()]
    assert len(names) == len(set(names))


def test_the_makefile_reads_the_same_pins_as_conda():
    command = re.search(r"sed -n '(s/.*?/p)' environment\.yml", (ROOT / "Makefile").read_text())
    read = subprocess.run(
        ["sed", "-n", command[1].replace("$$", "$"), "environment.yml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert read.split("\n")[:-1] == pins()


def test_conda_and_binder_install_the_package_itself():
    # Both run pip in the folder of environment.yml. repo2docker copies the repository there before
    # it installs only if it sees a line that begins so.
    assert pip_lines()[-1] == "-e ."
    assert len(pip_lines()) == len(pins()) + 1


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0"])
def test_every_package_allows_every_python_that_the_makefile_takes(python):
    """One that asks for 3.11.5 cannot be installed where the system's Python is 3.11.2."""
    asked = {d.name: d.metadata.get("Requires-Python") for d in importlib.metadata.distributions()}
    refusing = {k: v for k, v in asked.items() if v and python not in SpecifierSet(v)}
    assert not refusing


def test_no_version_is_pinned_elsewhere():
    for name in ("pyproject.toml", "Makefile", ".ci/run"):
        assert not re.search(r"[a-z]==\d", (ROOT / name).read_text())


def test_no_dependency_is_under_the_gpl_alone():
    for pin in pins():
        try:
            metadata = importlib.metadata.metadata(pin.split("==")[0])
        except importlib.metadata.PackageNotFoundError:
            continue
        stated = metadata.get("License-Expression") or metadata.get("License") or ""
        licences = [c for c in metadata.get_all("Classifier") or [] if c.startswith("License")]
        assert not re.match(r"(A|L)?GPL", stated), pin
        free = [c for c in licences if "General Public License" not in c]
        assert free or not licences, f"{pin}: {licences}"


def test_help_lists_the_targets():
    listed = make(ROOT, "help").stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    assert {"book", "test"} < set(phony)
    for target in phony:
        assert f"make {target} " in listed


def errors_of(done):
    assert done.returncode != 0
    return [line for line in done.stderr.splitlines() if line.startswith("error")]


REMEDY = (
    "Python 3.11, 3.12 or 3.13; get one (Debian: apt install python3-venv; macOS: brew install "
    "python@3.13), or name it: make PYTHON=/path/to/python3"
)


@pytest.mark.parametrize("python", ["/nowhere/python3.11", "/bin/false"])
def test_a_wrong_python_is_named_in_one_line(checkout, python):
    done = make(checkout, "book", f"PYTHON={python}")
    assert errors_of(done) == [f"error: {python} is not {REMEDY}"]
    assert not (checkout / ".venv").exists()


def pythons(folder, **scripts):
    """A path to search, of these programs and what a Makefile needs, without any other Python."""
    folder.mkdir()
    for tool in ("sh", "df", "awk", "sed", "find", "rm", "touch", "grep", "tail"):
        (folder / tool).symlink_to(shutil.which(tool))
    for name, script in scripts.items():
        path = folder / name.replace("_", ".")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return str(folder)


STARTS = f'case "$1" in -c) exec {sys.executable} "$@";; esac; exit 1'  # but makes no environment


@pytest.mark.parametrize(
    ("scripts", "taken"),
    [
        ({"python3_13": STARTS, "python3_12": STARTS, "python3_11": STARTS}, "python3.13"),
        ({"python3_13": "exit 127", "python3_12": STARTS, "python3_11": STARTS}, "python3.12"),
        ({"python3_13": "exit 127", "python3": STARTS}, "python3"),
    ],
)
def test_the_newest_python_that_starts_is_taken(checkout, tmp_path, scripts, taken):
    path = pythons(tmp_path / "bin", **scripts)
    done = make(checkout, "book", PATH=path)
    assert errors_of(done) == [
        f"error: {taken} cannot make a virtual environment; install its venv module "
        "(Debian: apt install python3-venv)"
    ]


def test_no_python_at_all_is_one_line_with_its_remedy(checkout, tmp_path):
    done = make(checkout, "book", PATH=pythons(tmp_path / "bin", python3="exit 127"))
    assert errors_of(done) == [f"error: there is no {REMEDY}"]
    assert not (checkout / ".venv").exists()


def test_the_makefile_takes_the_pythons_of_the_package():
    low, high = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', PYPROJECT).groups()
    text = (ROOT / "Makefile").read_text()
    assert f"(3, {low}) <= sys.version_info[:2] <= (3, {int(high) - 1})" in text
    tried = re.search(r"for name in ([\w. ]+); do", text)[1].split()
    wanted = [f"python3.{k}" for k in range(int(high) - 1, int(low) - 1, -1)]
    assert tried == [*wanted, "python3", "python"]


def test_too_little_space_is_named_in_one_line(checkout):
    done = make(checkout, "book", f"PYTHON={sys.executable}", "NEEDED_MIB=999999999")
    assert done.returncode != 0
    assert "the environment needs 999999999 MiB; free some space" in done.stderr
    assert not (checkout / ".venv").exists()


def test_no_network_is_named_in_one_line(checkout, tmp_path):
    """With this pip, which sees no package of its own and could write none of its own."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    flags = "PIP_FLAGS=--no-index --no-cache-dir --ignore-installed --find-links=/nowhere"
    given = ("book", flags, f"PYTHON={sys.executable}")
    done = make(checkout, *given, PIP_FIND_LINKS="", PIP_TARGET=str(tmp_path / "target"))
    assert done.returncode != 0
    assert "error: the packages could not be installed (no network? no space?)" in done.stderr
    assert len(done.stderr.splitlines()) <= 3
    assert not (checkout / ".venv" / ".ready").exists()


def test_a_clone_has_plain_line_ends_whatever_git_is_told(tmp_path):
    """As Git for Windows is by default: ``.ci/run`` and the Makefile would not run."""
    clone, git = tmp_path / "clone", ["git", "-c", "core.autocrlf=true"]
    (tmp_path / "origin").mkdir()
    shutil.copy(ROOT / ".gitattributes", tmp_path / "origin")
    (tmp_path / "origin" / "run").write_bytes(b"set -euo pipefail\n")
    (tmp_path / "origin" / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    me = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*me, "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path / "origin", check=True)
    subprocess.run([*git, "clone", "-q", str(tmp_path / "origin"), str(clone)], check=True)
    assert (clone / "run").read_bytes() == b"set -euo pipefail\n"
    assert (clone / "x.png").read_bytes() == b"\x89PNG\r\n\x1a\n"
