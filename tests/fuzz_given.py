"""What functions of networks, tasks and callables are tried with by ``test_fuzz``.

``GIVEN`` has, by the function's name or by that of its module, the arguments that cannot be guessed
from their annotation, and numbers that have to fit them. Everything is small: one call of each.
``CALLED`` has what ``tests/answers.py`` calls in a function's place, where the arguments have no
names, or the answer is a function or a source of batches, which is called in turn.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, tensor

from helpers import cube
from helpers.beyond import certificates, parity_head, signed
from helpers.covers import blocks
from helpers.covers.attention import HeadNorms, LayerNorms
from helpers.draws import Draws, f64, seed_of
from helpers.kernels import flips, parity
from helpers.lengthfree import deep_covers, majority_task, single_layer
from helpers.nets import attention, baselines, transformer
from helpers.retrieval import attention as with_heads
from helpers.retrieval import heads, hierarchy, pointwise, random_encodings, span, task
from helpers.retrieval.attention import ReluNet
from helpers.sensitive import blowup, scratchpads
from helpers.sensitive.blowup import random_weights
from helpers.sensitive.brittle import spec
from helpers.sensitive.parity import PostNormSpec
from helpers.sharper import chain_of_thought, circuits, learnable, network, projected, samples
from helpers.sharper import gradients as per_block
from helpers.sharpness import SquaredLoss
from helpers.sharpness.gradients import of_each_input as one_by_one
from helpers.sharpness.point import Point, chunks, for_each_model, products
from helpers.training import batches, checkpoints
from helpers.training.ensemble import Trained
from helpers.variables import lookup, planted, selection


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
STACKED = {"X": normal(4, 3), "layers": [LAYER, LAYER]}
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
WHOLE = {"n": f64([10, 20]), "degree": f64([2, 3]), "sparsity": f64([3, 4])}
AT = [[0, 4, 2], [1, 1, 3]]  # tokens that are asked for
PROMPTS = TASK.prompts(torch.arange(2), 3)[0], TASK.prompts(torch.arange(2), 3)[1][..., 0]
ASKED = pointwise.Asked(*PROMPTS, tensor(AT), TASK.omega)
PACKED = flips.pack(cube.parity(4) * cube.majority(4))
CODES, STEPS = chain_of_thought.construct(4)
OF_STEPS = {"codes": CODES, "weights": STEPS, "bits": BITS, "strings": BITS}
CIRCUIT = circuits.initial_weights(6, 4, seeded())
LEARNED = learnable.forms(FUNCTION)
READING = heads.initial_weights(2, 7, 2, 3, seeded())
PLAIN = selection.basis(selection.random_gram(6, 0.15, seeded()))
ON_VALUES = {"values": f64([1.0, -1.0, 0.5, 2.0])}
ONE = lookup.construct(ON_VALUES["values"], (0, 2), PLAIN)
OK = torch.tensor([True, True, False])
BLOCK = {k.removeprefix("layers.0."): w for k, w in STACK.items() if k.startswith("layers.0.")}
ENCODED = random_encodings.encodings(8, 16, seeded()).double()
DIRECTIONS, LOGITS = normal(3, 3) / 2, normal(4, 8)[1:] / 2
PUT_OUT = with_heads.attend(
    heads.reading_heads(DIRECTIONS, LOGITS, ENCODED, 4),
    task.encode(heads.hard_prompts(6, 8, 3, 4, seeded()), ENCODED),
)[:, -1]
PLANTED_BITS = cube.bits(3)[:5].expand(2, -1, -1) ^ tensor([0, 1])[:, None, None].to(cube.bits(3))
SEEN = {"rows": tensor([[0, 1, 5], [2, 3, 15]]), "f": torch.stack([cube.parity(4)] * 2)}


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


def each(module: str, names: str, **arguments: Any) -> dict[str, dict[str, Any]]:
    """The same arguments for several functions of a module."""
    return {f"{module}.{name}": arguments for name in names.split()}


GIVEN |= {  # functions that take no number of their own
    **each(
        *("beyond.audit", "failures"),
        losses=normal(3, 8).sigmoid(),
        certify=lambda risk: risk + 0.2,
        counts=torch.randint(0, 3, (5, 8), generator=seeded()).double(),
    ),
    **each(
        *("beyond.parity_head", "clipped_errors forward"),
        **{"X": normal(2, 4, 6, 8).float(), "y": normal(2, 4).sigmoid().float()},
    ),
    **each("beyond.signed", "construct deal", function=FUNCTION),
    **each(
        *("beyond.signed", "forward squared_gradients squared_norm"),
        **dict(zip(("spec", "weights"), signed.construct(FUNCTION), strict=True)),
        bits=SIX,
    ),
    **each(
        *("beyond.small_noise", "mean_squared_gradient blocks each whole"),
        **{"spec": CONSTRUCTED[0], "weights": CONSTRUCTED[1], "bits": SIX},
    ),
    **each("covers.blocks", "block blocks hidden", **LAYERS, **STACKED),
    **each(
        *("covers.blocks", "mix"),
        **{"X": normal(4, 3), "query": normal(3), "W_V": normal(3, 2), "W_QK": normal(3, 3) + 1},
    ),
    **each(
        *("covers.lipschitz", "readout_sides"),
        **{"g": normal(4, 3), "other": normal(4, 3) + 1, "w": normal(3), "w_hat": normal(3) * 2},
    ),
    **each("covers.blocks", "attention", Z=normal(4, 3), W_V=normal(3, 2), W_QK=normal(3, 3)),
    **each("covers.capacity", "dudley", scales=f64([0, 0.3, 0.6]), log_sizes=f64([9, 4, 1])),
    **each("covers.lipschitz", "radii", factors=f64([0.5, 2, 3]), errors=f64([0.1, 0.2, 0.3])),
    **each("covers.lipschitz", "softmax_sides", logits=normal(4, 3), other=normal(4, 3) * 2),
    **each("cube.functions", "SparseFunction", masks=tensor([3, 5, 6]), coefficients=normal(3)),
    **each("cube.functions", "mask_of", coordinates=[1, 2, 5]),
    **each("draws", "f64", values=[0.5, 2.0]),
    **each(
        *("kernels.flips", "average_sensitivity block_sensitivity influences local_sensitivity"),
        **{"table": PACKED, "blocks": [1, 6, 8]},
    ),
    **each("kernels.flips", "PackedTable", n=4, words=PACKED.words),
    **each(
        *("kernels.flips", "histogram_reference influence_counts_reference unpack"),
        **{"packed": PACKED, "blocks": [1, 6, 8]},
    ),
    **each(
        *("kernels.parity", "evaluate evaluate_reference"),
        **{"masks": tensor([3, 5, 6]), "points": torch.arange(8), "coefficients": normal(3)},
    ),
    **each("kernels.subcubes", "signed_sums signed_sums_reference", table=PACKED),
    **each(
        *("lengthfree.majority_task", "outputs size"),
        weights=majority_task.initial_weights(seeded()),
        rows=majority_task.tokens(seeded())[torch.randint(2, (3, 7), generator=seeded())],
    ),
    **each(
        *("lengthfree.masked_words", "loss_sides losses"),
        **{"scores": normal(5, 4), "other": normal(5, 4) * 2, "words": tensor([0, 3, 1, 2, 2])},
    ),
    **each(
        *("lengthfree.masked_words", "complexities"),
        **{"scores": normal(2, 5, 4), "words": tensor([0, 3, 1, 2, 2])},
    ),
    **each(
        *("lengthfree.single_layer", "outputs"),
        **{"X": normal(4, 3), "query": normal(3), "activation": torch.tanh},
        weights=(normal(3), normal(2, 3), normal(3, 2), normal(3, 3)),
    ),
    **each(
        *("lengthfree.single_layer", "measured_norms"),
        **{"w": normal(3), "W_c": normal(2, 3), "W_v": normal(3, 2) + 1, "W_qk": normal(3, 3)},
        X=normal(2, 4, 3),
    ),
    **each("nets.baselines", "shapes", spec=baselines.FeedforwardSpec(3)),
    **each(
        *("nets.baselines", "forward"),
        spec=baselines.RecurrentSpec(2, 3),
        weights=baselines.initial_weights(baselines.RecurrentSpec(2, 3), 2, seeded()),
        inputs=normal(2, 4, 5, 2).float(),
    ),
    **each("nets.lean", "forward obstacle", spec=MODEL, weights=STACK, tokens=BITS),
    **each(
        *("retrieval.attention", "transformer"),
        **{"W": normal(2, 3, 3), "net": ReluNet(normal(4), normal(4, 6), normal(4))},
        tokens=normal(5, 4, 3),
    ),
    **each("retrieval.attention", "attend", W=normal(2, 3, 3), tokens=normal(5, 4, 3)),
    **each("retrieval.heads", "expected_squares", mixed=normal(5, 2, 3), mixing=normal(2, 6)),
    **each("retrieval.heads", "forward", weights=READING, tokens=normal(2, 3, 4, 7).float()),
    **each(
        *("retrieval.heads", "outputs"),
        **{"query_key": normal(2, 3, 3), "tokens": normal(5, 4, 3), "queries": normal(5, 2, 3)},
    ),
    **each("retrieval.hierarchy", "Net", kind="feedforward", widths=(4, 5)),
    **each("retrieval.hierarchy", "neighbours", setting=hierarchy.Setting(NET, 0.01)),
    **each("retrieval.hierarchy", "median", counts=hierarchy.Counts(tensor([2, 9, 4]), OK)),
    **each("retrieval.memory", "squared_norm", net=ReluNet(normal(4), normal(4, 6), normal(4))),
    **each("retrieval.pointwise", "forward", given=ASKED),
    **each("retrieval.recurrent", "ideal split", tokens=normal(2, 7, 3 + 2 * 4), d=3, d_e=4, q=1),
    **each(
        *("retrieval.span", "outputs"),
        weights=span.initial_weights("tanh", 4, 3, 2, seeded()),
        inputs=normal(2, 5, 16),
    ),
    **each(
        *("retrieval.task", "labels retrieved"),
        **{"given": TASK.prompts(torch.arange(2), 3), "u": normal(2, 1, 3).float()},
    ),
    **each(
        *("retrieval.task", "forward logits predict query_key"),
        weights=task.initial_weights(3 + 2 * 4, 5, seeded(), 2),
        **{"tokens": normal(2, 3, 5, 11).float(), "scores": normal(2, 3, 5, 5).float()},
    ),
    **each("retrieval.task", "block_summary", matrix=normal(2, 11, 11), omega=normal(2, 5, 4)),
    **each("sensitive.blowup", "run", strings=BITS),
    **each("sensitive.blowup", "constants", seen=blowup.run(POST, OF_POST["weights"], BITS)),
    **each("sensitive.brittle", "targets", name="PARITY", strings=BITS),
    **each("sensitive.brittle", "window", values=normal(3, 8), start=OK * 1, stop=OK * 2 + 4),
    **each("sensitive.brittle", "aligned", values=normal(3, 8), at=tensor([4, 5, 3])),
    **each("sensitive.completions", "expected_sensitivity shuffled_outside", **SEEN),
    **each(
        *("sensitive.influence", "summed_influence"),
        **{"scores": normal(16, 4), "gap": normal(16, 4), "bits": BITS},
    ),
    **each(
        *("sensitive.influence", "through_head"),
        **{"tokens": normal(8, 3, 4), "query": normal(4, 2), "key": normal(4, 2) + 1},
        value=normal(4, 3),
    ),
    **each("sensitive.isolation", "parity_of", strings=BITS),
    **each(
        *("sensitive.parity", "run_circuit"),
        **{"layers": [tensor([[-1, 1, 2], [1, -1, 1]]), tensor([[0, 1, 0, 1, -2]])]},
        strings=cube.bits(2),
    ),
    **each("sensitive.random_nets", "drawn", shapes={"w": (3, 4), "b": (3,)}, draw="Xavier"),
    **each("sensitive.scratchpads", "forward", given=torch.ones(3, 8, dtype=torch.int64)),
    **each("sensitive.slope_test", "fitting_points", r=(0.3, 0.5), p=(0.01, 0.02)),
    **each("sensitive.steps", "chain", x=tensor([1, 0, 0, 1])),
    **each("sensitive.parity", "forward", **{**OF_POST, "bits": BITS}),
    **each(
        "sensitive.two_norms", "deviations dressed forward value_norms", **{**OF_POST, "bits": BITS}
    ),
    **each("sensitive.two_norms", "reciprocal_mean", d=8, D=50, values=f64([0.5, 2.0]), rho=0.1),
    **each("sharper.chain_of_thought", "errors forward generate squared_gradient", **OF_STEPS),
    **each(
        *("sharper.circuits", "attention averages forward written net"),
        **{"weights": CIRCUIT, "bits": SIX, "kept": normal(6, 6).softmax(-1).float()},
        number=normal(3, 6).float(),
    ),
    **each("sharper.circuits", "strongest_are", row=normal(6), members=normal(6) > 0.5),
    **each("sharper.gradients", "squared_gradients traces", network=CONSTRUCTED, bits=SIX),
    **each("sharper.learnable", "forms", function=FUNCTION),
    **each(
        *("sharper.learnable", "sizes"),
        **{"nets": LEARNED, "bits": SIX, "targets": FUNCTION(torch.arange(64))},
    ),
    **each("sharper.learnable", "balanced stretched", weights=LEARNED["model"][1], alpha=2.0),
    **each(
        *("sharper.network", "assemble"),
        **{"spec": CONSTRUCTED[0], "coefficients": f64([0.5, 0.3, 0.2]), "scales": (4.0, 5.0)},
        members=tensor([[1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1]]),
    ),
    **each(
        *("sharper.network", "forward tokens"),
        **{"spec": CONSTRUCTED[0], "weights": CONSTRUCTED[1], "bits": SIX},
    ),
    **each(
        *("sharper.network", "mlp"),
        y=normal(5, 8),
        **{k: CONSTRUCTED[1][k] for k in ("G", "b", "F")},
    ),
    **each("sharper.noisy", "singletons", coefficients=normal(5).abs()),
    **each("sharper.noisy", "places", weights=CONSTRUCTED[1]),
    **each("sharper.noisy", "hessians", bits=SIX[:6]),
    **each("sharper.noisy", "steepest", bits=SIX[6]),
    **each("sharper.norms", "activation_norms", spec=CONSTRUCTED[0], bits=SIX),
    **each(
        *("sharper.perturbed", "hidden_units parity_spread"),
        **{"weights": CONSTRUCTED[1], "y": f64([0.0, 0.3, 1.0])},
        inside=network.forward(*CONSTRUCTED, SIX, intermediates=True)[1],
    ),
    **each(
        *("sharper.projected", "output_errors pair_errors"),
        **{"J": normal(3, 13, 5), "bits": cube.bits(12)[:9]},
    ),
    **each("sharper.pac_bayes", "norm_squared", **WHOLE),
    **each(
        *("sharper.pac_bayes", "optimal_sigma"),
        **{"norm_squared": f64([5, 9]), "sharpness": f64([1, 2]), "m": f64([100, 200])},
        subgaussian=f64([0.5, 1]),
    ),
    **each("sharper.rivals", "log_constructions", **WHOLE),
    **each(
        *("sharper.rivals", "pac_bayes_kl"),
        **{"risk": f64([0.1, 0.2]), "kl": f64([1, 3]), "m": f64([50, 200])},
    ),
    **each("statistics", "slope", x=f64([1, 2, 3, 4]), y=f64([1, 2, 2.9, 4.2])),
    **each("statistics", "bootstrapped told", values=normal(30) + 0.5),
    **each(
        *("statistics", "concordance redrawn_means"),
        **{"levels": f64([1, 2, 2]), "values": f64([[1.0, 0.4, 2.0], [0.5, 2.2, 2.3]]), "count": 5},
    ),
    **each(
        *("training.train", "cross_entropy"),
        **{"outputs": normal(2, 4, 3), "targets": tensor([[0, 1, 2, 2], [1, 1, 0, 2]])},
    ),
    **each("variables.lookup", "construct", **ON_VALUES, chosen=(0, 2), at=PLAIN),
    **each("variables.lookup", "evaluate", net=ONE.net, x=normal(5, 2)),
    **each("variables.lookup", "lookup_net", points=normal(4, 2) * 4, **ON_VALUES),
    **each("variables.selection", "rows targets", kind="positions", bits=SIX, at=PLAIN),
    **each(
        *("variables.selection", "error"),
        **{"kind": "positions", "bits": SIX, "at": PLAIN},
        heads=selection.sign_heads(PLAIN, (0, 2), 30.0),
    ),
    **each("variables.selection", "forward", heads=ONE.heads, X=normal(5, 7, 9), at=PLAIN),
    **each("weights", "check_weights", weights={"w": normal(3)}, shapes={"w": (3,)}),
    **each("kernels.parity", "ones", x=tensor([0, 1, 6, 2**61 - 1, 2**62])),
    **each("draws", "seed_of", first=3, second=0.25),
    **each("covers.blocks", "spectral", first=normal(2, 3, 4), second=normal(2, 4, 4)),
    **each("nets.attention", "of_all", tokens=normal(2, 5, 4, 8).float()),
    **each("nets.attention", "of_bits", zero=normal(2, 4, 8).float(), bits=BITS[3:8].float()),
    **each(
        *("nets.attention", "of_one"),
        **{"query": normal(2, 5, 1, 8).float(), "keys": normal(2, 5, 4, 8).float()},
    ),
    **each(
        *("retrieval.heads", "read"),
        **{"outputs": PUT_OUT, "omega": ENCODED, "u": DIRECTIONS, "b": LOGITS, "q": 4},
    ),
    **each("sensitive.brittle", "differing", settings={"steps of a run": 20, "runs": (50, 8)}),
    **each(
        *("sensitive.brittle", "provenance"),
        made={
            **{"commit": "0123456789abcdef-dirty", "date": "2026-01-02", "seconds": 3.7},
            **{"device": "cpu", "versions": {"torch": "2"}, "parameters": {"big_n": 4}},
        },
    ),
    **each(
        *("sharper.gradients", "largest"),
        **{"found": per_block.squared_gradients(CONSTRUCTED, SIX[:4]), "blocks": ("F", "WV1")},
    ),
    **each("sharper.tabulated", "require_sizes", n=4, degree=2, sparsity=3),
    **each("sharpness.gradients", "of_each_input", inputs=normal(4, 3), targets=normal(4)),
    **each("sharpness.point", "chunks", vectors=normal(5, 3)),
    **each("sharpness.point", "require_draws", draws=5),
    **each("sharpness.point", "require_inputs", inputs=normal(4, 3)),
    **each("training.batches", "fixed", B=4),
    **each(
        "variables.planted", "errors", bits=PLANTED_BITS, labels=torch.arange(10).view(2, 5) % 2
    ),
}


def ones(x: Tensor) -> Tensor:
    """Its argument has no annotation."""
    return parity.ones(x)


def seeded_by(first: int, second: float) -> list[int]:
    """Seeds of one part and of several."""
    return [seed_of(first), seed_of(first, second, "word")]


def spectral(first: Tensor, second: Tensor) -> list[Tensor]:
    """Of one matrix and of two."""
    return [blocks.spectral(first), blocks.spectral(first, second)]


def of_all(tokens: Tensor) -> Tensor:
    """All tokens of the first block."""
    return attention.of_all(MODEL, BLOCK, tokens, slice(None), None)


def of_bits(zero: Tensor, bits: Tensor) -> Tensor:
    """The same of bits."""
    return attention.of_bits(MODEL, BLOCK, (zero, 1 - zero), bits, slice(None), None)


def of_one(query: Tensor, keys: Tensor) -> Tensor:
    """The same of the last token."""
    return attention.of_one(MODEL, BLOCK, query, keys, slice(None), None)


def of_each_input(inputs: Tensor, targets: Tensor) -> list[Any]:
    """All that it yields."""
    loss = SquaredLoss(lambda w, x: (x @ w["w"]).tanh(), inputs, targets)
    return list(one_by_one(Point(loss, {"w": normal(3)}, {}), loss))


def chunked(vectors: Tensor, size: int) -> list[Tensor]:
    """All that it yields."""
    return list(chunks(iter(vectors), size))


def measured(x: Tensor) -> Any:
    """A measure of two models together."""
    measure = for_each_model(lambda loss, weights, ensemble=False: loss(weights))
    return measure(lambda w: (w["w"] * x).sum(), {"w": normal(2, 1)}, ensemble=True)


def multiplied(x: Tensor) -> Any:
    """Products of a Hessian with two directions."""
    product = products(lambda w: (w["w"] * x[..., None]).cos().sum(), {"w": normal(3)})
    return product({"w": normal(2, 3)})


def fixed(inputs: Tensor, targets: Tensor, B: int, generators: Sequence[Any]) -> list[Any]:
    """What is drawn from it."""
    return drawn_from(batches.fixed(inputs, targets, B, generators))


def fresh(draw: Any, B: int, generators: Sequence[Any]) -> list[Any]:
    """What is drawn from it."""
    return drawn_from(batches.fresh(lambda *given: random_pair(*given), B, generators))


def whole(inputs: Tensor, targets: Tensor) -> list[Any]:
    """What is drawn from it."""
    return drawn_from(batches.whole(inputs, targets))


def random_pair(model: int, B: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Examples that the generator tells apart."""
    return torch.randn(B, 3, generator=generator), torch.full((B,), model)


