"""A node of the search: a part of all trees with what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.fronts.ascent import Climb
from evenleaf.solve.fronts.cell import Place
from evenleaf.solve.fronts.tests import Part

FIRST_STEP = 0.002  # how far above its bound a node is first listed
FIRST_STRIDE = 0.03  # and where only the best tree is asked for, its halves matched by their disparities


@dataclass(frozen=True, eq=False)
class Node:
    """A part with its bound and its multipliers.

    `step` is how far above the bound it is listed next, `stride` the same where disparities are matched.
    """

    bound: float
    part: Part
    mus: np.ndarray
    step: float = FIRST_STEP
    stride: float = FIRST_STRIDE
    halved: bool = False
    looked: bool = False
    climbed: bool = False
    both_sides: bool = False
    values: np.ndarray | None = None  # what the slots cost at the multipliers, once it is known
    saved: float = np.inf  # what free people saved when it last climbed (`tuning.py`)
    asked: tuple[np.ndarray, ...] | None = None  # features that matter in each slot of a box of tests (`swept.py`)

    def at(self, mus: np.ndarray) -> Node:
        """The same with other multipliers: what its slots cost there, and which features matter, is not known."""
        return replace(self, mus=mus, values=None, asked=None)


def urgency(place: Place) -> tuple[int, bool, int]:
    """Which slot to open: the deepest, forks after slots of their depth, then the one with the most people."""
    return place.depth, place.fork is None, len(place.members)


def handed_on(seen: Climb, most: int) -> np.ndarray:
    """The multipliers worth keeping: the highest points that were seen, the best first."""
    order = sorted(range(len(seen.seen)), key=lambda n: -seen.seen[n].value)
    mus = np.array([seen.seen[n].mu for n in order])
    _, first = np.unique(mus, axis=0, return_index=True)
    return mus[np.sort(first)][:most]
