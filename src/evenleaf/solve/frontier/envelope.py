"""The lower envelope of trees seen as points (discrimination, loss): which are optimal for some λ (ALGORITHM §7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenleaf.problem import FEASIBILITY_TOLERANCE
from evenleaf.tree import Tree


@dataclass(frozen=True, eq=False)
class Candidate:
    """A tree that somebody found, as the point (D, loss) and the line loss + λ·D."""

    tree: Tree
    loss: float
    discrimination: float

    def value(self, weight: float) -> float:
        """The objective loss + λ·D at a weight λ."""
        return self.loss + weight * self.discrimination


def tie(plain: Candidate, fair: Candidate) -> float:
    """The λ at which two neighbours of the envelope are worth the same."""
    return (fair.loss - plain.loss) / (plain.discrimination - fair.discrimination)


def envelope(candidates: Sequence[Candidate], least_gain: float) -> list[Candidate]:
    """The trees that are optimal for some λ ≥ 0, from the least loss (λ = 0) to the least discrimination.

    A tree earns its place only where it is better than its neighbours by more than `least_gain` at the λ where
    those two tie: rounding must not break a straight piece of the curve into many.
    """
    kept: list[Candidate] = []
    for candidate in _undominated(candidates, least_gain):
        while len(kept) >= 2 and _gain(kept[-2], kept[-1], candidate) <= least_gain:
            kept.pop()
        kept.append(candidate)
    return kept[::-1]


def _undominated(candidates: Sequence[Candidate], least_gain: float) -> list[Candidate]:
    """From the fairest on, only trees whose loss is truly less than that of every fairer one."""
    front: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (c.discrimination, c.loss)):
        if front and candidate.loss >= front[-1].loss - least_gain:
            continue
        if front and candidate.discrimination <= front[-1].discrimination + FEASIBILITY_TOLERANCE:
            front.pop()  # the same discrimination up to rounding, and a smaller loss
        front.append(candidate)
    return front


def _gain(fair: Candidate, middle: Candidate, plain: Candidate) -> float:
    """By how much the middle tree is better than the outer two at the λ where they tie."""
    weight = tie(plain, fair)
    return fair.value(weight) - middle.value(weight)
