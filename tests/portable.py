"""The stored notebooks on lesser processors: ``make portable``, ``python -m tests.portable``.

Each setting holds torch, MKL, oneDNN, OpenBLAS, NumPy, Numba and the C library to an instruction
set, with one thread or two, and has every chapter executed and compared as ``make test`` does. The
outputs are stored once, so what differs there is a false alarm, to be repaired in the chapter,
which prints what rounding decides. Only an x86 processor can be held to less; the table names what
torch says that it uses.

``make lesser``, ``python -m tests.portable --lesser``, is the second leg of CI: all tests and a
dozen notebooks, drawn by the commit, held to AVX2. A push is then never green on its own processor
alone. Where that has no more than AVX2, the tests have just run so, and the notebooks are held to
no wide vectors at all.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from bookkit.chapters import ROOT, Chapter, every_chapter, find
from bookkit.parameters import ChapterError

HELD: dict[str, dict[str, str]] = {
    "native": {},
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_CBWR": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "NUMBA_CPU_FEATURES": "+avx2,+fma",  # what the kernels ask for; haswell has them anyway
        "NUMBA_CPU_NAME": "haswell",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
    },
    "default": {
        "ATEN_CPU_CAPABILITY": "default",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA",
        "MKL_CBWR": "COMPATIBLE",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CPU_NAME": "generic",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "OPENBLAS_CORETYPE": "Nehalem",
    },
}
"""By the name that torch has for it, what holds each library to an instruction set."""
DISABLED = "NPY_DISABLE_CPU_FEATURES"
THREADS = ("OMP", "MKL", "OPENBLAS", "NUMBA")
SETTINGS = tuple(f"{held}-{threads}" for held in HELD for threads in (1, 2))
DRAWN = 12  # notebooks of the second leg
LOGS = ROOT / "_build" / "portable"
_PROBE = """
import json, torch
print(json.dumps([torch.backends.cpu.get_cpu_capability(), torch.get_num_threads()]))
"""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m|#x1B\[[0-9;]*m")


def environment(setting: str) -> dict[str, str]:
    """The present environment under a setting, and under no other that this process is held to."""
    other = {name for held in HELD.values() for name in held} | {DISABLED}
    kept = {name: value for name, value in os.environ.items() if name not in other}
    return kept | variables(setting)


def variables(setting: str) -> dict[str, str]:
    """What a setting such as ``"avx2-2"`` adds to an environment that is held to nothing."""
    held, _, threads = setting.rpartition("-")
    given = {f"{library}_NUM_THREADS": threads for library in THREADS} | HELD[held]
    unwanted = [name for name in _numpy_features() if held == "default" or _beyond_avx2(name)]
    if held != "native" and unwanted:
        given[DISABLED] = " ".join(unwanted)
    return given


def _numpy_features() -> list[str]:
    """What NumPy may choose above its baseline on this processor, if this process may or not."""
    from numpy._core import _multiarray_umath as built

    refused = os.environ.get(DISABLED, "").split()
    return [k for k in built.__cpu_dispatch__ if built.__cpu_features__[k] or k in refused]


def _beyond_avx2(feature: str) -> bool:
    return feature.startswith("AVX512") or feature == "X86_V4"


def lesser() -> str:
    """The first setting below this processor: without AVX-512, or without any wide vectors.

    Where a processor cannot be held to less it is the same one, with two threads in place of one.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        return "native-2"
    return "avx2-1" if any(map(_beyond_avx2, _numpy_features())) else "default-1"


def drawn(commit: str, chapters: Sequence[Chapter], count: int = DRAWN) -> list[Chapter]:
    """Chapters of as many kinds as there are, other ones for another commit.

    A kind is a part of the book, with training or without.
    """
    shuffled = sorted(chapters, key=lambda chapter: chapter.name)
    random.Random(commit).shuffle(shuffled)
    met: dict[tuple[str, bool], int] = {}
    rounds = []
    for chapter in shuffled:
        kind = chapter.name.partition("/")[0], "nbval-ignore-output" in chapter.text
        met[kind] = met.get(kind, 0) + 1
        rounds.append(met[kind])
    order = sorted(range(len(shuffled)), key=rounds.__getitem__)  # stable: the first of each kind
    return sorted((shuffled[i] for i in order[:count]), key=lambda chapter: chapter.name)


