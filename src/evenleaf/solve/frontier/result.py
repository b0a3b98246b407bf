"""The trade-off as data: one tree a point, and the interval of λ in which it is optimal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evenleaf.errors import InputError
from evenleaf.solve.result import Solution
from evenleaf.tree import Tree


@dataclass(frozen=True, eq=False)
class FrontierPoint:
    """One tree of the trade-off, and the interval of λ in which no other tree is better.

    `solution` is a claim at one λ of that interval, `weight`; `proven` speaks of the whole interval.
    """

    solution: Solution
    loss: float
    discrimination: float
    weight_from: float
    weight_to: float
    proven: bool
    depth: int
    leaves: int
    weight: float = 0.0

    @property
    def tree(self) -> Tree:
        """The tree itself."""
        if self.solution.tree is None:
            raise ValueError("a point of the frontier has a tree")
        return self.solution.tree


@dataclass(frozen=True, eq=False)
class Frontier:
    """The trees that are optimal for some λ, from λ = 0 on; `proven` where each of them is."""

    points: tuple[FrontierPoint, ...]
    proven: bool
    seconds: float

    def at(self, weight: float) -> FrontierPoint:
        """The optimum for a weight λ."""
        if not weight >= 0:
            raise InputError(f"fairness_weight (λ) must be a number of at least 0, not {weight!r}")
        return next(point for point in self.points if weight <= point.weight_to)

    def value(self, weight: float) -> float:
        """The least loss + λ·D of any tree."""
        point = self.at(weight)
        return point.loss + weight * point.discrimination

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[FrontierPoint]:
        return iter(self.points)
