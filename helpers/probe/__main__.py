"""Measure a model of bits: ``python -m helpers.probe MODULE:FACTORY --bits 16``.

FACTORY is a function without arguments that makes the model; MODULE is the name of its file without
.py, found from the current folder too. Weights are loaded without pickled code.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from helpers.probe import TARGETS, probe
from helpers.probe.outputs import shortened


def _load(spec: str) -> Any:
    """What ``MODULE:NAME`` names, from the current folder too."""
    name, _, attribute = spec.partition(":")
    if not attribute:
        raise ValueError(f"expected MODULE:NAME, such as nets:make, got {spec!r}")
    if (here := str(Path.cwd())) not in sys.path:  # and kept, as a factory may import from there
        sys.path.insert(0, here)
    try:
        return getattr(importlib.import_module(name), attribute)
    except Exception as error:  # whatever a reader's own file may raise
        if name.endswith(".py") and isinstance(error, ModuleNotFoundError | TypeError):
            module = name.removesuffix(".py").replace("/", ".").lstrip(".")
            raise ValueError(f"write the module without .py: {module}:{attribute}") from None
        raise ValueError(f"{spec} cannot be loaded: {_told(error)}") from None


def _made(spec: str) -> Any:
    """The model that a factory makes; a module is taken as it is."""
    factory = _load(spec)
    if isinstance(factory, torch.nn.Module):
        return factory
    try:
        model = factory()
    except Exception as error:  # of the reader's own
        raise ValueError(f"{spec}() fails, and must make the model: {_told(error)}") from None
    if isinstance(model, type):
        raise ValueError(f"{spec}() must make a model, got the class {model.__name__}")
    return model


def _told(error: Exception) -> str:
    """An error in one line, of at most 400 letters."""
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return shortened(kind + " ".join(str(error).split()))


def _load_weights(path: str) -> dict[str, Tensor]:
    """A state dict from a file, without pickled code."""
    if path.endswith(".safetensors"):
        try:
            from safetensors import SafetensorError
            from safetensors.torch import load_file
        except ImportError:
            raise ValueError(f"{path} needs the package safetensors") from None
        try:
            return dict(load_file(path))
        except SafetensorError as error:
            raise ValueError(f"{path} cannot be read: {error}") from None
    try:
        found = torch.load(path, weights_only=True, map_location="cpu")
    except OSError:
        raise
    except Exception as error:  # torch lets through what pickle and zip raise
        raise ValueError(
            f"{path} must hold tensors by name without pickled code, as torch.save(state_dict, "
            f"path) writes them: {_told(error)}"
        ) from None
    if not isinstance(found, dict):
        raise ValueError(f"{path} must hold tensors by name, got {type(found).__name__}")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m helpers.probe", description=__doc__)
    parser.add_argument("model", metavar="MODULE:FACTORY", help="a function that makes the model")
    parser.add_argument("--bits", type=int, required=True, help="length of the strings it reads")
    parser.add_argument("--weights", metavar="FILE", help="a .safetensors file or a state dict")
    parser.add_argument("--target", help=f"{', '.join(TARGETS)} or MODULE:FUNCTION of the bits")
    given_as = (
        "signs (-1.0 for a one, 1.0 for a zero; default), bits (0.0, 1.0), tokens (0, 1) or "
        "MODULE:FUNCTION of the bits"
    )
    parser.add_argument("--encoding", default="signs", help=f"what the model is given: {given_as}")
    parser.add_argument("--samples", type=int, default=2048, help="strings drawn, if not all")
    parser.add_argument("--trained-on", type=int, default=0, help="training strings, all fitted")
    parser.add_argument("--sample", metavar="FILE", help="its tensors: bits (m, n) and labels (m,)")
    parser.add_argument("--start", metavar="FILE", help="the weights before training")
    parser.add_argument("--seed", type=int, default=0, help="of weights and strings; 0 by default")
    parser.add_argument("--json", metavar="OUT", help="write the report there too")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command line: 0, or 2 with one line on what was wrong."""
    given = _parser().parse_args(arguments)
    try:
        if given.json and (Path(given.json).is_dir() or not Path(given.json).parent.is_dir()):
            raise ValueError(f"--json {given.json} must name a file in a folder that exists")
        if not 0 <= given.seed < 1 << 63:
            raise ValueError(f"--seed must be from 0 to 2**63 - 1, got {given.seed}")
        torch.manual_seed(given.seed)
        model = _made(given.model)
        if given.weights:
            if not isinstance(model, torch.nn.Module):
                raise ValueError(f"--weights needs a module, and {given.model} makes a function")
            model.load_state_dict(_load_weights(given.weights))
        if given.start and not given.sample:
            raise ValueError("--start is for the bounds from a training sample; give --sample too")
        sample = _load_weights(given.sample) if given.sample else None
        if sample is not None and not {"bits", "labels"} <= sample.keys():
            raise ValueError(f"{given.sample} must hold bits and labels, got {', '.join(sample)}")
        target = given.target
        if target and target not in TARGETS:
            if ":" not in target:
                names = ", ".join(TARGETS)
                raise ValueError(f"--target is {names} or MODULE:FUNCTION, got {target!r}")
            target = _load(target)
        report = probe(
            model,
            given.bits,
            target,
            encoding=_load(given.encoding) if ":" in given.encoding else given.encoding,
            samples=given.samples,
            trained_on=given.trained_on,
            sample=(sample["bits"], sample["labels"]) if sample is not None else None,
            start=_load_weights(given.start) if given.start else None,
            seed=given.seed,
            progress=lambda stage: print(f"{stage} ...", file=sys.stderr, flush=True),
        )
    except Exception as error:  # a reader's model may raise anything
        print(f"error: {_told(error)}", file=sys.stderr)
        return 2
    print(report)
    if given.json:
        Path(given.json).write_text(json.dumps(report.as_dict(), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
