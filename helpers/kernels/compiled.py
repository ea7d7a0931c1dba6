"""Numba's decorator with a cache on disk; if the cache cannot be written, only time is lost."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

REMEDY = (
    "numba's cache fails ({error}), so kernels are compiled anew; if no folder can be written, set "
    "NUMBA_CACHE_DIR to one that can; if files in {folder} are damaged, they are replaced, or "
    "delete *.nbi and *.nbc there"
)


class _Cache(FunctionCache):
    """What a damaged file or a folder that cannot be written leaves undone is a compilation."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # a damaged file can fail in any of pickle's ways
            _warn_once(self._py_func, error)
            self._kept(self.flush)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        self._kept(lambda: super(_Cache, self).save_overload(sig, data))

    def _kept(self, write: Callable[[], None]) -> None:
        try:
            write()
        except Exception as error:
            _warn_once(self._py_func, error)


def njit(signatures: Any = (), **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function that Numba compiles, and keeps on the disk where it can.

    A warning, once a process, says when it cannot, and what helps.

    Args:
        signatures: One or more to compile for at once; none: for each when it is first needed.
        options: As of ``numba.njit``; unless given, ``error_model`` is numpy's and the GIL is let
            go.
    """
    wanted = signatures if isinstance(signatures, list | tuple) else [signatures]
    compiling: Any = {"error_model": "numpy", "nogil": True} | options

    def decorated(function: Callable[..., Any]) -> Any:
        made: Any = numba.jit(nopython=True, **compiling)(function)
        try:
            made._cache = _Cache(function)  # as made.enable_caching() does
        except RuntimeError as error:  # there is no folder for it
            _warn_once(function, error)
        for signature in wanted:
            made.compile(signature)
        if wanted:
            made.disable_compile()
        return made

    return decorated


_warned: list[str] = []


def _warn_once(function: Callable[..., Any], error: Exception) -> None:
    if not _warned:
        beside = Path(function.__code__.co_filename).parent / "__pycache__"
        folder = os.environ.get("NUMBA_CACHE_DIR") or beside
        message = REMEDY.format(error=f"{type(error).__name__}: {error}", folder=folder)
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    _warned.append(function.__name__)
