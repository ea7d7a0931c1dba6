"""The check on lesser processors: it holds the libraries, counts alarms, and names them."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import nbformat
import pytest
import yaml

from bookkit.chapters import ROOT, every_chapter
from tests import portable

X86 = platform.machine() in ("x86_64", "AMD64")
SOURCE = '# %% tags=["parameters"]\nn = 1  # any\n'
CELLS = {
    'print("the same anywhere", 0.25)': "the same anywhere 0.2500001\n",
    'import os; print("held to", os.environ.get("ATEN_CPU_CAPABILITY"))': "held to None\n",
}


@pytest.fixture
def book(tmp_path):
    """A book of one chapter, one cell of which prints what it is held to."""
    cells = [
        nbformat.v4.new_code_cell(
            source,
            execution_count=i,
            outputs=[nbformat.v4.new_output("stream", name="stdout", text=text)],
        )
        for i, (source, text) in enumerate(CELLS.items(), 1)
    ]
    folder = tmp_path / "book" / "part"
    folder.mkdir(parents=True)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "name.ipynb")
    (folder / "name.py").write_text(SOURCE)
    (folder.parent / "register.yml").touch()
    return tmp_path


def check(book, *words):
    options = ("--", "-q", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env")
    return subprocess.run(
        [sys.executable, "-m", "tests.portable", *words, *options],
        cwd=book,
        env=os.environ | {"PYTHONPATH": str(ROOT), "BOOK_ROOT": str(book)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_differs_on_a_lesser_processor_is_counted_and_named(book):
    done = check(book, "--chapters", "part/name", "--settings", "avx2-2")
    assert done.returncode == 1, done.stderr
    head, held, alarm = done.stdout.splitlines()
    assert head.split() == ["setting", "torch", "cells", "false", "alarms", "minutes"]
    assert held.split()[0] == "avx2-2"
    assert held.split()[-3:-1] == ["2", "1"]
    assert alarm.startswith("avx2-2: part/name, Cell 1: ")
    assert "held to None" in alarm
    assert "held to avx2" in alarm
    assert not X86 or held.split()[1:3] == ["AVX2", "x2"]


def test_no_alarm_is_no_error(monkeypatch, capsys):
    monkeypatch.setattr(portable, "probe", lambda setting: ("AVX2", int(setting[-1])))
    looked_at = []
    monkeypatch.setattr(
        portable, "validate", lambda setting, paths, options: looked_at.append(paths) or (7, [])
    )
    assert portable.main(()) == 0
    assert looked_at == [["book"]] * len(portable.SETTINGS)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[0] for row in rows] == list(portable.SETTINGS)
    assert {tuple(row[3:5]) for row in rows} == {("7", "0")}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--settings", "sse9-1"), "no setting 'sse9-1'; there are: native-1, native-2, avx2-1"),
        (("--chapters", "cube/fourier_wals"), "did you mean cube/fourier_walsh?"),
    ],
)
def test_an_unknown_name_is_refused(words, message, capsys):
    assert portable.main(words) == 2
    assert message in capsys.readouterr().err


def test_the_lesser_setting_is_below_this_processor(monkeypatch):
    for features, setting in (
        (["AVX2", "AVX512F"], "avx2-1"),
        (["X86_V4"], "avx2-1"),
        (["AVX2", "FMA3"], "default-1"),
    ):
        monkeypatch.setattr(portable.platform, "machine", lambda: "x86_64")
        monkeypatch.setattr(portable, "_numpy_features", lambda features=features: features)
        assert portable.lesser() == setting
    monkeypatch.setattr(portable.platform, "machine", lambda: "arm64")
    assert portable.lesser() == "native-2"


def test_the_drawn_notebooks_are_of_all_kinds_and_change_with_the_commit():
    chapters = every_chapter(ROOT)
    commits = [f"{k:040x}" for k in range(40)]
    draws = [portable.drawn(commit, chapters) for commit in commits]
    assert draws[0] == portable.drawn(commits[0], chapters[::-1])
    kinds = {(c.name.partition("/")[0], "nbval-ignore-output" in c.text) for c in chapters}
    for found in draws:
        assert len({c.name for c in found}) == portable.DRAWN
        met = {(c.name.partition("/")[0], "nbval-ignore-output" in c.text) for c in found}
        assert len(met) == min(len(kinds), portable.DRAWN)
    assert len({c.name for found in draws for c in found}) > len(chapters) / 2


@pytest.mark.parametrize(
    ("setting", "wanted"), [("avx2-1", ["tests"]), ("default-1", []), ("native-2", [])]
)
def test_the_second_leg_is_held_and_tells_its_status(monkeypatch, capfd, setting, wanted):
    ran = []

    def run(command, **given):
        if command[0] == "git":
            return subprocess.CompletedProcess(command, 0, stdout="abc\n")
        ran.append((command, given["env"]))
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(portable.subprocess, "run", run)
    monkeypatch.setattr(portable, "lesser", lambda: setting)
    assert portable.main(["--lesser", "--", "-q"]) == 1
    ((command, environment),) = ran
    assert command[1:4] == ["-m", "pytest", "-q"]
    notebooks = [path for path in command[4:] if path.endswith(".ipynb")]
    assert len(notebooks) == portable.DRAWN
    assert command[4:] == [*wanted, *notebooks]
    held = setting.partition("-")[0]
    assert environment.get("ATEN_CPU_CAPABILITY", "native") == held
    assert f"held to {setting}: " in capfd.readouterr().out


def test_a_run_that_does_not_end_is_no_success(tmp_path, monkeypatch):
    monkeypatch.setattr(portable, "LOGS", tmp_path)
    monkeypatch.setattr(portable, "ROOT", tmp_path)
    with pytest.raises(RuntimeError, match="native-1: pytest ended with 4; see"):
        portable.validate("native-1", ["book/nothing.ipynb"], ["-q", "-p", "no:cacheprovider"])


def test_a_setting_takes_the_place_of_another(monkeypatch):
    for held in ("default", "avx2"):
        for name, value in portable.variables(f"{held}-2").items():
            monkeypatch.setenv(name, value)
    native = portable.environment("native-1")
    assert native["OMP_NUM_THREADS"] == "1"
    assert not {"ATEN_CPU_CAPABILITY", "GLIBC_TUNABLES", portable.DISABLED} & native.keys()


@pytest.mark.skipif(not X86, reason="only an x86 processor can be held to less")
def test_every_library_is_held():
    libraries = ("ATEN", "MKL", "NUMBA", "ONEDNN", "OPENBLAS")
    for setting in portable.SETTINGS:
        given = portable.variables(setting)
        held, threads = setting.split("-")
        assert {given[f"{name}_NUM_THREADS"] for name in portable.THREADS} == {threads}
        named = {name.split("_")[0] for name in given if not name.endswith("_THREADS")}
        assert named >= set(libraries) or held == "native"
    report = (
        "import numpy, numba.core.registry as r; from numba.core import cpu;"
        "from helpers.kernels import _backends as b, _walsh_cpu as w;"
        "c = r.cpu_target.target_context.codegen(); print(c.magic_tuple()[1:]);"
        "print(w.WIDTH, b.has_feature('avx512vpopcntdq'));"
        "print([k for k, v in numpy._core._multiarray_umath.__cpu_features__.items() if v]);"
        "from tests import portable; print(portable.variables('default-1'))"
    )
    cases = (("avx2", "('haswell', '+avx2,+fma')", 32), ("default", "('generic', '')", 16))
    for held, compiled_for, width in cases:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", report],
            cwd=ROOT,
            env=portable.environment(f"{held}-1"),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[:2] == [compiled_for, f"{width} False"]
        assert done.stdout.splitlines()[-1] == str(portable.variables("default-1"))
        beyond = {"X86_V4", "AVX512_SPR"} | ({"X86_V3"} if held == "default" else set())
        assert not {f"'{feature}'" for feature in beyond} & set(done.stdout.split(", "))


def test_the_weekly_job_names_every_setting_but_the_native_one():
    text = (ROOT / ".github" / "workflows" / "portable.yml").read_text(encoding="utf-8")
    job = yaml.safe_load(text)["jobs"]["portable"]
    assert set(job["strategy"]["matrix"]["setting"]) == set(portable.SETTINGS) - {"native-1"}
