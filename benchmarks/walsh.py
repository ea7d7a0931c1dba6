"""The Walsh-Hadamard transform beside its peers: ``python -m benchmarks.walsh``.

Peers in this environment: scipy's dense matrix, a loop of torch butterflies, a plain Numba loop.
pyfwht (GPL) is measured where ``PEERS`` names a Python that has it: ``PEERS=/path/to/bin/python``;
FFHT, in C, where ``FFHT`` names its library (``gcc -O3 -march=native -shared -fPIC *.c`` of two):
it is called through ctypes, whose tenths of a microsecond are in its times.
The lower bounds are one sweep in place over the table (read and write) and one copy of it. Where
vectors have 64 bytes, those of 32 are timed too, in a process that compiles for AVX2 alone.
Set ``OMP_NUM_THREADS=1``, as ``make bench`` does: times are CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch
from scipy.linalg import hadamard
from torch import Tensor

from benchmarks._measure import RECORDS, Remote, Stats, compare, peers_python, record, table
from helpers.kernels.walsh import (
    WIDTH,
    in_threads,
    machine_code,
    walsh_hadamard,
    walsh_hadamard_,
)

SIZES = (4, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28)
SLOWER = (
    "Up to n = 12 FFHT, pyfwht or a bare compiled loop is faster: most of a call on a small table "
    "is what must be asked of a tensor (type, device, shape, dtype, layout, gradient, version), a "
    "microsecond that they do not spend. Many small transforms belong in one call, as in batches."
)
"""Said in the record: why a peer wins."""
SMALL = (1, 2, 3, 4, 6, 8, 10, 12, 14)
BATCHED = 1 << 20  # numbers in a batch of small transforms
NAMES = {torch.float32: "float32", torch.float64: "float64", torch.int32: "int32"}
OURS, SWEEP, COPY = "in place", "sweep", "copy"
PYFWHT = """
import numpy, pyfwht
x = numpy.random.default_rng(0).choice([-1, 1], {N}).astype("{dtype}")
call = lambda: pyfwht.transform(x, backend=pyfwht.Backend.CPU)
y = x.copy(); pyfwht.transform(y, backend=pyfwht.Backend.CPU)
assert y[0] == x.sum() and (y.astype("f8") ** 2).sum() == float({N}) * {N}
"""
NARROW = """
import os
os.environ["NUMBA_CPU_NAME"] = "haswell"
os.environ["NUMBA_CPU_FEATURES"] = "+sse4.2,+avx,+avx2,+fma,+bmi,+bmi2,+popcnt"
import llvmlite.binding
llvmlite.binding.get_host_cpu_features = lambda: dict(avx2=True)
import torch
from helpers.kernels.walsh import WIDTH, walsh_hadamard_
assert WIDTH == 32
x = walsh_hadamard_(torch.ones({N}, dtype=torch.{dtype}))
assert x[0] == {N} and not x[1:].any()
x.zero_()
call = lambda: walsh_hadamard_(x)
"""


def torch_loop(x: Tensor) -> Tensor:
    """The usual few lines of torch."""
    N, h = x.shape[-1], 1
    while h < N:
        a, b = x.view(-1, 2, h).unbind(1)
        x, h = torch.stack((a + b, a - b), 1).view(-1), 2 * h
    return x


@numba.njit(cache=True)
def numba_loop(x):  # type: ignore[no-untyped-def]
    """The usual few lines of Numba, in place."""
    h = 1
    while h < len(x):
        for start in range(0, len(x), 2 * h):
            for i in range(start, start + h):
                a, b = x[i], x[i + h]
                x[i], x[i + h] = a + b, a - b
        h *= 2


def signs(N: int, dtype: torch.dtype) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(2, (N,), generator=generator, dtype=torch.int8).mul_(2).sub_(1).to(dtype)


def ffht(dtype: torch.dtype) -> Callable[[int, int], int] | None:
    """FFHT's transform in place, given an address and n; None where it is not, or has no such."""
    path, kind = (
        os.environ.get("FFHT"),
        {torch.float32: "float", torch.float64: "double"}.get(dtype),
    )
    if not path or kind is None:
        return None
    function = getattr(ctypes.CDLL(path), f"fht_{kind}")
    function.argtypes = [ctypes.c_void_p, ctypes.c_int]
    return function


