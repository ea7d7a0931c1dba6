"""Checks of the arguments of public functions: each error names the value and what is allowed."""

from __future__ import annotations

import functools
import inspect
import math
import operator
import re
import typing
from collections.abc import Callable
from numbers import Real
from typing import Annotated, Any, TypeVar

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])
Check = Callable[[str, Any], Any]
OrInfinite = Annotated[float, "or infinite"]
_NAMELESS = (
    *(ZeroDivisionError, OverflowError, IndexError, RuntimeError),
    torch.linalg.LinAlgError,  # type: ignore[attr-defined]
)


def validated(function: F) -> F:
    """A function, or a class, that checks its arguments by their annotations when it is called.

    ``int`` (or None) is a whole number by ``operator.index``, and no bool. ``float`` (or None) is
    a number, neither NaN nor infinite, but for ``OrInfinite`` and for what is infinite unless it is
    given. ``Tensor`` (or None) is a tensor: of a list or an array the dtype would have to be
    guessed. ``torch.Generator`` (or None) is one: torch takes None for its own, whose draws no seed
    of the caller decides. Ranges, and other arguments, are left to the function.

    Raises:
        TypeError: an argument of another type, by name.
        ValueError: a number that is not finite, by name; or arguments for which the function
            divides by 0, leaves the domain of a logarithm or reads beyond an end, or whose shapes
            torch finds not to fit together; with all of them.

    Example:
        >>> from helpers.checks import validated
        >>> @validated
        ... def half(n: int) -> float:
        ...     return n / 2
        >>> half(3)
        1.5
        >>> half(3.0)
        Traceback (most recent call last):
        TypeError: n must be a whole number, got 3.0
    """
    if isinstance(function, type):
        setattr(function, "__init__", validated(vars(function)["__init__"]))  # noqa: B010  # any class
        return function
    title = f"{function.__module__}.{function.__qualname__}".removesuffix(".__init__")
    plan = functools.cache(lambda: _plan(function))

    @functools.wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        ordered, by_name = plan()
        given = [check(name, value) for (name, check), value in zip(ordered, args, strict=False)]
        given += args[len(ordered) :]
        for name in named.keys() & by_name.keys():
            named[name] = by_name[name](name, named[name])
        try:
            return function(*given, **named)
        except (ArithmeticError, IndexError, RuntimeError, ValueError) as error:
            values = dict(zip((name for name, _ in ordered), given, strict=False)) | named
            words = set(re.findall(r"\w+", str(error)))
            is_named = type(error) is ValueError and not words.isdisjoint(values)
            if is_named or type(error) not in (*_NAMELESS, ValueError):
                raise
            listed = ", ".join(
                f"{name} = {format_value(v)}" for name, v in values.items() if name != "self"
            )
            raise ValueError(f"{error} (in {title}, given {listed})") from error

    return typing.cast(F, called)


def format_value(value: Any) -> str:
    """A value in a message: short, and of a tensor its shape and dtype.

    Example:
        >>> import torch
        >>> from helpers.checks import format_value
        >>> format_value(torch.zeros(2, 3))
        'a tensor of shape (2, 3), torch.float32'
    """
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}, {value.dtype}"
    text = value.__qualname__ if inspect.isroutine(value) else repr(value)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return text if isinstance(value, int | float | str) else f"{type(value).__name__} {text}"


def whole(name: str, value: Any) -> int:
    """The value as an int by ``operator.index``; of anything else, or a bool, a TypeError.

    Example:
        >>> from helpers.checks import whole
        >>> whole("n", 4)
        4
        >>> whole("n", True)
        Traceback (most recent call last):
        TypeError: n must be a whole number, got True
    """
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except (TypeError, RuntimeError):
            pass
    raise TypeError(f"{name} must be a whole number, got {format_value(value)}")


def _plan(function: Callable[..., Any]) -> tuple[list[tuple[str, Check]], dict[str, Check]]:
    """Checks of the arguments that have a place, in order, and of each by its name."""
    hints = typing.get_type_hints(function, include_extras=True)
    checks: dict[Any, Check] = {
        **{int: whole, float: _finite, OrInfinite: number},
        **{Tensor: _tensor, torch.Generator: _generator},
    }
    ordered: list[tuple[str, Check]] = []
    by_name: dict[str, Check] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name)
        endless = isinstance(parameter.default, float) and math.isinf(parameter.default)
        check = checks.get(OrInfinite if endless and hint is float else hint, _anything)
        for kind in (int, float, Tensor, torch.Generator):
            if hint == kind | None:
                check = _unless_none(checks[kind])
        by_name[name] = check
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            ordered.append((name, check))
    return ordered, by_name


