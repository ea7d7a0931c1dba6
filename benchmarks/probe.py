"""Influences of a two-layer encoder beside the obvious loop: python -m benchmarks.probe.

At the most bits of which all strings are tried, the probe alone is timed, each call in a process of
its own, which also tells how much memory it took. ``--rehearse`` tries all of this in seconds, at
few bits, and stores nothing.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch import nn

from benchmarks._measure import ROOT, compare, record, table
from helpers.probe import EXACT, probe

SIZES = (8, 10, 12, 14)
LOOP = 10  # bits up to which the loop over single strings is waited for
THREADS = 2  # of the calls at the most bits
WHOLE = {"probe, function only": 8, "probe, the whole module": 2048}
"""What is called at the most bits, and how many strings are drawn there for the rest."""


class Encoder(nn.Module):
    """PyTorch's encoder on tokens 0 and 1, read at the last token."""

    def __init__(self, n: int, width: int = 32) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(2, width), nn.Embedding(n, width)
        layer = nn.TransformerEncoderLayer(width, 2, 64, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, 1)

    def forward(self, bits: torch.Tensor) -> torch.Tensor:
        """One number for each string."""
        places = torch.arange(bits.shape[1])
        return self.out(self.layers(self.token(bits) + self.place(places))[:, -1])[:, 0]


@torch.no_grad()
def one_by_one(model, n):
    """Each string alone, then a table read again at the flipped indices."""
    index = torch.arange(1 << n)
    places = torch.arange(n)
    found = torch.stack([model((x >> places & 1)[None])[0] > 0 for x in index])
    return [(found != found[index ^ (1 << k)]).double().mean().item() for k in range(n)]


@torch.no_grad()
def flipped_batches(model, n):
    """All strings in one batch, and all of them again for each flipped bit."""
    strings = torch.arange(1 << n)[:, None] >> torch.arange(n) & 1
    here = model(strings) > 0
    found = []
    for k in range(n):
        moved = strings.clone()
        moved[:, k] ^= 1
        found.append(((model(moved) > 0) != here).double().mean().item())
    return found


def measured(n):
    torch.manual_seed(0)
    model = Encoder(n).eval()
    every = {
        "probe, function only": lambda: probe(
            lambda bits: model(bits), n, encoding="tokens", samples=8
        ),
        "all strings again for each flip": lambda: flipped_batches(model, n),
    }
    if n <= LOOP:
        every["strings one by one"] = lambda: one_by_one(model, n)
    wanted = torch.tensor(flipped_batches(model, n))
    got = torch.tensor(probe(model, n, encoding="tokens", samples=8, draws=2).influences)
    assert (wanted - got).abs().max() <= 2.0 ** (3 - n)  # signs of outputs near 0 may differ
    stats = compare(every, rounds=3)
    return [
        {
            "n": n,
            "case": name,
            "ms": 1e3 * s.median,
            "low": 1e3 * s.low,
            "high": 1e3 * s.high,
            "us a string": 1e6 * s.median / 2**n,
            "times as long as probe": s.median / stats["probe, function only"].median,
        }
        for name, s in stats.items()
    ]


def alone(case, n):
    """One call in this process: wall and CPU seconds, and the most memory, MiB, before and after.

    A first call on few bits compiles what is compiled, and is not counted.
    """
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    model = Encoder(n).eval()
    given = model if "module" in case else lambda bits: model(bits)
    probe(lambda bits: bits.sum(-1) - 2.5, 5, encoding="tokens", samples=8)
    before, wall, cpu = peak(), time.perf_counter(), time.process_time()
    report = probe(given, n, encoding="tokens", samples=WHOLE[case])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert report.exact
    assert bool(report.trace) == ("module" in case)
    return {
        "n": n,
        "case": case,
        "threads": THREADS,
        "wall s": wall,
        "CPU s": cpu,
        "us a string": 1e6 * cpu / 2**n,
        "MiB before": before,
        "peak MiB": peak(),
    }


def peak():
    """Most memory that this process has had, MiB."""
    status = Path("/proc/self/status")  # what getrusage tells there may be the parent's
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 2**10
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def in_processes(n):
    """Each case at n bits, in a process of its own."""
    found = []
    for case in WHOLE:
        words = [sys.executable, "-m", "benchmarks.probe", "--alone", case, "--bits", str(n)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    return found


def main():
    parser = argparse.ArgumentParser("python -m benchmarks.probe", description=__doc__)
    parser.add_argument("--bits", type=int, default=EXACT, help="of the calls in own processes")
    parser.add_argument("--rehearse", action="store_true", help="at few bits, without a record")
    parser.add_argument("--alone", choices=list(WHOLE), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        print(json.dumps(alone(given.alone, given.bits)))
        return
    torch.set_num_threads(1)
    sizes, most = ((6, 8), min(given.bits, 12)) if given.rehearse else (SIZES, given.bits)
    rows = [row for n in sizes for row in measured(n)]
    print(f"PyTorch's encoder, two layers of width 32, one thread, CPU time\n{table(rows)}")
    whole = in_processes(most)
    print(f"All of {most} bits, each call in a process of its own\n{table(whole)}")
    if not given.rehearse:
        record("probe", rows, whole=whole)


if __name__ == "__main__":
    main()
