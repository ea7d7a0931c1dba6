"""Stored results: written whole, beside how they were made, and only when a run is to be kept."""

import json
import re

import pytest
import torch

from bookkit import results

RUN = {"chapter": "part/x", "parameters": {"n": 3}, "command": "python -m bookkit.run", "key": "k"}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_RUN", json.dumps(RUN | {"folder": str(tmp_path)}))
    return tmp_path


def test_nothing_is_written_without_a_run_that_is_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("BOOK_RUN", raising=False)
    monkeypatch.chdir(tmp_path)
    assert results.save("runs", {"seed": [0]}) is None
    assert not list(tmp_path.iterdir())


def test_a_table_comes_back_as_it_was_saved(kept):
    columns = {"seed": [0, 1], "loss": [1 / 3, 1e-300], "task": ["a,b", 'say "x"']}
    assert results.save("runs", columns) == kept / "part" / "x.runs.csv"
    table = results.load("part/x", "runs", kept)
    assert table.columns == columns
    assert len(table) == 2
    assert table["seed"] == [0, 1]
    assert table.provenance["parameters"] == {"n": 3}
    line = table.provenance_line()
    assert table.provenance["date"] in line
    assert "python -m bookkit.run" in line
    assert sorted(p.name for p in (kept / "part").iterdir()) == ["x.runs.csv", "x.runs.json"]


def test_a_commit_whose_files_differed_is_told(kept):
    results.save("runs", {"seed": [0]})
    table = results.load("part/x", "runs", kept)
    for commit, said in (("ab" * 20, False), ("ab" * 20 + "-dirty", True)):
        table.provenance["commit"] = commit
        line = table.provenance_line()
        assert "commit ababababab" in line
        assert ("with changes not committed" in line) == said


def test_what_ran_is_shown_as_text_of_the_page(kept, capsys):
    """Outside a notebook it is printed."""
    results.save("runs", {"seed": [0]})
    table = results.load("part/x", "runs", kept)
    table.show_provenance()
    assert capsys.readouterr().out == f"{table.provenance_line()}\n"


def test_a_run_on_a_processor_names_no_gpu(kept, monkeypatch):
    """Even where there is one: it was not asked for."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda which: f"card {which}")
    results.save("runs", {"seed": [0]})
    assert "CPU cores" in results.load("part/x", "runs", kept).provenance["device"]
    monkeypatch.setenv("BOOK_DEVICE", "cuda:1")
    results.save("runs", {"seed": [0]})
    assert results.load("part/x", "runs", kept).provenance["device"] == "card cuda:1"


def test_a_checkpoint_is_given_to_a_kept_run_and_to_no_other(tmp_path, monkeypatch):
    monkeypatch.delenv("BOOK_RUN", raising=False)
    assert results.checkpoint("20 bits") is None
    folder = tmp_path / "runs" / "one"
    monkeypatch.setenv("BOOK_RUN", json.dumps(RUN | {"folder": "f", "checkpoints": str(folder)}))
    assert results.checkpoint("20 bits") == folder / "20 bits.pt"
    assert folder.is_dir()
    assert results.checkpoint("../20") == folder / ".._20.pt"
    (tmp_path / "file").touch()
    there = {"folder": "f", "checkpoints": str(tmp_path / "file" / "one")}
    monkeypatch.setenv("BOOK_RUN", json.dumps(RUN | there))
    assert results.checkpoint("20 bits") is None, "as on a worker that shares no disk"
    monkeypatch.setenv("BOOK_RUN", json.dumps(RUN | {"folder": "f"}))
    assert results.checkpoint("20 bits") is None


def test_what_was_never_run_is_none(tmp_path):
    assert results.load("part/x", "runs", tmp_path) is None


def test_a_table_without_provenance_is_refused(kept):
    results.save("runs", {"seed": [0]}).with_suffix(".json").unlink()
    with pytest.raises(ValueError, match=r"no x\.runs\.json beside it"):
        results.load("part/x", "runs", kept)


@pytest.mark.parametrize(
    ("damage", "rows"),
    [
        (lambda text: text[:-3], 2),  # cut in the middle of a number: it would load
        (lambda text: text.replace("1.25", "1.26"), 2),
        (lambda text: text[: text.index("1,")], 1),
        (lambda text: "", -1),
        (lambda text: text.replace("0,", "0"), 2),
        (lambda text: '"' + "x" * 200_000, None),
    ],
)
def test_a_damaged_table_is_named(kept, damage, rows):
    path = results.save("runs", {"seed": [0, 1], "loss": [1.25, 1.375]})
    told = json.loads(path.with_suffix(".json").read_text())
    assert told["rows"] == 2
    path.write_text(damage(path.read_text()))
    found = "field larger than" if rows is None else f"{rows} rows of 2, hash"
    with pytest.raises(ValueError, match=rf"{re.escape(str(path))} is damaged: {found}"):
        results.load("part/x", "runs", kept)


@pytest.mark.parametrize("told", ["{}", '{"rows": 2}', "[]", "not JSON"])
def test_a_table_without_a_fingerprint_is_named(kept, told):
    beside = results.save("runs", {"seed": [0, 1]}).with_suffix(".json")
    beside.write_text(told)
    with pytest.raises(ValueError, match=r"x\.runs\.json is damaged: it does not tell the rows"):
        results.load("part/x", "runs", kept)


def test_a_table_with_other_ends_of_lines_is_the_same(kept):
    path = results.save("runs", {"seed": [0, 1], "task": ["a,b", 'say "x"']})
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert results.load("part/x", "runs", kept)["task"] == ["a,b", 'say "x"']


def test_bad_input_is_named(kept):
    with pytest.raises(ValueError, match=r"one length, got \{'a': 1, 'b': 2\}"):
        results.save("runs", {"a": [1], "b": [1, 2]})
    with pytest.raises(ValueError, match=r"letters, digits and underscores, got '\.\./up'"):
        results.save("../up", {"a": [1]})


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "file"
    results.write_atomically(path, "old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        results.write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_every_stored_result_says_how_it_was_made():
    for path in results.RESULTS.glob("*/*.csv"):
        chapter, name, _ = path.name.split(".")
        table = results.load(f"{path.parent.name}/{chapter}", name)
        assert len(table) > 0
        assert {"chapter", "parameters", "command", "key", "device"} <= set(table.provenance)
        assert {"commit", "date", "seconds", "versions"} <= set(table.provenance)
