"""Regression: the absolute error, alone and with fairness in both forms.

Where a docstring derives nothing, the optimum was computed by `brute_force`, and a test does that again.
"""

from __future__ import annotations

import numpy as np

from evenleaf.fairness import ConditionalParity, DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.table import Grouping, People
from evenleaf.testing.columns import people_from
from evenleaf.testing.entry import Shelf

NUMBERS = Shelf()


def _apart() -> People:
    """The column tells the groups apart, and the outcome is 0 in one and 1 in the other.

    A split with the numbers u and u + t has the loss (1 − t)/2 and D = |E − E_a| + |E − E_b| = t, for 0 ≤ t ≤ 1.
    """
    return people_from({"x": [1, 2, 3, 4]}, [0, 0, 1, 1], {"g": list("aabb")}, task="regression")


def _mixed(n: int, *, groups: Grouping = "joint", weight: list[float] | None = None, missing: bool = False) -> People:
    """Numbers without a pattern anybody would plan, but the same ones every time."""
    number = np.arange(n)
    x = [None if missing and i % 5 == 2 else float(i * 7 % 11) for i in number]
    level = [None if missing and i % 7 == 3 else "pqr"[i] for i in (number * 5 + 1) % 7 % 3]
    y = (number * 3 % 10 + number % 2 * 4) / 4
    protected = {"g": ["ab"[i] for i in number * 3 % 7 % 2], "h": ["uv"[i] for i in number // 2 % 2]}
    return people_from({"x": x, "c": level}, y, protected, task="regression", groups=groups, weight=weight)


@NUMBERS.add(3 / 2)
def median() -> Problem:
    """No test: any number from 0 to 1 is a median of 0, 0, 1, 5, and the error is (1 + 5)/4."""
    return pose(people_from({"x": [1, 2, 3, 4]}, [0, 0, 1, 5], task="regression"), shape=Shape(max_depth=0))


@NUMBERS.add(1 / 4)
def weighted_median() -> Problem:
    """Weights 1, 1, 3, 1, 2: cut after the third, 0 and 0 (weight 2 of 8) are off by 1 from 1, and both 6 are right."""
    people = people_from({"x": [1, 2, 3, 4, 5]}, [0, 0, 1, 6, 6], task="regression", weight=[1, 1, 3, 1, 2])
    return pose(people, shape=Shape(max_depth=1))


@NUMBERS.add(0.0)
def three_steps() -> Problem:
    """Three levels of the outcome, two tests of one column."""
    people = people_from({"x": [1, 2, 3, 4, 5, 6]}, [0, 0, 2, 2, 1, 1], task="regression")
    return pose(people, shape=Shape(max_depth=2))


@NUMBERS.add(0.0)
def numbers_all_the_same() -> Problem:
    """The label range is a single point."""
    return pose(people_from({"x": [1, 2, 3]}, [4, 4, 4], task="regression"), shape=Shape(max_depth=1))


@NUMBERS.add(1 / 4)
def number_impact_worth_its_price() -> Problem:
    """λ = 1/4: (1 − t)/2 + t/4 falls in t, so t = 1 and the objective is 1/4."""
    return pose(_apart(), shape=Shape(max_depth=1), fairness=DisparateImpact(), fairness_weight=0.25)


@NUMBERS.add(1 / 2)
def number_impact_makes_the_constant_best() -> Problem:
    """λ = 1: (1 − t)/2 + t rises in t, so t = 0."""
    return pose(_apart(), shape=Shape(max_depth=2), fairness=DisparateImpact(), fairness_weight=1.0)


@NUMBERS.add(3 / 10)
def number_impact_limited() -> Problem:
    """ε = 0.4: t = 0.4, and the loss is 0.6/2."""
    return pose(_apart(), shape=Shape(max_depth=2), fairness=DisparateImpact(), max_discrimination=0.4)


@NUMBERS.add(1 / 3)
def numbers_at_the_end_of_their_range() -> Problem:
    """Fairness pulls a leaf beyond the label range; if it might go there, the optimum would be 1/4."""
    people = people_from({"x": [0, 1, 2, 3, 4, 5]}, [0, 1, 0, 3, 3, 0], {"g": list("abbbab")}, task="regression")
    return pose(people, shape=Shape(max_depth=2), fairness=DisparateImpact(), fairness_weight=3.0)


@NUMBERS.add(53 / 150)
def number_impact_each_column() -> Problem:
    """Two protected columns, each compared by itself."""
    people = _mixed(10, groups="each")
    return pose(people, shape=Shape(max_depth=2), fairness=DisparateImpact(), max_discrimination=0.1)


@NUMBERS.add(0.276221804511)
def number_impact_missing_and_weights() -> Problem:
    """Missing values in both columns, weights, four joint groups."""
    people = _mixed(10, weight=[float(1 + i * 4 % 3) for i in range(10)], missing=True)
    return pose(people, shape=Shape(max_depth=2), fairness=DisparateImpact(), fairness_weight=0.1)


@NUMBERS.add(0.641111111111)
def number_impact_with_limits() -> Problem:
    """Three leaves of at least two people, one feature."""
    shape = Shape(max_depth=2, max_leaves=3, min_samples_leaf=2, max_features_used=1)
    return pose(_mixed(12), shape=shape, fairness=DisparateImpact(), fairness_weight=0.2)


@NUMBERS.add(67 / 120)
def number_treatment() -> Problem:
    """DTDI with three neighbours."""
    return pose(_mixed(10), shape=Shape(max_depth=2), fairness=DisparateTreatment(n_neighbors=3), fairness_weight=0.5)


@NUMBERS.add(0.783351249671)
def number_treatment_by_outcome() -> Problem:
    """MIP-DT-A for numbers, as a limit, depth 1."""
    notion = DisparateTreatment(distance="outcomes")
    return pose(_mixed(16), shape=Shape(max_depth=1), fairness=notion, max_discrimination=0.15)


@NUMBERS.add(31 / 80)
def number_conditional_parity() -> Problem:
    """Impact within the levels of a column."""
    notion = ConditionalParity("c", weigh_by_size=True)
    return pose(_mixed(10), shape=Shape(max_depth=2), fairness=notion, fairness_weight=0.2)
