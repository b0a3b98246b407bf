"""Of equally good trees one is preferred: fewer leaves, fewer features, then the lowest feature and threshold (DESIGN).

A solver's tree is moved step by step to preferred ones that are worth the same by `Problem.evaluate`, discriminate no
more and keep the limits. The steps are: a subtree becomes a leaf, a test that decides nothing goes, a test makes way
for another that leaves everybody's decision as it is. What no such step reaches from the solver's tree is not looked
for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.leaves import as_good_labels
from evenleaf.solve.local.sketch import Fork, Sketch, at, decided, fold, paths, reached, replaced, rows_at, unfold
from evenleaf.solve.result import Solution
from evenleaf.solve.substitutes import substitutes
from evenleaf.tree import Leaf, LinearTest, SubsetTest, Test, Tree, columns_of, tidy, tree_to_json

TIE = 1e-12  # objectives this close are equal
_CLOSE = 1e-9  # worth evaluating: prices are summed up in another order

Rank = tuple[int, int, tuple[tuple[int, int, tuple[float, ...]], ...]]


def settled(problem: Problem, solution: Solution) -> Solution:
    """The same answer with the preferred tree; its proof is about the objective, and so holds for that tree too."""
    if solution.tree is None:
        return solution
    tree = preferred(problem, solution.tree)
    if tree == solution.tree:
        return solution
    score, certificate = problem.evaluate(tree), solution.certificate
    return replace(
        solution,
        tree=tree,
        score=score,
        bound=score.objective if solution.proven else solution.bound,
        certificate=None if certificate is None else replace(certificate, tree=tree_to_json(tree)),
    )


def preferred(problem: Problem, tree: Tree) -> Tree:
    """The tree that no single step makes simpler without making it worse or breaking a limit."""
    people, given = problem.people, problem.evaluate(tree)

    def worth_it(trial: Tree) -> bool:
        score = problem.evaluate(trial)
        as_good = score.objective <= given.objective + TIE and score.discrimination <= given.discrimination + TIE
        return score.feasible and as_good

    plain = tidy(tree, people.features, people.weight)
    best = plain if plain != tree and worth_it(plain) else tree
    most = given.objective + _CLOSE
    while True:
        rank, steps = tree_rank(best), _steps(problem, unfold(best), most)
        trials = (tidy(fold(problem, step), people.features, people.weight) for step in steps)
        better = next((trial for trial in trials if tree_rank(trial) < rank and worth_it(trial)), None)
        if better is None:
            return best
        best = better


def tree_rank(tree: Tree) -> Rank:
    """The order among equally good trees: leaves, features, then the tests from the root on, left before right."""
    return tree.n_leaves, len(columns_of(tree)), tuple(_test_rank(test) for test in tree.tests)


def _test_rank(test: Test) -> tuple[int, int, tuple[float, ...]]:
    if isinstance(test, LinearTest):
        numbers = (number for term in test.terms for number in (term.column, term.level, term.coefficient, term.fill))
        return test.columns[0], len(test.columns), (test.threshold, *map(float, numbers))
    if isinstance(test, SubsetTest):
        return test.column, 1, (*map(float, test.left), float(not test.missing_left))
    return test.column, 1, (test.threshold, float(not test.missing_left))


def _steps(problem: Problem, sketch: Sketch, most: float) -> Iterator[Sketch]:
    """Trees one step away, those that save most first."""
    yield from _leaves_for_subtrees(problem, sketch, most)
    yield from _other_tests(problem, sketch)


def _forks(sketch: Sketch) -> Iterator[tuple[tuple[bool, ...], Fork]]:
    for path in paths(sketch):
        part = at(sketch, path)
        if isinstance(part, Fork):
            yield path, part


def _leaves_for_subtrees(problem: Problem, sketch: Sketch, most: float) -> Iterator[Sketch]:
    """Every subtree as a leaf of every class, where the prices of the leaves say that this costs no more."""
    if problem.people.outcome.classes is None or isinstance(sketch, Leaf):
        return
    table = problem.people.features
    leaf = reached(sketch, table, np.arange(table.n_rows))
    parts = [at(sketch, path) for path in paths(sketch)]
    now = np.array([part.value for part in parts if isinstance(part, Leaf)], dtype=np.intp)
    trials, labellings = [], []
    for path, _ in _forks(sketch):
        below = np.array([here[: len(path)] == path for here in paths(sketch) if isinstance(at(sketch, here), Leaf)])
        for label in range(problem.people.outcome.n_classes):
            trials.append(replaced(sketch, path, Leaf(float(label))))
            labellings.append(np.where(below, label, now))
    good = as_good_labels(problem, leaf, np.array(labellings), most)
    yield from (trial for trial, as_good in zip(trials, good, strict=True) if as_good)


def _other_tests(problem: Problem, sketch: Sketch) -> Iterator[Sketch]:
    """A test gone, or another in its place with its sides perhaps swapped, where everybody is decided the same."""
    table, target = problem.people.features, problem.target
    allowed, uses = problem.shape.allowed(table.schema), fold(problem, sketch).feature_uses
    for path, fork in _forks(sketch):
        rows = rows_at(sketch, path, table)
        left, right = (decided(side, table, rows, target) for side in (fork.left, fork.right))
        goes_left = fork.test.goes_left(table, rows)
        now = np.where(goes_left, left, right)
        not_left, not_right = left != now, right != now
        if not not_left.any() or not not_right.any():
            yield replaced(sketch, path, fork.right if not_left.any() else fork.left)
        for column in (column for column in allowed if _saves(column, fork.test, uses)):
            for test, swapped in substitutes(table, column, rows, not_left, not_right):
                sides = (fork.right, fork.left) if swapped else (fork.left, fork.right)
                same = (column,) == fork.test.columns and np.array_equal(
                    test.goes_left(table, rows) ^ swapped, goes_left
                )
                if not same:
                    yield replaced(sketch, path, Fork(test, *sides))


def _saves(column: int, test: Test, uses: Counter[int]) -> bool:
    """Whether a test on this column may be preferred to a test: fewer features then, or as many and none higher."""
    rest = uses - Counter(test.columns)
    more = len({*rest, column}) - len(uses)
    return more < 0 or (more == 0 and column <= test.columns[0])
