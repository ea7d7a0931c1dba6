"""A checkpoint is read whole and by its own run, or not at all."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from helpers.training import checkpoints
from helpers.training.batches import whole
from helpers.training.checkpoints import Checkpoint, CheckpointError

SETTINGS = {"steps": 7, "learning_rate": [0.1, 0.2], "clip": None, "rate_of": {"a": 1.0}}


def run():
    numbers = torch.arange(5000, dtype=torch.float64)
    return {"step": 3, "weights": {"a": numbers}, "failed": [(0, 2, "the loss is nan", 0.5)]}


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "new" / "run"
    assert checkpoints.read(path, SETTINGS) is None
    checkpoints.write(path, SETTINGS, run())
    checkpoints.write(path, SETTINGS, run() | {"step": 4})
    found = checkpoints.read(path, SETTINGS)
    assert found["step"] == 4
    assert found["failed"] == run()["failed"]
    assert torch.equal(found["weights"]["a"], run()["weights"]["a"])
    assert list(path.parent.iterdir()) == [path]


def test_two_processes_may_write_one_checkpoint_at_once(tmp_path):
    """As when a command is given twice: each writes a neighbour of its own, the last one stays."""
    code = (
        "import sys, torch; from pathlib import Path\n"
        "from helpers.training import checkpoints\n"
        "for _ in range(40): checkpoints.write(Path(sys.argv[1]), {}, {'x': torch.zeros(9999)})"
    )
    path = tmp_path / "run ä"
    both = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert checkpoints.read(path, {})["x"].shape == (9999,)
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_not_said_to_be_a_damaged_file(tmp_path):
    with pytest.raises(
        CheckpointError, match=r"is a folder; a checkpoint is a file, such as .*run\.pt"
    ):
        checkpoints.read(tmp_path, SETTINGS)


def test_a_deadline_that_is_no_time_is_named_and_an_empty_one_is_none(monkeypatch):
    monkeypatch.setenv(checkpoints.DEADLINE, "")
    assert not checkpoints.time_is_up()
    monkeypatch.setenv(checkpoints.DEADLINE, "soon")
    with pytest.raises(ValueError, match="BOOK_DEADLINE must be seconds since 1970, got 'soon'"):
        checkpoints.time_is_up()


@pytest.mark.parametrize(
    ("name", "value"), [("steps", 8), ("learning_rate", [0.1, 0.3]), ("clip", 1.0), ("new", 1)]
)
def test_a_file_of_another_run_is_refused_by_the_name_of_what_differs(tmp_path, name, value):
    path = tmp_path / "run"
    checkpoints.write(path, SETTINGS, run())
    words = f"of another run: its {name} is {SETTINGS.get(name)}, here it is {value}"
    with pytest.raises(CheckpointError, match=re.escape(words)):
        checkpoints.read(path, SETTINGS | {name: value})


@pytest.mark.parametrize(("first_loss", "goes_on"), [(1.0008, True), (1.0012, False)])
def test_first_losses_may_differ_by_a_thousandth_and_no_more(tmp_path, first_loss, goes_on):
    restored = []
    state = SimpleNamespace(state=lambda: {"step": 3}, restore=restored.append)
    batch = whole(torch.ones(1, 2), torch.ones(1, 2))
    written, resumed = (Checkpoint(tmp_path / "run", SETTINGS, state, batch) for _ in range(2))
    written.resume(torch.ones(1))
    written.write()
    if goes_on:
        resumed.resume(torch.tensor([first_loss]))
        assert restored == [{"step": 3}]
        return
    with pytest.raises(CheckpointError, match="its model, loss or data differ"):
        resumed.resume(torch.tensor([first_loss]))
    assert restored == []


def damage(data, how):
    if how == "truncated":
        return data[:-100]
    if how == "half":
        return data[: len(data) // 2]
    if how == "empty":
        return b""
    middle = len(data) // 2  # amid the numbers, where nothing but a checksum can tell
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("how", ["truncated", "half", "empty", "one bit"])
def test_a_damaged_file_is_refused(tmp_path, how):
    path = tmp_path / "run"
    checkpoints.write(path, SETTINGS, run())
    path.write_bytes(damage(path.read_bytes(), how))
    with pytest.raises(CheckpointError, match="is no whole checkpoint, delete it"):
        checkpoints.read(path, SETTINGS)


def test_a_file_that_would_run_code_is_refused(tmp_path):
    class Code:
        def __reduce__(self):
            return (open, (str(tmp_path / "written"), "w"))

    path = tmp_path / "run"
    torch.save({"format": checkpoints.FORMAT, "settings": SETTINGS, "run": Code()}, path)
    with pytest.raises(CheckpointError, match="is no whole checkpoint"):
        checkpoints.read(path, SETTINGS)
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize(
    "content",
    [
        {"format": checkpoints.FORMAT},
        {"format": checkpoints.FORMAT, "settings": "{", "run": {}},
        {"format": checkpoints.FORMAT, "settings": "[]", "run": {}},
        {"format": checkpoints.FORMAT, "settings": "{}", "run": 3},
    ],
)
def test_a_file_that_lacks_a_part_is_no_whole_checkpoint(tmp_path, content):
    path = tmp_path / "run"
    torch.save(content, path)
    with pytest.raises(CheckpointError, match="is no whole checkpoint, delete it"):
        checkpoints.read(path, {})


def test_a_file_of_another_format_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "run"
    checkpoints.write(path, SETTINGS, run())
    monkeypatch.setattr(checkpoints, "FORMAT", 99)
    with pytest.raises(CheckpointError, match="has format 1, this program reads 99"):
        checkpoints.read(path, SETTINGS)
