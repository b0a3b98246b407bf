"""Which losses trees can have at all: with whole weights and a limit on D, errors come in whole numbers.

Then a tree that is better than the incumbent is better by a step at least, and bounds need only show that no tree lies
a step lower. Where it is given how many people get the second label, errors are (given + truly of the second class −
2·both), and the steps are twice as large.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from evenleaf.problem import Misclassification, Problem

EPSILON = 1e-9  # a bound this close to the incumbent closes a node; well below the tolerance of a proof
_SMALLEST = 1e-5  # smaller steps are not told from rounding
_FUZZ = 1e-4  # of a step: what lies so close to one of them is on it
# How far above a loss a bound must be to show that no tree has it. Lists go up to all of it, a bound is lifted to the
# next loss at a little less, and a node is closed at still less: so a node whose bound is lifted is closed, too.
_MARGIN = 1e-7


@dataclass(frozen=True)
class Steps:
    """The losses `first`, `first` ± `size` …; a size of 0 stands for any number."""

    size: float = 0.0
    first: float = 0.0

    def better(self, objective: float) -> float:
        """What every tree that is better than this is worth less than."""
        if not self.size or not np.isfinite(objective):
            return objective - EPSILON
        number = ceil((objective - self.first) / self.size - _FUZZ) - 1
        return self.first + number * self.size + 0.9 * _MARGIN

    def above(self, bound: float) -> float:
        """A bound on trees, lifted to the next loss that one may have."""
        if not self.size or not np.isfinite(bound):
            return bound
        return max(bound, self._next(bound))

    def beyond(self, target: float) -> float:
        """A target, lifted a little above the next loss that a tree may have: nothing lies between."""
        return self._next(target) + _MARGIN if self.size else target

    def _next(self, bound: float) -> float:
        """The lowest loss that a tree may have with this bound."""
        return self.first + ceil((bound - 0.95 * _MARGIN - self.first) / self.size) * self.size


ANY_LOSS = Steps()


def find_steps(problem: Problem) -> Steps:
    """The losses of all trees of a problem."""
    plain = isinstance(problem.loss, Misclassification) and problem.loss.costs is None
    weight = problem.people.weight
    if problem.max_discrimination is None or not plain or not (weight == np.round(weight)).all():
        return ANY_LOSS
    size = float(np.gcd.reduce(weight.astype(np.int64)) / weight.sum())
    return Steps(size) if size >= _SMALLEST else ANY_LOSS


def steps_of_share(steps: Steps, share: float, nobody: float, weight: np.ndarray) -> Steps:
    """The losses of trees that give a share of people the second of two labels; `nobody`: the loss if none has it."""
    alike = bool((weight == weight[0]).all())
    return Steps(2 * steps.size, (share + nobody) % (2 * steps.size)) if steps.size and alike else steps
