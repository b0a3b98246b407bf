"""Choosing from the trade-off: by a limit, by its knee, or by a few pairwise choices between real trees.

The paper remarks that λ, the price of discrimination, is for the decision-maker to say. Few can name a number; most
can say which of two trees they would rather use. Whoever minds loss + λ·D and takes the fairer of two trees has a λ
of at least the one at which the two tie; so each answer cuts the interval in which λ lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from evenleaf.errors import InputError
from evenleaf.solve.frontier import Frontier, FrontierPoint

Choice = Literal["a", "b", "either"]


@dataclass(frozen=True, eq=False)
class Question:
    """Two trees of the trade-off: `a` has the smaller loss, `b` the smaller discrimination."""

    a: FrontierPoint
    b: FrontierPoint

    @property
    def weight(self) -> float:
        """The λ at which the two are worth the same."""
        return (self.b.loss - self.a.loss) / (self.a.discrimination - self.b.discrimination)

    @property
    def more_loss(self) -> float:
        """What the fairer tree loses more, in units of the loss (0.02 is two errors more in a hundred people)."""
        return self.b.loss - self.a.loss

    @property
    def less_discrimination(self) -> float:
        """The part of the discrimination that the fairer tree takes away."""
        return 1 - self.b.discrimination / self.a.discrimination

    def __str__(self) -> str:
        return (
            f"A: loss {self.a.loss:.4g}, discrimination {self.a.discrimination:.4g}, {self.a.leaves} leaves\n"
            f"B: loss {self.b.loss:.4g}, discrimination {self.b.discrimination:.4g}, {self.b.leaves} leaves\n"
            f"B loses {self.more_loss:.4g} more and takes away {self.less_discrimination:.0%} of the discrimination"
        )


@dataclass(frozen=True, eq=False)
class Preference:
    """What is known of somebody's λ; `question()` asks on, `answer(choice)` gives what is known then.

    Nothing here changes in place: keep the old value to go back a question.
    """

    points: tuple[FrontierPoint, ...]
    weight_from: float = 0.0
    weight_to: float = np.inf

    @classmethod
    def over(cls, frontier: Frontier | Sequence[FrontierPoint]) -> Preference:
        """Nothing is known yet of a preference among these trees."""
        points = tuple(frontier)
        if not points:
            raise InputError("there is no tree to choose from")
        return cls(points)

    @property
    def candidates(self) -> tuple[FrontierPoint, ...]:
        """The trees that are best for some λ that is still possible."""
        if self.weight_from == self.weight_to:  # said to be worth the same: the fairer of equals is taken
            return (next(p for p in reversed(self.points) if p.weight_from <= self.weight_from),)
        found = [p for p in self.points if p.weight_from < self.weight_to and p.weight_to > self.weight_from]
        return tuple(found)

    @property
    def done(self) -> bool:
        """Whether one tree is left."""
        return len(self.candidates) == 1

    @property
    def result(self) -> FrontierPoint:
        """The tree that is left, or before the end the one in the middle of those that are."""
        candidates = self.candidates
        return candidates[len(candidates) // 2]

    def question(self) -> Question | None:
        """The pair whose answer leaves the fewest trees whatever it is; of such pairs, the most different one."""
        candidates = self.candidates
        if len(candidates) == 1:
            return None
        pairs = [Question(a, b) for a, b in combinations(candidates, 2)]
        return min(pairs, key=lambda pair: (self._most_left(pair), pair.b.discrimination - pair.a.discrimination))

    def answer(self, choice: Choice) -> Preference:
        """What is known after an answer to `question()`: "a", "b", or "either" where they are worth the same."""
        question = self.question()
        if question is None:
            raise InputError("there is nothing left to ask: one tree remains")
        if choice not in ("a", "b", "either"):
            raise InputError(f"the answer must be 'a', 'b' or 'either', not {choice!r}")
        return self._after(question.weight, choice)

    def _after(self, weight: float, choice: Choice) -> Preference:
        if choice == "either":
            return replace(self, weight_from=weight, weight_to=weight)
        return replace(self, weight_to=weight) if choice == "a" else replace(self, weight_from=weight)

    def _most_left(self, pair: Question) -> int:
        return max(len(self._after(pair.weight, choice).candidates) for choice in ("a", "b"))


def least_loss(points: Sequence[FrontierPoint], max_discrimination: float) -> FrontierPoint:
    """The tree of the trade-off with the least loss among those with D ≤ ε."""
    if not max_discrimination >= 0:
        raise InputError(f"max_discrimination (ε) must be a number of at least 0, not {max_discrimination!r}")
    fair = [point for point in points if point.discrimination <= max_discrimination + 1e-9]
    return min(fair, key=lambda point: point.loss)


def knee(points: Sequence[FrontierPoint]) -> FrontierPoint:
    """The tree where the curve bends most: farthest below the line between its two ends, both axes scaled to one."""
    if len(points) < 3:
        return points[-1]
    loss = np.array([point.loss for point in points])
    discrimination = np.array([point.discrimination for point in points])
    below = 1 - (loss - loss[0]) / (loss[-1] - loss[0]) - (discrimination - discrimination[-1]) / np.ptp(discrimination)
    return points[int(below.argmax())]
