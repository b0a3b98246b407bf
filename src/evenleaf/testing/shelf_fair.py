"""Classification under every notion of fairness, in both forms: λ·D and D ≤ ε.

Where a docstring derives nothing, the optimum was computed by `brute_force`, and a test does that again.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from evenleaf.fairness import (
    ConditionalParity,
    DisparateImpact,
    DisparateMistreatment,
    DisparateTreatment,
    Disparity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
)
from evenleaf.problem import Misclassification, Problem, Shape, pose
from evenleaf.table import Grouping, People
from evenleaf.testing.columns import people_from
from evenleaf.testing.entry import Shelf

FAIR = Shelf()


def _apart() -> People:
    """The column tells the groups apart, and the outcome is the group: the sharpest conflict there is.

    The split has loss 0 and D = Σ over 2 classes and 2 groups of |1/2 − 0 or 1| = 2; a constant has loss 1/2, D = 0.
    """
    return people_from({"x": [1, 2, 3, 4, 5, 6, 7, 8]}, [0] * 4 + [1] * 4, {"g": ["a"] * 4 + ["b"] * 4})


def _skewed() -> People:
    """High values mean the outcome 1 and the group b, with exceptions to both."""
    level = list("pqrrqppqrqrp")
    y = [0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1]
    return people_from({"x": list(range(1, 13)), "c": level}, y, {"g": list("aaaabaabbbbb")})


def _mixed(n: int, n_classes: int, *, groups: Grouping = "joint", weight: list[float] | None = None) -> People:
    """People without a pattern anybody would plan, but the same ones every time."""
    number = np.arange(n)
    x, z = number * 7 % 11, number * number % 5
    level = ["pqrs"[i] for i in (number * 5 + 1) % 7 % 4]
    y = (x + 2 * z + number % 3) % n_classes
    protected: dict[str, Any] = {"g": ["ab"[i] for i in number * 3 % 7 % 2]}
    if groups == "each" or n_classes > 3:
        protected["h"] = ["uv"[i] for i in number // 2 % 2]
    return people_from({"x": x, "z": z, "c": level}, y, protected, groups=groups, weight=weight)


@FAIR.add(1 / 5)
def impact_worth_its_price() -> Problem:
    """λ = 0.1: the split costs 0 + 0.1·2, less than the constant's 1/2; a cut elsewhere costs more."""
    return pose(_apart(), shape=Shape(max_depth=1), fairness=DisparateImpact(), fairness_weight=0.1)


@FAIR.add(1 / 2)
def impact_makes_the_constant_best() -> Problem:
    """λ = 1: every person moved from a constant saves 1/8 of loss and adds 1·(2·2·1/8) of disparity."""
    return pose(_apart(), shape=Shape(max_depth=2), fairness=DisparateImpact(), fairness_weight=1.0)


@FAIR.add(1 / 2)
def impact_at_the_tie() -> Problem:
    """λ = 1/4: all the trees between the constant and the split cost 1/2."""
    return pose(_apart(), shape=Shape(max_depth=1), fairness=DisparateImpact(), fairness_weight=0.25)


@FAIR.add(0.0)
def impact_at_no_price() -> Problem:
    """λ = 0 is the plain problem, rows or no rows."""
    return pose(_apart(), shape=Shape(max_depth=1), fairness=DisparateImpact(), fairness_weight=0.0)


@FAIR.add(1 / 2)
def impact_forbidden() -> Problem:
    """ε = 0: equal shares of the groups get each class, and x parts the groups, so one side must equal the other."""
    return pose(_apart(), shape=Shape(max_depth=2), fairness=DisparateImpact(), max_discrimination=0.0)


@FAIR.add(1 / 4)
def impact_limited() -> Problem:
    """ε = 1: D = 2·|share of a − share of b| = 1 allows half of one group to be parted, which leaves 2 of 8 wrong."""
    return pose(_apart(), shape=Shape(max_depth=1), fairness=DisparateImpact(), max_discrimination=1.0)


@FAIR.add(0.0)
def impact_limit_just_met() -> Problem:
    """ε = 2 is the disparity of the perfect split: a limit that is met exactly is kept."""
    return pose(_apart(), shape=Shape(max_depth=2), fairness=DisparateImpact(), max_discrimination=2.0)