def cases(n: int, dtype: torch.dtype) -> dict[str, Callable[[], object]]:
    """What is timed at one size, each on memory of its own, each checked here on signs."""
    x = signs(2**n, dtype)
    ours = x.clone()
    walsh_hadamard_(ours)
    assert ours[0] == x.sum()
    assert ours.double().square().sum() == 4.0**n
    zeros = torch.zeros_like(x)  # numbers must not overflow however often they are transformed
    buffer = zeros.numpy()
    chosen: dict[str, Callable[[], object]] = {
        SWEEP: lambda: np.multiply(buffer, 1, out=buffer),
        OURS: lambda: walsh_hadamard_(zeros),
    }
    theirs = ffht(dtype)
    if theirs is not None:
        mine = x.clone()
        theirs(mine.data_ptr(), n)
        assert torch.equal(mine, ours), "FFHT has other numbers"
        chosen["FFHT"] = lambda: theirs(zeros.data_ptr(), n)
    if n <= 26:
        target = np.empty_like(buffer)
        chosen[COPY] = lambda: np.copyto(target, buffer)
        chosen["out of place"] = lambda: walsh_hadamard(zeros)
    if n <= 22:
        loop = x.clone()
        numba_loop(loop.numpy())
        assert torch.equal(loop, ours)
        chosen["numba loop"] = lambda: numba_loop(buffer)
        assert torch.equal(torch_loop(x), ours)
        chosen["torch loop"] = lambda: torch_loop(zeros)
    if n <= 12:
        H = hadamard(2**n, dtype=zeros.numpy().dtype)
        assert np.array_equal(H @ x.numpy(), ours.numpy())
        chosen["scipy matrix"] = lambda: H @ buffer
    return chosen


def alone(n: int, dtype: torch.dtype, python: str | None, rounds: int) -> dict[str, Any]:
    """One row of the table: one transform of 2**n numbers."""
    with ExitStack() as stack:
        chosen = cases(n, dtype)
        N = {"N": 2**n, "dtype": NAMES[dtype]}
        if python and dtype != torch.float32 and n <= 24:
            chosen["pyfwht"] = stack.enter_context(Remote(python, PYFWHT.format(**N)))
        if WIDTH == 64 and n <= 24:
            narrow = Remote(sys.executable, NARROW.format(**N))
            chosen["32-byte vectors"] = stack.enter_context(narrow)
        stats = compare(chosen, rounds if n <= 24 else 3)
    return row(n, dtype, stats)


def row(n: int, dtype: torch.dtype, stats: dict[str, Stats]) -> dict[str, Any]:
    """Nanoseconds per number, their quartiles, and ours against each of the others."""
    ns = {name: 1e9 * s.median / 2**n for name, s in stats.items()}
    ours = stats[OURS]
    return {
        "dtype": NAMES[dtype],
        "n": n,
        "ns": ns,
        "quartiles": {k: [1e9 * s.low / 2**n, 1e9 * s.high / 2**n] for k, s in stats.items()},
        "rounds": ours.rounds,
        "sweeps": ns[OURS] / ns[SWEEP],
        "faster than": {k: v / ns[OURS] for k, v in ns.items() if k not in (OURS, SWEEP, COPY)},
    }


def batches(dtype: torch.dtype, rounds: int) -> list[dict[str, Any]]:
    """Many small transforms in one call, per number, beside one transform of as many numbers."""
    tables = {n: torch.zeros(BATCHED >> n, 2**n, dtype=dtype) for n in (*SMALL, 20)}
    stats = compare({str(n): lambda x=x: walsh_hadamard_(x) for n, x in tables.items()}, rounds)
    ns = {n: 1e9 * stats[str(n)].median / BATCHED for n in tables}
    return [
        {
            "dtype": NAMES[dtype],
            "n": n,
            "rows": BATCHED >> n,
            "ns": ns[n],
            "of n = 20": ns[n] / ns[20],
        }
        for n in tables
    ]


