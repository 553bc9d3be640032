"""Compilation with Numba; if possible, compiled functions are cached on disk for other processes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from logging import getLogger
from multiprocessing import parent_process
from typing import Any, TypeVar

from numba import njit
from numba.core.caching import FunctionCache

_log = getLogger("blockselect")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: Callable[..., Any]) -> Any:
    """Decorator: compile a function when it is first called; other threads can run during its calls."""
    dispatcher = njit(nogil=True)(function)
    try:
        dispatcher._cache = _Cache(function)  # like njit(cache=True), which fails without a writable folder
    except RuntimeError:
        _warn_once("neither the installed package nor the user's cache folder is writable")
    return dispatcher


def part_of_compiled(function: _Function) -> _Function:
    """Decorator: a part of a compiled function, which is inlined where it is called.

    It must not allocate arrays: references to arrays are not counted, because that would take longer than the part.
    """
    part: _Function = njit(nogil=True, forceinline=True, _nrt=False)(function)
    return part


class _Cache(FunctionCache):
    """A cache that also works if the disk is full, or if another version of this package wrote it."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except (AttributeError, ImportError):  # this version lacks a class of the version that wrote the cache
            self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_once(str(error.strerror))


@cache
def _warn_once(reason: str) -> None:
    if parent_process() is None:  # otherwise all workers would repeat it
        _log.warning(
            "compiled functions cannot be cached on disk (%s), so each process compiles them again, which takes a few "
            "seconds; set NUMBA_CACHE_DIR to a writable folder with free space.",
            reason,
        )
