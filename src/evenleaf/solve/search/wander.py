"""Good trees soon, and better ones while the search goes on, by simulated annealing about the best one met."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.descent import GAIN, Descent, Node
from evenleaf.solve.search.plan import Found

_STEPS = 2000  # a run
_HOT, _COOLED = 0.015, 30.0  # a part of the objective, and how many times colder it is at the end
_STRICTNESS = 5.0  # what a unit of discrimination beyond a limit costs


class Wanderer:
    """Runs of annealing, each from the best tree so far; `descent` knows trees as tests in the order of a heap."""

    def __init__(self, descent: Descent) -> None:
        self.descent, self.compiled = descent, descent.compiled

    @cached_property
    def order(self) -> np.ndarray:
        """People by rank, feature by feature; shallow trees do without."""
        return np.argsort(self.compiled.ranks, axis=1, kind="stable")

    def wander(self, found: Found, work: int, seed: int, stop: Callable[[], bool]) -> Iterator[Found]:
        """Every better tree at the end of a run; `work` is how many people all steps together may look at."""
        steps, random = work // self.compiled.n_people, np.random.default_rng(seed)
        while steps > 0 and not stop():
            trial = self._run(found, random.random((min(_STEPS, steps), kernels.N_DRAWS)))
            steps -= _STEPS
            if trial.objective < found.objective - GAIN:
                found = trial
                yield found

    def _run(self, found: Found, draws: np.ndarray) -> Found:
        c, descent = self.compiled, self.descent
        nodes = descent.nodes_of(found)
        features = np.array([node.feature for node in nodes])
        left = np.zeros((len(nodes), int(c.sizes.max())), dtype=np.bool_)
        for node, row in zip(nodes, left, strict=True):
            row[: len(node.left_ranks)] = node.left_ranks
        answers = np.array([label for node in nodes[len(nodes) // 2 :] for label in node.labels])
        hot = _HOT * abs(found.objective) + GAIN
        rows = (c.pointers, c.rows, c.entries, c.weight, c.base)
        features, left, answers, merit = kernels.wander(
            features, left, answers, c.ranks, self.order, c.unordered, rows, descent.limit, _STRICTNESS,
            hot, hot / _COOLED, draws,
        )  # fmt: skip
        met = [Node(int(f), row[: int(c.sizes[f])], [0, 0]) for f, row in zip(features, left, strict=True)]
        for node, labels in zip(met[len(met) // 2 :], answers.reshape(-1, 2), strict=True):
            node.labels = [int(label) for label in labels]
        return descent.found(met, float(merit + c.constant))