def second_leg(options: Sequence[str]) -> int:
    """Run what the lesser setting has not seen yet, as said above; pytest's exit status."""
    describe = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    commit = subprocess.run(describe, capture_output=True, text=True, check=False).stdout.strip()
    setting = lesser()
    paths = [str(c.notebook.relative_to(ROOT)) for c in drawn(commit, every_chapter(ROOT))]
    paths = ["tests", *paths] if setting.startswith("avx2") else paths
    print(f"held to {setting}: {' '.join(paths)}", flush=True)
    command = [sys.executable, "-m", "pytest", *options, *paths]
    return subprocess.run(command, cwd=ROOT, env=environment(setting)).returncode


def probe(setting: str) -> tuple[str, int]:
    """What torch says that it uses under a setting: instruction set and threads."""
    command = [sys.executable, "-c", _PROBE]
    given = environment(setting)
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=True)
    name, threads = json.loads(done.stdout)
    return name, threads


def validate(setting: str, paths: Sequence[str], options: Sequence[str]) -> tuple[int, list[str]]:
    """Compare the notebooks under a setting.

    Returns:
        How many cells were compared, and one line for each alarm.

    Raises:
        RuntimeError: pytest did not come to its end.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    report = LOGS / f"{setting}.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", *options, f"--junitxml={report}", *paths]
    given = environment(setting)
    done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)
    log = report.with_suffix(".log")
    log.write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode not in (0, 1) or not report.is_file():
        raise RuntimeError(f"{setting}: pytest ended with {done.returncode}; see {log}")
    return read(report)


def read(report: Path) -> tuple[int, list[str]]:
    """Cells and alarms of a report of pytest in JUnit's format."""
    cases = list(ET.parse(report).getroot().iter("testcase"))
    alarms = []
    for case in cases:
        for failure in (*case.findall("failure"), *case.findall("error")):
            name = case.get("classname", "").removeprefix("book.").removesuffix(".ipynb")
            text = _COLOUR.sub("", f"{failure.get('message', '')}\n{failure.text or ''}")
            lines = [line.strip() for line in text.splitlines()]
            changed = [line for line in lines if re.match(r"[-+] \S", line)][:2]
            what = " / ".join(changed) or next((line for line in lines if line), "")
            alarms.append(f"{name.replace('.', '/')}, {case.get('name', '')}: {what[:200]}")
    return len(cases), alarms


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 if there was no alarm, 1 if there was, 2 for bad input."""
    parser = argparse.ArgumentParser("python -m tests.portable", description=__doc__)
    parser.add_argument("--chapters", default="", help="names apart by blanks; default: all")
    parser.add_argument("--settings", default="", help=f"some of: {' '.join(SETTINGS)}")
    parser.add_argument(
        "--lesser", action="store_true", help="tests and some notebooks, one step below"
    )
    parser.add_argument("options", nargs="*", help="of pytest, behind --")
    given = parser.parse_args(arguments)
    if given.lesser:
        return second_leg(given.options)
    settings = given.settings.split() or list(SETTINGS)
    try:
        if unknown := set(settings) - set(SETTINGS):
            raise ChapterError(f"no setting {min(unknown)!r}; there are: {', '.join(SETTINGS)}")
        chapters = [find(name) for name in given.chapters.split()]
    except ChapterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    paths = [str(c.notebook.relative_to(ROOT)) for c in chapters] or ["book"]
    found: dict[str, list[str]] = {}
    print(f"{'setting':<12}{'torch':<10}{'cells':>6}{'false alarms':>14}{'minutes':>9}", flush=True)
    for setting in settings:
        started = time.monotonic()
        name, threads = probe(setting)
        cells, found[setting] = validate(setting, paths, given.options)
        minutes = (time.monotonic() - started) / 60
        row = f"{setting:<12}{f'{name} x{threads}':<10}{cells:>6}{len(found[setting]):>14}"
        print(f"{row}{minutes:>9.1f}", flush=True)
    for setting, alarms in found.items():
        for alarm in alarms:
            print(f"{setting}: {alarm}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