@FAIR.add(inf)
def no_tree_is_fair_enough() -> Problem:
    """A hand-made operator: the row looks at one person's class, whichever it is, so D = 1 for every tree.

    A notion compares averages, so that a constant tree has D = 0 and no posed problem is infeasible. Only an
    operator like this one is.
    """
    people = _apart()
    row = sp.csr_array((np.ones(1), (np.zeros(1, dtype=int), np.zeros(1, dtype=int))), shape=(1, people.n_people))
    return Problem(people, Misclassification(), Shape(max_depth=2), Disparity(row, np.ones((1, 2)))).with_limit(0.5)


@FAIR.add(3 / 10)
def impact_one_person_group() -> Problem:
    """Of two groups one is a single person."""
    people = people_from({"x": [1, 2, 3, 4, 5, 6, 7]}, [0, 0, 1, 0, 1, 1, 1], {"g": list("aaaabaa")})
    return pose(people, shape=Shape(max_depth=2), fairness=DisparateImpact(), fairness_weight=0.3)


@FAIR.add(1 / 5)
def impact_five_groups() -> Problem:
    """Five groups of unequal size."""
    people = people_from(
        {"x": list(range(10)), "c": list("pqrpqrpqrp")}, [0, 0, 1, 0, 1, 1, 1, 0, 1, 1], {"g": list("aabbbccdea")}
    )
    return pose(people, shape=Shape(max_depth=2), fairness=DisparateImpact(), max_discrimination=2.5)


@FAIR.add(23 / 50)
def impact_joint_groups() -> Problem:
    """Two protected columns crossed, four classes."""
    return pose(_mixed(12, 4), shape=Shape(max_depth=2), fairness=DisparateImpact(), fairness_weight=0.1)


@FAIR.add(0.244761904762)
def impact_each_column() -> Problem:
    """Two protected columns, each compared by itself, and the two indices added."""
    people = _mixed(12, 2, groups="each")
    return pose(people, shape=Shape(max_depth=2), fairness=DisparateImpact(), fairness_weight=0.2)


@FAIR.add(1 / 4)
def impact_with_weights() -> Problem:
    """Weights count in the loss and in the rates; some people weigh nothing."""
    people = _mixed(12, 3, weight=[float(i * 4 % 6) for i in range(12)])
    return pose(people, shape=Shape(max_depth=2), fairness=DisparateImpact(), max_discrimination=0.5)


@FAIR.add(127 / 420)
def impact_with_limits() -> Problem:
    """Fairness, leaves of two people and a feature used once, all at the same time."""
    shape = Shape(max_depth=2, max_leaves=3, min_samples_leaf=2, max_feature_uses={"x": 1})
    return pose(_mixed(14, 2), shape=shape, fairness=DisparateImpact(), fairness_weight=0.2)


@FAIR.add(0.293414322251)
def impact_forty_people() -> Problem:
    """A larger table at depth 1."""
    return pose(_mixed(40, 2), shape=Shape(max_depth=1), fairness=DisparateImpact(), fairness_weight=0.05)


@FAIR.add(7 / 30)
def impact_at_depth_three() -> Problem:
    """Three binary columns, eight kinds of people, costs: deep enough for a leaf a kind."""
    kind = [0, 1, 2, 3, 4, 5, 6, 7, 0, 3, 5, 6]
    y = [0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1]
    bits = {name: [k >> place & 1 for k in kind] for place, name in enumerate("abc")}
    people = people_from(bits, y, {"g": list("abbaabababba")})
    loss = Misclassification([[0, 1], [2, 0]])
    return pose(people, loss=loss, shape=Shape(max_depth=3), fairness=DisparateImpact(), fairness_weight=0.1)


@FAIR.add(1 / 3)
def impact_in_a_part_of_a_table() -> Problem:
    """Rows taken from a larger table: a level, a class and a group are left without anybody."""
    people = _mixed(20, 4)
    keep = np.flatnonzero((people.groups[0].codes != 3) & (people.outcome.values != 1))
    return pose(people.take(keep), shape=Shape(max_depth=2), fairness=DisparateImpact(), fairness_weight=0.2)


