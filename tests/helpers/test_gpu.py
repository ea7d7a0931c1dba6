"""The one command for a GPU, rehearsed on a processor."""

import json
import subprocess
import sys

import pytest
import torch

from benchmarks import gpu
from bookkit import run
from bookkit.chapters import ROOT
from tests.interpreter import needs_triton


@needs_triton
def test_all_that_waits_for_a_gpu_can_be_rehearsed_on_a_processor(tmp_path):
    command = [sys.executable, "-m", "benchmarks.gpu", "--rehearse", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "gpu.json").read_text())
    assert found["device"] == "the interpreter"
    kernels = {row["kernel"].split(",")[0] for row in found["references"]}
    assert kernels >= {"walsh", "influences", "local sensitivity"}
    assert {name.split()[0] for name in kernels} >= {"parities"}
    assert all(row["equal"] for row in found["references"])
    assert len(found["kernels"]) == len(found["references"])
    assert {row["case"] for row in found["rows"]} >= {"ours, stacked", "torch.func.vmap"}
    for chapter, _, _ in gpu.RUNS:
        assert f"stale: {chapter} " in done.stdout


def test_a_path_that_differs_from_its_reference_is_named(monkeypatch):
    def off(x, backend):
        return x + (backend == "triton") * (torch.arange(len(x)) == 1)

    monkeypatch.setattr(gpu, "walsh_hadamard", off)
    with pytest.raises(AssertionError, match=r"walsh, float32, n = 1: 1 of 2 numbers differ"):
        gpu.references(gpu.TOY, torch.device("cpu"))


@pytest.mark.parametrize("chapter", [chapter for chapter, *_ in gpu.RUNS])
def test_the_runner_takes_every_experiment(chapter, capsys):
    parameters = next(given for name, given, _ in gpu.RUNS if name == chapter)
    words = gpu.command(chapter, parameters)[3:]
    assert run.main([*words, "--device", "cuda", "--budget", "9min", "--check"]) == 1
    assert f"stale: {chapter} series=gpu" in capsys.readouterr().out
    assert run.main([*words, "-p", "big_runz", "3", "--check"]) == 2


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_without_a_gpu_the_command_says_so():
    command = [sys.executable, "-m", "benchmarks.gpu"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: no GPU is here; --rehearse tries it all on a processor\n"
