"""The inner loops of the exact search, compiled by Numba; nothing else in the project is.

People are merged (equal features), features are ranks, labels are relative to class 0: `c[i, k]` is what
person i costs more with label k + 1 than with label 0.
"""

from evenleaf.solve.search.kernels.compile import EPSILON, INFINITE
from evenleaf.solve.search.kernels.histograms import segments
from evenleaf.solve.search.kernels.labels import find_cut, label_side
from evenleaf.solve.search.kernels.multipliers import differences, dual_costs, step
from evenleaf.solve.search.kernels.pairs import best_pair, price_stumps
from evenleaf.solve.search.kernels.sweep import best_tree, mark_cuts, sweep_side

__all__ = [
    "EPSILON",
    "INFINITE",
    "best_pair",
    "best_tree",
    "differences",
    "dual_costs",
    "find_cut",
    "label_side",
    "mark_cuts",
    "price_stumps",
    "segments",
    "step",
    "sweep_side",
]
