"""The sweep over ranges: what it runs, how it judges an ending, and that it goes on."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
import yaml

from bookkit.chapters import ROOT, Chapter, every_chapter
from bookkit.parameters import parse_parameters
from tests import sweep
from tests.small_book import PATIENCE, until

PARAMETERS = """\
size = 3  # how many [1..20]
scale = 0.5  # a factor [0.5..10]
seed = 0  # of the draws [0..9]
"""
ENDS_IN_EVERY_WAY = """\
from bookkit.claims import ClaimError

if seed == 4:
    raise ClaimError("p.r: declared 'holds', found 'refuted'")
if seed == 9:
    raise ValueError("seed is not wanted")
if scale > 9:
    raise ValueError(f"scale must be below 9 for size {size}")
if size == 1:
    [][size]
while size == 20:
    pass
"""


@pytest.fixture
def book(tmp_path):
    """A folder with a book of two chapters: one ends in every way, the other well."""
    (tmp_path / "book" / "part").mkdir(parents=True)
    (tmp_path / "book" / "register.yml").touch()
    shutil.copy(ROOT / "environment.yml", tmp_path)
    write(tmp_path, "part/ends", ENDS_IN_EVERY_WAY)
    of_passes = PARAMETERS.splitlines()[0] + "\nlengths = [2, 3]  # a list [1..5]"
    write(tmp_path, "part/passes", "print(size)\n", of_passes)
    return tmp_path


def write(book, name, body, parameters=PARAMETERS):
    log = f'with open({str(book / "runs.log")!r}, "a") as log:\n    log.write("begun\\n")\n'
    text = f'# %% tags=["parameters"]\n{parameters}\n# %%\n{log}{body}'
    (book / "book" / f"{name}.py").write_text(text, encoding="utf-8")


def start(book, *words):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.sweep", *words],
        cwd=book,
        env=os.environ | {"PYTHONPATH": str(ROOT), "BOOK_ROOT": str(book)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def swept(book, *words):
    process = start(book, *words)
    out, told = process.communicate(timeout=PATIENCE)
    return process.returncode, out, told


def begun(book):
    log = book / "runs.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_every_ending_is_told_apart_and_nothing_is_run_twice(book):
    status, out, told = swept(book, "--limit", "3", "--seeds", "4 70")
    assert status == 1, told
    rows = {words[0]: words[1:] for line in out.splitlines() if (words := line.split())}
    # Seeds 4 and 9, size 1 and 20, scale 10; the default 0.5 is the low end.
    assert rows["part/ends"] == ["5", "0", "1", "1", "2", "1"]
    assert rows["part/passes"] == ["4", "4", "0", "0", "0", "0"]
    assert rows["all"] == ["9", "4", "1", "1", "2", "1"]
    for line in (
        "verdict changed: python -m bookkit.run part/ends --plain -p seed 4\n"
        "    p.r: declared 'holds', found 'refuted'",
        "error: python -m bookkit.run part/ends --plain -p seed 9\n"
        "    ValueError: seed is not wanted",
        "refused: python -m bookkit.run part/ends --plain -p scale 10.0\n"
        "    scale must be below 9 for size 3",
        "error: python -m bookkit.run part/ends --plain -p size 1\n"
        "    IndexError: list index out of range",
        "too long: python -m bookkit.run part/ends --plain -p size 20\n    over 3 s",
    ):
        assert line in out
    assert begun(book) == 9

    assert swept(book, "--limit", "3", "--seeds", "4 70")[0] == 1
    assert begun(book) == 9
    write(book, "part/ends", "print('mended')\n")
    status, out, _ = swept(book, "--seeds", "4 70")
    assert status == 0
    assert re.search(r"^all +9 +9 +0 +0 +0 +0$", out, re.M)
    assert begun(book) == 14


def test_a_sweep_that_is_stopped_goes_on(book):
    write(book, "part/held", "import time\n\nwhile size == 20:\n    time.sleep(0.05)\n")
    words = ("--chapters", "part/held", "--seeds", "4", "--jobs", "1")
    process = start(book, *words)
    until(lambda: begun(book) == 3, "the run that waits was not begun")
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert told == "stopped; what finished is kept, run again for the rest\n"
    kept = [json.loads(f.read_text()) for f in (book / "_build/sweep").iterdir()]
    assert sorted(k["run"] for k in kept) == ["part/held seed=4", "part/held size=1"]
    status, out, _ = swept(book, *words, "--list")
    assert status == 0
    assert [line for line in out.splitlines() if "part/held" in line] == [
        "seed  part/held seed=4: passed",
        "low   part/held size=1: passed",
        "high  part/held size=20: about 0 s",
        "high  part/held scale=10.0: about 0 s",
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("a = 3  # [1..20]", [("low", 1), ("high", 20)]),
        ("a = 3.0  # [1..20]", [("low", 1.0), ("high", 20.0)]),
        ("a = 3  # [0.5..7.5]", [("low", 1), ("high", 7)]),
        ("a = 3  # at least one [1..inf]", [("low", 1)]),
        ("a = [8, 16, 32]  # rising [6..40]", [("low", [6, 16, 32]), ("high", [8, 16, 40])]),
        ("a = [8]  # [6..40]", [("low", [6]), ("high", [40])]),
        ("a = [[1, 2], [4, 3]]  # [1..9]", [("low", [[1, 2], [4, 3]]), ("high", [[1, 2], [9, 3]])]),
        ("a = 3  # no range", []),
        ("a = True", []),
        ("a = 'odd'", []),
        ("a = []  # [1..2]", []),
    ],
)
def test_the_ends_of_a_range(line, found):
    parameter = parse_parameters(f"{line}\n", "part/x")["a"]
    told = list(sweep.ends(parameter))
    assert told == found
    assert [type(v) for _, v in told] == [type(v) for _, v in found]


def test_the_runs_leave_out_defaults_and_stored_runs_and_begin_with_seeds():
    chapter = Chapter("lengthfree/sparse_majority")
    runs = sweep.in_order(sweep.runs_of(chapter, (0, 7, 2_000_000)))
    assert [r.value for r in runs[:2]] == [7, 1_000_000]
    assert [r.kind for r in runs] == sorted((r.kind for r in runs), key=sweep.KINDS.index)
    assert {r.name for r in runs} == {"seed", "lengths", "epochs", "slow_epochs"}
    names = {name for c in every_chapter() for name in c.parameters if "seed" in name}
    assert names == {"seed", "seeds"}, "seeds is a number of runs"


def test_parts_of_a_sweep_are_all_of_it():
    runs = sweep.runs_of(Chapter("sharper/pac_bayes"))
    parts = [sweep.shard(runs, f"{k}/3") for k in (1, 2, 3)]
    assert sorted(r.label for part in parts for r in part) == sorted(r.label for r in runs)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_run_that_was_stopped_is_run_again_with_more_time(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "RESULTS", tmp_path)
    run = sweep.runs_of(Chapter("sharper/pac_bayes"))[0]
    for ending in sweep.ENDINGS:
        run.path.write_text(json.dumps({"result": vars(sweep.Result(ending, "", 1, 60))}))
        assert sweep.known(run, 60).ending == ending
        assert (sweep.known(run, 61) is None) == (ending == "too long")
    run.path.write_text("{")
    assert sweep.known(run, 60) is None


def test_a_refusal_has_to_name_two_parameters(book):
    chapter = Chapter("part/ends", book)
    for told, ending in (
        ("    ValueError: scale must divide size", "refused"),
        ("    bookkit.parameters.ChapterError: size and seed", "refused"),
        ("    ValueError: scales of sizes", "error"),
        ("    TypeError: scale, size", "error"),
        ("    ValueError: size, scale\n    bookkit.claims.ClaimError: size, scale",
         "verdict changed"),
        ("    the process of the run was ended by SIGKILL", "error"),
        ("    the process of the run was ended by SIGXCPU", "too long"),
    ):  # fmt: skip
        assert sweep.judged(chapter, 1, told)[0] == ending, told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--chapters", "sharper/pac_baye"), "did you mean sharper/pac_bayes?"),
        (("--kinds", "middle"), "no kind 'middle'; there are: seed, low, high"),
        (("--shard", "9/8"), "--shard wants a part such as 1/8 to 8/8, got '9/8'"),
        (("--shard", "0/8"), "--shard wants a part such as 1/8 to 8/8, got '0/8'"),
        (("--seeds", "four"), "--seeds wants whole numbers, got 'four'"),
        (("--jobs", "0"), "--jobs must be at least 1, got 0"),
        (("--limit", "0.5"), "--limit must be at least 1 second, got 0.5"),
    ],
)
def test_bad_input_is_named(words, told, capsys):
    assert sweep.main(words) == 2
    assert told in capsys.readouterr().err


def test_the_weekly_sweep_ends_in_time_however_long_its_runs_are():
    text = (ROOT / ".github" / "workflows" / "sweep.yml").read_text("utf-8")
    job = yaml.safe_load(text)["jobs"]["sweep"]
    shards = job["strategy"]["matrix"]["shard"]
    assert shards == list(range(1, len(shards) + 1))
    (command,) = (s["run"] for s in job["steps"] if s.get("run", "").startswith("make sweep"))
    assert f"SHARD=${{{{ matrix.shard }}}}/{len(shards)}" in command
    jobs = int(re.search(r"JOBS=(\d+)", command)[1])
    runs = sum(len(sweep.runs_of(chapter)) for chapter in every_chapter())
    rounds = math.ceil(math.ceil(runs / len(shards)) / jobs)
    assert rounds * sweep.LIMIT / 60 + 20 <= job["timeout-minutes"] <= 350
