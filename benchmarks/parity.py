"""Sums of characters at points, beside how one would write them: python -m benchmarks.parity."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks._measure import compare, record, table
from helpers.kernels import parity
from helpers.kernels.parity import evaluate, evaluate_reference

TERMS, POINTS, BITS = 512, 1 << 16, 20


def drawn(n, terms, points, dtype):
    g = torch.Generator().manual_seed(0)
    masks, x = (torch.randint(0, 1 << n, (size,), generator=g) for size in (terms, points))
    masks[0] |= 1 << (n - 1)
    return masks, torch.randn(terms, generator=g, dtype=dtype), x


def numpy_loop(masks, coefficients, points):
    """One mask after another over all points; the peer that needs nothing but numpy."""
    out = np.zeros(len(points), coefficients.dtype)
    for mask, c in zip(masks, coefficients, strict=True):
        out += c * (1 - 2 * (np.bitwise_count(points & mask) & 1).astype(coefficients.dtype))
    return out


def torch_product(masks, coefficients, points, n):
    """Bits of points times bits of masks, modulo 2: one matrix product a chunk of points."""
    bits = torch.arange(n)
    of_masks = (masks[:, None] >> bits & 1).float().T
    chunks = [(p[:, None] >> bits & 1).float() @ of_masks for p in points.split(1 << 13)]
    return torch.cat(
        [(1 - 2 * torch.remainder(c, 2)).to(coefficients.dtype) @ coefficients for c in chunks]
    )


def held(counts, *given):
    """The CPU path as on a processor that counts bits in vectors, or does not."""
    own = parity.COUNTS_IN_VECTORS
    parity.COUNTS_IN_VECTORS = counts
    try:
        return evaluate(*given, "direct")
    finally:
        parity.COUNTS_IN_VECTORS = own


def peers(dtype):
    """All ways at 2**25 pairs, each checked against the reference first."""
    masks, c, x = drawn(BITS, TERMS, POINTS, dtype)
    narrow = [v.numpy().astype(np.uint32) for v in (masks, x)]
    cases = {
        "numpy popcount loop, int64": lambda: numpy_loop(masks.numpy(), c.numpy(), x.numpy()),
        "numpy popcount loop, uint32": lambda: numpy_loop(narrow[0], c.numpy(), narrow[1]),
        "torch product of bits": lambda: torch_product(masks, c, x, BITS),
        "direct": lambda: evaluate(masks, c, x, "direct"),
        "direct, bits counted": lambda: held(True, masks, c, x),
        "direct, tables of bytes": lambda: held(False, masks, c, x),
        "transform": lambda: evaluate(masks, c, x, "transform"),
        "auto": lambda: evaluate(masks, c, x),
        "copy of points and values": lambda: (x.clone(), c.new_empty(POINTS).copy_(c[0])),
    }
    exact = evaluate_reference(masks, c.double(), x[:4096])
    slack = (TERMS + 1) * torch.finfo(dtype).eps * float(c.abs().sum())
    for name, case in cases.items():
        if not name.startswith("copy"):
            assert (torch.as_tensor(case())[:4096] - exact).abs().max() <= slack, name
    stats = compare(cases, rounds=7)
    peer = min(stats[name].median for name in cases if name.startswith("numpy"))
    return [
        {
            "n": BITS,
            "dtype": str(dtype)[6:],
            "case": name,
            "ms": 1e3 * s.median,
            "low": 1e3 * s.low,
            "high": 1e3 * s.high,
            "ns a pair": 1e9 * s.median / TERMS / POINTS,
            "x faster numpy": peer / s.median,
        }
        for name, s in stats.items()
    ]


def crossover(n, dtype):
    """How many pairs cost what one entry of the table does."""
    masks, c, x = drawn(n, 256, 1 << 12, dtype)
    few = x[:64]
    stats = compare(
        {
            "direct": lambda: evaluate(masks, c, x, "direct"),
            "transform": lambda: evaluate(masks, c, few, "transform"),
        },
        rounds=7,
    )
    pair, entry = stats["direct"].median / 256 / 4096, stats["transform"].median / (1 << n)
    return {
        "n": n,
        "dtype": str(dtype)[6:],
        "ns a pair": 1e9 * pair,
        "ns an entry": 1e9 * entry,
        "pairs an entry": entry / pair,
    }


def main():
    torch.set_num_threads(1)
    dtypes = (torch.float32, torch.float64)
    rows = [row for dtype in dtypes for row in peers(dtype)]
    print(f"{TERMS} masks at {POINTS} points, one thread, CPU time\n{table(rows)}\n")
    crossings = [crossover(n, dtype) for n in (12, 16, 20, 24) for dtype in dtypes]
    print(f"when the transform pays\n{table(crossings)}")
    record(
        "parity",
        rows,
        crossover=crossings,
        rule=f"transform from {parity.FEWEST_MASKS} masks and {parity.PAIRS_PER_ENTRY} pairs for "
        f"each of 2**n + {parity.ENTRIES_PER_CALL} entries",
        counts_in_vectors=parity.COUNTS_IN_VECTORS,
        gpu="the triton path has not run on hardware, only in Triton's interpreter",
    )


if __name__ == "__main__":
    main()
