"""A tree laid out in the complete binary tree: what a start for the model is filled in from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.mip.choice import Choice
from evenleaf.solve.mip.instance import Instance
from evenleaf.solve.mip.layout import Layout
from evenleaf.tree import Branch, Leaf, Test, Tree, tidy

Choose = Callable[[Test], Choice | None]


class NotEncodableError(ValueError):
    """The tree has a test or a depth that the model cannot express."""


@dataclass(frozen=True, eq=False)
class Placement:
    """`choices` has None for an idle test, which sends everybody who is there to one side.

    `left` is where each unit would go at each test, whether or not it gets there; `leaf` is where it ends up.
    `leaves` has None where nobody does.
    """

    choices: tuple[Choice | None, ...]
    leaves: tuple[Leaf | None, ...]
    left: np.ndarray
    leaf: np.ndarray

    def members(self, n_leaves: int) -> np.ndarray:
        """z_il: one row a unit, one column a leaf."""
        return np.asarray(self.leaf[:, None] == np.arange(n_leaves))


@dataclass(frozen=True)
class Convention:
    """Which of the spellings of a tree the model allows.

    Tests are canonical (see `Choice`). Where `ordered`, the lowest ones instead have the leaf with the smaller
    value on the left. Idle tests send everybody to the left or to the right; the lowest of an ordered model send
    them left unless the leaf decides the last class.
    """

    ordered: bool
    idle_left: bool

    def mirrors(self, choice: Choice, sides: tuple[Leaf, Leaf] | None) -> bool:
        """Whether a test must exchange its sides, given its leaves if it is one of the lowest."""
        if self.ordered and sides is not None:
            return sides[0].value > sides[1].value
        return not choice.canonical

    def idles_left(self, layout: Layout, node: int, leaf: Leaf | None, last: int) -> bool:
        """The side to which an idle test sends everybody."""
        if self.ordered and layout.is_bottom(node):
            return leaf is not None and leaf.value < last
        return self.idle_left


def place(tree: Tree, instance: Instance, layout: Layout, convention: Convention, choose: Choose) -> Placement:
    """Lay a tree out; raises `NotEncodableError` where the model has no such tree."""
    return _Placing(tidied(tree, instance.problem), instance, layout, convention, choose).run()


def tidied(tree: Tree, problem: Problem) -> Tree:
    """The tree in canonical form, in which every test parts the people who reach it."""
    return tidy(tree, problem.people.features, problem.people.weight)


class _Placing:
    def __init__(self, tree: Tree, instance: Instance, layout: Layout, convention: Convention, choose: Choose) -> None:
        self.tree, self.instance, self.layout = tree, instance, layout
        self.convention, self.choose = convention, choose
        self.choices: list[Choice | None] = [None] * layout.n_nodes
        self.leaves: list[Leaf | None] = [None] * layout.n_leaves
        self.left = np.zeros((layout.n_nodes, instance.n_units), dtype=bool)

    def run(self) -> Placement:
        self._put(0, 0)
        return Placement(tuple(self.choices), tuple(self.leaves), self.left, self._leaf())

    def _put(self, position: int, node: int) -> None:
        """Put the subtree at `node` of the tree at a position of the layout."""
        here = self.tree.nodes[node]
        if isinstance(here, Leaf):
            self._idle(position, here)
            return
        if self.layout.is_leaf(position):
            raise NotEncodableError("the tree is deeper than the model")
        choice = self.choose(here.test)
        if choice is None:
            raise NotEncodableError("the tree has a test that the model does not know")
        first, second = here.left, here.right
        if self.convention.mirrors(choice, self._leaves_of(here) if self.layout.is_bottom(position) else None):
            choice, first, second = choice.mirrored(), second, first
        self.choices[position] = choice
        self.left[position] = choice.sides(self.instance)
        self._put(2 * position + 1, first)
        self._put(2 * position + 2, second)

    def _leaves_of(self, branch: Branch) -> tuple[Leaf, Leaf]:
        left, right = self.tree.nodes[branch.left], self.tree.nodes[branch.right]
        if isinstance(left, Branch) or isinstance(right, Branch):
            raise NotEncodableError("the tree is deeper than the model")
        return left, right

    def _idle(self, position: int, leaf: Leaf | None) -> None:
        """Everybody who comes here ends in one leaf; the tests on the way and beside it are idle."""
        if self.layout.is_leaf(position):
            self.leaves[position - self.layout.n_nodes] = leaf
            return
        last = self.instance.n_outputs - 1
        left = self.convention.idles_left(self.layout, position, leaf, last)
        self.left[position] = left
        self._idle(2 * position + 1, leaf if left else None)
        self._idle(2 * position + 2, None if left else leaf)

    def _leaf(self) -> np.ndarray:
        position = np.zeros(self.instance.n_units, dtype=np.intp)
        units = np.arange(self.instance.n_units)
        for _ in range(self.layout.depth):
            position = 2 * position + np.where(self.left[position, units], 1, 2)
        return position - self.layout.n_nodes
