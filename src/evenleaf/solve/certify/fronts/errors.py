"""How many errors a better tree can make at most: errors are whole numbers, and with a limit they are all that counts.

With a share of people given the second of two classes, errors are (given + truly of the second class − 2·both): even or
odd, whatever the tree.
"""

from __future__ import annotations

import numpy as np

from evenleaf.problem import Misclassification, Problem

_SMALLEST = 1e-5  # a share of errors that is still told from rounding
_WHOLE = 1e-6  # how far from a whole number rounding may be
_MARGIN = 1e-8  # above the loss of a better tree, for rounding


def below(problem: Problem, objective: float, target: float, share: float | None) -> float:
    """What trees better than the objective are worth less than: the target, or less where errors are counted."""
    weight = problem.people.weight
    plain = isinstance(problem.loss, Misclassification) and problem.loss.costs is None
    if problem.max_discrimination is None or not plain or not (weight == np.round(weight)).all():
        return target
    unit = int(np.gcd.reduce(weight.astype(np.int64)))
    total = round(float(weight.sum()) / unit)
    errors = round(objective * total)
    if 1 / total < _SMALLEST or abs(objective * total - errors) > _WHOLE:
        return target
    fewer = errors - 1
    if share is not None and (weight == weight[0]).all():
        given = round(share * total)
        if abs(share * total - given) > _WHOLE:
            return target
        fewer -= (fewer - given - int((problem.people.outcome.values == 1).sum())) % 2
    return min(target, fewer / total + _MARGIN)
