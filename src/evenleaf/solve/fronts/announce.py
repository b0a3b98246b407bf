"""A word before the first start: kernels are compiled once, and nobody should wonder what takes so long."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from evenleaf.solve.fronts.kernels.first_tests import cuts_below
from evenleaf.solve.fronts.kernels.flags import pair_sums
from evenleaf.solve.fronts.kernels.stumps import best_stumps
from evenleaf.solve.fronts.kernels.whole import best_whole
from evenleaf.solve.fronts.oracle import Oracle

_announced: set[str] = set()


def announce_compilation(oracle: Oracle) -> bool:
    """Say so, once, where the kernels that a table needs are not on disk yet; True where it was said."""
    kernel = _needed(oracle)
    name = kernel.py_func.__qualname__
    if name in _announced or kernel.signatures:
        return False
    _announced.add(name)
    if any(Path(kernel.stats.cache_path).glob(f"*.{name}-*.nbi")):
        return False
    logging.getLogger("evenleaf").warning("compiling once: the search needs up to a minute more this first time")
    return True


def _needed(oracle: Oracle) -> Any:
    """A kernel that such tables need, and that is compiled late."""
    if oracle.flags is not None:
        return pair_sums
    if not oracle.sweeps:
        return best_stumps
    return best_whole if oracle.lane.large else cuts_below
