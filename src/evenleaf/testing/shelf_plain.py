"""Problems without fairness: every limit of a shape, ties, duplicates, missing values, weights, costs."""

from __future__ import annotations

import numpy as np

from evenleaf.problem import Misclassification, Problem, Shape, pose
from evenleaf.table import People
from evenleaf.testing.columns import people_from
from evenleaf.testing.entry import Shelf

PLAIN = Shelf()


def _corners() -> People:
    """Two binary columns, the outcome is their exclusive or: no first split looks useful on its own."""
    return people_from({"a": [0, 0, 1, 1] * 2, "b": [0, 1, 0, 1] * 2}, [0, 1, 1, 0] * 2)


def _parity() -> People:
    """Three binary columns, the outcome is whether an odd number of them is 1."""
    bits = [[i >> k & 1 for i in range(8)] for k in range(3)]
    return people_from({"a": bits[0], "b": bits[1], "c": bits[2]}, [sum(row) % 2 for row in zip(*bits, strict=True)])


def _stripes() -> People:
    """One column in three stripes of the outcomes 0, 1, 0."""
    return people_from({"x": [1, 2, 3, 4, 5, 6]}, [0, 0, 1, 1, 0, 0])


@PLAIN.add(1 / 4)
def depth_zero() -> Problem:
    """No test is allowed: the majority decides, one of four is wrong."""
    return pose(people_from({"x": [1, 2, 3, 4]}, [0, 0, 0, 1]), shape=Shape(max_depth=0))


@PLAIN.add(0.0)
def one_threshold() -> Problem:
    """One threshold parts the classes, whose labels are texts."""
    return pose(people_from({"x": [1, 2, 3, 4, 5, 6]}, ["no"] * 3 + ["yes"] * 3), shape=Shape(max_depth=1))


@PLAIN.add(0.0)
def exclusive_or() -> Problem:
    """Depth 2 fits the exclusive or, though a greedy first split gains nothing."""
    return pose(_corners(), shape=Shape(max_depth=2))


@PLAIN.add(1 / 2)
def exclusive_or_too_shallow() -> Problem:
    """At depth 1 both sides of either test are half and half."""
    return pose(_corners(), shape=Shape(max_depth=1))


@PLAIN.add(1 / 4)
def exclusive_or_three_leaves() -> Problem:
    """Three leaves: one half is fitted, in the other half (1/2 of the people) half are wrong."""
    return pose(_corners(), shape=Shape(max_depth=2, max_leaves=3))


@PLAIN.add(1 / 4)
def exclusive_or_each_feature_once() -> Problem:
    """Each feature once: a root and one of its children, so again one half is fitted."""
    return pose(_corners(), shape=Shape(max_depth=2, max_feature_uses=1))


@PLAIN.add(0.0)
def exclusive_or_one_feature_once() -> Problem:
    """Only "b" is limited: it becomes the root, and "a" is asked on both sides."""
    return pose(_corners(), shape=Shape(max_depth=2, max_feature_uses={"b": 1}))


@PLAIN.add(1 / 2)
def exclusive_or_one_feature() -> Problem:
    """One feature alone says nothing about the exclusive or."""
    return pose(_corners(), shape=Shape(max_depth=2, max_features_used=1))


@PLAIN.add(1 / 2)
def exclusive_or_allowed_feature() -> Problem:
    """The same by name: only "b" may be tested."""
    return pose(_corners(), shape=Shape(max_depth=2, allowed_features=["b"]))


@PLAIN.add(0.0)
def parity_of_three() -> Problem:
    """Depth 3 fits the parity of three bits; every shallower tree is half wrong."""
    return pose(_parity(), shape=Shape(max_depth=3))


@PLAIN.add(1 / 2)
def parity_too_shallow() -> Problem:
    """A leaf of depth 2 fixes two bits, and the third still decides."""
    return pose(_parity(), shape=Shape(max_depth=2))


@PLAIN.add(0.0)
def stripes() -> Problem:
    """The same column is tested twice."""
    return pose(_stripes(), shape=Shape(max_depth=2))


@PLAIN.add(1 / 3)
def stripes_tested_once() -> Problem:
    """With one test one pure stripe stays on its own, and 2 of the other 4 people are wrong."""
    return pose(_stripes(), shape=Shape(max_depth=2, max_feature_uses={"x": 1}))


@PLAIN.add(1 / 3)
def leaves_of_three() -> Problem:
    """Leaves of 3 of the 6 allow one split, in the middle: a stripe of 2 and a person of the other class a side."""
    return pose(_stripes(), shape=Shape(max_depth=2, min_samples_leaf=3))


@PLAIN.add(1 / 3)
def leaves_larger_than_the_table() -> Problem:
    """No split has 7 people a side; the tree without tests is allowed all the same, 2 of 6 are wrong."""
    return pose(_stripes(), shape=Shape(max_depth=2, min_samples_leaf=7))


@PLAIN.add(1 / 2)
def tests_of_no_feature() -> Problem:
    """A test may look at no feature at all, so there is none."""
    return pose(_corners(), shape=Shape(max_depth=2, max_features_per_test=0))


@PLAIN.add(1 / 3)
def limits_that_leave_nothing() -> Problem:
    """One leaf, no feature, none allowed, depth 2: only the constant tree keeps them all."""
    shape = Shape(max_depth=2, max_leaves=1, max_features_used=0, max_feature_uses=0, allowed_features=[])
    return pose(_stripes(), shape=shape)


