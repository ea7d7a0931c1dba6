"""What functions of networks, tasks and callables are tried with by ``test_fuzz``.

``GIVEN`` has, by the function's name or by that of its module, the arguments that cannot be guessed
from their annotation, and numbers that have to fit them. Everything is small: one call of each.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, tensor

from helpers import cube
from helpers.beyond import certificates, parity_head, signed
from helpers.covers import blocks
from helpers.covers.attention import HeadNorms, LayerNorms
from helpers.draws import Draws, f64
from helpers.lengthfree import deep_covers, single_layer
from helpers.nets import baselines, transformer
from helpers.retrieval import hierarchy, task
from helpers.retrieval.attention import ReluNet
from helpers.sensitive import scratchpads
from helpers.sensitive.blowup import random_weights
from helpers.sensitive.brittle import spec
from helpers.sensitive.parity import PostNormSpec
from helpers.sharper import network, projected, samples
from helpers.sharpness import SquaredLoss
from helpers.training.ensemble import Trained
from helpers.variables import planted, selection


def seeded() -> torch.Generator:
    """A source of randomness."""
    return torch.Generator().manual_seed(0)


def normal(*shape: int) -> Tensor:
    """The same numbers each time, float64."""
    return torch.randn(shape, generator=seeded(), dtype=torch.float64)


def loss(weights: dict[str, Tensor]) -> Tensor:
    """Of each model."""
    return torch.stack([w.square().flatten(1).sum(1) for w in weights.values()]).sum(0)


def outputs(weights: dict[str, Tensor], inputs: Tensor) -> Tensor:
    """Of each model, for inputs ``(E, B, 3)`` or ``(B, 3)``."""
    return (weights["w"][:, None] * inputs).sum(-1)


def batch(models: Tensor) -> tuple[Tensor, Tensor]:
    """The same examples each time."""
    return torch.ones(len(models), 4, 3), torch.zeros(len(models), 4)


BITS, SIX = cube.bits(4), cube.bits(6)
FUNCTION = cube.sparse_function(6, 2, 3, seeded())
CONSTRUCTED = network.construct(FUNCTION)
ON_CUBE = {"network": CONSTRUCTED, "function": FUNCTION, "bits": SIX, "strings": 8}
MODEL = spec(4, 8)
STACK = transformer.initial_weights(MODEL, 2, seeded())
BRITTLE = {"model": MODEL, "weights": STACK, "names": ["PARITY", "MEAN"], "seeds": [0, 1]}
PAD = scratchpads.spec(4, 8)
PADS = {"model": PAD, "weights": transformer.initial_weights(PAD, 2, seeded()), "bits": BITS}
POST = PostNormSpec(n=4, width=8, hidden=8, norm_eps=0.1)
OF_POST = {"spec": POST, "weights": random_weights(POST, seeded()), "strings": 8}
LAYER = blocks.Layer(normal(3, 3), normal(3, 3), normal(3, 3))
LAYERS = {"Z": normal(4, 3), "layer": LAYER, "other": blocks.Layer(*(w + 0.1 for w in LAYER))}
HEAD, NORMS = HeadNorms(1.0, 1.0, 1.0), single_layer.Norms(1.0, 1.0, 1.0, 1.0, 1.0)
TASK = task.new_task(2, 5, 3, 4, seeded())
BASIS = {"at": selection.marked(6, (0, 2)), "chosen": (0, 2), "draws": Draws(0)}
THREE = {"weights": {"w": normal(2, 3).float()}, "batch": batch, "forward": outputs}
MEAN = {"w": torch.ones(2, 3)}
PLANTED = planted.plant("parity", 6, 2, [0, 1])
PROBE = planted.probe(6, width=8, heads=2)
SAMPLES = samples.draw(6, [(2, 1), (2, 2)], 8, [0, 1])
SAMPLES_SPEC = samples.paper_spec(6)
TRAINED = Trained({"w": normal(2)}, tensor([2, 2]), tensor([True, False]), [2], f64([[0.1, 0.2]]))
HEADS = parity_head.initial_weights(5, 4, 2, seeded())
NET = hierarchy.Net("feedforward", (4,))


def counted(setting: hierarchy.Setting, cap: int) -> hierarchy.Counts:
    """As if every run had needed half of what it may see."""
    return hierarchy.Counts(torch.tensor([cap // 2]), torch.tensor([True]))


GIVEN: dict[str, dict[str, Any]] = {
    "beyond.audit.noisy_losses": {
        **{"n": 5, "degree": 2, "scale": 5.0},
        "deviation": dict.fromkeys(("WKQ1", "WV1", "G", "b", "F", "WKQ2", "v2"), 0.1),
    },
    "beyond.certificates": {
        **{"forward": outputs, "start": MEAN, "centre": MEAN, "batch": batch, "m": 20},
        "posterior": certificates.Posterior(MEAN, MEAN, MEAN, torch.ones(2)),
    },
    "beyond.certificates.certificate": {"sampled": 0.1, "draws": 50, "kl": 1.0, "m": 100},
    "beyond.parity_head": {
        **{"weights": HEADS, "bits": cube.bits(5)[None, :4].expand(2, -1, -1).long()},
        **{"pairs": torch.tensor([[0, 1], [2, 3]]), "e": 1},
    },
    "beyond.signed.bounds": {"n": 6, "heads": [signed.Head(tensor([3, 5]), f64([1, 1]), 1.0, 2)]},
    "beyond.small_noise.perturbed_risk": {
        **{"spec": CONSTRUCTED[0], "weights": CONSTRUCTED[1], "deviations": CONSTRUCTED[1]},
        **{"targets": FUNCTION(torch.arange(64)), "bits": SIX},
    },
    "covers.attention": {
        **{"norms": HEAD, "heads": [HEAD], "layers": [LayerNorms(1.0, 1.0, 1.0, 1.0, 1.0, 1.0)]},
    },
    "covers.linear.climb": {
        **{"distance": lambda M: M.square().sum(-1), "project": lambda M: M.clamp(-1, 1)},
        "start": normal(2, 3).clamp(-1, 1),
    },
    "covers.lipschitz": {**LAYERS, "other_Z": normal(4, 3), "X": normal(4, 3), "query": normal(3)},
    "covers.lipschitz.head_sides": {"weights": LAYER[:2], "others": LAYERS["other"][:2]},
    "covers.lipschitz.input_sides": {"other": normal(4, 3) + 1},
    "cube.testers": {"oracle": cube.parity(6), "n": 6},
    "kernels.subcubes": {
        **{"oracle": lambda points: points.double(), "points": torch.arange(4)},
        **{"bases": torch.tensor([0, 1]), "directions": torch.tensor([[2, 4], [2, 8]])},
    },
    "lengthfree.deep_covers": {"norms": deep_covers.DeepNorms(2), "slip": "norm", "stretch": 3.0},
    "lengthfree.single_layer": {"norms": NORMS, "m": 10, "shape": (2, 3, 2)},
    "lengthfree.single_layer.chain": {
        **{"averages": normal(2, 3, 4), "columns": normal(2, 4), "activation": torch.tanh},
    },
    "lengthfree.single_layer.searched_complexity": {"norm": lambda W: W.flatten(1).norm(dim=1)},
    "nets.baselines.initial_weights": {"spec": baselines.FeedforwardSpec(3)},
    "nets.transformer": {"spec": MODEL, "weights": STACK, "tokens": BITS},
    "retrieval.attention.on_heads": {
        **{"g": ReluNet(normal(4), normal(4, 6), normal(4)), "d": 3, "D": 5, "q": 2},
    },
    "retrieval.hierarchy": {
        **{"net": NET, "task": TASK, "tests": {"own": TASK}, "learning_rate": 0.01, "stop": 0.5},
        **{"steps": 20, "count": counted, "start": hierarchy.Setting(NET, 0.01), "cap": 100},
    },
    "retrieval.pointwise": {
        **{"weights": task.initial_weights(11, 4, seeded(), 2), "d": 3, "d_e": 4},
        **{"sizes": [10, 20], "errors": torch.tensor([[0.9], [0.2]])},
    },
    "retrieval.recurrent": {
        **{"step": lambda h, z: 0.1 * h + z, "tokens": normal(2, 4, 3), "width": 3},
        "update": lambda z: z[..., None, :],
    },
    "retrieval.span": {"kind": "tanh", "losses": loss, "weights": {"w": normal(2, 3)}},
    "retrieval.task.encode": {
        **{"given": TASK.prompts(torch.arange(2), 3), "omega": TASK.omega},
    },
    "sensitive.blowup": OF_POST,
    "sensitive.brittle": {**BRITTLE, "strings": BITS, "steps": 2},
    "sensitive.brittle.by_chance": {
        **{"read": lambda values: float(values[0]), "values": normal(6), "strata": torch.zeros(6)},
    },
    "sensitive.completions": {
        **{"model": MODEL, "weights": STACK, "strings": BITS, "rows": tensor([[0, 1], [2, 3]])},
        **{"tables": cube.parity(4).expand(2, -1), "steps": 2, "learning_rate": 0.01},
    },
    "sensitive.isolation": {
        **{**OF_POST, "start": {"w": normal(3)}, "ratio": lambda w: w["w"].square().sum() + 1},
    },
    "sensitive.random_nets.outputs": {"net": "GRU", "draw": "Xavier"},
    "sensitive.scratchpads": {**PADS, "n": 3, "seeds": [0], "steps": 2},
    "sensitive.steps": OF_POST,
    "sharper.chain_of_thought.squared_norm": {"codes": "one-hot"},
    "sharper.gradients": {
        **{"function": FUNCTION, "height": lambda f, scales: scales[0], "scales": (5.0, 5.0)},
    },
    "sharper.learnable": {
        **{"spec": CONSTRUCTED[0], "weights": CONSTRUCTED[1]},
    },
    "sharper.learnable.at_factor": {
        "weights": {f"layers.{i}.{part}": normal(3) for i in (0, 1) for part in ("query", "key")},
    },
    "sharper.network": {"function": FUNCTION, "basis": "character"},
    "sharper.noisy": ON_CUBE,
    "sharper.noisy.hessian_norm": {"bits": SIX[5]},
    "sharper.noisy.shifted": {"direction": normal(sum(w.numel() for w in CONSTRUCTED[1].values()))},
    "sharper.norms": {
        **{"coefficients": f64([0.5, 0.5]), "scales": (5.0, 5.0), "basis": "character"},
        "weights": CONSTRUCTED[1],
    },
    "sharper.pac_bayes.first_sample_size": {"curve": lambda m: 10 / m},
    "sharper.perturbed.perturb": {"weights": CONSTRUCTED[1]},
    "sharper.projected": {"function": FUNCTION, "net": projected.disjoint(12, 2, 3)},
    "sharper.projected.sufficient_width": {"share": 0.1, "eta": 0.1},
    "sharper.samples": {
        **{"classes": [(2, 1)], "n": 6, "N": 4, "seeds": [0], "samples": SAMPLES},
        **{"spec": SAMPLES_SPEC, "steps": 2, "batch_size": 4, "trained": TRAINED},
        "forward": lambda _, bits: bits.double().sum(-1).expand(2, -1),
    },
    "sharper.semi_analytic": ON_CUBE,
    "sharpness": {
        **{"loss": lambda weights: loss(weights)[0], "forward": lambda w, x: (x * w["w"]).sum(-1)},
        **{"weights": {"w": normal(1, 3)}, "inputs": normal(4, 3), "rho": 0.1},
    },
    "sharpness.traces": {"loss": SquaredLoss(lambda w, x: x @ w["w"][0], normal(4, 3), normal(4))},
    "sharpness.blowup.layer_norm_blowup": {"inputs": [normal(2, 4, 3)]},
    "sharpness.point.chunks": {"vectors": iter([normal(3)])},
    "statistics": {
        **{"x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.0, 2.9, 4.2], "values": [1.0, 2.0, 4.0]},
        **{"a": [1.0, 2.0], "b": [3.0, 5.0], "met": lambda k: k >= 5},
    },
    "statistics.power_of_means": {"levels": [1, 2], "values": f64([[1.0, 1.1], [2.0, 2.2]])},
    "training.batches": {
        **{"generators": [seeded()], "inputs": normal(1, 6, 3), "targets": normal(1, 6)},
        "draw": lambda model, B, generator: (torch.ones(B, 3), torch.ones(B)),
    },
    "training.ensemble.require_one_each": {"name": "rates", "values": normal(2), "A": 2},
    "training.train.train": {**THREE, "steps": 2, "learning_rate": 0.1},
    "variables.planted": {
        **{"gate": "parity", "T": 6, "s": 2, "seeds": [0], "spec": PROBE, "trials": PLANTED},
        **{"weights": planted.start(PROBE, PLANTED), "bits": cube.bits(6)[None].expand(2, -1, -1)},
        **{"sizes": [10, 20], "successes": f64([0.1, 0.9]), "checks": [1, 2]},
        **{"losses": normal(2, 3), "labels": torch.zeros(2, 64)},
        "forward": lambda weights, bits: bits.double().sum(-1),
    },
    "variables.selection": {
        **BASIS,
        **{"T": 6, "heads": {"WQ": normal(2, 3, 3), "WK": normal(2, 3, 3)}},
        **{"gram": selection.opposed_gram(4, 2, 0.1), "delta": 0.1},
        "loss": lambda gram: float(gram[0, 1]),
    },
    "weights.ensemble_of": {"draw": lambda: {"w": normal(3)}},
}


def given(name: str) -> dict[str, Any]:
    """What a function is to be given: of its packages, its module and by its own name."""
    found: dict[str, Any] = {}
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        found |= GIVEN.get(".".join(parts[:end]), {})
    return found
