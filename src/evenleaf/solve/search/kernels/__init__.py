"""The inner loops of the exact search, compiled by Numba; nothing else in the project is.

People are merged (equal features), features are ranks, labels are relative to class 0: `c[i, k]` is what
person i costs more with label k + 1 than with label 0.
"""

from evenleaf.solve.search.kernels.compile import INFINITE, announce_compilation
from evenleaf.solve.search.kernels.descent import disparity_of, try_cuts, try_levels
from evenleaf.solve.search.kernels.histograms import by_level, number_levels, segments
from evenleaf.solve.search.kernels.labels import find_cut, label_side
from evenleaf.solve.search.kernels.multipliers import differences, dual_costs, step
from evenleaf.solve.search.kernels.pairs import MOST_SPELT, best_pair, price_stumps
from evenleaf.solve.search.kernels.planes import (
    add_planes,
    cheapest_labels,
    lowest_of_parts,
    nearest_above,
    price_labels,
)
from evenleaf.solve.search.kernels.subtrees import (
    best_halves,
    best_stump,
    keep_stumps,
    least_label,
    price_children,
)
from evenleaf.solve.search.kernels.sweep import best_tree, crowd_levels, mark_cuts, mark_few_cuts, sweep_side
from evenleaf.solve.search.kernels.wander import N_DRAWS, wander

EPSILON = 1e-9  # a bound this close to the incumbent closes a box; well below the tolerance of a proof

__all__ = [
    "EPSILON",
    "INFINITE",
    "MOST_SPELT",
    "N_DRAWS",
    "add_planes",
    "announce_compilation",
    "best_halves",
    "best_pair",
    "best_stump",
    "best_tree",
    "by_level",
    "cheapest_labels",
    "crowd_levels",
    "differences",
    "disparity_of",
    "dual_costs",
    "find_cut",
    "keep_stumps",
    "label_side",
    "least_label",
    "lowest_of_parts",
    "mark_cuts",
    "mark_few_cuts",
    "nearest_above",
    "number_levels",
    "price_children",
    "price_labels",
    "price_stumps",
    "segments",
    "step",
    "sweep_side",
    "try_cuts",
    "try_levels",
    "wander",
]
