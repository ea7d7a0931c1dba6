"""Every example of a docstring runs and shows what it says; every function of the core has one."""

from __future__ import annotations

import copy
import doctest
import importlib
import inspect

import pytest
import torch

from bookkit import reference
from bookkit.definitions import PACKAGES
from tests.test_architecture import MODULES

CORE = ("checks", "weights", "rng", "statistics", "kernels", "cube", "training.train", "nets")
WITHOUT = {
    "kernels.compiled.njit": "numba keeps what stands in a file, which no example does",
    "kernels.parity.ones": "a text that Triton compiles too",
    "kernels.walsh.in_threads": "a part of the CPU path, shown for who times it",
    "kernels.walsh.machine_code": "likewise",
    "kernels.walsh.plan": "likewise",
    "nets.attention.of_all": "a step of nets.transformer.forward, which has one",
    "nets.attention.of_one": "likewise",
    "nets.attention.of_bits": "likewise",
}
"""Functions of the core that have no example, and why."""
PUBLIC = [name for name in MODULES if not any(part.startswith("_") for part in name.split("."))]


def examples(name: str) -> list[doctest.DocTest]:
    """The examples of a module, each with the docstring that it stands in."""
    module = importlib.import_module(name)
    return [test for test in doctest.DocTestFinder().find(module, name) if test.examples]


def failures(test: doctest.DocTest) -> str:
    """What the examples of a docstring show that it does not say."""
    output: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=output.append)
    return "".join(output)


@pytest.mark.parametrize("name", PUBLIC)
def test_an_example_does_what_it_shows(name):
    for test in examples(name):
        random = any("torch.nn." in example.source for example in test.examples)
        for state in range(8 if random else 1):  # a module's first weights are drawn anew each time
            torch.manual_seed(state)
            assert failures(copy.copy(test)) == "", test.name


def test_there_are_examples_and_a_wrong_one_is_seen():
    assert sum(len(examples(name)) for name in PUBLIC) > 100
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert "Got:\n    2" in failures(wrong)


def own(name: str) -> dict[str, object]:
    """Public functions and classes that a module defines, by full name."""
    module = importlib.import_module(name)
    return {
        f"{name}.{key}": value
        for key, value in vars(module).items()
        if not key.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == name
    }


def test_every_function_of_the_core_has_an_example():
    bare = {
        full.removeprefix("helpers.")
        for name in PUBLIC
        if name.startswith(tuple(f"helpers.{part}" for part in CORE))
        for full, value in own(name).items()
        if inspect.isfunction(value) and ">>> " not in (value.__doc__ or "")
    }
    assert bare <= WITHOUT.keys()


def test_every_module_of_the_core_is_there():
    """A name that is none any more would ask nothing of the module that took its place."""
    for part in CORE:
        assert any(name.startswith(f"helpers.{part}") for name in PUBLIC), part


def test_every_public_name_has_a_docstring():
    assert [full for name in PUBLIC for full, value in own(name).items() if not value.__doc__] == []


def test_a_name_is_documented_where_it_is_defined():
    assert reference.documented("helpers.sharpness.hessian_trace") in own(
        "helpers.sharpness.traces"
    )
    assert {name.split(".")[0] for name in PUBLIC} == set(PACKAGES)
