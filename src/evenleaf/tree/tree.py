"""The answer: an immutable decision tree as a flat list of nodes, parents before children."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table import Label, Outcome, Schema, Table
from evenleaf.tree.questions import NO_LEVEL, LinearTest, SubsetTest, Term, Test, ThresholdTest, weighted_sum

_FEW_NODES = 15


@dataclass(frozen=True)
class Target:
    """What the leaves decide: one of the classes, or a number between low and high."""

    name: str
    classes: tuple[Label, ...] | None = None
    low: float = 0.0
    high: float = 0.0

    def __post_init__(self) -> None:
        if self.classes is not None and not self.classes:
            raise InputError(f"the target {self.name!r} needs at least one class")
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise InputError(
                f"the target {self.name!r} must lie between two finite numbers, not between {self.low} and {self.high}"
            )

    @classmethod
    def of(cls, outcome: Outcome) -> Target:
        """The target that an observed outcome asks for; numbers stay within its range."""
        if outcome.classes is not None:
            return cls(outcome.name, outcome.classes)
        return cls(outcome.name, None, float(outcome.values.min()), float(outcome.values.max()))


@dataclass(frozen=True)
class Leaf:
    """A decision: a class code, a number, or with terms a linear rule whose intercept is `value`."""

    value: float
    terms: tuple[Term, ...] = ()


@dataclass(frozen=True)
class Branch:
    """A test with the nodes to go on to."""

    test: Test
    left: int
    right: int


Node = Leaf | Branch


@dataclass(frozen=True)
class Tree:
    """Nodes in a flat tuple; node 0 is the root and children come after their parents."""

    schema: Schema
    target: Target
    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        _check_links(self.nodes)
        for node in self.nodes:
            _check_node(node, self.schema, self.target)

    @property
    def n_leaves(self) -> int:
        """How many leaves."""
        return sum(isinstance(node, Leaf) for node in self.nodes)

    @cached_property
    def depth(self) -> int:
        """The number of tests on the longest path."""
        depth = [0] * len(self.nodes)
        for position, node in enumerate(self.nodes):
            if isinstance(node, Branch):
                depth[node.left] = depth[node.right] = depth[position] + 1
        return max(depth)

    @cached_property
    def tests(self) -> tuple[Test, ...]:
        """All tests, in the order of the nodes."""
        return tuple(node.test for node in self.nodes if isinstance(node, Branch))

    @cached_property
    def feature_uses(self) -> Counter[int]:
        """How many tests look at each column (Σ_ν p_νj of the paper)."""
        return Counter(column for test in self.tests for column in test.columns)

    def apply(self, table: Table) -> np.ndarray:
        """The leaf (its node number) that each person reaches."""
        if len(self.nodes) <= _FEW_NODES:
            return self._apply_to_all(table)
        reached = np.zeros(table.n_rows, dtype=np.intp)
        people: dict[int, np.ndarray] = {0: np.arange(table.n_rows)}
        for position, node in enumerate(self.nodes):
            rows = people.pop(position)
            if isinstance(node, Leaf):
                reached[rows] = position
            else:
                left = node.test.goes_left(table, rows)
                people[node.left], people[node.right] = rows[left], rows[~left]
        return reached

    def _apply_to_all(self, table: Table) -> np.ndarray:
        """The same for few nodes: everybody takes every test, which is faster than sorting people out."""
        reached: dict[int, Any] = {}
        for position in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[position]
            if isinstance(node, Leaf):
                reached[position] = np.uint8(position)
            else:
                goes_left = node.test.goes_left(table, slice(None))
                left, right = reached.pop(node.left), reached.pop(node.right)
                reached[position] = right ^ ((left ^ right) * goes_left)  # `where` takes three times as long for bytes
        return reached[0].astype(np.intp) if len(self.nodes) > 1 else np.zeros(table.n_rows, dtype=np.intp)

    def decide(self, table: Table, reached: np.ndarray | None = None) -> np.ndarray:
        """Each person's class code, or number, for a table already encoded with this schema.

        A number stays in the label range whatever the leaf says, constant or linear. Who knows already which leaves
        are reached may say so.
        """
        leaf = self.apply(table) if reached is None else reached
        said = np.array([node.value if isinstance(node, Leaf) else 0.0 for node in self.nodes])
        if self.target.classes is not None:
            return said.astype(np.intp).take(leaf)
        values = said[leaf]
        for position, node in enumerate(self.nodes):
            if isinstance(node, Leaf) and node.terms:
                rows = np.flatnonzero(leaf == position)
                values[rows] += weighted_sum(node.terms, table, rows)
        return np.clip(values, self.target.low, self.target.high)

    def predict(self, data: Any) -> np.ndarray:
        """Each person's class label, or number, for any frame or array; protected columns are not needed."""
        decided = self.decide(Table.of(data, schema=self.schema))
        if self.target.classes is None:
            return decided
        return _label_array(self.target.classes)[decided]

    def __str__(self) -> str:
        from evenleaf.tree.text import tree_text

        return tree_text(self)


