"""Signed sums over subcubes beside a torch gather: python -m benchmarks.subcubes."""

from __future__ import annotations

import torch

from benchmarks._measure import compare, record, table
from helpers.kernels.flips import pack
from helpers.kernels.subcubes import block_directions, coordinate_directions, signed_sums, vertices

QUERIES = 20_000
CASES = ((16, 5), (20, 3), (20, 5), (20, 8), (24, 5))


def torch_gather(f, bases, directions):
    """Every vertex by exclusive or with every direction in turn, then one gather."""
    m = directions.shape[1]
    subset = torch.arange(1 << m)
    x = bases[:, None].expand(-1, 1 << m).clone()
    for j in range(m):
        x ^= torch.where((subset >> j & 1) == 1, directions[:, j : j + 1], 0)
    signs = 1 - 2 * (sum(subset >> j & 1 for j in range(m)) & 1)
    return (f[x] * signs).sum(1)


def measured(n, m, draw):
    g = torch.Generator().manual_seed(0)
    signs = 1 - 2 * torch.randint(0, 2, (1 << n,), generator=g)
    bases = torch.randint(0, 1 << n, (QUERIES,), generator=g)
    directions = draw(n, m, QUERIES, g)
    tables = {f"{kind}"[6:]: signs.to(kind) for kind in (torch.int8, torch.float32, torch.float64)}
    every = {
        f"torch gather, {kind}": lambda t=t: torch_gather(t, bases, directions)
        for kind, t in tables.items()
    }
    every |= {
        f"walk, {kind}": lambda t=t: signed_sums(t, bases, directions) for kind, t in tables.items()
    }
    packed = pack(signs)
    every["walk, packed bits"] = lambda: signed_sums(packed, bases, directions)
    expected = torch_gather(signs, bases, directions)
    for name, case in every.items():
        assert torch.equal(case().long(), expected), name
    ready = vertices(bases, directions).flatten()
    every["the reads alone, int8"] = lambda: tables["int8"].take(ready)
    stats = compare(every, rounds=7)
    return [
        {
            "n": n,
            "m": m,
            "directions": draw.__name__.split("_")[0],
            "case": name,
            "ms": 1e3 * s.median,
            "low": 1e3 * s.low,
            "high": 1e3 * s.high,
            "ns a vertex": 1e9 * s.median / QUERIES / 2**m,
            "x faster torch": stats[
                "torch gather, int8"
                if "packed" in name or "int8" in name
                else f"torch gather,{name.split(',')[1]}"
            ].median
            / s.median,
        }
        for name, s in stats.items()
    ]


def main():
    torch.set_num_threads(1)
    rows = [row for n, m in CASES for row in measured(n, m, coordinate_directions)]
    rows += measured(20, 5, block_directions)
    print(f"{QUERIES} subcubes of m directions, one thread, CPU time\n{table(rows)}")
    record(
        "subcubes",
        rows,
        gpu="the triton path has not run on hardware, only in Triton's interpreter",
    )


if __name__ == "__main__":
    main()
