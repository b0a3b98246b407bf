"""The inner loops of the exact search for regression, compiled like those of `solve/search/kernels`.

People are merged (equal features and outcome), features are ranks, outcomes are levels scaled to [0, 1]. `people` is
(level, levels, share, c, count, least people a leaf), `tables` is (ranks, sizes, unordered, offsets).
"""

from evenleaf.solve.search.kernels.compile import EPSILON, INFINITE
from evenleaf.solve.values.kernels.choice import best_pair, drop_pairs, drop_twins
from evenleaf.solve.values.kernels.inside import rows_of_parts
from evenleaf.solve.values.kernels.known import known_costs, rows_of_stumps
from evenleaf.solve.values.kernels.members import N_COLUMNS
from evenleaf.solve.values.kernels.prices import decide, differences, dual_costs, free_costs, leaves
from evenleaf.solve.values.kernels.push import push
from evenleaf.solve.values.kernels.stumps import stumps
from evenleaf.solve.values.kernels.subtree import subtree

__all__ = [
    "EPSILON",
    "INFINITE",
    "N_COLUMNS",
    "best_pair",
    "decide",
    "differences",
    "drop_pairs",
    "drop_twins",
    "dual_costs",
    "free_costs",
    "known_costs",
    "leaves",
    "push",
    "rows_of_parts",
    "rows_of_stumps",
    "stumps",
    "subtree",
]
