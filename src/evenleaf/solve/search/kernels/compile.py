"""How every kernel is compiled: once, kept on disk, without the interpreter's lock."""

from __future__ import annotations

import numba as nb

njit = nb.njit(cache=True, nogil=True, fastmath={"nsz", "arcp", "contract", "reassoc", "afn", "nnan"})

EPSILON = 1e-10  # a bound this close to the incumbent closes a box
INFINITE = 1e18
