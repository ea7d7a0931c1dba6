"""Influences and local sensitivity beside array views: python -m benchmarks.flips."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks._measure import compare, record, table
from helpers.kernels.sensitivity import LOWER, WORD, influences, local_sensitivity, pack
from helpers.kernels.walsh import walsh_hadamard

SIZES = (12, 16, 20, 24)


def numpy_views(f, n):
    """Each coordinate splits the table into two halves of interleaved blocks."""
    pairs = (f.reshape(-1, 2, 1 << k) for k in range(n))
    return [2 * int((p[:, 0] != p[:, 1]).sum()) for p in pairs]


def numpy_packed(words, n):
    """64 entries a word: a flip of a low bit shifts within words, of a high one swaps them."""
    counts = []
    for k in range(n):
        if k < WORD:
            low = (words ^ (words >> np.uint64(1 << k))) & np.uint64(LOWER[k])
            counts.append(2 * int(np.bitwise_count(low).sum()))
        else:
            pairs = words.reshape(-1, 2, 1 << (k - WORD))
            counts.append(2 * int(np.bitwise_count(pairs[:, 0] ^ pairs[:, 1]).sum()))
    return counts


def torch_views(f, n):
    pairs = (f.view(-1, 2, 1 << k) for k in range(n))
    return [2 * int((p[:, 0] != p[:, 1]).sum()) for p in pairs]


def torch_gather(f, i):
    """The naive form: the table read again at the flipped indices."""
    n = len(f).bit_length() - 1
    return [int((f[i ^ (1 << k)] != f).sum()) for k in range(n)]


def by_spectrum(f, sizes):
    """All weights, of which the influences are sums."""
    return walsh_hadamard(f).square() @ sizes


def numpy_histogram(f, n):
    """A counter of a byte for each point."""
    changed = np.zeros(len(f), np.uint8)
    for k in range(n):
        pairs, counters = f.reshape(-1, 2, 1 << k), changed.reshape(-1, 2, 1 << k)
        counters += (pairs[:, :1] != pairs[:, 1:]).view(np.uint8)
    return np.bincount(changed, minlength=n + 1)


def measured(n):
    rng = np.random.default_rng(0)
    f = rng.integers(0, 2, 1 << n).astype(np.uint8)
    t = torch.from_numpy(f)
    signs = 1 - 2 * t.to(torch.int8)
    packed, floats, i = pack(signs), signs.float(), torch.arange(1 << n)
    sizes, words = torch.ones(1 << n), packed.words.numpy().view(np.uint64)
    every = {
        "numpy views, uint8": lambda: numpy_views(f, n),
        "numpy, packed words": lambda: numpy_packed(words, n),
        "torch views, uint8": lambda: torch_views(t, n),
        "influences, packed": lambda: influences(packed),
        "influences, int8 table": lambda: influences(signs),
        "histogram by numpy views": lambda: numpy_histogram(f, n),
        "histogram, packed": lambda: local_sensitivity(packed).histogram,
        "copy of the packed words": lambda: packed.words.clone(),
    }
    if n <= 20:
        every["torch gather"] = lambda: torch_gather(t, i)
        every["transform, float32"] = lambda: by_spectrum(floats, sizes)
    counts = [2.0**-n * c for c in numpy_views(f, n)]
    assert influences(packed).tolist() == counts == influences(signs).tolist()
    assert [2.0**-n * c for c in torch_views(t, n)] == counts
    assert [2.0**-n * c for c in numpy_packed(words, n)] == counts
    assert local_sensitivity(packed).histogram.tolist() == numpy_histogram(f, n).tolist()
    stats = compare(every, rounds=7)
    return [
        {
            "n": n,
            "case": name,
            "ms": 1e3 * s.median,
            "low": 1e3 * s.low,
            "high": 1e3 * s.high,
            "ps a flip": 1e12 * s.median / n / 2**n,
            "x faster numpy": stats[
                "histogram by numpy views" if "histogram" in name else "numpy, packed words"
            ].median
            / s.median,
        }
        for name, s in stats.items()
    ]


def main():
    torch.set_num_threads(1)
    rows = [row for n in SIZES for row in measured(n)]
    print(f"random functions, one thread, CPU time\n{table(rows)}")
    record(
        "flips",
        rows,
        gpu="the triton paths have not run on hardware, only in Triton's interpreter",
    )


if __name__ == "__main__":
    main()
