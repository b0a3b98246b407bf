"""A tree that is easy to change: nested instead of flat, its nodes found by the way that leads to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from evenleaf.problem import Problem
from evenleaf.table import Table
from evenleaf.tree import Branch, Leaf, Node, Target, Test, Tree
from evenleaf.tree.questions import weighted_sum


@dataclass(frozen=True)
class Fork:
    """A test with what follows on either side."""

    test: Test
    left: Sketch
    right: Sketch


Sketch = Leaf | Fork
Path = tuple[bool, ...]  # True is left; the empty path is the root


def unfold(tree: Tree, position: int = 0) -> Sketch:
    """A flat tree as a nested one."""
    node = tree.nodes[position]
    if isinstance(node, Leaf):
        return node
    return Fork(node.test, unfold(tree, node.left), unfold(tree, node.right))


def fold(problem: Problem, sketch: Sketch) -> Tree:
    """A nested tree as a flat one, parents before children."""
    nodes: list[Node] = []

    def write(part: Sketch) -> int:
        place = len(nodes)
        if isinstance(part, Leaf):
            nodes.append(part)
            return place
        nodes.append(Leaf(0.0))  # keeps the place until the children have theirs
        nodes[place] = Branch(part.test, write(part.left), write(part.right))
        return place

    write(sketch)
    return Tree(problem.people.features.schema, problem.target, tuple(nodes))


def at(sketch: Sketch, path: Path) -> Sketch:
    """The part that a path leads to."""
    for left in path:
        fork = cast(Fork, sketch)
        sketch = fork.left if left else fork.right
    return sketch


def replaced(sketch: Sketch, path: Path, part: Sketch) -> Sketch:
    """The same tree with another part in that place."""
    if not path:
        return part
    fork = cast(Fork, sketch)
    if path[0]:
        return Fork(fork.test, replaced(fork.left, path[1:], part), fork.right)
    return Fork(fork.test, fork.left, replaced(fork.right, path[1:], part))


def paths(sketch: Sketch, start: Path = ()) -> Iterator[Path]:
    """The ways to all nodes, parents first."""
    yield start
    if isinstance(sketch, Fork):
        yield from paths(sketch.left, (*start, True))
        yield from paths(sketch.right, (*start, False))


def leaves_of(sketch: Sketch) -> list[Leaf]:
    """The leaves from left to right; `reached` numbers them in this order."""
    if isinstance(sketch, Leaf):
        return [sketch]
    return [*leaves_of(sketch.left), *leaves_of(sketch.right)]


def with_leaves(sketch: Sketch, leaves: Iterator[Leaf]) -> Sketch:
    """The same tests with other leaves, from left to right."""
    if isinstance(sketch, Leaf):
        return next(leaves)
    left = with_leaves(sketch.left, leaves)
    return Fork(sketch.test, left, with_leaves(sketch.right, leaves))


def rows_at(sketch: Sketch, path: Path, table: Table) -> np.ndarray:
    """The people who come by a node."""
    rows = np.arange(table.n_rows)
    for left in path:
        fork = cast(Fork, sketch)
        goes_left = fork.test.goes_left(table, rows)
        rows = rows[goes_left == left]
        sketch = fork.left if left else fork.right
    return rows


def reached(sketch: Sketch, table: Table, rows: np.ndarray) -> np.ndarray:
    """The number of the leaf that each of these people ends in."""
    if isinstance(sketch, Leaf):
        return np.zeros(len(rows), dtype=np.intp)
    left = sketch.test.goes_left(table, rows)
    number = np.empty(len(rows), dtype=np.intp)
    number[left] = reached(sketch.left, table, rows[left])
    number[~left] = len(leaves_of(sketch.left)) + reached(sketch.right, table, rows[~left])
    return number


def decided(sketch: Sketch, table: Table, rows: np.ndarray, target: Target) -> np.ndarray:
    """What these people are given: class codes, or numbers within the label range."""
    values = unclipped(sketch, table, rows)
    if target.classes is not None:
        return values.astype(np.intp)
    return np.clip(values, target.low, target.high)


def unclipped(sketch: Sketch, table: Table, rows: np.ndarray) -> np.ndarray:
    """What the leaves say, linear rules even where they go beyond the label range."""
    leaf, leaves = reached(sketch, table, rows), leaves_of(sketch)
    values = np.array([part.value for part in leaves])[leaf]
    for number, part in enumerate(leaves):
        if part.terms:
            inside = np.flatnonzero(leaf == number)
            values[inside] += weighted_sum(part.terms, table, rows[inside])
    return values
