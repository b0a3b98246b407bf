"""A leaf that grows person by person: the least of Σ|y−u| + C·u over u, kept by a walking pointer (ALGORITHM §9.10).

A leaf is convex and piecewise linear in its value u, with kinks at the outcome's levels. Its state is where the
pointer stands (`at`), the slope just right of there, and the cost there; `jump[q]` is by how much the slope rises at
level q. Person i pays `share[i]` a unit of error and `c[i]` a unit of value. States are passed as numbers, not as
arrays: that is what makes the loops fast.
"""

from __future__ import annotations

from evenleaf.solve.search.kernels.compile import njit


@njit
def joining(q, at, share, c, levels):
    """What a person of level q adds to the slope and to the cost of a leaf whose pointer stands at a level."""
    if q <= at:
        return share + c, share * (levels[at] - levels[q]) + c * levels[at]
    return c - share, share * (levels[q] - levels[at]) + c * levels[at]


@njit
def settled(at, slope, cost, levels, jump):
    """Walk to the cheapest value: (at, slope, cost) there. The first and the last level end the label range."""
    while slope < 0.0 and at < len(levels) - 1:
        cost += slope * (levels[at + 1] - levels[at])
        at += 1
        slope += jump[at]
    while at > 0:
        before = slope - jump[at]
        if before <= 0.0:
            break
        cost -= before * (levels[at] - levels[at - 1])
        slope = before
        at -= 1
    return at, slope, cost


@njit
def alone(q, share, c, levels):
    """The level that is cheapest for one person of level q alone, and its cost."""
    place = q
    if c > share:
        place = 0
    elif c < -share:
        place = len(levels) - 1
    return place, share * abs(levels[q] - levels[place]) + c * levels[place]
