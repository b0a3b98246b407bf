"""The rows of single-feature tests in the strong formulation: subsets, falling and rising thresholds."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.mip.instance import Feature, Instance
from evenleaf.solve.mip.layout import Layout
from evenleaf.solve.mip.model import ModelBuilder
from evenleaf.solve.mip.model import Term as Entries
from evenleaf.solve.mip.strong_tests import RIGHT, Family, StrongSingleTests


def add_strong_tests(builder: ModelBuilder, instance: Instance, layout: Layout, ordered: bool) -> StrongSingleTests:
    """Tests of every node. Where `ordered`, the lowest nodes take both directions and may idle to either side.

    Elsewhere the first level goes left: a test and its mirror image, with the subtrees exchanged, are the same tree.
    """
    families: list[Family] = []
    everybody_left: dict[int, int] = {}
    for node in range(layout.n_nodes):
        both = ordered and layout.is_bottom(node)
        for number, feature in enumerate(instance.features):
            if feature.categorical:
                families.append(_add_subset(builder, node, number, feature, both))
            else:
                families.append(_add_threshold(builder, node, number, feature, rising=False))
                if both:
                    families.append(_add_threshold(builder, node, number, feature, rising=True))
        if both:
            everybody_left[node] = _binary(builder, f"everybody_left_{node}")
    tests = StrongSingleTests(instance, tuple(families), everybody_left, layout.n_nodes)
    for node in range(layout.n_nodes):
        _add_one_choice(builder, tests, node)
    return tests


def _add_one_choice(builder: ModelBuilder, tests: StrongSingleTests, node: int) -> None:
    """A node asks one thing or nothing; below a node that asks nothing nobody needs to ask."""
    chosen = tests.chosen(node)
    idle = [tests.everybody_left[node]] if node in tests.everybody_left else []
    every = np.append(chosen, np.array(idle, dtype=int))
    builder.rows(f"one_choice_{node}", 1, [(np.zeros_like(every), every, 1.0)], upper=1.0)
    if node:
        above = tests.chosen((node - 1) // 2)
        terms = [(np.zeros_like(chosen), chosen, 1.0), (np.zeros_like(above), above, -1.0)]
        builder.rows(f"asked_above_{node}", 1, terms, upper=0.0)


def _binary(builder: ModelBuilder, name: str) -> int:
    return int(builder.variables(name, (1,), upper=1.0, integer=True)[0])


def _add_subset(builder: ModelBuilder, node: int, number: int, feature: Feature, both: bool) -> Family:
    """Some level goes left and some goes right; unless `both`, the first one goes left."""
    p = _binary(builder, f"p_{node}_{number}")
    n_free = feature.n_levels - (not both)
    s = builder.variables(f"s_{node}_{number}", (n_free,), upper=1.0, integer=True)
    row, choose = np.arange(n_free), np.array([p])
    builder.rows(f"subset_{node}_{number}", n_free, [(row, s, 1.0), (row, choose, -1.0)], upper=0.0)
    sum_left: Entries = (np.zeros_like(row), s, 1.0)
    own = np.zeros(1, dtype=int)
    builder.rows(f"some_right_{node}_{number}", 1, [sum_left, (own, choose, 1.0 - n_free)], upper=0.0)
    if both:
        builder.rows(f"some_left_{node}_{number}", 1, [sum_left, (own, choose, -1.0)], lower=0.0)
    return Family(node, number, p, s if both else np.append(p, s))


def _add_threshold(builder: ModelBuilder, node: int, number: int, feature: Feature, *, rising: bool) -> Family:
    """The values left of a threshold (or, rising, right of it), at least one on either side.

    `fall` goes from 1 to 0 along the values, from the side that goes left. With missing values all the known ones
    may go one way, if the missing go the other.
    """
    name = f"{'_rising' if rising else ''}_{node}_{number}"
    p = _binary(builder, f"p{name}")
    n_free = feature.n_known - (1 if feature.has_missing else 2)
    free = builder.variables(f"s{name}", (n_free,), upper=1.0, integer=True)
    fall = np.append(p, free)
    step = np.arange(n_free)
    builder.rows(f"fall{name}", n_free, [(step, fall[:-1], 1.0), (step, fall[1:], -1.0)], lower=0.0)
    if not feature.has_missing:
        s = np.append(fall, RIGHT)
        return Family(node, number, p, s[::-1] if rising else s, rising)
    known = np.append(RIGHT, free[::-1]) if rising else fall
    missing = _add_missing(builder, name, p, known, rising=rising)
    return Family(node, number, p, np.append(known, missing), rising)


def _add_missing(builder: ModelBuilder, name: str, p: int, known: np.ndarray, *, rising: bool) -> int:
    """Where the missing go: against the known values where those all go one way."""
    if len(known) == 1:
        return p if rising else RIGHT
    missing = _binary(builder, f"missing_left{name}")
    row, choose = np.zeros(1, dtype=int), np.array([p])
    # The highest value is the last of the known ones to go left in a falling family, the first in a rising one.
    either: list[Entries] = [(row, known[-1:], 1.0), (row, np.array([missing]), 1.0), (row, choose, -1.0)]
    if rising:
        builder.rows(f"some_left{name}", 1, either, lower=0.0)
        builder.rows(f"missing{name}", 1, either[1:], upper=0.0)
    else:
        builder.rows(f"some_right{name}", 1, either, upper=0.0)
    return missing
