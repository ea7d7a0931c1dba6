"""The runner: what it refuses, executes, keeps, retries and resumes."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from distributed import Client

from bookkit import chapters, jobs, key, run, storing
from bookkit.chapters import ROOT
from bookkit.definitions import PACKAGES
from bookkit.execution import Outcome
from bookkit.parameters import ChapterError, parse_parameters
from bookkit.results import write_atomically
from tests.small_book import PATIENCE, copy_machine_code, until


def outputs(notebook):
    """What the cells printed."""
    cells = json.loads(notebook.read_text())["cells"]
    return "".join("".join(o.get("text", "")) for c in cells for o in c.get("outputs", []))


def executed(done):
    return sorted(re.findall(r"done (\S+)", done.stdout))


NAMES = ("plain", "spectral", "kernel", "stored")


@pytest.fixture
def asked(small_book, monkeypatch, capsys):
    """Ask the runner in this process, of a small book: what is refused needs no other."""
    monkeypatch.chdir(small_book.root)
    before = signal.getsignal(signal.SIGTERM)

    def ask(*words):
        status = run.main(["--book", str(small_book.root), *words])
        told = capsys.readouterr()
        return SimpleNamespace(returncode=status, stdout=told.out, stderr=told.err)

    yield ask
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("part/plain", "-p", "sise", "4", "--out", "o"),
            "part/plain has no parameter 'sise'; it has: size, scale, word, pause",
        ),
        (
            ("part/plain", "-p", "size", "four", "--out", "o"),
            "parameter 'size' takes int from 1 to 20, such as 3; got 'four' (how many [1..20])",
        ),
        (("part/plain", "-p", "size", "2.5", "--out", "o"), "takes int from 1 to 20"),
        (("part/plain", "-p", "size", "True", "--out", "o"), "takes int from 1 to 20"),
        (("part/plain", "-p", "size", "4,21", "--out", "o"), "got 21"),
        (("part/plain", "-p", "size", "4,,5", "--out", "o"), "an empty value in '4,,5'"),
        (("part/plain", "-p", "size", "4,", "--out", "o"), "an empty value in '4,'"),
        (("part/plain", "-p", "scale", "1e9", "--out", "o"), "takes float from 0 to 10"),
        (("part/plain", "-p", "size", "4"), "give --out DIR"),
        (("-p", "size", "4", "--out", "o"), "-p needs the chapters"),
        (("part/plain", "-p", "size", "4", "-p", "size", "5", "--out", "o"), "given twice"),
        (("part/plane",), "no chapter 'part/plane'; did you mean part/plain?"),
        (("part/plain", "--preset", "paper"), "part/plain has no parameters at the paper's scale"),
        (("--preset", "paper"), "no chapter has parameters at the paper's scale"),
        (("--jobs", "0"), "--jobs must be at least 1, got 0"),
        (("part/plain", "-p", "size", "4", "--out", ""), "--out wants the name of a folder"),
        (("part/plain", "-p", "size", "4", "--out", "book"), "--out book lies in the book"),
        (("part/plain", "-p", "size", "4", "--out", "book/part"), "lies in the book"),
        (("part/plain", "-p", "size", "4", "--out", "environment.yml"), "could not be written"),
        (("part/plain", "-p", "size", "4", "--out", "environment.yml/x"), "could not be written"),
        (("part/plain", "-p", "word", "a/b,a_b", "--out", "o"), "would both be written to"),
        (("part/plain", "-p", "word", f"{'w' * 300},b", "--out", "o"), "too long"),
        (("part/plain", "-p", "size", "{[]:1}", "--out", "o"), "takes int from 1 to 20"),
        (("part/plain", "-p", "scale", "-1e-3", "--out", "o"), "takes float from 0 to 10"),
        (("part/plain", "-p", "size"), "-p wants a name and a value"),
        (("part/plain", "-p", "=4", "--out", "o"), "-p wants a name and a value"),
        (
            ("--budget", "soon"),
            "--budget wants a time above 0 such as 90s, 45min or 2h, got 'soon'",
        ),
        (("--budget", "0h"), "--budget wants a time above 0"),
        (("--budget", "90"), "--budget wants a time above 0"),
        (
            ("part/plain", "--device", "foo"),
            "--device wants a device such as cpu or cuda, got 'foo'",
        ),
        (("part/plain", "--device", "xpu"), "--device xpu is not on this machine"),
        (
            ("part/plain", "-p", "size", "4", "--out", "results/x"),
            "--out results/x lies in the results of the book",
        ),
    ],
)
def test_bad_input_is_refused_by_name_in_one_line_before_any_kernel_starts(
    small_book, asked, arguments, message
):
    done = asked(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert not list(small_book.root.glob("**/*.ipynb"))


def test_only_what_changed_is_executed(first_run, executed_book):
    done, small_book = first_run[1], executed_book
    assert done.returncode == 0
    assert executed(done) == ["part/kernel", "part/plain", "part/spectral", "part/stored"]
    assert "nothing to execute" in small_book.run().stdout

    def stale():
        return sorted(re.findall(r"stale: (\S+)", small_book.run("--check").stdout))

    assert small_book.run("--check").returncode == 0
    spectrum = small_book.root / "helpers" / "cube" / "fourier.py"
    text = spectrum.read_text()
    spectrum.write_text(text.replace('"""', '"""Other words. ', 5) + "# a line\n")
    assert stale() == []
    spectrum.write_text(f"{text}\n\ndef another():\n    return 1\n")
    assert stale() == [], "nothing reaches it"
    spectrum.write_text(text.replace("def spectrum(", "def spectrum(*, ", 1))
    assert stale() == ["part/spectral"]
    package = small_book.root / "helpers" / "kernels" / "__init__.py"
    package.write_text(package.read_text() + "import sys\n\nsys.setrecursionlimit(2000)\n")
    assert stale() == ["part/kernel", "part/spectral"]
    assert executed(small_book.run()) == ["part/kernel", "part/spectral"]


def test_a_check_says_why(executed_book):
    small_book = executed_book
    root = small_book.root

    def told(*names):
        return small_book.run(*names, "--check").stdout.splitlines()

    def change(file, old, new):
        text = (root / file).read_text()
        assert old in text
        (root / file).write_text(text.replace(old, new))

    change("environment.yml", "torch==", "torch==9.")
    lines = told()
    assert [line.split()[1] for line in lines] == [f"part/{n}" for n in sorted(NAMES)]
    why = r"stale: \S+ \(environment.yml: torch [\d.]+ -> 9\.[\d.]+\)"
    assert all(re.fullmatch(why, line) for line in lines), lines
    refused = small_book.run("part/plain")  # the key would name a torch that did not run
    assert refused.returncode == 2
    assert re.search(
        r"error: torch [\d.]+ is installed, but environment\.yml has 9", refused.stderr
    )
    change("environment.yml", "torch==9.", "torch==")
    change("helpers/cube/fourier.py", "def spectrum(", "def spectrum(*, ")
    assert told() == ["stale: part/spectral (helpers.cube.fourier.spectrum changed)"]
    change("helpers/cube/fourier.py", "def spectrum(*, ", "def spectrum(")
    assert told() == ["every chapter is current"]
    change("book/part/plain.py", "print(word,", "print(word.upper(),")
    assert told() == ["stale: part/plain (its code changed)"]
    change("book/part/plain.py", "print(word.upper(),", "print(word,")
    (root / "results" / "part").mkdir()
    (root / "results" / "part" / "stored.runs.csv").write_text("seed\n0\n")
    assert told() == ["stale: part/stored (results/part/stored.runs.csv added)"]
    shutil.rmtree(root / "results" / "part")
    small_book.notebook("part/kernel").unlink()
    assert told("part/kernel") == ["stale: part/kernel (never executed)"]
    whole = small_book.notebook("part/plain").read_text()
    change("book/part/plain.ipynb", "odd 1.5", "odd 1.6")
    edited = "the notebook was edited after it was executed"
    assert told("part/plain") == [f"stale: part/plain ({edited})"]
    small_book.run("part/plain")
    assert small_book.notebook("part/plain").read_text() == whole


def test_text_is_taken_over_without_a_run(executed_book):
    small_book, path = executed_book, executed_book.root / "book" / "part" / "plain.py"
    before = json.loads(small_book.notebook("part/plain").read_text())
    text = path.read_text().replace("# # A small chapter", "# # Another title\n#\n# And more.")
    text = text.replace("# how many", "# how many of them").replace(
        "# %%\nimport", '# %% tags=["a"]\nimport'
    )
    path.write_text(text + "\n# %% [markdown]\n# The end.\n")
    assert small_book.run("--check").stdout == "stale text: part/plain\n"
    done = small_book.run()
    assert done.stdout == "text taken over: part/plain\n4 current, nothing to execute\n", (
        done.stderr
    )
    after = json.loads(small_book.notebook("part/plain").read_text())
    assert "".join(after["cells"][0]["source"]) == "# Another title\n\nAnd more."
    assert "".join(after["cells"][-1]["source"]) == "The end."
    assert after["cells"][2]["metadata"] == {"tags": ["a"]}
    assert "of them" in "".join(after["cells"][1]["source"])
    assert [c["outputs"] for c in after["cells"] if "outputs" in c] == [
        c["outputs"] for c in before["cells"] if "outputs" in c
    ]
    assert small_book.run("--check").stdout == "every chapter is current\n"
    taken = small_book.notebook("part/plain").read_bytes()
    assert executed(small_book.run("part/plain", "--force")) == ["part/plain"]
    assert small_book.notebook("part/plain").read_bytes() == taken
    assert json.loads(taken)["metadata"]["book"]["parameters"] == {}
    assert b"papermill" not in taken


def test_text_is_taken_over_elsewhere_too(small_book):
    there = ("part/plain", "-p", "size", "4", "--out", "there")
    assert executed(small_book.run(*there)) == ["part/plain"]
    other = small_book.run("part/plain", "-p", "size", "5", "--out", "there", "--check")
    assert other.stdout == "stale: part/plain size=5 (parameters changed)\n"
    path = small_book.root / "book" / "part" / "plain.py"
    path.write_text(
        path.read_text().replace("# # A small", "# Before.\n\n# %% [markdown]\n# # A small")
    )
    assert small_book.run(*there, "--check").stdout == "stale text: part/plain size=4\n"
    assert "text taken over" in small_book.run(*there).stdout
    taken = small_book.root / "there" / "part" / "plain.ipynb"
    whole = taken.read_bytes()
    assert b"Before." in whole
    assert small_book.run(*there, "--check").stdout == "every chapter is current\n"
    small_book.run(*there, "--force")
    assert taken.read_bytes() == whole


def test_a_kill_between_a_notebook_and_its_entry_leaves_the_chapter_stale(executed_book):
    """The entry is that of the notebook before, and the source as it was again."""
    small_book, lock = executed_book, executed_book.root / "book" / "keys.json"
    entries, path = lock.read_text(), small_book.root / "book" / "part" / "plain.py"
    text = path.read_text()
    path.write_text(text.replace("print(word,", "print(word.upper(),"))
    assert executed(small_book.run()) == ["part/plain"]
    lock.write_text(entries)
    path.write_text(text)
    other = "the notebook is not the one of which keys.json tells"
    assert small_book.run("--check").stdout == f"stale: part/plain ({other})\n"
    assert executed(small_book.run()) == ["part/plain"]
    assert lock.read_text() == entries


def test_a_clone_with_other_line_ends_is_current(executed_book):
    for path in executed_book.root.rglob("*"):
        if path.suffix in (".py", ".ipynb", ".yml", ".json", ".csv") and path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert executed_book.run("--check").stdout == "every chapter is current\n"


def test_parameters_go_to_another_folder_and_leave_the_book_alone(small_book):
    there = ("--out", "there")
    done = small_book.run("part/plain", "-p", "size", "4", "-p", "word", "a=b", *there)
    assert done.returncode == 0, done.stderr
    assert "a=b 2.0" in outputs(small_book.root / "there" / "part" / "plain.ipynb")
    assert not small_book.notebook("part/plain").exists()
    again = small_book.run("part/plain", "-p", "size", "4", "-p", "word", "a=b", *there)
    assert "1 current, nothing to execute" in again.stdout
    by_one_word = ("part/plain", "part/plain", "-p", "size=4", "-p", "word=a=b", *there)
    assert "1 current, nothing to execute" in small_book.run(*by_one_word).stdout


def test_other_parameters_are_checked_or_run_plainly_without_a_folder_named_for_them(small_book):
    given = ("part/plain", "-p", "size", "4", "-p", "word=")
    done = small_book.run(*given, "--check")
    assert (done.returncode, done.stdout) == (
        1,
        "stale: part/plain size=4 word= (never executed)\n",
    ), done.stderr
    done = small_book.run(*given, "--plain")
    assert done.returncode == 0, done.stderr
    log = small_book.root / "_build" / "plain" / "part" / "plain.log"
    assert log.read_text().endswith("\n 2.0\n")


def test_a_name_is_refused_only_if_it_is_longer_than_can_be_written(tmp_path):
    longest = tmp_path / ("n" * 230)
    jobs.require_writable([longest])
    write_atomically(longest, "text")
    assert longest.read_text() == "text"
    with pytest.raises(ChapterError, match=r"too long, shorten the value: n{231}$"):
        jobs.require_writable([tmp_path / ("n" * 231)])


def test_a_failing_chapter_leaves_its_old_notebook_and_the_others_go_on(executed_book):
    small_book = executed_book
    old = small_book.notebook("part/plain").read_bytes()
    for name in ("part/spectral", "part/stored"):
        small_book.notebook(name).unlink()
    small_book.write("part/plain", "print('before')\nraise ValueError('the reason')\n")
    done = small_book.run()
    assert done.returncode == 1
    assert executed(done) == ["part/spectral", "part/stored"]
    assert "FAILED part/plain" in done.stdout
    assert "cell [2]: ValueError: the reason" in done.stderr
    assert small_book.notebook("part/plain").read_bytes() == old
    assert "before" in outputs(small_book.root / "_build" / "logs" / "part" / "plain.ipynb")
    assert executed(small_book.run()) == [], "still failing, the rest is current"


def test_a_full_disk_is_named_and_nothing_is_lost(tmp_path, monkeypatch):
    target = tmp_path / "part" / "x.ipynb"
    target.parent.mkdir()
    target.write_text("old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    job = run.Job(run.every_chapter()[0], {}, target)
    error = storing.store(job, Outcome("new", None, 1.0), plain=False)
    assert "No space left on device" in error
    assert target.read_text() == "old"
    assert os.listdir(target.parent) == ["x.ipynb"]
    stand_in = Path(error.rpartition("; the new one is ")[2])
    assert (stand_in.name, stand_in.read_text()) == ("x.ipynb", "new")
    assert "; the old one is untouched; " in error


@pytest.fixture
def read_only(monkeypatch):
    """Write nowhere below these folders, as on a disk mounted read-only."""
    folders = []
    plain = storing.write_atomically

    def write(path, text):
        if any(path.is_relative_to(folder) for folder in folders):
            raise OSError(30, "Read-only file system")
        plain(path, text)

    monkeypatch.setattr(storing, "write_atomically", write)
    return folders


def stored(tmp_path, outcome, keep=None, plain=False):
    """What storing an outcome says, of a chapter of a book in this folder, and its target."""
    chapter = chapters.Chapter("part/x", tmp_path / "checkout")
    target = tmp_path / "out" / "part" / f"x.{'log' if plain else 'ipynb'}"
    return storing.store(run.Job(chapter, {}, target, keep), outcome, plain), target


@pytest.mark.parametrize("plain", [False, True])
def test_a_failed_chapter_says_why_also_where_no_log_can_be_written(
    tmp_path, read_only, plain, monkeypatch
):
    monkeypatch.setattr(storing, "plain_head", lambda job: "# part/x")
    read_only.append(tmp_path / "checkout")
    said, target = stored(tmp_path, Outcome("half", "cell [2]: the reason", 1.0), plain=plain)
    first, *lost = said.splitlines()
    assert first == "cell [2]: the reason"
    assert [line.count("could not be written (Read-only file system)") for line in lost] == [1, 1]
    assert str(target) not in said, "the target could be written"
    stand_in = Path(lost[-1].rpartition("; the new one is ")[2])
    assert (stand_in.name, stand_in.read_text()) == (target.name, "half")
    read_only.clear()
    said, _ = stored(tmp_path, Outcome("half", "cell [2]: the reason", 1.0), plain=plain)
    log = tmp_path / "checkout" / "_build" / "logs" / "part" / target.name
    assert said.splitlines() == ["cell [2]: the reason", f"the failed run: {log}"]
    assert log.read_text() == "half"


def test_a_run_whose_tables_cannot_be_written_is_not_done_and_loses_nothing(tmp_path, read_only):
    read_only.append(tmp_path / "tables")
    outcome = Outcome("new", None, 1.0, {"part/x.runs.csv": "seed\n0\n"})
    said, target = stored(tmp_path, outcome, keep=tmp_path / "tables")
    assert not target.exists()
    table, notebook = said.splitlines()
    assert table.startswith(f"{tmp_path / 'tables' / 'part' / 'x.runs.csv'} could not be written")
    assert Path(table.rpartition("; the new one is ")[2]).read_text() == "seed\n0\n"
    assert Path(notebook.removeprefix("the new x.ipynb is ")).read_text() == "new"
    read_only.clear()
    assert stored(tmp_path, outcome, keep=tmp_path / "tables")[0] is None
    assert target.read_text() == "new"


def test_where_nothing_can_be_written_the_reason_is_still_said(tmp_path, read_only, monkeypatch):
    def nowhere(*given, **more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", nowhere)
    read_only.append(tmp_path)
    said, target = stored(tmp_path, Outcome("half", "the reason", 1.0))
    assert said.splitlines()[0] == "the reason"
    assert "could not be written either (No space left on device)" in said
    said, _ = stored(tmp_path, Outcome("new", None, 1.0))
    assert said.startswith(f"{target} could not be written (Read-only file system); the new one is")


def with_a_kernel(parents):
    """A process that has a kernel as its child: one execution; its parent runs or is a worker."""
    for parent in parents:
        for process in psutil.Process(parent).children(recursive=True):
            try:
                if "ipykernel_launcher" in process.cmdline():
                    return process.parent()
            except psutil.NoSuchProcess:
                continue
    return None


def sweep(small_book, workers=None, **environment):
    """Begin a sweep, kill a process of it in the middle of a chapter; what its runs printed."""
    begun, go = small_book.hold("part/held")
    given = ("part/held", "-p", "size", "1,2,3", "-p", "scale", "2", "--out", "sweep")
    process = small_book.start(*given, **environment)
    until(begun.exists, "no chapter began")
    execution = with_a_kernel(workers or [process.pid])
    (execution.parent() if workers else execution).kill()
    go.touch()
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, out + err
    assert "3 executed, 0 failed" in out
    folder = small_book.root / "sweep" / "part"
    return [outputs(folder / f"held.size={size}.scale=2.0.ipynb") for size in (1, 2, 3)]


SWEPT = [f"odd {size * 2.0}\n" for size in (1, 2, 3)]


def test_a_sweep_survives_a_killed_process(small_book):
    assert sweep(small_book) == SWEPT


@contextlib.contextmanager
def cluster_of(small_book, *packages, options=("--no-nanny",)):
    """A scheduler, and one worker for each package folder; yields its address and the workers."""
    file = small_book.root / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m"]
    at_home = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file)]
    started = []

    def start(*words, package):
        environment = small_book.environment | {"PYTHONPATH": str(package)}
        process = subprocess.Popen([*dask, *words, *at_home], env=environment, cwd=package, **quiet)
        started.append(process)
        return process

    try:
        start("distributed.cli.dask_scheduler", "--port", "0", package=small_book.root)
        until(lambda: file.exists() and file.read_text().strip().endswith("}"), "no scheduler")
        place = ("--local-directory", str(small_book.root))
        worker = ("distributed.cli.dask_worker", "--nworkers", "1", "--nthreads", "1")
        workers = [start(*worker, *place, *options, package=p) for p in packages]
        address = json.loads(file.read_text())["address"]
        wait_for_workers(address, len(packages))
        yield address, workers
    finally:
        for process in started:
            kill_whole(process)


def kill_whole(process):
    """Kill a process and all that it started; asked to end, a worker waits for its scheduler."""
    if process.poll() is None:
        inner = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        for child in inner:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        process.wait(PATIENCE)


def wait_for_workers(address, count):
    with Client(address) as client:
        until(lambda: len(client.nthreads()) == count, f"there are not {count} workers")


def test_a_sweep_runs_on_a_scheduler_given_by_address_and_survives_a_killed_worker(small_book):
    two = (small_book.root, small_book.root)
    with cluster_of(small_book, *two, options=("--nanny",)) as (address, workers):
        pids = [worker.pid for worker in workers]
        assert sweep(small_book, pids, DASK_SCHEDULER_ADDRESS=address) == SWEPT


def test_chapters_that_share_a_worker_mix_nothing_up(small_book):
    """Four wait for one another, so that they run at once; the last follows in a place of one."""
    names = [f"part/t{letter}" for letter in "abcde"]
    begun = small_book.root / "begun"
    begun.mkdir()
    for name in names:
        small_book.write(
            name,
            "import os\nfrom pathlib import Path\n\nfrom bookkit.results import save\n\n"
            f'Path("{begun}", "{name[-1]}").touch()\n'
            f'while len(os.listdir("{begun}")) < 4:\n    time.sleep(0.05)\n'
            f'save("runs", {{"who": ["{name}"] * 3, "at": [os.getcwd()] * 3}})\n'
            f'print("{name}")\n',
        )
        (small_book.root / "book" / f"{name}.paper.yaml").write_text("size: 2\n")
    four = ("--no-nanny", "--nthreads", "4")
    with cluster_of(small_book, small_book.root, options=four) as (address, _):
        given = (*names, "--preset", "paper", "--out", "o")
        done = small_book.run(*given, DASK_SCHEDULER_ADDRESS=address)
    assert done.returncode == 0, done.stdout + done.stderr
    folders = set()
    for name in names:
        assert outputs(small_book.root / "o" / f"{name}.ipynb") == f"{name}\n"
        table = (small_book.root / "o" / "results" / f"{name}.runs.csv").read_text().splitlines()
        assert [line.split(",")[0] for line in table[1:]] == [name] * 3
        folders |= {line.split(",")[1] for line in table[1:]}
    assert len(folders) == len(names), "each has a folder of its own"


def test_a_worker_with_other_code_is_passed_over(small_book, tmp_path):
    other = tmp_path / "other"
    for package in PACKAGES:
        shutil.copytree(small_book.root / package, other / package)
    changed = other / "helpers" / "cube" / "fourier.py"
    changed.write_text(changed.read_text().replace("def spectrum(", "def spectrum(*, "))
    with cluster_of(small_book, other, small_book.root) as (address, workers):
        given = ("part/spectral", "-p", "size", "1,2,3", "--out", "o")
        done = small_book.run(*given, DASK_SCHEDULER_ADDRESS=address)
        assert "3 executed, 0 failed" in done.stdout, done.stdout + done.stderr
        assert len(executed(done)) == 3
        kill_whole(workers[1])
        wait_for_workers(address, 1)
        done = small_book.run("part/spectral", DASK_SCHEDULER_ADDRESS=address)
    assert done.returncode == 1
    assert "this worker has other helpers than the caller" in done.stderr


def test_a_scheduler_that_does_not_answer_is_named(small_book):
    """It is given 20 seconds to answer; here two."""
    cluster = small_book.root / "bookkit" / "cluster.py"
    text = cluster.read_text()
    for patience in ('timeouts.connect": "20', "Client(address(), timeout=20"):
        assert text.count(patience) == 1
        text = text.replace(patience, patience[:-1])
    cluster.write_text(text)
    done = small_book.run("part/plain", DASK_SCHEDULER_ADDRESS="tcp://127.0.0.1:9")
    assert done.returncode == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in done.stderr


def test_a_lost_scheduler_is_named_in_one_line(small_book):
    begun, _ = small_book.hold("part/plain")
    with cluster_of(small_book, small_book.root) as (address, _):
        with Client(address) as client:
            scheduler = client.run_on_scheduler(os.getpid)
        process = small_book.start("part/plain", DASK_SCHEDULER_ADDRESS=address)
        until(begun.exists, "the chapter did not begin")
        os.kill(scheduler, signal.SIGKILL)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert len(err.splitlines()) == 1, err
    assert err.startswith("error: the Dask scheduler is gone; what finished is stored, run again")


def test_a_killed_run_resumes_with_what_is_missing(small_book):
    _, go = small_book.hold("part/slow")
    process = small_book.start("--jobs", "2")
    lock = small_book.root / "book" / "keys.json"
    names = {f"part/{name}" for name in NAMES}

    def stored():
        """By its entry, which comes after the notebook."""
        return lock.exists() and json.loads(lock.read_text()).keys() == names

    until(stored, "four chapters did not finish")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    assert not small_book.notebook("part/slow").exists()
    go.touch()
    assert executed(small_book.run()) == ["part/slow"]


def test_a_chapter_runs_plainly_and_keeps_its_results(small_book):
    done = small_book.run("part/stored", "part/plain", "--plain", "--out", "plain")
    assert done.returncode == 0, done.stderr
    log = (small_book.root / "plain" / "part" / "plain.log").read_text()
    assert log.endswith("odd 1.5\n")
    table = small_book.root / "plain" / "results" / "part" / "stored.runs.csv"
    assert table.read_text() == "seed,loss\n0,0.5\n1,0.5\n2,0.5\n"
    made = json.loads(table.with_suffix(".json").read_text())
    assert made["chapter"] == "part/stored"
    assert made["command"].endswith("part/stored part/plain --plain --out plain")
    assert (
        "nothing to execute"
        in small_book.run("part/stored", "part/plain", "--plain", "--out", "plain").stdout
    )


def test_tables_of_a_failed_run_are_kept_beside_the_logs(small_book):
    preset = small_book.root / "book" / "part" / "stored.paper.yaml"
    preset.write_text("size: 2\n")
    with (small_book.root / "book" / "part" / "stored.py").open("a") as file:
        file.write("raise ValueError('after hours')\n")
    done = small_book.run("part/stored", "--preset", "paper", "--plain")
    assert done.returncode == 1
    assert "ValueError: after hours" in done.stderr
    assert (small_book.root / "_build" / "logs" / "part" / "stored.runs.csv").exists()
    assert not list((small_book.root / "results").rglob("*.csv"))


def test_what_has_used_up_its_cpu_time_is_not_begun_again(small_book):
    begun = small_book.root / "begun"
    body = f"import os, signal\n\nopen({str(begun)!r}, 'a').write('x')\n"
    small_book.write("part/plain", f"{body}os.kill(os.getpid(), signal.SIGXCPU)\n")
    done = small_book.run("part/plain", "--plain")
    assert done.returncode == 1
    assert "the process of the run was ended by SIGXCPU" in done.stderr
    assert begun.read_text() == "x"


def test_the_plain_form_needs_no_jupyter(small_book):
    blocked = small_book.root / "blocked"
    for module in (
        "IPython",
        "jupytext",
        "papermill",
        "nbformat",
        "distributed",
        "dask",
        "myst_nb",
        "numba",
        "tqdm",
    ):
        (blocked / module).mkdir(parents=True)
        (blocked / module / "__init__.py").write_text("raise ImportError('not here')\n")
    paths = f"{blocked}{os.pathsep}{small_book.environment['PYTHONPATH']}"
    small_book.write(
        "part/ledger",
        "from bookkit.claims import Ledger\nfrom bookkit.output import glue\n\n"
        'ledger = Ledger("part/ledger")\nglue(size=size)\n'
        'ledger.result("p.r").holds("text", 0, at_most=0, control=1, about="ours", '
        'evidence="proved")\nledger.show()\n',
    )
    small_book.write("part/spectral", "import helpers.cube.fourier\n\nprint(size)\n")
    done = small_book.run("part/spectral", "part/ledger", "--plain", PYTHONPATH=paths)
    assert done.returncode == 0, done.stderr
    log = small_book.root / "_build" / "plain" / "part" / "ledger.log"
    assert "holds" in log.read_text()


def test_results_are_stored_from_a_committed_tree_only(small_book):
    (small_book.root / "book" / "part" / "stored.paper.yaml").write_text("size: 2\n")
    git = ["git", "-C", str(small_book.root), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "all"], check=True)
    (small_book.root / "book" / "part" / "stored.paper.yaml").write_text("size: 3\n")
    done = small_book.run("part/stored", "--preset", "paper", "--plain")
    assert done.returncode == 2
    assert "from a committed tree" in done.stderr
    done = small_book.run("part/stored", "--preset", "paper", "--plain", "--out", "elsewhere")
    assert done.returncode == 0, done.stderr


def test_the_preset_stores_paper_scale_results_that_the_page_then_loads(small_book):
    preset = small_book.root / "book" / "part" / "stored.paper.yaml"
    preset.write_text("size: 2\nscale: 3\n")
    done = small_book.run("--preset", "paper", "--plain")
    assert done.returncode == 0, done.stderr
    table = small_book.root / "results" / "part" / "stored.runs.csv"
    assert table.read_text() == "seed,loss\n0,3.0\n1,3.0\n"
    made = json.loads(table.with_suffix(".json").read_text())
    assert made["parameters"] == {"size": 2, "scale": 3.0}
    assert executed(small_book.run("part/stored")) == ["part/stored"]
    assert "True" in outputs(small_book.notebook("part/stored"))
    preset.write_text("sise: 2\n")
    assert "no parameter 'sise'" in small_book.run("--preset", "paper").stderr


def test_the_template_is_a_chapter_that_runs(small_book):
    shutil.copy(ROOT / "templates" / "chapter.py", small_book.root / "book" / "part" / "name.py")
    copy_machine_code(small_book.root)
    done = small_book.run("part/name")
    assert done.returncode == 0, done.stderr
    record = chapters.read_record(small_book.notebook("part/name"))
    assert [claim["verdict"] for claim in record["claims"]] == ["holds"]


def test_an_address_exported_empty_is_none(small_book, monkeypatch):
    done = small_book.run("part/plain", DASK_SCHEDULER_ADDRESS="")
    assert (done.returncode, executed(done)) == (0, ["part/plain"]), done.stderr
    for address, refused in (("", True), ("tcp://127.0.0.1:9", False)):
        monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", address)
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        told = pytest.raises(ChapterError, match="not on this machine")
        with told if refused else contextlib.nullcontext():
            jobs.require_device("cuda", here=True)


LETTERS = "print('≤ ü \\N{SNOWMAN} \\udc80')\n"


@pytest.mark.parametrize(
    ("terminal", "plain"),
    [
        ({"PYTHONIOENCODING": "latin-1"}, True),
        ({"PYTHONIOENCODING": "ascii:strict"}, False),
        ({"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, True),
    ],
    ids=["latin-1", "ascii", "POSIX"],
)
def test_a_run_does_not_depend_on_the_letters_of_a_terminal(small_book, terminal, plain):
    form = ("--plain",) if plain else ()
    small_book.write("part/plain", LETTERS)
    small_book.write("part/stored", LETTERS + "raise ValueError('γ ≤ ∞')\n")
    word = "ä≤" if "PYTHONIOENCODING" in terminal else "a"
    given = ("part/plain", "part/stored", "-p", "word", word, *form, "--out", "o")
    process = small_book.start(*given, **terminal)
    process.stdout.reconfigure(encoding="latin-1")
    process.stderr.reconfigure(encoding="latin-1")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "1 executed, 1 failed" in out
    assert any(f"word={shown} " in out for shown in (r"\xe4\u2264", r"ä\u2264", "a")), out
    assert "ValueError: γ ≤ ∞" not in err
    assert r"ValueError: \u03b3 \u2264 \u221e" in err
    assert "UnicodeEncodeError" not in out + err
    kept = small_book.root / "o" / "part" / f"plain.{'log' if plain else 'ipynb'}"
    assert "≤ ü ☃" in (kept.read_text(encoding="utf-8") if plain else outputs(kept))
    if word != "a":
        given = ("part/plain", "-p", "word", "≤", "--check")
        done = small_book.run(*given, **terminal)
        assert (done.returncode, done.stderr) == (1, "")
        assert r"word=\u2264" in done.stdout
        return
    done = small_book.run("part/plain", "-p", "word", "≤", *form, "--out", "o", **terminal)
    assert (done.returncode, done.stdout) == (2, "")
    assert r"the argument '\udce2\udc89\udca4' is no text in this terminal's letters" in done.stderr
    assert "PYTHONUTF8=1" in done.stderr


@pytest.mark.parametrize("address", ["junk", "foo://..", " ", "127.0.0.1"])
def test_an_address_that_is_none_is_named(asked, monkeypatch, address):
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", address)
    done = asked("part/plain")
    assert done.returncode == 2
    assert f"no Dask scheduler answers at {address}: " in done.stderr
    assert "Traceback" not in done.stderr
    gc.collect()  # the failed client takes a lock when collected: not while the next one holds it


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("book/part/plain.paper.yaml", b"- 1\n", "must map names to values, got [1]"),
        ("book/part/plain.paper.yaml", b"a: [1\n", "plain.paper.yaml: while parsing"),
        ("book/part/plain.py", b"x = (\n", "part/plain, line 1: "),
        ("book/part/plain.py", b"# \xff\n", "plain.py is not UTF-8"),
        ("results/part/plain.a.csv", b"\xff\n", "plain.a.csv is not UTF-8"),
        ("environment.yml", None, "environment.yml could not be read"),
    ],
)
def test_a_damaged_file_is_named_in_one_line(small_book, asked, file, content, message):
    path = small_book.root / file
    path.parent.mkdir(exist_ok=True)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    arguments = ("--preset", "paper") if file.endswith(".yaml") else ("--check",)
    done = asked("part/plain", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_kept_run_is_current_afterwards_and_goes_on_from_its_own_checkpoint(small_book):
    (small_book.root / "book" / "part" / "stored.paper.yaml").write_text("size: 5\n")
    paper = ("part/stored", "--preset", "paper")
    assert "1 executed, 0 failed" in small_book.run(*paper).stdout
    own_table = small_book.root / "results" / "part" / "stored.runs.csv"
    assert own_table.read_text() == "seed,loss\n" + "".join(f"{k},0.5\n" for k in range(5))
    assert (small_book.root / "_build" / "paper" / "part" / "stored.ipynb").exists()
    assert not small_book.notebook("part/stored").exists()
    assert small_book.run(*paper).stdout == "1 current, nothing to execute\n"
    own = chapters.Chapter("part/stored", small_book.root)
    kept = own.pieces({"size": 5}, keeps=True)
    made = own_table.with_suffix(".json")
    made.write_text(made.read_text().replace('"seconds"', '"secs"'))
    own_table.write_text("seed\n9\n")
    assert own.pieces({"size": 5}, keeps=True) == kept
    reader = chapters.Chapter("part/plain", small_book.root)
    small_book.write(
        "part/plain", 'from bookkit import results\nresults.load("part/stored", "runs")\n'
    )
    before = reader.pieces({}, keeps=True), reader.pieces({})
    made.write_text(made.read_text().replace('"secs"', '"time"'))
    assert reader.pieces({}, keeps=True) == before[0]
    assert reader.pieces({}) != before[1]
    own_table.write_text("seed\n8\n")
    assert reader.pieces({}, keeps=True) != before[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda nb: nb["cells"][-1]["metadata"].update(tags=["nbval-ignore-output"]),
        lambda nb: nb["cells"][0].update(cell_type="raw"),
        lambda nb: nb["cells"][0].update(attachments={"a.png": {}}),
        lambda nb: nb["cells"][-1]["metadata"].update(mystnb={"figure": {"caption": "False."}}),
        lambda nb: nb["metadata"]["book"].update(parameters={"size": 4}),
        lambda nb: nb["metadata"]["book"].update(chapter="part/other"),
    ],
)
def test_tags_captions_kinds_and_notes_of_a_notebook_are_guarded(executed_book, change):
    notebook = executed_book.notebook("part/plain")
    whole = notebook.read_text()
    reasons = chapters.Chapter("part/plain", executed_book.root).stale
    try:
        assert not reasons()
        content = json.loads(whole)
        change(content)
        notebook.write_text(json.dumps(content))
        assert reasons() == ["the notebook was edited after it was executed"]
    finally:
        notebook.write_text(whole)


@pytest.mark.parametrize(
    "source",
    [
        'from bookkit import results\nresults.load("a/b", "t")',
        'from bookkit import results\nresults.load(chapter="a/b", name="t")',
        'from bookkit import results as stored\nstored.load("a/b", "t")',
        'from bookkit import own\nown.load("a/b", "t")',
        'from bookkit.own import load as table\ntable("a/b", "t")',
        'from bookkit.results import load\nload(name="t", chapter="a/b")',
        'import bookkit.results\nbookkit.results.load("a/b", "t")',
        'import bookkit.results as r\nr.load("a/b", "t")',
    ],
)
def test_a_load_is_seen_in_every_spelling(source):
    assert key.loaded(source, "part/x") == {"a/b"}
    with pytest.raises(
        ChapterError, match=r"part/x, line 2: .* wants the chapter's name as a literal"
    ):
        key.loaded(source.replace('"a/b"', "word"), "part/x")


def test_loads_of_other_things_are_no_stored_results():
    source = "import json\nimport yaml\n\njson.load(file)\nyaml.load(file)\nload(word)\n"
    assert key.loaded(source, "part/x") == set()


@pytest.mark.parametrize("line", ["get = results.load", "map(results.load, names)"])
def test_a_load_that_cannot_be_seen_is_refused(line):
    with pytest.raises(ChapterError, match=r"line 2: results\.load must be called where"):
        key.loaded(f"from bookkit import results\n{line}\n", "part/x")


def test_a_ledger_of_another_chapter_fails_the_run(small_book):
    claim = (
        "from bookkit.own import Ledger\n"
        'ledger = Ledger("part/plain")\n'
        'ledger.result("x.y").holds("a number", 1.0, at_most=2, control=3.0, about="ours", '
        'evidence="proved")\n'
        "ledger.show()\n"
    )
    small_book.write("part/plain", claim)
    small_book.write("part/kernel", claim)
    done = small_book.run("part/plain", "part/kernel")
    assert done.returncode == 1
    assert "1 executed, 1 failed" in done.stdout
    assert (
        'its ledger is that of part/plain: write Ledger("part/kernel")' in done.stdout + done.stderr
    )
    assert not small_book.notebook("part/kernel").exists()


def test_a_changed_row_of_the_register_makes_the_chapters_stale_that_name_it(small_book):
    register = small_book.root / "book" / "register.yml"
    rows = [{"id": name, "kind": "theorem", "source": "printed"} for name in ("x.y", "x.z")]
    register.write_text(json.dumps({"x": {"rows": rows}}))
    small_book.write("part/plain", 'print("x.y")\n')
    named, other = (chapters.Chapter(n, small_book.root) for n in ("part/plain", "part/kernel"))
    before = named.pieces({}), other.pieces({})
    rows[1]["source"] = "quoted"
    register.write_text(json.dumps({"x": {"rows": rows}}))
    assert (named.pieces({}), other.pieces({})) == before
    rows[0]["source"] = "quoted"
    register.write_text(json.dumps({"x": {"rows": rows}}))
    assert key.differences(before[0], named.pieces({})) == ["register row x.y changed"]
    assert other.pieces({}) == before[1]


def test_a_folder_with_a_package_of_that_name_is_left_out_by_the_safe_path(small_book, tmp_path):
    """Without -P nothing of this package is imported there, so that it can say nothing."""
    given = ("--book", str(small_book.root), "part/plain", "--out", "o")
    module = [sys.executable, "-m", "bookkit.run", *given]
    safe = [sys.executable, "-P", *module[1:]]
    for kind, name, form in (
        ("module", "bookkit.py", ()),
        ("package", "bookkit/__init__.py", ("--plain",)),
    ):
        own = tmp_path / kind / name
        own.parent.mkdir(parents=True)
        own.write_text("raise SystemExit('the other bookkit')\n")
        here = {"cwd": tmp_path / kind, "env": small_book.environment, "text": True}
        done = subprocess.run(module, **here, capture_output=True)
        assert done.returncode != 0
        assert "bookkit" in done.stderr
        done = subprocess.run([*safe, *form], **here, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert executed(done) == ["part/plain"]
    (tmp_path / "folder" / "bookkit").mkdir(parents=True)
    done = subprocess.run(
        [*module, "--check"],
        cwd=tmp_path / "folder",
        env=small_book.environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (1, ""), "a folder that is no package is no rival"


def test_neither_the_environment_of_a_past_run_nor_a_long_temporary_folder_matters(small_book):
    long = small_book.root / ("t" * 60) / ("u" * 60)
    long.mkdir(parents=True)
    done = small_book.run("part/stored", TMPDIR=str(long), BOOK_RUN="junk")
    assert done.returncode == 0, done.stderr
    assert list(long.iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_says_one_line_and_leaves_nothing_behind(small_book, how):
    temporary = small_book.root / "t"
    temporary.mkdir()
    small_book.write("part/plain", "time.sleep(4 * 3600)\n")
    process = small_book.start("part/plain", TMPDIR=str(temporary))
    until(lambda: with_a_kernel([process.pid]), "no kernel started")
    inside = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, how) if how == signal.SIGINT else process.send_signal(how)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert err.splitlines() == ["stopped; what finished is stored, run again for the rest"]
    _, alive = psutil.wait_procs(inside, timeout=PATIENCE)
    assert not alive
    assert [p.name for p in temporary.iterdir()] == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_plain_run_waits_for_no_chapter(small_book, how):
    temporary = small_book.root / "t"
    temporary.mkdir()
    begun, _ = small_book.hold("part/plain")
    second = small_book.root / "second"
    small_book.write(
        "part/spectral", f"from pathlib import Path\n\nPath({str(second)!r}).touch()\n"
    )
    names = ("part/plain", "part/spectral")
    process = small_book.start(*names, "--plain", "--jobs", "1", TMPDIR=str(temporary))
    until(begun.exists, "the chapter did not begin")
    inside = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, how) if how == signal.SIGINT else process.send_signal(how)
    _, err = process.communicate(timeout=PATIENCE)  # the chapter would wait much longer
    assert process.returncode == 130
    assert err.splitlines() == ["stopped; what finished is stored, run again for the rest"]
    assert inside
    assert not psutil.wait_procs(inside, timeout=PATIENCE)[1]
    assert list(temporary.iterdir()) == []
    assert not second.exists()


def test_a_sweep_ends_with_its_verdicts(small_book):
    small_book.write(
        "part/ledger",
        "from bookkit.claims import Ledger\n\n"
        'ledger = Ledger("part/ledger")\n'
        'ledger.result("p.r").holds("text", 0, at_most=0, control=1, about="ours", '
        'evidence="proved")\nledger.show()\n',
    )
    done = small_book.run("part/ledger", "-p", "size", "4,5", "--out", "o")
    assert "part/ledger size=4: 1 holds" in done.stdout, done.stdout + done.stderr
    lines = (small_book.root / "o" / "sweep.csv").read_text().splitlines()
    assert lines[0] == "run,result,claim,measured,verdict"
    assert lines[1].startswith("part/ledger size=4,p.r,text,0")
    assert len(lines) == 3


PATIENT = """\
from bookkit import results
from helpers.training.checkpoints import Paused, time_is_up

