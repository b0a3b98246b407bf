"""A tree in a moment: grown from the root down, each split the best of the purest ones by the true objective.

It proves nothing and says so; it is the first incumbent of the exact solvers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.leaves import best_leaves
from evenleaf.solve.result import Solution, Status, Stop
from evenleaf.solve.splits import candidate_splits, impurity_table
from evenleaf.tree import Branch, Leaf, Node, Test, Tree, tidy

# Of this many purest splits the best is chosen by the objective, which takes longer to know.
_PUREST = 16


class GreedySolver:
    """Answers with the greedy tree, called feasible and never optimal."""

    name = "greedy"

    def accepts(self, problem: Problem) -> bool:  # noqa: ARG002
        """Any problem has a greedy tree: single-feature tests and constant leaves are allowed in every shape."""
        return True

    def solve(self, problem: Problem, budget: Budget, start: Tree | None = None) -> Solution:
        """The greedy tree, or the start if that is better; the bound is the trivial one, zero."""
        tree = greedy_tree(problem, budget)
        if start is not None:
            better = [t for t in (start, tree) if t is not None and problem.evaluate(t).feasible]
            tree = min(better, key=lambda t: problem.evaluate(t).objective, default=None)
        if tree is None:
            message = "no constant tree keeps the limits, and a heuristic cannot tell whether another tree does"
            return Solution(None, None, 0.0, Status.UNKNOWN, Stop.HEURISTIC, self.name, budget.seconds, message=message)
        score = problem.evaluate(tree)
        budget.report(0.0, score.objective)
        return Solution(
            tree, score, 0.0, Status.FEASIBLE, Stop.HEURISTIC, self.name, budget.seconds, tuple(budget.trace)
        )


@dataclass(frozen=True)
class _Sketch:
    """Tests without leaves: who is in which leaf, how deep it is, and how the leaves hang together."""

    nodes: tuple[Test | int, ...]  # a test, or the number of a leaf
    links: tuple[tuple[int, int], ...]  # children of each node, (0, 0) for a leaf
    leaf: np.ndarray
    depths: tuple[int, ...]

    def split(self, number: int, test: Test, goes_left: np.ndarray) -> _Sketch:
        """Leaf `number` becomes a test; its people who go right form a new leaf."""
        new = len(self.depths)
        place = self.nodes.index(number)
        nodes, links = list(self.nodes), list(self.links)
        nodes[place], links[place] = test, (len(nodes), len(nodes) + 1)
        leaf = self.leaf.copy()
        leaf[np.flatnonzero(self.leaf == number)[~goes_left]] = new
        depths = list(self.depths)
        depths[number] += 1
        return _Sketch((*nodes, number, new), (*links, (0, 0), (0, 0)), leaf, (*depths, depths[number]))

    def tree(self, problem: Problem, values: np.ndarray) -> Tree:
        """The finished tree with a value in each leaf."""
        nodes: list[Node] = []
        for node, (left, right) in zip(self.nodes, self.links, strict=True):
            nodes.append(Leaf(float(values[node])) if isinstance(node, int) else Branch(node, left, right))
        people = problem.people
        return tidy(Tree(people.features.schema, problem.target, tuple(nodes)), people.features, people.weight)


def greedy_tree(problem: Problem, budget: Budget | None = None) -> Tree | None:
    """The better of two greedy trees, or None where not even a constant tree keeps the limits.

    One chooses each split by the objective, which is near-sighted; the other by purity, which is not aware of
    fairness before the leaves are decided. A budget that runs out stops the growing, not the answer.
    """
    budget = budget or Budget()
    grown = [_grown_tree(problem, budget, by_objective=by_objective) for by_objective in (False, True)]
    found = [tree for tree in grown if tree is not None]
    return min(found, key=lambda tree: problem.evaluate(tree).objective, default=None)


def _grown_tree(problem: Problem, budget: Budget, *, by_objective: bool) -> Tree | None:
    """Split leaf after leaf, keeping the best valid tree on the way."""
    n_people = problem.people.n_people
    sketch = _Sketch((0,), ((0, 0),), np.zeros(n_people, dtype=np.intp), (0,))
    best: tuple[float, Tree] | None = None
    open_leaves = [0]
    while True:
        leaves = best_leaves(problem, sketch.leaf, len(sketch.depths))
        if leaves is not None:
            tree = sketch.tree(problem, leaves[0])
            score = problem.evaluate(tree)
            if score.feasible and (best is None or score.objective < best[0] - 1e-12):
                best = score.objective, tree
        grown = None
        while open_leaves and grown is None and not budget.exhausted:
            number = open_leaves.pop(0)
            grown = _grow(problem, budget, sketch, number, by_objective=by_objective)
        if grown is None:
            return None if best is None else best[1]
        open_leaves += [number, len(sketch.depths)]
        sketch = grown


def _grow(problem: Problem, budget: Budget, sketch: _Sketch, number: int, *, by_objective: bool) -> _Sketch | None:
    """Split one leaf: by the purest of all splits, or by that of the purest ones that has the best objective."""
    shape, table = problem.shape, problem.people.features
    if sketch.depths[number] >= shape.max_depth or len(sketch.depths) >= (shape.max_leaves or np.inf):
        return None
    rows = np.flatnonzero(sketch.leaf == number)
    splits = _purest_splits(problem, sketch, rows)
    if not splits:
        return None
    trials = [
        sketch.split(number, test, test.goes_left(table, rows)) for test in splits[: _PUREST if by_objective else 1]
    ]
    return trials[0] if len(trials) == 1 else _best_by_objective(problem, budget, trials)


def _purest_splits(problem: Problem, sketch: _Sketch, rows: np.ndarray) -> list[Test]:
    """Each usable column's purest split of these people, the purest column first."""
    sums, classes = impurity_table(problem)[rows], problem.people.outcome.classes is not None
    least, table = problem.shape.min_samples_leaf, problem.people.features
    found = [
        candidate_splits(table, column, rows, sums, classes=classes, least=least) for column in _usable(problem, sketch)
    ]
    return [test for _, test in sorted((split for split in found if split is not None), key=lambda split: split[0])]


def _best_by_objective(problem: Problem, budget: Budget, trials: list[_Sketch]) -> _Sketch:
    """The trial with the best leaves; the purest one where no leaves keep the limit, or no time is left."""
    best, lowest = trials[0], np.inf
    for trial in trials:
        if budget.exhausted:
            break
        leaves = best_leaves(problem, trial.leaf, len(trial.depths))
        if leaves is not None and leaves[1] < lowest - 1e-12:
            best, lowest = trial, leaves[1]
    return best


def _usable(problem: Problem, sketch: _Sketch) -> list[int]:
    """The columns that may still be tested under the limits on features."""
    schema, shape = problem.people.features.schema, problem.shape
    used = [column for node in sketch.nodes if not isinstance(node, int) for column in node.columns]
    limits = shape.use_limits(schema)
    full = shape.max_features_used is not None and len(set(used)) >= shape.max_features_used
    return [
        column
        for column in shape.allowed(schema)
        if used.count(column) < limits.get(column, np.inf) and (not full or column in used)
    ]
