"""Traces of a Hessian and perturbed losses beside loops and peers: python -m benchmarks.sharpness.

The model is a two-layer transformer of about 1000 weights, trained here on a parity of two of eight
bits until its loss over all 256 inputs is below 1e-5. The estimators of curvlinops-for-pytorch are
measured on our products with the Hessian; with its own products, and PyHessian, it is where
``PEERS`` names a Python that has both: ``PEERS=/path/to/bin/python``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import curvlinops
import torch
from curvlinops._torch_base import PyTorchLinearOperator
from torch.func import grad, jvp, vjp, vmap

from benchmarks._measure import RECORDS, ROOT, Remote, compare, peers_python, record, table
from helpers import cube
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec
from helpers.sharpness import SquaredLoss, hessian_trace, perturbed_loss
from helpers.sharpness.point import LossAtWeights
from helpers.training.train import train

SEEDS = 20  # estimates from which a method's error is taken
DRAWS = (24, 96)
SIGMA = 0.02
PEERS = {
    "curvlinops hutchinson": "curvlinops",
    "curvlinops hutch++": "curvlinops",
    "curvlinops xtrace": "curvlinops",
    "pyhessian hutchinson": "pyhessian",
}
PEER = """
import json, sys, warnings
sys.path.insert(0, {root!r})
warnings.simplefilter("ignore")
import torch
from helpers.nets import transformer
from helpers.nets.spec import TransformerSpec
torch.set_num_threads(1)
torch.manual_seed(0)
stored = torch.load({path!r})
spec = TransformerSpec(**stored["spec"])

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.names = list(stored["weights"])
        self.parts = torch.nn.ParameterList(list(stored["weights"].values()))
    def forward(self, tokens):
        return transformer.forward(spec, dict(zip(self.names, self.parts)), tokens)

model, criterion = Model(), torch.nn.MSELoss()
data = (stored["inputs"], stored["targets"])

def call(name={name!r}, draws={draws}):
    if name.startswith("pyhessian"):
        import pyhessian
        for p in model.parameters():
            p.grad = None
        found = pyhessian.hessian(model, criterion, data=data, cuda=False)
        found = found.trace(maxIter=draws, tol=0)
        return sum(found) / len(found)
    import curvlinops
    H = curvlinops.HessianLinearOperator(
        model, criterion, list(model.parameters()), [data], check_deterministic=False
    )
    rules = {{"hutchinson": "hutchinson_trace", "hutch++": "hutchpp_trace", "xtrace": "xtrace"}}
    return float(getattr(curvlinops, rules[name.split()[1]])(H, draws))
