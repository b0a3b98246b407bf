"""Trees that do not look at groups: the optimal one (the paper's `CART`, λ = 0) and scikit-learn's greedy one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from evenleaf.baselines.base import Baseline
from evenleaf.baselines.design import Design
from evenleaf.problem import Shape, pose
from evenleaf.solve import Budget, solve
from evenleaf.table import People, Table, Task


class _OptimalTree(Baseline):
    """The tree of least loss among all trees of the depth, with its proof in `solution_`."""

    _needs_groups: ClassVar[bool] = False

    def __init__(self, max_depth: int = 2, time_limit: float | None = None, solver: str = "auto") -> None:
        self.max_depth = max_depth
        self.time_limit = time_limit
        self.solver = solver

    def decide(self, table: Table) -> np.ndarray:
        """What the leaves decide."""
        return self.tree_.decide(table)

    def _learn(self, people: People) -> None:
        problem = pose(people, shape=Shape(max_depth=self.max_depth))
        self.solution_ = solve(problem, Budget(time_limit=self.time_limit), solver=self.solver)
        if self.solution_.tree is None:
            raise RuntimeError(f"no tree was found: {self.solution_.message or self.solution_.stop}")
        self.tree_ = self.solution_.tree


class OptimalTreeClassifier(ClassifierMixin, _OptimalTree):  # type: ignore[misc]
    """The optimal classification tree without regard to fairness."""


class OptimalTreeRegressor(RegressorMixin, _OptimalTree):  # type: ignore[misc]
    """The optimal regression tree (absolute error) without regard to fairness."""

    _task: ClassVar[Task] = "regression"


class _GreedyTree(Baseline):
    """scikit-learn's tree on indicators of levels, behind the same face."""

    _needs_groups: ClassVar[bool] = False

    def __init__(self, max_depth: int | None = 2, min_samples_leaf: int = 1, random_state: int = 0) -> None:
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def decide(self, table: Table) -> np.ndarray:
        """What the leaves decide."""
        return np.asarray(self.estimator_.predict(self.design_.matrix(table)))

    def _learn(self, people: People) -> None:
        self.design_ = Design.of(people.features, people.weight)
        self.estimator_ = self._estimator()
        self.estimator_.fit(self.design_.matrix(people.features), people.outcome.values, sample_weight=people.weight)

    def _estimator(self) -> Any:
        raise NotImplementedError

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "max_depth": self.max_depth,
            "min_samples_leaf": self.min_samples_leaf,
            "random_state": self.random_state,
        }


class GreedyTreeClassifier(ClassifierMixin, _GreedyTree):  # type: ignore[misc]
    """Grown by Gini impurity."""

    def _estimator(self) -> Any:
        return DecisionTreeClassifier(**self._options)


class GreedyTreeRegressor(RegressorMixin, _GreedyTree):  # type: ignore[misc]
    """Grown by the absolute error, which is the paper's loss."""

    _task: ClassVar[Task] = "regression"

    def _estimator(self) -> Any:
        return DecisionTreeRegressor(criterion="absolute_error", **self._options)