def overhead(n: int, dtype: torch.dtype, rounds: int) -> dict[str, Any]:
    """Microseconds of a call besides the machine code it ends in, and besides the new table."""
    x = torch.zeros(2**n, dtype=dtype)
    code, log_row, digits = machine_code(2**n, dtype, WIDTH)
    stats = compare(
        {
            "code": lambda: code(0, WIDTH, x.data_ptr(), log_row, digits, 0, 1),
            "in place": lambda: walsh_hadamard_(x),
            "out of place": lambda: walsh_hadamard(x),
            "clone": lambda: x.clone(),
        },
        rounds,
    )
    us = {name: 1e6 * s.median for name, s in stats.items()}
    return {
        "dtype": NAMES[dtype],
        "n": n,
        "code us": us["code"],
        "in place +us": us["in place"] - us["code"],
        "out of place +us": us["out of place"] - us["code"] - us["clone"],
    }


def threads(rounds: int) -> list[dict[str, Any]]:
    """Wall time on one thread against two, and of a sweep on as many, which memory alone limits.

    It means something on an idle machine only.
    """
    rows = []
    before = torch.get_num_threads()
    for n in (22, 24, 26):
        x = torch.zeros(2**n)
        buffer = x.numpy()

        def on(count: int, x: Tensor = x) -> None:
            torch.set_num_threads(count)
            walsh_hadamard_(x)

        def sweep(count: int, x: Any = buffer) -> None:
            in_threads(count, lambda i, j: np.multiply(x[i:j], 1, out=x[i:j]), len(x))

        cases = {
            "1": lambda on=on: on(1),
            "2": lambda on=on: on(2),
            "sweep 1": lambda sweep=sweep: sweep(1),
            "sweep 2": lambda sweep=sweep: sweep(2),
        }
        wall = compare(cases, rounds, clock=time.perf_counter)
        rows.append(
            {
                "n": n,
                "one ms": 1e3 * wall["1"].median,
                "two ms": 1e3 * wall["2"].median,
                "speed-up": wall["1"].median / wall["2"].median,
                "lower quartiles": wall["1"].low / wall["2"].low,
                "of a sweep": wall["sweep 1"].median / wall["sweep 2"].median,
                "of a sweep, lower quartiles": wall["sweep 1"].low / wall["sweep 2"].low,
            }
        )
    torch.set_num_threads(before)
    return rows


def flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows for the printed table: one column a peer."""
    peers = list(dict.fromkeys(k for r in rows for k in r["ns"]))
    return [
        {
            "dtype": r["dtype"],
            "n": r["n"],
            **{k: r["ns"].get(k) for k in peers},
            "sweeps": r["sweeps"],
        }
        for r in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-max", type=int, default=28, help="largest size, in bits")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--out", type=Path, default=RECORDS, help="where the record goes")
    options = parser.parse_args()
    python = peers_python("pyfwht")
    rows, small, calls = [], [], []
    for dtype in NAMES:
        for n in (n for n in SIZES if n <= options.n_max):
            rows.append(alone(n, dtype, python, options.rounds))
        small += batches(dtype, options.rounds)
        calls += [overhead(n, dtype, options.rounds) for n in (1, 6, 10, 12)]
    walls = threads(options.rounds) if options.n_max >= 26 else []
    print("ns per number, one thread, CPU time, medians\n" + table(flat(rows)))
    print("\nbatches of 2**20 numbers in rows of 2**n\n" + table(small))
    print("\noverhead of a call\n" + table(calls))
    print(f"\n{SLOWER}")
    if walls:
        print("\nwall time on two threads\n" + table(walls))
    versions = {"pyfwht": peer_version(python) if python else "not installed"}
    versions["FFHT"] = "by ctypes" if os.environ.get("FFHT") else "not measured"
    print("pyfwht:", versions["pyfwht"])
    record(
        "walsh",
        rows,
        folder=options.out,
        peers=versions,
        vector_bytes=WIDTH,
        batches=small,
        overhead=calls,
        threads=walls,
        slower=SLOWER,
        gpu="not run: no GPU was at hand; the Triton path has run in its interpreter only",
    )


def peer_version(python: str) -> str:
    code = "import importlib.metadata as m; print(m.version('pyfwht'))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