@PLAIN.add(1 / 3)
def equal_people_decided_differently() -> Problem:
    """Equal people cannot be parted: in each of the two kinds one of three is wrong."""
    return pose(people_from({"x": [1, 1, 1, 2, 2, 2]}, [0, 0, 1, 1, 1, 0]), shape=Shape(max_depth=2))


@PLAIN.add(0.0)
def values_one_bit_apart() -> Problem:
    """Nothing lies between neighbouring floats; the lower one is the threshold."""
    low = 1.0
    high = float(np.nextafter(low, 2.0))
    return pose(people_from({"x": [low, low, high, high, 2.0]}, [0, 0, 1, 1, 0]), shape=Shape(max_depth=2))


@PLAIN.add(0.0)
def values_far_apart() -> Problem:
    """Values whose sum overflows, and small gaps beside large ones."""
    x = [-1.5e308, 0.0, 1e-9, 2e-9, 1.2e308, 1.5e308]
    return pose(people_from({"x": x}, [0, 0, 1, 1, 0, 0]), shape=Shape(max_depth=2))


@PLAIN.add(0.0)
def known_against_missing() -> Problem:
    """Only whether the value is known matters; no midpoint says that."""
    x = [None, 1, None, 2, 3, None, 1]
    return pose(people_from({"x": x}, [1, 0, 1, 0, 0, 1, 0]), shape=Shape(max_depth=1))


@PLAIN.add(0.0)
def missing_with_the_high_values() -> Problem:
    """The missing belong on the right of the threshold."""
    return pose(people_from({"x": [1, 2, None, None, 5, 6]}, [0, 0, 1, 1, 1, 1]), shape=Shape(max_depth=1))


@PLAIN.add(0.0)
def missing_in_one_branch_only() -> Problem:
    """Beside "a" ≤ 0 the missing of "x" are a class of their own; on the other side nobody is missing."""
    a = [0, 0, 0, 0, 1, 1, 1, 1]
    x = [5, 1, None, None, 1, 2, 5, 6]
    return pose(people_from({"a": a, "x": x}, [0, 0, 1, 1, 0, 0, 1, 1]), shape=Shape(max_depth=2))


@PLAIN.add(0.0)
def every_other_level() -> Problem:
    """A subset of five levels, not a range of them."""
    level = list("pqrstpqrst")
    return pose(people_from({"c": level}, [int(v in "prt") for v in level]), shape=Shape(max_depth=1))


@PLAIN.add(0.0)
def missing_is_a_level() -> Problem:
    """The missing of a categorical column go with the level "q"."""
    level = ["p", "q", None, "r", "p", None, "q", "r"]
    return pose(people_from({"c": level}, [int(v not in ("p", "r")) for v in level]), shape=Shape(max_depth=1))


@PLAIN.add(1 / 8)
def two_columns_of_levels() -> Problem:
    """Two unrelated columns of levels and one contradiction: 1 of 8 must be wrong."""
    c, d = list("ppqqrrpp"), list("uvuvuvuu")
    return pose(people_from({"c": c, "d": d}, [0, 1, 1, 0, 0, 1, 0, 1]), shape=Shape(max_depth=2))


@PLAIN.add(1 / 5)
def columns_that_say_nothing() -> Problem:
    """A constant column and one that is missing for everybody cannot part anybody."""
    features = {"same": [7] * 5, "gone": [None] * 5, "level": ["p"] * 5}
    return pose(people_from(features, [0, 0, 1, 0, 0]), shape=Shape(max_depth=2))


@PLAIN.add(0.0)
def four_classes() -> Problem:
    """Four classes in four stripes need all four leaves of depth 2."""
    return pose(people_from({"x": list(range(8))}, [0, 0, 3, 3, 1, 1, 2, 2]), shape=Shape(max_depth=2))


@PLAIN.add(1 / 2)
def a_class_that_nobody_has() -> Problem:
    """Four of the five classes occur; with two leaves the two larger classes of 8 people are right."""
    y, classes = [0, 0, 3, 3, 1, 1, 2, 2], (0, 1, 2, 3, 4)
    return pose(people_from({"x": list(range(8))}, y, classes=classes), shape=Shape(max_depth=1))


@PLAIN.add(2 / 13)
def one_heavy_person() -> Problem:
    """Weights 1, 1, 1, 8, 2, 0 on the outcomes 1 0 1 0 | 1 0: left 2 of 13 are wrong, right only the weightless."""
    people = people_from({"x": [1, 2, 3, 4, 5, 6]}, [1, 0, 1, 0, 1, 0], weight=[1, 1, 1, 8, 2, 0])
    return pose(people, shape=Shape(max_depth=1))


@PLAIN.add(1 / 4)
def one_sided_costs() -> Problem:
    """Taking a 1 for a 0 costs 3, the reverse 1: all with x ≤ 3 are called 1, which costs 2 over 8 people."""
    people = people_from({"x": [1, 2, 1, 2, 3, 3, 4, 4]}, [0, 1, 1, 1, 0, 1, 0, 0])
    return pose(people, loss=Misclassification([[0, 1], [3, 0]]), shape=Shape(max_depth=1))
