"""All that waits for a GPU, in one command: ``make gpu``, ``python -m benchmarks.gpu``.

First every Triton path against its torch reference, on the hardware; then the kernels beside torch
and beside a copy of the same bytes; then 220 models in training at once; then the experiments that
two cores cannot do, at the papers' sizes, each until its share of the minutes is over. Called
again, the experiments go on from their checkpoints. ``--rehearse`` does the first three on a
processor at toy sizes, Triton in its interpreter, and has the runner check the experiments.
"""

from __future__ import annotations

import argparse
import functools
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks._measure import RECORDS, ROOT, compare, record, table
from benchmarks.training import HIDDEN, N_BITS, WIDTH, ensemble, loop, mapped
from helpers.kernels.parity import evaluate
from helpers.kernels.sensitivity import influences, local_sensitivity, pack
from helpers.kernels.walsh import DTYPES, walsh_hadamard, walsh_hadamard_
from helpers.nets.spec import TransformerSpec
from helpers.nets.transformer import forward


@dataclass(frozen=True)
class Sizes:
    """What is run: bits of tables, points and masks of sums, models and batches in training."""

    walsh: tuple[int, ...] = (1, 6, 12, 13, 14, 20, 24, 28)
    flips: tuple[int, ...] = (5, 12, 20, 26)
    masks: int = 512
    points: int = 2**20
    models: tuple[int, ...] = (32, 220)
    batches: tuple[int, ...] = (32, 256)
    rounds: int = 9


TOY = Sizes((1, 6, 13), (5, 9), 3, 1030, (3,), (8,), 1)
RUNS: tuple[tuple[str, dict[str, str], float], ...] = (
    (
        "sensitive/sharpness_vs_length",
        {"series": "gpu", "big_lengths": "[9, 10, 12, 14, 16, 18, 20]", "big_runs": "3"},
        12,
    ),
    (
        "sensitive/norm_blowup_tradeoff",
        {"series": "gpu", "big_lengths": "[10, 15]", "big_runs": "125"},
        14,
    ),
    (
        "sharper/generalization_gap",
        {
            "series": "gpu",
            "big_degrees": "[4, 5]",
            "big_sparsities": "[7, 14, 20]",
            "big_steps": "100000",
            "big_positional": "True",
        },
        9,
    ),
)
"""Chapter, parameters besides those of its preset, and minutes of a GPU."""


def whole(
    low: int, high: int, shape: tuple[int, ...], where: torch.device, seed: int = 0
) -> Tensor:
    """Random integers, the same on every device."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, high, shape, generator=generator).to(where)


def kernels(size: Sizes, where: torch.device) -> Iterator[tuple[str, Callable[[str], Any], int]]:
    """Name, ``call(backend)`` and bytes that must be moved, of every kernel at every size."""
    for dtype in DTYPES:
        for n in size.walsh:
            if n > 26 and dtype != torch.float32:
                continue
            x = whole(-9, 10, (2**n,), where).to(dtype)
            name = f"walsh, {str(dtype).removeprefix('torch.')}, n = {n}"
            yield name, functools.partial(walsh_hadamard, x), 2 * x.nbytes
    for n in size.flips:
        packed = pack(2 * whole(0, 2, (2**n,), where) - 1)
        yield f"influences, n = {n}", functools.partial(influences, packed), packed.words.nbytes
        yield (
            f"local sensitivity, n = {n}",
            lambda backend, packed=packed: local_sensitivity(packed, backend).histogram,
            packed.words.nbytes,
        )
    masks = whole(0, 2**40, (size.masks,), where)
    points = whole(0, 2**40, (size.points,), where, 1)
    for dtype in (torch.float32, torch.float64):
        c = whole(-9, 10, (size.masks,), where, 2).to(dtype)
        name = (
            f"parities, {size.masks} at {size.points} points, {str(dtype).removeprefix('torch.')}"
        )
        sums = functools.partial(evaluate, masks, c, points, "direct")
        yield name, sums, points.nbytes + points.numel() * c.element_size()


def references(size: Sizes, where: torch.device) -> list[dict[str, Any]]:
    """Every kernel by Triton and by its torch reference; all numbers are whole, so equal.

    Raises:
        AssertionError: two of them differ; names the kernel.
    """
    rows = []
    for name, call, _ in kernels(size, where):
        found, expected = call("triton"), call("torch")
        if not torch.equal(found, expected):
            wrong = int((found != expected).sum())
            raise AssertionError(f"{name}: {wrong} of {found.numel()} numbers differ")
        rows.append({"kernel": name, "numbers": found.numel(), "equal": True})
    x = torch.tensor([[1.0, torch.nan], [1.0, 2.0]], device=where)
    assert walsh_hadamard(x, "triton").isnan().tolist() == [[True, True], [False, False]]
    one = torch.ones(2, 4, dtype=torch.float64, device=where, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: walsh_hadamard(v, "triton"), one)
    assert walsh_hadamard_(torch.ones(4, device=where), "triton").tolist() == [4, 0, 0, 0]
    return rows


def timed(
    cases: dict[str, Callable[[], object]], where: torch.device, rounds: int
) -> dict[str, float]:
    """Milliseconds of a call to its end on the device, medians."""

    def ended(case: Callable[[], object]) -> Callable[[], None]:
        def call() -> None:
            case()
            if where.type == "cuda":
                torch.cuda.synchronize(where)

        return call

    found = compare({k: ended(v) for k, v in cases.items()}, rounds, clock=time.perf_counter)
    return {name: 1e3 * stats.median for name, stats in found.items()}


def beside_torch(size: Sizes, where: torch.device) -> list[dict[str, Any]]:
    """Every kernel by Triton, by torch, and the copy of as many bytes as must be moved."""
    rows = []
    for name, call, moved in kernels(size, where):
        source = torch.empty(max(moved // 2, 1), dtype=torch.uint8, device=where)
        target = torch.empty_like(source)
        ms = timed(
            {
                "triton": functools.partial(call, "triton"),
                "torch": functools.partial(call, "torch"),
                "copy": functools.partial(target.copy_, source),
            },
            where,
            size.rounds,
        )
        told = {f"{k} ms": v for k, v in ms.items()}
        rows.append({"kernel": name, **told, "times as fast": ms["torch"] / ms["triton"]})
    return rows


def stacked(size: Sizes, where: torch.device) -> list[dict[str, Any]]:
    """A step of many models at once beside PyTorch's encoders, one after the other."""
    spec = TransformerSpec(N_BITS, WIDTH, 2, 1, HIDDEN, "post", readout="cls")
    rows = []
    for E in size.models:
        for B in size.batches:
            cases = {
                "nn.TransformerEncoder, one by one": (loop(spec, 2, B, where), 2),
                "torch.func.vmap": (ensemble(spec, E, B, mapped, where), E),
                "ours, stacked": (ensemble(spec, E, B, forward, where), E),
            }
            ms = timed({k: call for k, (call, _) in cases.items()}, where, size.rounds)
            each = {name: ms[name] / count for name, (_, count) in cases.items()}
            rows += [
                {
                    "models": E,
                    "batch": B,
                    "case": name,
                    "ms a model-step": v,
                    "times as fast": each["nn.TransformerEncoder, one by one"] / v,
                }
                for name, v in each.items()
            ]
    return rows