@FAIR.add(1 / 3)
def treatment_by_neighbours() -> Problem:
    """DTDI with the two nearest people, oneself included; three classes, many empty terms."""
    notion = DisparateTreatment(n_neighbors=2)
    return pose(_mixed(12, 3), shape=Shape(max_depth=2), fairness=notion, fairness_weight=0.3)


@FAIR.add(1 / 6)
def treatment_limited() -> Problem:
    """DTDI with the four nearest people as a limit."""
    notion = DisparateTreatment(n_neighbors=4)
    return pose(_mixed(12, 2), shape=Shape(max_depth=2), fairness=notion, max_discrimination=0.3)


@FAIR.add(0.205182602044)
def treatment_by_kernel_unnormalised() -> Problem:
    """DTDI with a kernel, as a sum over people and not a mean."""
    notion = DisparateTreatment(weights="epanechnikov", bandwidth=1.5, normalize=False)
    return pose(_mixed(12, 2), shape=Shape(max_depth=2), fairness=notion, fairness_weight=0.02)


@FAIR.add(5 / 24)
def treatment_by_outcome() -> Problem:
    """MIP-DT-A: people with the same outcome are the neighbours; costs of its own."""
    loss = Misclassification([[0, 2], [1, 0]])
    notion = DisparateTreatment(distance="outcomes")
    return pose(_mixed(12, 2), loss=loss, shape=Shape(max_depth=2), fairness=notion, fairness_weight=0.3)


@FAIR.add(17 / 72)
def treatment_with_missing_values() -> Problem:
    """A ready matrix of weights and a column with missing values."""
    n = 12
    weights = np.fromfunction(lambda i, j: (np.abs(i - j) <= 2).astype(float), (n, n))
    x = [None if i % 4 == 1 else i * 5 % 7 for i in range(n)]
    people = people_from({"x": x, "c": list("pqp") * 4}, [i * i % 7 % 2 for i in range(n)], {"g": list("aabb") * 3})
    notion = DisparateTreatment(weights=weights)
    return pose(people, shape=Shape(max_depth=2), fairness=notion, fairness_weight=0.25)


@FAIR.add(1 / 6)
def conditional_parity() -> Problem:
    """Impact within each level of a column; in some strata a group is absent."""
    notion = ConditionalParity("c")
    return pose(_mixed(12, 2), shape=Shape(max_depth=2), fairness=notion, fairness_weight=0.1)


@FAIR.add(1 / 3)
def equal_opportunity() -> Problem:
    """Of the truly positive, equal shares are found in each group, to 0.2."""
    return pose(_skewed(), shape=Shape(max_depth=1), fairness=EqualOpportunity(), max_discrimination=0.2)


@FAIR.add(3 / 10)
def predictive_equality() -> Problem:
    """The positive class is named, and it is the first: a row that counts for a single class."""
    notion = PredictiveEquality(positive=0)
    return pose(_skewed(), shape=Shape(max_depth=1), fairness=notion, fairness_weight=0.1)


@FAIR.add(1 / 4)
def equalised_odds() -> Problem:
    """Both error rates at once, exactly equal."""
    return pose(_skewed(), shape=Shape(max_depth=2), fairness=EqualizedOdds(), max_discrimination=0.0)


@FAIR.add(19 / 60)
def mistreatment() -> Problem:
    """Every pair of a true and a predicted class: three classes, three groups, one of them a single person."""
    y, group = [0, 0, 2, 0, 1, 1, 1, 2, 1, 2, 0, 2], list("aaaabaabbbbc")
    people = people_from({"x": list(range(1, 13)), "c": list("pqrrqppqrqrp")}, y, {"g": group})
    return pose(people, shape=Shape(max_depth=2), fairness=DisparateMistreatment(), fairness_weight=0.05)


@FAIR.add(1 / 4)
def impact_and_treatment() -> Problem:
    """A sum of two notions with weights."""
    notion = DisparateImpact() + 0.5 * DisparateTreatment(n_neighbors=3)
    return pose(_mixed(12, 2), shape=Shape(max_depth=2), fairness=notion, max_discrimination=0.3)