def _anything(name: str, value: Any) -> Any:
    return value


def number(name: str, value: Any) -> Any:
    """The value, a number or a tensor of one; of anything else, a bool or NaN, an error by name.

    Example:
        >>> import math
        >>> from helpers.checks import number
        >>> number("epsilon", math.inf)
        inf
        >>> number("epsilon", math.nan)
        Traceback (most recent call last):
        ValueError: epsilon must be a number, got nan
    """
    single = isinstance(value, Tensor) and value.ndim == 0 and not value.is_complex()
    if isinstance(value, bool) or not (single or isinstance(value, Real)):
        raise TypeError(f"{name} must be a number, got {format_value(value)}")
    if (not single or readable(value)) and value != value:
        raise ValueError(f"{name} must be a number, got nan")
    return value


def _finite(name: str, value: Any) -> Any:
    if type(value) is float and -math.inf < value < math.inf:
        return value
    if isinstance(value, float) and math.isnan(value):
        raise ValueError(f"{name} must be finite, got nan")
    value = number(name, value)
    if (not isinstance(value, Tensor) or readable(value)) and not -math.inf < value < math.inf:
        raise ValueError(f"{name} must be finite, got {float(value)}")
    return value


def _tensor(name: str, value: Any) -> Any:
    require_tensors(**{name: value})
    return value


def _generator(name: str, value: Any) -> Any:
    if not isinstance(value, torch.Generator):
        raise TypeError(
            f"{name} must be a torch.Generator, got {format_value(value)}; "
            "helpers.rng.Rng(seed).generator is one"
        )
    return value


