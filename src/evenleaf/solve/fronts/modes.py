"""How a node is listed: which points are needless, and whether only its best tree is asked for."""

from __future__ import annotations

from evenleaf.solve.fronts.front import ABOVE, BELOW, LIMIT, NONE, PENALTY
from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.limits import Limits
from evenleaf.solve.fronts.node import Node
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.tests import Slot


def matches(node: Node, lane: Lane, oracle: Oracle, limits: Limits) -> bool:
    """Whether the best of whole trees is found by matching the disparities of its halves.

    That takes one disparity, or several that must all be nothing.
    """
    if node.part != Slot(2) or node.halved or limits.active or not (oracle.sweeps and lane.large):
        return False
    if not lane.n_dimensions:
        return False
    forks = oracle.may_fork and bool((oracle.unordered & oracle.allowed).any())
    return (lane.cancels or lane.n_dimensions == 1) and not forks


def mode_of(node: Node, lane: Lane, limits: Limits, *, matched: bool) -> int:
    """Which points of fronts are needless. With one disparity, first only the side of ε that μ pulls at counts."""
    if limits.active:
        return NONE  # the point that makes another needless may break a limit
    if lane.limit is None or not lane.n_dimensions:  # a limit that nothing is left for is none
        return PENALTY
    if lane.n_dimensions != 1 or node.both_sides or node.mus[0, 0] == 0 or matched:
        return LIMIT
    return ABOVE if node.mus[0, 0] > 0 else BELOW
