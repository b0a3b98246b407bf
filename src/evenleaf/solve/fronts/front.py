"""Lists of points with what rebuilds them, and what is asked of every such list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.fronts.kernels.needless import undominated
from evenleaf.solve.fronts.lane import Prices

LEAF = -1
NONE, LIMIT, PENALTY, ABOVE, BELOW = -1, 0, 1, 2, 3  # which points are needless: see `undominated`
_COMPARED = 256  # in several dimensions a point is held against so many cheaper ones


class TooMany(Exception):  # noqa: N818 (it is no error: the caller splits the node instead)
    """More points than the caller wants to see."""


@dataclass(frozen=True, eq=False)
class Front:
    """Points and, row by row, how to build them."""

    points: np.ndarray
    recipes: np.ndarray

    def __len__(self) -> int:
        return len(self.points)

    def take(self, chosen: np.ndarray) -> Front:
        """Some of the points."""
        return Front(self.points[chosen], self.recipes[chosen])


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of every list: these multipliers, prices at them, and what to stay below."""

    multipliers: np.ndarray
    prices: Prices
    target: float
    most: int
    mode: int
    whole: np.ndarray | None = None  # where a slot is all there is: the limit (or −1), then the offset
    matched: bool = False  # whether only the best of whole trees is asked for, its halves matched by their disparities

    @property
    def goal(self) -> np.ndarray:
        """The target, and what a whole tree is worth where the slot is one."""
        return np.array([self.target]) if self.whole is None else np.concatenate([[self.target], self.whole])


def thinned(front: Front, question: Question) -> Front:
    """The points that no other makes needless."""
    if question.mode < 0 or len(front) < 2:
        return front
    return front.take(undominated(front.points, question.mode, _COMPARED))


def combined(one: Front, two: Front, pairs: np.ndarray, test: tuple[int, int, int] | None = None) -> Front:
    """The sums of pairs of points; with a test, as the trees below it."""
    first, second = pairs[:, 0], pairs[:, 1]
    heads = [] if test is None else [np.tile(np.array(test, dtype=np.int64), (len(pairs), 1))]
    recipes = np.hstack([*heads, one.recipes[first], two.recipes[second]])
    return Front(one.points[first] + two.points[second], recipes)


def cheapest(points: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """The least price of a point at each multipliers."""
    return np.asarray((points[:, :1] + points[:, 1:] @ multipliers.T).min(axis=0))


def joined(parts: list[Front]) -> Front:
    """One list of several."""
    return Front(np.concatenate([part.points for part in parts]), np.concatenate([part.recipes for part in parts]))


def deepened(leaves: Front, depth: int) -> Front:
    """Leaves in the place of deeper trees."""
    recipes = np.zeros((len(leaves), 3 * (2**depth - 1)), dtype=np.int64)
    recipes[:, :3] = leaves.recipes
    return Front(leaves.points, recipes)
