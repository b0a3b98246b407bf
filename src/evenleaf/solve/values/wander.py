"""First trees of depth 3 by simulated annealing: where the landscape is rough, a good incumbent is half the proof."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.leaves import best_leaves
from evenleaf.solve.values.compiled import Compiled
from evenleaf.solve.values.kernels.wander import find_leaves, wander
from evenleaf.tree import Branch, Leaf, Node, Test, Tree, tidy

_N_TESTS = 7
_COOLED = 30.0  # how many times colder it is at the end
_AT_A_TIME = 500  # steps before the clock is looked at


class Wanderer:
    """Wanders from tree to tree; levels are taken in the order of their mean outcome, so that subsets are cuts.

    `scale` is what a unit of the discrimination costs (1 where the weights say it already).
    """

    def __init__(self, compiled: Compiled, scale: float) -> None:
        self.compiled = compiled
        outcome = compiled.levels[compiled.level]
        place = np.array([self._place(feature, outcome) for feature in range(compiled.n_features)])
        order = np.argsort(place, axis=1, kind="stable")
        self.people = (place, order, compiled.sizes, outcome, compiled.share)
        weight = scale * compiled.weight[:, 0]
        self.rows = (compiled.pointers, compiled.rows, compiled.entries, weight)

    def _place(self, feature: int, outcome: np.ndarray) -> np.ndarray:
        """Where everybody stands on a feature."""
        c, ranks = self.compiled, self.compiled.ranks[feature].astype(np.int64)
        if not c.unordered[feature]:
            return ranks
        size = int(c.sizes[feature])
        total = np.bincount(ranks, weights=c.count * outcome, minlength=size)
        mean = total / np.bincount(ranks, weights=c.count, minlength=size)
        return np.asarray(np.argsort(np.argsort(mean, kind="stable"))[ranks])

    def run(self, steps: int, hot: float, seed: int, stop: Callable[[], bool] = lambda: False) -> np.ndarray:
        """The tests of the best tree met, as (feature, cut) in the order of a heap."""
        rng, sizes = np.random.default_rng(seed), self.compiled.sizes
        features = rng.choice(np.flatnonzero(sizes > 1), _N_TESTS)
        tests = np.column_stack([features, rng.integers(0, sizes[features] - 1)])
        values = rng.random(_N_TESTS + 1)
        least, best = np.inf, tests
        for begun in range(0, steps, _AT_A_TIME):
            if begun and stop():
                break
            ended = min(begun + _AT_A_TIME, steps)
            warm, cool = (hot * _COOLED ** -(done / steps) for done in (begun, ended))
            met, met_tests, _, tests, values = wander(
                tests, values, self.people, self.rows, ended - begun, warm, cool, rng
            )
            if met < least:
                least, best = met, met_tests
        return np.asarray(best)

    def tree(self, problem: Problem, tests: np.ndarray, seconds: float) -> Tree | None:
        """The tree with these tests and the best values for them; None where none keep the limit."""
        leaf = np.zeros(self.compiled.n_people, dtype=np.int64)
        find_leaves(tests, self.people[0], leaf)
        present, number = np.unique(leaf, return_inverse=True)
        decided = best_leaves(problem, number.ravel()[self.compiled.kind], len(present), seconds)
        if decided is None:
            return None
        values = np.full(_N_TESTS + 1, self.compiled.low)
        values[present] = decided[0]
        nodes: list[Node] = [Branch(self._test(int(f), int(t)), 2 * k + 1, 2 * k + 2) for k, (f, t) in enumerate(tests)]
        nodes += [Leaf(float(value)) for value in values]
        people = problem.people
        return tidy(Tree(people.features.schema, problem.target, tuple(nodes)), people.features, people.weight)

    def _test(self, feature: int, cut: int) -> Test:
        """The ranks that stand up to the cut go left."""
        left = np.zeros(int(self.compiled.sizes[feature]), dtype=np.bool_)
        left[self.compiled.ranks[feature]] = self.people[0][feature] <= cut
        return self.compiled.features[feature].test(left)
