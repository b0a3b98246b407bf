"""A model with the way to it and back: the linear program, trees from its points, points from trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evenleaf.errors import DisagreementError
from evenleaf.solve.mip.choice import Choice, written
from evenleaf.solve.mip.instance import Instance
from evenleaf.solve.mip.layout import Layout
from evenleaf.solve.mip.model import LinearModel
from evenleaf.solve.mip.placement import tidied
from evenleaf.tree import Branch, Leaf, Node, Tree


@dataclass(frozen=True, eq=False)
class Reading:
    """What a point says: a test (or None and the side to which everybody goes) a node, a rule a leaf, z."""

    choices: Sequence[Choice | None]
    idle_left: np.ndarray
    leaves: Sequence[Leaf]
    members: np.ndarray


@dataclass(frozen=True, eq=False)
class Formulation:
    """The model, whose objective times `scale` is that of the problem.

    `read` and `write` are the formulation's own; `decode` and `encode` are for everybody.
    """

    name: str
    instance: Instance
    layout: Layout
    model: LinearModel
    read: Callable[[np.ndarray], Reading]
    write: Callable[[Tree], np.ndarray]

    @property
    def scale(self) -> float:
        """What one unit of the model's objective is worth in the problem's."""
        return self.instance.scale

    def decode(self, x: np.ndarray) -> Tree:
        """The tidied tree of a point; people are routed again, and must arrive where the point says."""
        reading = self.read(x)
        tree, leaf_at = _assemble(self, reading)
        reached = leaf_at[tree.apply(self.instance.problem.people.features)]
        claimed = reading.members.argmax(axis=1)[self.instance.kind]
        strayed = int((reached != claimed).sum())
        if strayed:
            raise DisagreementError(
                f"{strayed} people reach another leaf of the decoded tree than the model's solution says"
            )
        return tidied(tree, self.instance.problem)

    def encode(self, tree: Tree) -> np.ndarray:
        """The point of a tree, every variable filled in: a start for a solver."""
        return self.write(tree)


def _assemble(formulation: Formulation, reading: Reading) -> tuple[Tree, np.ndarray]:
    """The tree, and for each of its nodes the number of the leaf in the layout (−1 for a test)."""
    instance, layout = formulation.instance, formulation.layout
    nodes: list[Node] = []
    leaf_at: list[int] = []

    def add(position: int) -> None:
        while not layout.is_leaf(position) and reading.choices[position] is None:
            position = 2 * position + (1 if reading.idle_left[position] else 2)
        if layout.is_leaf(position):
            nodes.append(reading.leaves[position - layout.n_nodes])
            leaf_at.append(position - layout.n_nodes)
            return
        choice = reading.choices[position]
        if choice is None:
            raise AssertionError("idle tests were passed above")
        test, swapped = written(choice, instance)
        here = len(nodes)
        nodes.append(Leaf(0.0))  # replaced once both sides are there
        leaf_at.append(-1)
        add(2 * position + (2 if swapped else 1))
        middle = len(nodes)
        add(2 * position + (1 if swapped else 2))
        nodes[here] = Branch(test, here + 1, middle)

    add(0)
    problem = instance.problem
    return Tree(problem.people.features.schema, problem.target, tuple(nodes)), np.array(leaf_at)
