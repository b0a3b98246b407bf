"""How every kernel is compiled: once, kept on disk, without the interpreter's lock."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numba as nb
from numba.cpython.unsafe.numbers import leading_zeros, trailing_zeros

__all__ = [
    "EPSILON",
    "INFINITE",
    "announce_compilation",
    "bare",
    "inner",
    "leading_zeros",
    "njit",
    "strict",
    "trailing_zeros",
    "woven",
]

_PLAIN: dict[str, Any] = {
    "nogil": True,
    "no_cfunc_wrapper": True,  # nothing but Python and other kernels calls a kernel
}
_OPTIONS: dict[str, Any] = _PLAIN | {
    "fastmath": {"nsz", "arcp", "contract", "reassoc", "afn", "nnan"},
}
njit = nb.njit(cache=True, **_OPTIONS)
strict = nb.njit(cache=True, **_PLAIN)  # every sum in the order in which it is written
inner = nb.njit(**_OPTIONS)  # for what kernels call: it is kept on disk with them, and needs no place of its own
# For the innermost loops, which make no arrays: without counting who holds each array, which was a fifth of their time;
# and for what they call thousands of times, written into them.
_BARE: dict[str, Any] = {**_OPTIONS, "_nrt": False}
bare = nb.njit(**_BARE)
woven = nb.njit(**_BARE, inline="always")

EPSILON = 1e-10  # a bound this close to the incumbent closes a box
INFINITE = 1e18

_announced: set[str] = set()


def announce_compilation(kernel: Any, how_long: str = "some 20 seconds") -> bool:
    """Say so, once, when a kernel is not compiled on disk yet; True where it was said."""
    name = kernel.py_func.__qualname__
    if name in _announced or kernel.signatures:
        return False
    _announced.add(name)
    cached = Path(kernel.stats.cache_path).glob(f"*.{name}-*.nbi")
    if any(cached):
        return False
    logging.getLogger("evenleaf").warning("compiling once: the search needs %s more this first time", how_long)
    return True