def _unless_none(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def require_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless ``value`` is one of the choices, which it lists.

    Example:
        >>> from helpers.checks import require_choice
        >>> require_choice("norm", "median", ("none", "pre", "post"))
        Traceback (most recent call last):
        ValueError: unknown norm 'median'; choose one of none, pre, post
    """
    if value not in choices:
        raise ValueError(f"unknown {name} {value!r}; choose one of {', '.join(choices)}")


def require_positive(**sizes: float) -> None:
    """Raise ValueError for the first size below 1 or not finite, naming it.

    Example:
        >>> from helpers.checks import require_positive
        >>> require_positive(width=8, layers=0)
        Traceback (most recent call last):
        ValueError: layers must be at least 1, got 0
    """
    for name, size in sizes.items():
        if not 1 <= size < math.inf:
            raise ValueError(f"{name} must be at least 1, got {size}")


def require_tensors(**given: object) -> None:
    """Raise for the first that is no dense tensor whose numbers lie in memory, naming it.

    A tensor without numbers passes: inside a transform of torch.func, on the device meta, or fake.

    Raises:
        TypeError: no tensor, since no dtype is guessed; or a sparse one.
        ValueError: memory that was freed, as by ``untyped_storage().resize_(0)``: machine code, and
            torch's own, would read beyond its end.

    Example:
        >>> from helpers.checks import require_tensors
        >>> require_tensors(table=[1, -1])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        TypeError: table must be a torch.Tensor, got list [1, -1]; torch.as_tensor makes one, ...
    """
    for name, value in given.items():
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name} must be a torch.Tensor, got {format_value(value)}; "
                "torch.as_tensor makes one, helpers.rng.f64 one of float64"
            )
        if value.layout is not torch.strided:
            raise TypeError(f"{name} must be dense, got {value.layout}; to_dense() makes it so")
        if bytes_missing(value):
            raise ValueError(f"{name} = {format_value(value)} has no memory: its storage was freed")


def bytes_missing(value: Tensor) -> bool:
    """Whether a dense tensor reaches beyond the end of its storage.

    Example:
        >>> import torch
        >>> from helpers.checks import bytes_missing
        >>> x = torch.ones(8)
        >>> before = bytes_missing(x)
        >>> _ = x.untyped_storage().resize_(0)
        >>> before, bytes_missing(x)
        (False, True)
    """
    try:
        held = value.untyped_storage().nbytes()
    except NotImplementedError:  # a wrapper inside a transform has no storage of its own
        return False
    start = value.storage_offset() * value.itemsize
    if value.is_contiguous():
        return held < start + value.nbytes and value.numel() > 0
    reach = 1 + sum((n - 1) * k for n, k in zip(value.shape, value.stride(), strict=True))
    return held < start + reach * value.itemsize and value.numel() > 0


def require_floating(**given: Tensor) -> None:
    """Raise TypeError for the first tensor that is not floating, naming it.

    Example:
        >>> import torch
        >>> from helpers.checks import require_floating
        >>> require_floating(inputs=torch.tensor([1, 2]))
        Traceback (most recent call last):
        TypeError: inputs must be floating, got torch.int64
    """
    for name, value in given.items():
        if not value.is_floating_point():
            raise TypeError(f"{name} must be floating, got {value.dtype}")


def require_finite(**given: Tensor) -> None:
    """Raise ValueError for the first tensor with an entry that is NaN or infinite, naming it.

    Inside ``vmap`` no value can be read, and nothing is checked.

    Example:
        >>> import torch
        >>> from helpers.checks import require_finite
        >>> require_finite(inputs=torch.tensor([1.0, float("inf")]))
        Traceback (most recent call last):
        ValueError: inputs must be finite, got inf
    """
    for name, value in given.items():
        if readable(value) and not value.isfinite().all():
            raise ValueError(f"{name} must be finite, got {value[~value.isfinite()][0].item()}")


def require_scale(**values: float) -> None:
    """Raise ValueError for the first number that is not positive and finite, naming it.

    Example:
        >>> from helpers.checks import require_scale
        >>> require_scale(sigma=0.0)
        Traceback (most recent call last):
        ValueError: sigma must be positive and finite, got 0.0
    """
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {value}")


def require_amount(**values: float) -> None:
    """Raise ValueError for the first number that is negative or not finite, naming it.

    Example:
        >>> from helpers.checks import require_amount
        >>> require_amount(sigma=0.0)
        >>> require_amount(sigma=-0.1)
        Traceback (most recent call last):
        ValueError: sigma must be finite and at least 0, got -0.1
    """
    for name, value in values.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} must be finite and at least 0, got {value}")


def require_probability(**values: float) -> None:
    """Raise ValueError for the first number that is not above 0 and below 1, naming it.

    Example:
        >>> from helpers.checks import require_probability
        >>> require_probability(delta=1.0)
        Traceback (most recent call last):
        ValueError: delta must lie between 0 and 1, got 1.0
    """
    for name, value in values.items():
        if not 0 < value < 1:
            raise ValueError(f"{name} must lie between 0 and 1, got {value}")


def require_bits(bits: Tensor) -> None:
    """Raise ValueError for a number that is neither 0 nor 1, whatever the dtype, naming it.

    Inside ``vmap`` no value can be read, and nothing is checked.

    Example:
        >>> import torch
        >>> from helpers.checks import require_bits
        >>> require_bits(torch.tensor([0, 1, 2]))
        Traceback (most recent call last):
        ValueError: bits are 0 or 1, got 2
    """
    if readable(bits):
        wrong = bits[(bits != 0) & (bits != 1)]
        if wrong.numel():
            raise ValueError(f"bits are 0 or 1, got {wrong[0].item()}")


def require_whole(**given: Tensor) -> None:
    """Raise TypeError for the first tensor that is floating or complex, naming it.

    Example:
        >>> import torch
        >>> from helpers.checks import require_whole
        >>> require_whole(masks=torch.tensor([1.0]))
        Traceback (most recent call last):
        TypeError: masks must be integer or bool, got torch.float32
    """
    for name, value in given.items():
        if value.is_floating_point() or value.is_complex():
            raise TypeError(f"{name} must be integer or bool, got {value.dtype}")


def readable(values: Tensor) -> bool:
    """Whether numbers can be read from a tensor.

    Not inside a transform such as vmap, nor from one without memory: on the device meta, or fake.

    Example:
        >>> import torch
        >>> from helpers.checks import readable
        >>> seen = []
        >>> _ = torch.func.vmap(lambda x: seen.append(readable(x)) or x)(torch.ones(2))
        >>> readable(torch.ones(2)), seen
        (True, [False])
    """
    if torch._C._functorch.is_functorch_wrapped_tensor(values):
        return False
    try:
        return values.untyped_storage().device.type != "meta"
    except NotImplementedError:  # sparse, or a wrapper of the older vmap
        return values.layout is not torch.strided
