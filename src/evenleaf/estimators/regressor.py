"""The regressor: the best small tree for a number, fair by a chosen notion, with a proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from evenleaf.estimators.base import FairTree
from evenleaf.estimators.classifier import outcome_name
from evenleaf.fairness import Notion
from evenleaf.table import Grouping, Outcome, make_outcome


class FairTreeRegressor(RegressorMixin, FairTree):  # type: ignore[misc]
    """The tree that minimises the mean absolute error + λ·discrimination over all trees of a shape, with a proof.

    The parameters are those of `FairTreeClassifier`, without `costs`, and with `leaves`: "constant" for one number
    a leaf, "linear" for a linear rule. Predictions stay in the range of the training labels.
    """

    def __init__(
        self,
        max_depth: int = 2,
        *,
        fairness: Notion | str | None = None,
        fairness_weight: float | None = None,
        max_discrimination: float | None = None,
        groups: Grouping = "joint",
        branching: Literal["single", "linear"] = "single",
        leaves: Literal["constant", "linear"] = "constant",
        max_feature_uses: int | Mapping[str, int] | None = None,
        max_features_used: int | None = None,
        max_features_per_test: int | None = None,
        max_leaves: int | None = None,
        min_samples_leaf: int = 1,
        allowed_features: Sequence[str] | None = None,
        categorical_features: Any = "from_dtype",
        allow_protected_splits: bool = False,
        solver: str = "auto",
        time_limit: float | None = None,
        gap: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.fairness = fairness
        self.fairness_weight = fairness_weight
        self.max_discrimination = max_discrimination
        self.groups = groups
        self.branching = branching
        self.leaves = leaves
        self.max_feature_uses = max_feature_uses
        self.max_features_used = max_features_used
        self.max_features_per_test = max_features_per_test
        self.max_leaves = max_leaves
        self.min_samples_leaf = min_samples_leaf
        self.allowed_features = allowed_features
        self.categorical_features = categorical_features
        self.allow_protected_splits = allow_protected_splits
        self.solver = solver
        self.time_limit = time_limit
        self.gap = gap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.solver_options = solver_options

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Learn the tree.

        `sensitive_features` is a column or a frame with one row a person, or the names of columns of X.
        """
        data = self._table_data(X, y)
        return self._learn(data, self._outcome(y), sensitive_features, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """The number that the tree decides for each person; protected columns are not needed."""
        tree, table = self._encoded(X)
        return tree.decide(table)

    def _outcome(self, y: Any) -> Outcome:
        return number_outcome(y)


def number_outcome(y: Any) -> Outcome:
    """The decided numbers; a missing or infinite one is named by its row."""
    return make_outcome(column_or_1d(y, warn=True), task="regression", name=outcome_name(y))