def _label_array(classes: tuple[Label, ...]) -> np.ndarray:
    """Texts and numbers as numpy stores them; a mixture as objects, for numpy would turn [1, "a"] into two texts."""
    mixed = len({isinstance(label, str) for label in classes}) > 1
    return np.fromiter(classes, dtype=object, count=len(classes)) if mixed else np.array(classes)


def _check_links(nodes: tuple[Node, ...]) -> None:
    """Every node but the root has exactly one parent, which comes before it: so it is a tree."""
    if not nodes:
        raise InputError("a tree needs at least one node")
    seen = [0] * len(nodes)
    for position, node in enumerate(nodes):
        if isinstance(node, Branch):
            for child in (node.left, node.right):
                if not position < child < len(nodes):
                    raise InputError(f"node {position} of the tree leads to node {child}, which is not below it")
                seen[child] += 1
    if seen[1:] != [1] * (len(nodes) - 1):
        raise InputError("the nodes do not form a tree: each but the first must be reached exactly once")


def _check_node(node: Node, schema: Schema, target: Target) -> None:
    if isinstance(node, Leaf):
        _check_leaf(node, target)
        _check_terms(node.terms, schema)
        return
    test = node.test
    for column in test.columns:
        if not 0 <= column < len(schema):
            raise InputError(f"a test looks at column {column}, but there are {len(schema)}")
    if isinstance(test, SubsetTest):
        _check_subset(test, schema)
    elif isinstance(test, ThresholdTest) and schema[test.column].is_categorical:
        raise InputError(f"column {schema[test.column].name!r} is categorical: it cannot have a threshold")
    elif isinstance(test, LinearTest):
        _check_terms(test.terms, schema)
    if not isinstance(test, SubsetTest) and not math.isfinite(test.threshold):
        raise InputError("the threshold of a test must be a finite number")


def _check_leaf(leaf: Leaf, target: Target) -> None:
    if not math.isfinite(leaf.value):
        raise InputError("the value of a leaf must be a finite number")
    if target.classes is not None:
        if leaf.terms:
            raise InputError("a leaf that decides a class cannot hold a linear rule")
        if leaf.value not in range(len(target.classes)):
            raise InputError(f"a leaf decides class {leaf.value}, but there are {len(target.classes)}")


def _check_subset(test: SubsetTest, schema: Schema) -> None:
    column = schema[test.column]
    if not column.is_categorical:
        raise InputError(f"column {column.name!r} is quantitative: it cannot be tested by a subset of levels")
    if any(level not in range(len(column.levels)) for level in test.left):
        raise InputError(f"a test on {column.name!r} names a level that the column does not have")
    if len(set(test.left)) != len(test.left):
        raise InputError(f"a test on {column.name!r} names a level twice")


def _check_terms(terms: tuple[Term, ...], schema: Schema) -> None:
    for term in terms:
        if not 0 <= term.column < len(schema):
            raise InputError(f"a linear rule looks at column {term.column}, but there are {len(schema)}")
        if not (math.isfinite(term.coefficient) and math.isfinite(term.fill)):
            raise InputError("the coefficients of a linear rule must be finite numbers")
        column = schema[term.column]
        if term.level not in (range(len(column.levels)) if column.is_categorical else (NO_LEVEL,)):
            raise InputError(f"a linear rule reads column {column.name!r} as the wrong kind")
