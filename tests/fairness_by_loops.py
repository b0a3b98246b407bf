"""The paper's displayed formulas, summed term by term: slow, plain, and sharing nothing with the library.

Everything is a list. `y` and `group` hold one entry a person, `weight` the sample weights (1 in the paper);
`near[i][j]` is d(x_i, x_j), the weight of person i around person j. An average over nobody (0/0) makes its
term zero, as the design says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Values = Sequence[Any]
Matrix = Sequence[Sequence[float]]


def average(values: Sequence[float], weight: Sequence[float]) -> float | None:
    total = sum(weight)
    return sum(v * w for v, w in zip(values, weight, strict=True)) / total if total > 0 else None


def gap(values: Sequence[float], group: Values, p: Any, weight: Sequence[float]) -> tuple[float, bool]:
    """|average of all − average of group p|, and whether the term was empty."""
    overall = average(values, weight)
    own = average(values, [w if g == p else 0.0 for g, w in zip(group, weight, strict=True)])
    if overall is None or own is None:
        return 0.0, True
    return abs(overall - own), False


def outcomes(y: Values, classes: Values | None) -> list[list[float]]:
    """The numbers that are averaged: I(y_i = y) for each class y, or y_i itself."""
    if classes is None:
        return [[float(value) for value in y]]
    return [[float(value == c) for value in y] for c in classes]


def didi(y: Values, group: Values, weight: Sequence[float], classes: Values | None) -> float:
    """Definitions 2.2 (classes) and 2.5 (numbers)."""
    total = 0.0
    for values in outcomes(y, classes):
        for p in set(group):
            total += gap(values, group, p, weight)[0]
    return total


def dtdi(
    y: Values, group: Values, weight: Sequence[float], classes: Values | None, near: Matrix, normalize: bool = True
) -> tuple[float, int]:
    """Equations 3 (classes) and 4 (numbers), and how many of the terms were empty."""
    total, empty = 0.0, 0
    for j in range(len(y)):
        local = [near[i][j] * weight[i] for i in range(len(y))]
        for values in outcomes(y, classes):
            for p in sorted(set(group)):
                term, nobody = gap(values, group, p, local)
                total += weight[j] * term
                empty += nobody and weight[j] > 0
    return total / sum(weight) if normalize else total, empty


def mistreatment(
    y_true: Values,
    y_pred: Values,
    group: Values,
    weight: Sequence[float],
    pairs: Sequence[tuple[Any, Any]],
) -> float:
    """Σ over pairs (y, ŷ) and groups p of |P(ŷ | y) − P(ŷ | y, p)|, from equation 2."""
    total = 0.0
    for true, predicted in pairs:
        values = [float(value == predicted) for value in y_pred]
        among = [w if value == true else 0.0 for value, w in zip(y_true, weight, strict=True)]
        for p in set(group):
            total += gap(values, group, p, among)[0]
    return total


def conditional_parity(
    y: Values, group: Values, weight: Sequence[float], classes: Values | None, stratum: Values, by_size: bool
) -> float:
    """DIDI among the people of each stratum, each stratum counting 1 or its share of the people."""
    total = 0.0
    for s in set(stratum):
        inside = [w if value == s else 0.0 for value, w in zip(stratum, weight, strict=True)]
        size = sum(inside) / sum(weight) if by_size else 1.0
        for values in outcomes(y, classes):
            total += size * sum(gap(values, group, p, inside)[0] for p in set(group))
    return total


def exact_squared_distances(
    quantitative: Sequence[Sequence[int | None]], categorical: Sequence[Values], weight: Sequence[int]
) -> list[list[Fraction]]:
    """The mixed distance in exact fractions: columns of whole numbers (None is missing) and columns of levels."""
    n = len(weight)
    total = [[Fraction(0)] * n for _ in range(n)]
    for column in quantitative:
        known = [(Fraction(v), w) for v, w in zip(column, weight, strict=True) if v is not None]
        if not sum(w for _, w in known):
            known = [(v, 1) for v, _ in known]
        mean = sum((v * w for v, w in known), Fraction(0)) / max(1, sum(w for _, w in known))
        filled = [mean if v is None else Fraction(v) for v in column]
        # Where only people without weight differ, the plain variance is the unit.
        variance = exact_variance(filled, weight) or exact_variance(filled, [1] * n)
        for i in range(n):
            for j in range(n):
                step = (filled[i] - filled[j]) ** 2
                total[i][j] += step / variance if variance else step
                total[i][j] += (column[i] is None) != (column[j] is None)
    for levels in categorical:
        for i in range(n):
            for j in range(n):
                total[i][j] += levels[i] != levels[j]
    return total


def exact_variance(values: Sequence[Fraction], weight: Sequence[int]) -> Fraction:
    mean = sum((v * w for v, w in zip(values, weight, strict=True)), Fraction(0)) / sum(weight)
    return sum(((v - mean) ** 2 * w for v, w in zip(values, weight, strict=True)), Fraction(0)) / sum(weight)


def nearest(distance: Sequence[Sequence[Any]], k: int, include_self: bool, among: Sequence[int]) -> list[list[float]]:
    """near[i][j] = 1 where i is one of the k nearest of j among some people: by distance, then by row."""
    n = len(distance)
    near = [[0.0] * n for _ in range(n)]
    for j in range(n):
        others = [i for i in among if include_self or i != j]
        for i in sorted(others, key=lambda i, j=j: (distance[i][j], i))[:k]:  # type: ignore[misc]
            near[i][j] = 1.0
    return near


def weighed(
    squared: Sequence[Sequence[Any]], kernel: Callable[[float], float], include_self: bool = True
) -> list[list[float]]:
    """near[i][j] = kernel(distance)."""
    n = len(squared)
    return [[kernel(math.sqrt(squared[i][j])) if include_self or i != j else 0.0 for j in range(n)] for i in range(n)]


KERNELS: dict[str, Callable[[float], float]] = {
    "uniform": lambda u: 1.0 if u <= 1 else 0.0,
    "triangular": lambda u: max(0.0, 1 - u),
    "epanechnikov": lambda u: max(0.0, 1 - u * u),
    "gaussian": lambda u: math.exp(-u * u / 2) if math.exp(-u * u / 2) > 1e-6 else 0.0,
    "exponential": lambda u: math.exp(-u) if math.exp(-u) > 1e-6 else 0.0,
}