def command(chapter: str, parameters: dict[str, str]) -> list[str]:
    """What has the runner run an experiment at the paper's size, for this runner to complete."""
    given = [word for name, value in parameters.items() for word in ("-p", name, value)]
    return [sys.executable, "-m", "bookkit.run", chapter, "--preset", "paper", "--plain", *given]


def main() -> int:
    """Run the command line; 0, 1 if something failed, 2 where there is no GPU."""
    parser = argparse.ArgumentParser("python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--rehearse", action="store_true", help="on a processor, at toy sizes")
    parser.add_argument("--minutes", type=float, default=45, help="for all of it (45)")
    parser.add_argument("--out", type=Path, default=RECORDS, help="where the record goes")
    options = parser.parse_args()
    began = time.monotonic()
    if options.rehearse and os.environ.get("TRITON_INTERPRET") != "1":  # read when it is imported
        os.execve(
            sys.executable,
            [sys.executable, "-m", "benchmarks.gpu", *sys.argv[1:]],
            os.environ | {"TRITON_INTERPRET": "1"},
        )
    if not options.rehearse and not torch.cuda.is_available():
        print("error: no GPU is here; --rehearse tries it all on a processor", file=sys.stderr)
        return 2
    where, size = torch.device("cuda"), Sizes()
    if options.rehearse:
        where, size = torch.device("cpu"), TOY
    found: dict[str, list[dict[str, Any]]] = {}
    parts = {"references": references, "kernels": beside_torch, "training": stacked}
    device = "the interpreter" if options.rehearse else torch.cuda.get_device_name()
    for name, part in parts.items():
        found[name] = part(size, where)
        print(f"\n{name} on {device}\n{table(found[name])}", flush=True)
        rest = {k: v for k, v in found.items() if k != "training"}
        # After each part: what was measured stays if the lease ends.
        told = {"device": device, "clock": "wall, to the end on the device", **rest}
        record("gpu", found.get("training", []), folder=options.out, **told)
    failed = 0
    share = (60 * options.minutes - (time.monotonic() - began)) / sum(m for *_, m in RUNS)
    for chapter, parameters, minutes in RUNS:
        words = command(chapter, parameters)
        words += ["--check"] if options.rehearse else ["--device", "cuda"]
        if not options.rehearse:
            words += ["--budget", f"{max(share * minutes, 1):.0f}s"]
        print(f"\n{shlex.join(words[1:])}", flush=True)
        done = subprocess.run(words, cwd=ROOT, check=False)
        failed += done.returncode != (1 if options.rehearse else 0)  # 1: not run yet
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
