"""Steps of stacked transformers beside a loop over PyTorch's: python -m benchmarks.training."""

from __future__ import annotations

import dataclasses

import torch

from benchmarks._measure import compare, record, table
from helpers.nets.spec import TransformerSpec
from helpers.nets.transformer import forward, initial_weights
from papers.sharper import lean, samples
from tests.torch_encoder import encoder_weights

N_BITS, WIDTH, HIDDEN = 20, 51, 128
CASES = ((32, 32), (8, 256))  # models at once, strings in a batch


class Peer(torch.nn.Module):
    """PyTorch's encoder with learned tokens and positions, read at an output position."""

    def __init__(self, spec: TransformerSpec) -> None:
        super().__init__()
        layer = torch.nn.TransformerEncoderLayer(
            spec.width, spec.heads, spec.hiddens[0], dropout=0.0, batch_first=True
        )
        self.encoder = torch.nn.TransformerEncoder(layer, spec.layers, enable_nested_tensor=False)
        self.token = torch.nn.Embedding(3, spec.width)
        self.place = torch.nn.Parameter(torch.randn(spec.tokens, spec.width))
        self.readout = torch.nn.Linear(spec.width, 1)

    def forward(self, bits):
        """Outputs ``(B,)`` for bits ``(B, n)``."""
        tokens = torch.nn.functional.pad(bits, (0, 1), value=2)
        return self.readout(self.encoder(self.token(tokens) + self.place)[:, -1]).squeeze(-1)

    def weights(self):
        """The same model in this book's form."""
        own = {
            "embedding": self.token.weight[:2],
            "cls": self.token.weight[2],
            "positions": self.place,
            "readout": self.readout.weight.mT,
            "readout_bias": self.readout.bias,
        }
        return {k: v.detach().clone() for k, v in own.items()} | encoder_weights(self.encoder)


def nothing_skipped(spec, weights, bits):
    """Every token's queries, keys and values formed in both layers; one token is read."""
    every = dataclasses.replace(spec, n=spec.tokens, readout="every", vocabulary=3)
    tokens = torch.nn.functional.pad(bits, (0, 1), value=2)
    table = torch.cat((weights["embedding"], weights["cls"][..., None, :]), -2)
    rest = {k: v for k, v in weights.items() if k != "cls"}
    return forward(every, rest | {"embedding": table}, tokens)[..., -1]


def step(run, parameters, bits, targets, rate=3e-3):
    """One step of AdamW on the mean squared error, ready to be called."""
    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=1e-4, fused=True)

    def call():
        optimizer.zero_grad()
        (run(bits) - targets).square().mean(-1).sum().backward()
        optimizer.step()

    return call


def ensemble(spec, E, B, run, device="cpu"):
    generator = torch.Generator().manual_seed(0)
    weights = initial_weights(spec, E, generator)
    leaves = {k: v.to(device).requires_grad_() for k, v in weights.items()}
    bits = torch.randint(0, 2, (E, B, spec.n), generator=generator).to(device)
    targets = torch.randn(E, B, generator=generator).to(device)
    return step(lambda b: run(spec, leaves, b), list(leaves.values()), bits, targets)


def mapped(spec, weights, bits):
    """The same model one at a time, stacked by torch.func."""
    return torch.vmap(lambda w, b: forward(spec, w, b))(weights, bits)


def loop(spec, count, B, device="cpu"):
    """PyTorch's models one after the other."""
    bits, targets = torch.randint(0, 2, (B, spec.n)).to(device), torch.randn(B).to(device)
    models = [Peer(spec).to(device) for _ in range(count)]
    steps = [step(m, m.parameters(), bits, targets) for m in models]

    def call():
        for one in steps:
            one()

    return call


def check(normed, paper):
    """The forms that are timed compute the same numbers, gradients too."""
    peer = Peer(normed)
    bits = torch.randint(0, 2, (64, N_BITS))
    ours, theirs = forward(normed, peer.weights(), bits), peer(bits)
    assert (ours - theirs).abs().max() < 1e-5, "not PyTorch's encoder"
    assert (nothing_skipped(normed, peer.weights(), bits) - theirs).abs().max() < 1e-5
    for spec in (paper, dataclasses.replace(paper, positional=True)):
        weights = initial_weights(spec, 3, torch.Generator().manual_seed(1))
        leaves = {k: v.requires_grad_() for k, v in weights.items()}
        found = []
        for run in (forward, lean.forward):
            output = run(spec, leaves, bits)
            slopes = torch.autograd.grad(output.square().mean(), list(leaves.values()))
            found.append((output, *slopes))
        for a, b in zip(*found, strict=True):
            assert (a - b).abs().max() < 1e-6, "the lean form differs"


def measured(E, B):
    normed = TransformerSpec(N_BITS, WIDTH, 2, 1, HIDDEN, "post", readout="cls")
    paper = samples.paper_spec(N_BITS)
    positional = dataclasses.replace(paper, positional=True)
    check(normed, paper)
    cases = {
        "nn.TransformerEncoder, one by one": (loop(normed, 2, B), 2),
        "layer norm, torch.func.vmap": (ensemble(normed, E, B, mapped), E),
        "layer norm, nothing skipped": (ensemble(normed, E, B, nothing_skipped), E),
        "layer norm, ours": (ensemble(normed, E, B, forward), E),
        "first paper's, plain": (ensemble(paper, E, B, forward), E),
        "first paper's, lean": (ensemble(paper, E, B, lean.forward), E),
        "positions only, lean": (ensemble(positional, E, B, lean.forward), E),
    }
    timed = compare({name: call for name, (call, _) in cases.items()}, rounds=9)
    base = timed["nn.TransformerEncoder, one by one"].median / 2
    for name, stats in timed.items():
        each = cases[name][1]
        yield {
            "batch": B,
            "models": each,
            "case": name,
            "ms a model-step": 1e3 * stats.median / each,
            "low": 1e3 * stats.low / each,
            "high": 1e3 * stats.high / each,
            "times as fast": base / (stats.median / each),
        }


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = [row for E, B in CASES for row in measured(E, B)]
    print(table(rows))
    print(
        "\nA step: forward, backward, AdamW; 20 bits, width 51, 128 hidden units, 2 layers. The "
        "first\npaper's model has no layer norm; its time is set against the same loop."
    )
    record("training", rows, hardware="CPU only: the stacked steps have not run on a GPU")


if __name__ == "__main__":
    main()
