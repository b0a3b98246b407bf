"""A word before the first start: kernels are compiled once, and nobody should wonder what takes so long."""

from __future__ import annotations

from typing import Any

from evenleaf.solve.fronts.kernels.flags import pair_sums
from evenleaf.solve.fronts.kernels.stumps import best_stumps
from evenleaf.solve.fronts.kernels.whole import best_whole
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.search import kernels
from evenleaf.solve.search.kernels.spanned import spanned_cuts_below


def announce_compilation(oracle: Oracle) -> bool:
    """Say so, once, where the kernels that a table needs are not on disk yet; True where it was said."""
    return kernels.announce_compilation(_needed(oracle), "up to a minute")


def _needed(oracle: Oracle) -> Any:
    """A kernel that such tables need, and that is compiled late."""
    if oracle.flags is not None:
        return pair_sums
    if not oracle.sweeps:
        return best_stumps
    return best_whole if oracle.lane.large else spanned_cuts_below
