"""From outlines and recipes to trees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.fronts.front import LEAF
from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.tests import LEFT, Box, Cuts, Fork, Levels, Part, Sketch, Slot
from evenleaf.tree import Branch, Leaf, Node, Tree, tidy


def from_recipe(recipe: np.ndarray, lane: Lane) -> Sketch:
    """The outline of a point of a front."""
    feature, code, labels = (int(number) for number in recipe[:3])
    n_classes = lane.n_labels + 1
    low, high = divmod(labels, n_classes)
    if feature == LEAF:
        return low
    box = _box(feature, code, lane, stump=labels >= 0)
    if labels >= 0:
        return box, low, high
    half = (len(recipe) - 3) // 2
    return box, from_recipe(recipe[3 : 3 + half], lane), from_recipe(recipe[3 + half :], lane)


def _box(feature: int, code: int, lane: Lane, *, stump: bool) -> Box:
    if not lane.compiled.unordered[feature]:
        return Cuts(feature, code, code)
    everyone = frozenset(range(int(lane.compiled.sizes[feature])))
    named = frozenset(level for level in everyone if code >> level & 1)
    # A stump's mask names the levels of the second label, another test's those on the left.
    return Levels(feature, everyone - named, named) if stump else Levels(feature, named, everyone - named)


def filled(part: Part, recipes: Iterator[Sketch]) -> Sketch:
    """A part whose slots, from left to right, are filled by outlines."""
    if isinstance(part, Slot | Fork):
        return next(recipes)
    left = filled(part.left, recipes)
    return part.box, left, filled(part.right, recipes)


def to_tree(sketch: Sketch, problem: Problem, lane: Lane) -> Tree:
    """The tree of an outline."""
    nodes: list[Node] = []
    _append(sketch, lane, nodes)
    return tidy(Tree(problem.people.features.schema, problem.target, tuple(nodes)), *lane.examples)


def _append(sketch: Sketch, lane: Lane, nodes: list[Node]) -> None:
    place = len(nodes)
    if not isinstance(sketch, tuple):
        nodes.append(Leaf(float(sketch)))
        return
    box, low, high = sketch
    left = box.sides(int(lane.compiled.sizes[box.feature])) == LEFT
    if left.all() or not left.any():
        _append(low if left.all() else high, lane, nodes)
        return
    test = lane.compiled.features[box.feature].test(left)
    nodes.append(Branch(test, place + 1, place + 1))
    _append(low, lane, nodes)
    nodes[place] = Branch(test, place + 1, len(nodes))
    _append(high, lane, nodes)
