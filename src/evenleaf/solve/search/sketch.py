"""Subtrees met in one box, written down so that its parts can know them from the start: there more people come in.

Planes of subtrees that are known save an ascent most of its bounds. Labels and slopes would take much memory, and would
say nothing about the newcomers; tests take little, and do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.plan import Plan


@dataclass(frozen=True, eq=False, slots=True)
class Fork:
    """A test and what hangs below it; a number is a leaf's label. Of an ordered feature, `left` counts the ranks."""

    feature: int
    left: int | np.ndarray
    below: Fork | int
    above: Fork | int


@dataclass(frozen=True, eq=False, slots=True)
class Sketch:
    """A subtree on one part of a box: a side, or a level that is not placed (`place`)."""

    place: int
    top: Fork | int


def sketch(plan: Plan | None, compiled: Compiled, people: np.ndarray, labels: np.ndarray) -> Fork | int:
    """What a plan and the labels of its people say; a leaf without anybody gets label 0."""
    if plan is None:
        return int(labels[0]) if len(labels) else 0
    left = plan.left_ranks if compiled.unordered[plan.feature] else int(plan.left_ranks.sum())
    goes_left = _goes_left(compiled, plan.feature, left, people)
    return Fork(
        plan.feature,
        left,
        sketch(plan.left, compiled, people[goes_left], labels[goes_left]),
        sketch(plan.right, compiled, people[~goes_left], labels[~goes_left]),
    )


def labelled(top: Fork | int, compiled: Compiled, people: np.ndarray) -> np.ndarray:
    """The labels of some people in a subtree."""
    if isinstance(top, int):
        return np.full(len(people), top, dtype=np.int16)
    goes_left = _goes_left(compiled, top.feature, top.left, people)
    labels = np.empty(len(people), dtype=np.int16)
    labels[goes_left] = labelled(top.below, compiled, people[goes_left])
    labels[~goes_left] = labelled(top.above, compiled, people[~goes_left])
    return labels


def _goes_left(compiled: Compiled, feature: int, left: int | np.ndarray, people: np.ndarray) -> np.ndarray:
    ranks = compiled.ranks[feature][people]
    return np.asarray(ranks < left if isinstance(left, int) else left[ranks])
