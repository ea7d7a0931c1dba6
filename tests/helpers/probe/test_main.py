"""The command: a model by name, its weights, its report as a file, and errors in one line."""

import json
import os
import re
import subprocess
import sys

import matplotlib.pyplot as plt
import pytest
import torch
from safetensors.torch import save_file

from bookkit.chapters import BOOK, ROOT
from helpers.probe import probe
from helpers.probe.__main__ import main

SOURCE = """
import torch


def make():
    return torch.nn.Linear(5, 1)


def halves(bits):
    return bits.float() - 0.5


def target(bits):
    return 1 - 2 * bits[:, 1]


def wide():
    return torch.nn.Linear(5, 7)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mine_to_probe.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def second(folder, how):
    """Weights of a model that puts out its second sign."""
    state = {"weight": torch.tensor([[0.0, 1, 0, 0, 0]]), "bias": torch.zeros(1)}
    path = folder / f"weights.{how}"
    save_file(state, path) if how == "safetensors" else torch.save(state, path)
    return str(path)


@pytest.mark.parametrize("how", ["safetensors", "pt"])
def test_a_model_with_weights_is_measured_and_written(folder, capsys, how):
    given = ["mine_to_probe:make", "--bits", "5", "--target", "mine_to_probe:target"]
    given += ["--weights", second(folder, how), "--samples", "40", "--json", "out.json"]
    assert main(given) == 0
    told = capsys.readouterr()
    assert "average sensitivity" in told.out
    assert "all strings" in told.err
    report = json.loads((folder / "out.json").read_text())
    assert report["influences"] == [0, 1, 0, 0, 0]
    assert report["error_rate"][0] == 0


ODD = """
from torch import nn
fails = lambda: {}["none"]
kind = lambda: nn.Linear
table = lambda: lambda signs: signs.sum(-1)
model = nn.Linear(5, 1)
"""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["mine_to_probe", "--bits", "5"], "expected MODULE:NAME"),
        (["mine_to_probe.py:make", "--bits", "5"], "without .py: mine_to_probe:make"),
        (["./mine_to_probe.py:make", "--bits", "5"], "without .py: mine_to_probe:make"),
        (["sub/none.py:make", "--bits", "5"], "write the module without .py: sub.none:make"),
        (["mine_to_probe:make", "--bits", "5", "--start", "w.pt"], "give --sample too"),
        (["mine_to_probe:make", "--bits", "5", "--encoding", "cats"], "unknown encoding 'cats'"),
        (
            ["mine_to_probe:make", "--bits", "5", "--encoding", "mine_to_probe:no"],
            "cannot be loaded",
        ),
        (["mine_to_probe:make", "--bits", "99999999999"], "n must be at most 67108864, got 9999"),
        (["mine_to_probe:other", "--bits", "5"], "mine_to_probe:other cannot be loaded"),
        (["mine_to_probe:wide", "--bits", "5"], "must put out shape"),
        (["mine_to_probe:make", "--bits", "6"], "shapes"),
        (["mine_to_probe:make", "--bits", "5", "--weights", "none.pt"], "none.pt"),
        (
            ["mine_to_probe:make", "--bits", "5", "--target", "cats"],
            "first or MODULE:FUNCTION, got 'cats'",
        ),
        (
            ["mine_to_probe:make", "--bits", "5", "--json", "none/out.json"],
            "in a folder that exists",
        ),
        (["mine_to_probe:make", "--bits", "5", "--json", "."], "--json . must name a file"),
        (
            ["mine_to_probe:make", "--bits", "5", "--weights", "empty.pt"],
            "must hold tensors by name",
        ),
        (["mine_to_probe:make", "--bits", "5", "--seed", str(2**70)], "--seed must be from 0"),
        (["fails_to_probe:make", "--bits", "5"], "fails_to_probe:make cannot be loaded: NameError"),
        (["odd_to_probe:fails", "--bits", "5"], "must make the model: KeyError: 'none'"),
        (["odd_to_probe:kind", "--bits", "5"], "must make a model, got the class Linear"),
        (["odd_to_probe:table", "--bits", "5", "--weights", "w.pt"], "makes a function"),
    ],
)
def test_an_error_is_one_line_with_the_value(folder, capsys, given, words):
    (folder / "empty.pt").write_bytes(b"")
    (folder / "fails_to_probe.py").write_text("make = unknown\n")
    (folder / "odd_to_probe.py").write_text(ODD)
    assert main(given) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert told.startswith("error: ")
    assert words in told


def test_a_module_is_taken_as_it_is(folder, capsys):
    (folder / "odd_to_probe.py").write_text(ODD)
    assert main(["odd_to_probe:model", "--bits", "5", "--samples", "20"]) == 0
    assert "average sensitivity" in capsys.readouterr().out


def test_an_encoding_is_loaded_as_a_target_is(folder, capsys):
    given = ["mine_to_probe:make", "--bits", "5", "--samples", "40", "--json", "out.json"]
    assert main([*given, "--encoding", "mine_to_probe:halves"]) == 0
    found = json.loads((folder / "out.json").read_text())
    torch.manual_seed(0)
    wanted = probe(torch.nn.Linear(5, 1), 5, encoding=lambda b: b.float() - 0.5, samples=40)
    assert found == json.loads(json.dumps(wanted.as_dict()))


def test_pickled_code_is_not_run(folder, capsys):
    class Planted:
        def __reduce__(self):
            return (print, ("planted",))

    torch.save({"weight": Planted()}, folder / "bad.pt")
    assert main(["mine_to_probe:make", "--bits", "5", "--weights", "bad.pt"]) == 2
    told = capsys.readouterr()
    assert "planted" not in told.out
    assert told.err.startswith("error: ")


def test_a_training_sample_and_the_weights_before_training_are_read_from_files(folder, capsys):
    bits = torch.randint(0, 2, (300, 5), generator=torch.Generator().manual_seed(0))
    torch.save({"bits": bits, "labels": 1 - 2 * bits[:, 1]}, folder / "sample.pt")
    given = ["mine_to_probe:make", "--bits", "5", "--weights", second(folder, "pt")]
    given += ["--sample", "sample.pt", "--start", "weights.pt", "--samples", "20"]
    assert main(given) == 0
    assert "guaranteed error, kl, mean of networks whose weights have noise" in (
        capsys.readouterr().out
    )
    torch.save({"bits": bits}, folder / "sample.pt")
    assert main(given) == 2
    assert "sample.pt must hold bits and labels, got bits" in capsys.readouterr().err


def test_a_state_dict_that_does_not_fit_is_told_with_its_names(folder, capsys):
    torch.save({"other": torch.zeros(1)}, folder / "bad.pt")
    assert main(["mine_to_probe:make", "--bits", "5", "--weights", "bad.pt"]) == 2
    assert "other" in capsys.readouterr().err
    (folder / "bad.safetensors").write_bytes(b"nothing")
    assert main(["mine_to_probe:make", "--bits", "5", "--weights", "bad.safetensors"]) == 2
    assert "bad.safetensors cannot be read" in capsys.readouterr().err


def test_the_command_of_a_shell_prints_the_report_of_its_seed(folder):
    """In a process of its own; the weights of the factory follow the seed."""
    printed = {}
    for seed in (1, 2):
        words = ["-m", "helpers.probe", "mine_to_probe:make", "--bits", "5", "--seed", str(seed)]
        printed[seed] = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
        torch.manual_seed(seed)
        assert printed[seed] == f"{probe(torch.nn.Linear(5, 1), 5, seed=seed)}\n"
    assert printed[1] != printed[2]


def test_the_lines_that_the_chapter_recommends_work_as_they_stand(folder, capsys):
    """What a reader copies, and the command with the names replaced by those of a file here."""
    page = (BOOK / "beyond" / "your_network.py").read_text(encoding="utf-8")
    page = re.sub(r"^# ?", "", page, flags=re.MULTILINE)
    (lines,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(lines.splitlines()) <= 10
    exec(compile(lines, "page", "exec"), {})
    plt.close("all")
    assert "average sensitivity" in capsys.readouterr().out
    (command,) = re.findall(r"^```console\npython -m helpers\.probe (.*?)\n```", page, re.MULTILINE)
    given = command.replace("my_module:make_model", "mine_to_probe:make").replace("16", "5")
    given = given.replace("model.safetensors", second(folder, "safetensors"))
    assert main(given.split()) == 0
    assert (folder / "report.json").exists()
