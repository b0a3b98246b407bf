"""The convex fair regressions of Berk et al. (2017): `log`, `log-ind`, `log-grp` and `reg`, `LR-ind`, `LR-grp`.

Both minimise mean loss + λ · penalty + ridge · |w|² over w and an intercept, which the penalties do not see.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from evenleaf.baselines.base import Baseline, at_least_zero, the_groups, two_classes
from evenleaf.baselines.cross_pairs import Penalty, penalty_form
from evenleaf.baselines.design import Design
from evenleaf.errors import InputError
from evenleaf.table import People, Table, Task

_MOST_STEPS = 100
_TOLERANCE = 1e-10


class _ConvexFair(Baseline):
    """What the two have in common: the penalty, and a score w·x + b."""

    def __init__(self, penalty: Penalty | None = None, fairness_weight: float = 1.0, ridge: float = 1e-6) -> None:
        self.penalty = penalty
        self.fairness_weight = fairness_weight
        self.ridge = ridge

    def score_of(self, table: Table) -> np.ndarray:
        """w·x + b for a table encoded with `schema_`."""
        return np.asarray(self.design_.matrix(table) @ self.coef_ + self.intercept_)

    def _looks_at_groups(self) -> bool:
        return self.penalty is not None

    def _learn(self, people: People) -> None:
        self.design_ = Design.of(people.features, people.weight)
        features = self.design_.matrix(people.features)
        self.coef_, self.intercept_ = self._minimise(features, people, self._form(features, people))

    def _form(self, features: np.ndarray, people: People) -> np.ndarray:
        """λQ plus the ridge."""
        form = at_least_zero("ridge", self.ridge) * np.eye(features.shape[1])
        weight = at_least_zero("fairness_weight (λ)", self.fairness_weight)
        if self.penalty is None:
            return form
        y, groups = people.outcome.values, the_groups(people)
        labels = people.outcome.classes is not None
        return form + weight * penalty_form(self.penalty, features, y, groups.codes, people.weight, labels=labels)

    def _minimise(self, features: np.ndarray, people: People, form: np.ndarray) -> tuple[np.ndarray, float]:
        raise NotImplementedError


class FairLinearRegression(RegressorMixin, _ConvexFair):  # type: ignore[misc]
    """Least squares with `penalty` None (`reg`), "individual" (`LR-ind`) or "group" (`LR-grp`)."""

    _task: ClassVar[Task] = "regression"

    def decide(self, table: Table) -> np.ndarray:
        """The numbers, as the line gives them."""
        return self.score_of(table)

    def _minimise(self, features: np.ndarray, people: People, form: np.ndarray) -> tuple[np.ndarray, float]:
        """The normal equations in centred columns; equal columns share their coefficient (least norm)."""
        share, y = people.share, people.outcome.values
        middle, mean = share @ features, float(share @ y)
        centred = features - middle
        moments = (centred.T * share) @ centred + form
        coefficients = np.linalg.lstsq(moments, centred.T @ (share * (y - mean)), rcond=None)[0]
        return coefficients, float(mean - middle @ coefficients)


class FairLogisticRegression(ClassifierMixin, _ConvexFair):  # type: ignore[misc]
    """Logistic regression with `penalty` None (`log`), "individual" (`log-ind`), "group" (`log-grp`) or "hybrid"."""

    def decide(self, table: Table) -> np.ndarray:
        """The likelier class; at even odds the first."""
        return (self.score_of(table) > 0).astype(np.intp)

    def predict_proba(self, X: object) -> np.ndarray:
        """The probability of either class."""
        yes = _sigmoid(self.score_of(Table.of(X, schema=self.schema_)))
        return np.column_stack([1 - yes, yes])

    def _minimise(self, features: np.ndarray, people: People, form: np.ndarray) -> tuple[np.ndarray, float]:
        two_classes(people, "logistic regression")
        if not self.ridge > 0:
            raise InputError("ridge must be positive: without it people who can be parted exactly have no optimum")
        return newton(np.column_stack([features, np.ones(len(features))]), people.outcome.values, people.share, form)


def newton(features: np.ndarray, y: np.ndarray, share: np.ndarray, form: np.ndarray) -> tuple[np.ndarray, float]:
    """Minimise Σ share · log(1 + exp(∓score)) + wᵀ form w; the last column is the intercept, which is free."""
    quadratic = np.zeros((features.shape[1],) * 2)
    quadratic[:-1, :-1] = form
    w = np.zeros(features.shape[1])

    def objective(w: np.ndarray) -> float:
        score = features @ w
        return float(share @ (np.logaddexp(0.0, score) - y * score) + w @ quadratic @ w)

    value = objective(w)
    for _ in range(_MOST_STEPS):
        yes = _sigmoid(features @ w)
        gradient = features.T @ (share * (yes - y)) + 2 * quadratic @ w
        curvature = (features.T * (share * yes * (1 - yes))) @ features + 2 * quadratic
        step = _solve(curvature, -gradient)
        slope, length = float(gradient @ step), 1.0
        while length > 1e-10 and objective(w + length * step) > value + 1e-4 * length * slope:
            length /= 2
        if length <= 1e-10 or -slope < _TOLERANCE * max(1.0, abs(value)):
            break
        w = w + length * step
        value = objective(w)
    return w[:-1], float(w[-1])


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The step of Newton; far from the people the curvature may vanish, and then the shortest step is taken."""
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(matrix, right, rcond=None)[0]


def _sigmoid(score: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(−score)) without overflow on either side."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -score)))
