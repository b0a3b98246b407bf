"""Problems whose proofs about numbers take work, parts of such a proof, and trees that none may prove."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import assume

from certified import constant_trees, less_deep, people_without_pattern, worse_of
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.certificate import Certificate
from evenleaf.solve.certify.values.numbers import Numbers
from evenleaf.solve.proofs.values import Node, Roots, ValuesProof, Within
from evenleaf.solve.values import ValueSolver
from evenleaf.testing import brute_force
from evenleaf.tree import Leaf, Tree

SOLVER = ValueSolver()


def mixed(n: int = 24, levels: int = 4, depth: int = 2, **asked: Any) -> Problem:
    """People without a pattern, so that a proof takes work; `levels` of the column c."""
    people = people_without_pattern(n, levels, task="regression")
    fairness = asked.pop("fairness", DisparateTreatment(n_neighbors=4))
    shape = Shape(max_depth=depth, **asked.pop("limits", {}))
    return pose(people, shape=shape, fairness=fairness, **(asked or {"fairness_weight": 0.3}))


def usable(problem: Problem) -> None:
    assume(SOLVER.accepts(problem) and problem.target.low < problem.target.high)


def nodes_of(certificate: Certificate) -> list[Node]:
    assert isinstance(certificate.proof, ValuesProof)
    return list(certificate.proof.walk())


def without_first_parts(certificate: Certificate, kind: type) -> Certificate:
    """Every node that is parted in one way has lost its first part."""
    for node in nodes_of(certificate):
        if node.parts and isinstance(node.parts[0].within, kind):
            node.parts = node.parts[1:]
    return certificate


def single_roots(numbers: Numbers, feature: int) -> list[Roots]:
    """Every root of a feature, one by one."""
    tests = np.arange(numbers.offsets[feature + 1] - numbers.offsets[feature])
    if not numbers.unordered[feature]:
        return [Roots(feature, int(test), int(test)) for test in tests]
    sides = ~numbers.sends_left(feature, tests)
    return [Roots(feature, sides=tuple(int(side) for side in row)) for row in sides]


def whole_roots(numbers: Numbers, feature: int) -> Roots:
    """All roots of a feature."""
    size = int(numbers.ranks[feature].max()) + 1
    return Roots(feature, sides=(0,) + (2,) * (size - 1)) if numbers.unordered[feature] else Roots(feature, 0, size - 2)


def plain_node(numbers: Numbers, within: Within) -> Node:
    """A set of trees at multipliers of zero."""
    return Node(within, np.zeros(len(numbers.weight), dtype=np.int32), 1.0)


def worse_regressors(problem: Problem) -> list[Tree]:
    """Valid trees that are worse than the best: constants, the best tree of less depth, the best with a value moved."""
    best, middle = brute_force(problem), (problem.target.low + problem.target.high) / 2
    assert best.tree is not None
    found = constant_trees(problem, np.unique(problem.people.outcome.values)) + less_deep(problem)
    for place, node in enumerate(best.tree.nodes):
        if isinstance(node, Leaf):
            moved = Leaf(node.value + 0.01 * (middle - node.value))
            found.append(replace(best.tree, nodes=(*best.tree.nodes[:place], moved, *best.tree.nodes[place + 1 :])))
    return worse_of(problem, found, best.objective)
