"""Influences of a two-layer encoder beside the obvious loop: python -m benchmarks.probe."""

from __future__ import annotations

import torch
from torch import nn

from benchmarks._measure import compare, record, table
from helpers.probe import probe

SIZES = (8, 10, 12, 14)
LOOP = 10  # bits up to which the loop over single strings is waited for


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


def main():
    torch.set_num_threads(1)
    rows = [row for n in SIZES for row in measured(n)]
    print(f"PyTorch's encoder, two layers of width 32, one thread, CPU time\n{table(rows)}")
    record("probe", rows)


if __name__ == "__main__":
    main()