path = results.checkpoint("a part/of it")
done = int(path.read_text()) if path and path.exists() else 0
print("goes on from", done)
while path and done < 40:
    done += 1
    path.write_text(str(done))
    if time_is_up():
        raise Paused("time is up")
results.save("runs", {"done": [done]})
"""


@pytest.mark.parametrize("form", ["notebook", "plain"])
def test_a_kept_run_pauses_when_the_budget_is_over_and_goes_on(small_book, form):
    small_book.write("part/patient", PATIENT)
    (small_book.root / "book" / "part" / "patient.paper.yaml").write_text("size: 4\n")
    given = ("part/patient", "--preset", "paper", *(["--plain"] if form == "plain" else []))
    kept = small_book.root / "_build" / "checkpoints"
    done = small_book.run(*given, BOOK_DEADLINE="0")
    assert done.returncode == 0, done.stderr
    assert "paused part/patient size=4" in done.stdout
    assert "0 executed, 0 failed, 1 paused, 0 not begun; run again to go on" in done.stdout
    assert not list((small_book.root / "results").rglob("*.csv"))
    file = kept / "part" / "patient"
    (file,) = file.rglob("*.pt")
    assert file.name == "a part_of it.pt"
    assert file.read_text() == "1"
    file.write_text("39")
    done = small_book.run(*given)
    assert "1 executed, 0 failed" in done.stdout, done.stderr
    assert "paused" not in done.stdout
    stored = small_book.root / "results" / "part" / "patient.runs.csv"
    assert stored.read_text() == "done\n40\n"
    assert not list(kept.rglob("*.pt")), "a run that is stored needs no checkpoint"
    if form == "notebook":
        assert small_book.run("part/patient").returncode == 0
        page = outputs(small_book.notebook("part/patient"))
        assert "goes on from 0" in page, "a page keeps none"


def test_a_chapter_for_which_no_time_is_left_is_not_begun(small_book):
    for name, strip in (("part/plain", "2 s"), ("part/spectral", "50 s")):
        path = small_book.root / "book" / f"{name}.py"
        path.write_text(path.read_text().replace("# # A small", f"# **Runs in** {strip}.\n# # A"))
    given = ("part/spectral", "part/plain", "--budget", "40s")
    for form in ((), ("--plain",)):
        done = small_book.run(*given, *form)
        assert executed(done) == ["part/plain"]
        assert "1 executed, 0 failed, 0 paused, 1 not begun; run again to go on" in done.stdout
    assert executed(small_book.run(*given, "--plain", "--budget", "60s")) == ["part/spectral"]


def test_the_clock_tells_when_all_will_be_done(monkeypatch):
    now = 1_000_000.0
    monkeypatch.setattr(jobs.time, "time", lambda: now)
    monkeypatch.setattr(jobs.time, "monotonic", lambda: now)
    listed = [
        SimpleNamespace(target=k, seconds=s, can_pause=k == 2) for k, s in enumerate((10, 30, 90))
    ]
    clock = jobs.Clock(listed, budget=100.0)
    assert clock.deadline == now + 100
    assert clock.progress() == "    0 s", "nothing is known yet"
    now += 20  # twice the time of the record
    clock.take(listed[0])
    ends = jobs.time.strftime("%H:%M", jobs.time.localtime(now + 2 * 120))
    assert clock.progress() == f"   20 s, ends about {ends}"
    now += 51
    assert not clock.allows(listed[1])
    assert clock.allows(listed[2]), "it can pause, so it is begun while any time is left"
    now += 29
    assert not clock.allows(listed[2]), "the budget is over"
    assert jobs.Clock(listed).allows(listed[1])
    clock.take(listed[1])
    clock.take(listed[2])
    assert clock.progress() == "  100 s"
    unknown = [*listed, SimpleNamespace(target=3, seconds=None, can_pause=False)]
    clock = jobs.Clock(unknown)
    clock.take(listed[0])
    assert "ends" not in clock.progress()


def test_a_clock_that_is_set_back_makes_no_time_negative(monkeypatch):
    now = 1_000_000.0
    monkeypatch.setattr(jobs.time, "time", lambda: now)
    clock = jobs.Clock([SimpleNamespace(target=0, seconds=None, can_pause=False)])
    now -= 3600
    assert clock.progress() == "    0 s"


@pytest.mark.parametrize(
    ("default", "text", "points"),
    [
        ("(4, 8)", "(2, 3),(4, 5)", [(2, 3), (4, 5)]),
        ("[4, 8]", "[2, 3],[4, 5]", [[2, 3], [4, 5]]),
        ("(4, 8)", "(2, 3)", [(2, 3)]),
        ("[(4, 8)]", "[(2, 3), (4, 5)],[(1, 1)]", [[(2, 3), (4, 5)], [(1, 1)]]),
        ("4", "2,3", [2, 3]),
    ],
)
def test_a_comma_inside_brackets_parts_no_values_of_a_sweep(default, text, points):
    parameter = parse_parameters(f"sizes = {default}\n", "part/x")["sizes"]
    chapter = SimpleNamespace(parameter=lambda name: parameter)
    assert [p["sizes"] for p in run._grid(chapter, [("sizes", text)])] == points


def test_device_and_deadline_reach_the_chapter(small_book):
    told = 'print("told", os.environ.get("BOOK_DEVICE"), os.environ.get("BOOK_DEADLINE"))\n'
    small_book.write("part/plain", f"import os\n\n{told}")
    before = time.time()
    assert small_book.run("part/plain", "--device", "cpu:0", "--budget", "2h").returncode == 0
    device, deadline = outputs(small_book.notebook("part/plain")).split()[1:]
    assert device == "cpu:0"
    assert before + 7200 < float(deadline) < time.time() + 7200


def test_the_expected_end_follows_the_chapters_that_have_ended(monkeypatch, capsys):
    listed = [
        SimpleNamespace(target=k, label=f"chapter {k}", seconds=s, can_pause=False, run=None)
        for k, s in enumerate((10, 30, 9))
    ]
    outcome = SimpleNamespace(error=None, text="", seconds=20.0)
    monkeypatch.setattr(run, "_executed_here", lambda given, *_: [(job, outcome) for job in given])
    monkeypatch.setattr(run, "store", lambda *_: None)
    options = SimpleNamespace(jobs=2, budget=None, device=None, plain=False, parameter=[], out=None)
    assert run.carry_out(listed, options) == 0
    first, second, last = re.findall(r"^\[.*", capsys.readouterr().out, re.MULTILINE)
    assert "1/3" in first
    assert "ends about" in first
    assert "ends about" in second
    assert "ends" not in last, "nothing is left"