"""
ERRORS = """
print(json.dumps([float(call()) for _ in range({seeds})]))
"""


def trained():
    """A model that has learned chi_{1, 2} of 8 bits, and its loss over all inputs.

    Without biases in attention: curvlinops 3.0.1 stops at a weight that changes nothing, as the
    last layer's key bias, which moves all scores of the one query alike.
    """
    spec = TransformerSpec(n=8, width=8, hidden=8, bias=False)
    start = transformer.initial_weights(spec, 1, torch.Generator().manual_seed(0))
    inputs, targets = cube.bits(8), cube.character(8, 3).float()

    def forward(weights, bits):
        return transformer.forward(spec, weights, bits)

    def batch(models):
        return inputs.expand(len(models), -1, -1), targets.expand(len(models), -1)

    learned = train(
        forward,
        start,
        batch,
        steps=3000,
        learning_rate=0.01,
        weight_decay=0.0,
        check_every=25,
        threshold=1e-5,
        evaluate=lambda weights, models: (forward(weights, inputs) - targets).square().mean(-1),
    )
    assert learned.finished.all(), "the model has not learned"
    return (
        spec,
        SquaredLoss(forward, inputs, targets),
        {k: v[0] for k, v in learned.weights.items()},
    )


class OurProducts(PyTorchLinearOperator):
    """Our products with the Hessian as an operator of curvlinops."""

    SELF_ADJOINT = True

    def __init__(self, loss, weights):
        self.point = LossAtWeights(loss, weights, {})
        self.product, self.at_once = self.point.hessian(), self.point.products_at_once()
        super().__init__(*2 * ([tuple(v.shape) for v in weights.values()],))

    dtype = property(lambda self: self.point.dtype)
    device = property(lambda self: self.point.device)

    def _matmat(self, X):
        columns = torch.cat([x.flatten(0, -2) if x.ndim > 1 else x[None] for x in X])
        rows = torch.cat([self.product(part) for part in columns.mT.split(self.at_once)])
        return [
            row.reshape(x.shape) for row, x in zip(rows.mT.split(self.point.sizes), X, strict=True)
        ]


ESTIMATORS = {
    "hutchinson": curvlinops.hutchinson_trace,
    "hutch++": curvlinops.hutchpp_trace,
    "xtrace": curvlinops.xtrace,
}


def directions(weights, count):
    generator = torch.Generator().manual_seed(1)
    return {k: torch.randn(count, *v.shape, generator=generator) for k, v in weights.items()}


def vmapped(loss, weights, along):
    pull = vjp(grad(loss), weights)[1]
    return vmap(lambda u: pull(u)[0])(along)


def one_by_one(loss, weights, along, count):
    """The second backward pass once a direction, on one graph."""
    pull = vjp(grad(loss), weights)[1]
    rows = [pull({k: v[i] for k, v in along.items()})[0] for i in range(count)]
    return {k: torch.stack([r[k] for r in rows]) for k in weights}


def forward_over_reverse(loss, weights, along, count):
    """The product as textbooks write it, once a direction."""
    rows = []
    for i in range(count):
        rows.append(jvp(grad(loss), (weights,), ({k: v[i] for k, v in along.items()},))[1])
    return {k: torch.stack([r[k] for r in rows]) for k in weights}


def whole_hessian(loss, weights, at_once=64):
    """The trace from all products with unit vectors, none of them cut to a block."""
    sizes, total = [v.numel() for v in weights.values()], 0.0
    pull = vjp(grad(loss), weights)[1]
    for rows in torch.eye(sum(sizes)).split(at_once):
        parts = zip(rows.split(sizes, -1), weights.items(), strict=True)
        along = {k: part.reshape(len(rows), *v.shape) for part, (k, v) in parts}
        total += sum(
            (along[k] * v).sum().item() for k, v in vmap(lambda u: pull(u)[0])(along).items()
        )
    return total


def gradients_one_by_one(loss, weights):
    gradient = grad(lambda w, x: loss.forward(w, x[None])[0])
    squares = (sum(v.square().sum() for v in gradient(weights, x).values()) for x in loss.inputs)
    return 2 * sum(squares).item() / len(loss.inputs)


def perturbed_one_by_one(loss, weights, draws):
    generator, sizes = torch.Generator().manual_seed(2), [v.numel() for v in weights.values()]
    found = []
    with torch.no_grad():
        for _ in range(draws):
            u = torch.randn(sum(sizes), generator=generator).split(sizes)
            moved = zip(weights.items(), u, strict=True)
            found.append(loss({k: v + SIGMA * part.view(v.shape) for (k, v), part in moved}))
    return torch.stack(found)


def perturbed(loss, weights, draws):
    return perturbed_loss(loss, weights, SIGMA, draws, torch.Generator().manual_seed(2))


def close(a, b, rtol=1e-3):
    torch.testing.assert_close(a, b, rtol=rtol, atol=rtol * max(v.abs().max() for v in b.values()))


def error(estimates, truth):
    """Root mean square of the relative error."""
    return (
        torch.tensor(estimates, dtype=torch.float64).div(truth).sub(1).square().mean().sqrt().item()
    )


def measured(spec, loss, weights, python, rounds):
    """Rows of the table: case, milliseconds, error of a trace."""
    truth = whole_hessian(loss, weights)
    along = directions(weights, 64)
    fewer = SquaredLoss(loss.forward, loss.inputs[::8], loss.targets[::8])
    close(one_by_one(loss, weights, along, 64), vmapped(loss, weights, along))
    close(forward_over_reverse(loss, weights, along, 64), vmapped(loss, weights, along))
    for one in (loss, fewer):
        values = perturbed(one, weights, 64).values
        torch.testing.assert_close(
            values, perturbed_one_by_one(one, weights, 64), rtol=1e-3, atol=0
        )

    operator = OurProducts(loss, weights)
    every = {
        "loss": lambda: loss(weights),
        "gradient": lambda: grad(loss)(weights),
        "64 products, vmapped": lambda: vmapped(loss, weights, along),
        "64 products, loop": lambda: one_by_one(loss, weights, along, 64),
        "64 products, loop, jvp of grad": lambda: forward_over_reverse(loss, weights, along, 64),
        "exact, all products": lambda: whole_hessian(loss, weights),
        "exact": lambda: hessian_trace(loss, weights, "exact"),
        "gauss_newton, loop": lambda: gradients_one_by_one(loss, weights),
        "gauss_newton": lambda: hessian_trace(loss, weights),
    }
    errors = {
        "exact": error([float(hessian_trace(loss, weights, "exact"))], truth),
        "gauss_newton": error([float(hessian_trace(loss, weights))], truth),
        "gauss_newton, loop": error([gradients_one_by_one(loss, weights)], truth),
    }
    for method in ("hutchinson", "hutch++", "xtrace"):
        for draws in DRAWS:

            def estimate(seed=0, method=method, draws=draws):
                generator = torch.Generator().manual_seed(seed)
                return hessian_trace(loss, weights, method, draws=draws, generator=generator)

            every[f"{method} {draws}"] = estimate
            errors[f"{method} {draws}"] = error([float(estimate(s)) for s in range(SEEDS)], truth)

            def theirs(seed=0, method=method, draws=draws):
                torch.manual_seed(seed)
                return ESTIMATORS[method](operator, draws)

            name = f"curvlinops {method} {draws}, our products"
            every[name] = theirs
            errors[name] = error([float(theirs(s)) for s in range(SEEDS)], truth)
    for name, one in (("256 inputs", loss), ("32 inputs", fewer)):
        every[f"64 perturbed, {name}"] = lambda one=one: perturbed(one, weights, 64)
        every[f"64 perturbed, {name}, loop"] = lambda one=one: perturbed_one_by_one(
            one, weights, 64
        )

    with ExitStack() as stack:
        if python:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            path = str(folder / "model.pt")
            stored = {"spec": asdict(spec), "weights": weights}
            torch.save(stored | {"inputs": loss.inputs, "targets": loss.targets}, path)
            for name in PEERS:
                for draws in DRAWS:
                    setup = PEER.format(root=str(ROOT), path=path, name=name, draws=draws)
                    code = setup + ERRORS.format(seeds=SEEDS)
                    found = subprocess.run([python, "-c", code], capture_output=True, text=True)
                    if found.returncode:
                        raise RuntimeError(found.stderr[-2000:])
                    errors[f"{name} {draws}"] = error(json.loads(found.stdout), truth)
                    every[f"{name} {draws}"] = stack.enter_context(Remote(python, setup))
        stats = compare(every, rounds=rounds)
    return [
        {
            "case": name,
            "ms": 1e3 * s.median,
            "low": 1e3 * s.low,
            "high": 1e3 * s.high,
            "relative error": errors.get(name),
        }
        for name, s in stats.items()
    ]


def goals(rows):
    """How many times faster, with what was aimed at."""
    ms, errors = ({r["case"]: r[key] for r in rows} for key in ("ms", "relative error"))

    def faster(case, other):
        return ms[other] / ms[case]

    loops = "64 products, loop", "64 products, loop, jvp of grad"
    inputs = [f"64 perturbed, {name}" for name in ("256 inputs", "32 inputs")]
    found = [
        ("gauss_newton x exact", faster("gauss_newton", "exact"), 50),
        ("gauss_newton x all products", faster("gauss_newton", "exact, all products"), 50),
        ("relative gap of gauss_newton, at most", errors["gauss_newton"], 1e-3),
        ("exact x all products", faster("exact", "exact, all products"), None),
        *((f"64 products, vmapped x {o}", faster("64 products, vmapped", o), 3) for o in loops),
        *((f"{case} x loop", faster(case, f"{case}, loop"), 2) for case in inputs),
    ]
    return [{"ratio": name, "found": value, "goal": goal} for name, value, goal in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, default=RECORDS, help="where the record goes")
    options = parser.parse_args()
    torch.set_num_threads(1)
    spec, loss, weights = trained()
    size = sum(v.numel() for v in weights.values())
    python = peers_python("curvlinops, pyhessian")
    rows = measured(spec, loss, weights, python, options.rounds)
    reached = goals(rows)
    print(f"{size} weights, loss {loss(weights):.1e}, one thread, CPU time\n{table(rows)}")
    print("\n" + table(reached))
    record(
        "sharpness",
        rows,
        folder=options.out,
        weights=size,
        loss=float(loss(weights)),
        goals=reached,
        peers=versions(python),
        gpu="not run: no GPU was at hand",
    )


def versions(python):
    if not python:
        return "not installed"
    code = (
        "import importlib.metadata as m, json; print(json.dumps({p: m.version(p) for p in "
        "('torch', 'curvlinops-for-pytorch', 'pyhessian')}))"
    )
    return json.loads(subprocess.run([python, "-c", code], capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
