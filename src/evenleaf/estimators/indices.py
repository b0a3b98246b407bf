"""How unfair the training data and the tree's decisions are, by each index that the data allows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.fairness import DisparateImpact, DisparateMistreatment, Disparity, Notion
from evenleaf.problem import Problem
from evenleaf.tree import Tree


@dataclass(frozen=True)
class Index:
    """One index: of the labels in the training data (zero where it is about errors), and of the tree's decisions."""

    data: float
    decisions: float


def training_indices(problem: Problem, tree: Tree, notion: Notion | None) -> dict[str, Index]:
    """The index that was asked for, and those that cost nothing to compute; empty without protected columns.

    Disparate treatment compares everybody with their neighbours, so it is there only where it was asked for.
    """
    people = problem.people
    if not people.groups or any(len(np.unique(groups.codes)) < 2 for groups in people.groups):
        return {}
    operators: dict[str, Disparity] = {str(DisparateImpact()): DisparateImpact().operator(people)}
    if people.outcome.classes is not None:
        operators[str(DisparateMistreatment())] = DisparateMistreatment().operator(people)
    if notion is not None:
        operators[str(notion)] = problem.disparity
    truth, decided = problem.psi(people.outcome.values), problem.psi(tree.decide(people.features))
    return {name: Index(operator.value(truth), operator.value(decided)) for name, operator in operators.items()}