def drawn_from(source: Any) -> list[Any]:
    """Three batches of the first model."""
    return [source(torch.arange(1)) for _ in range(3)]


def written_and_read(x: Tensor) -> Any:
    """What comes back of a checkpoint, and where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.pt"
        checkpoints.write(path, {"n": 3}, {"x": x, "step": 5})
        return [checkpoints.read(path, {"n": 3}), checkpoints.read(path.with_name("no"), {})]


def errors(bits: Tensor, labels: Tensor, chunk: int) -> Tensor:
    """The share of wrong answers on these strings."""
    evaluate = planted.errors(lambda _, seen: seen[..., :2], bits, labels, chunk)
    return evaluate({}, tensor([1, 0]))


CALLED: dict[str, Callable[..., Any]] = {
    "covers.blocks.spectral": spectral,
    "draws.seed_of": seeded_by,
    "kernels.parity.ones": ones,
    "nets.attention.of_all": of_all,
    "nets.attention.of_bits": of_bits,
    "nets.attention.of_one": of_one,
    "sharpness.gradients.of_each_input": of_each_input,
    "sharpness.point.chunks": chunked,
    "sharpness.point.for_each_model": measured,
    "sharpness.point.products": multiplied,
    "training.batches.fixed": fixed,
    "training.batches.fresh": fresh,
    "training.batches.whole": whole,
    "training.checkpoints.read": written_and_read,
    "training.checkpoints.write": written_and_read,
    "variables.planted.errors": errors,
}


def given(name: str) -> dict[str, Any]:
    """What a function is to be given: of its packages, its module and by its own name."""
    found: dict[str, Any] = {}
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        found |= GIVEN.get(".".join(parts[:end]), {})
    return found
