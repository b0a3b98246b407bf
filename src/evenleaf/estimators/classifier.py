"""The classifier: the best small tree for a decision, fair by a chosen notion, with a proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from evenleaf.errors import InputError
from evenleaf.estimators.base import FairTree
from evenleaf.fairness import Notion
from evenleaf.problem import Loss, Misclassification
from evenleaf.table import Grouping, Outcome, make_outcome


class FairTreeClassifier(ClassifierMixin, FairTree):  # type: ignore[misc]
    """The tree that minimises misclassification + λ·discrimination over all trees of a shape, with a proof.

    Parameters
    ----------
    max_depth
        The number of tests on the longest path (K of the paper).
    fairness
        None for the plain optimal tree; a notion of `evenleaf.fairness` or a sum of them; "didi" or "dtdi".
    fairness_weight
        λ, the weight of the discrimination against the loss (1 unless said otherwise).
    max_discrimination
        ε: the least loss with discrimination of at most this, instead of a weight.
    groups
        "joint" compares the joint levels of the protected columns, "each" every column by itself.
    branching
        "single" tests one feature at a time, "linear" a weighted sum of features.
    max_feature_uses, max_features_used, max_features_per_test, max_leaves, min_samples_leaf, allowed_features
        Limits that keep a tree readable; see `evenleaf.problem.Shape`.
    costs
        What deciding the column costs where the row is true, classes in their order; None counts errors.
    categorical_features
        "from_dtype", a mask, positions or names of the columns whose levels have no order.
    allow_protected_splits
        Whether the tree may test protected columns that stand in X.
    solver, solver_options
        "auto" takes an exact method; "fronts", "search", "mip", "local" and "greedy" name one.
    time_limit, gap
        Seconds, and the relative gap, at which to stop; None and 0 go on until the proof is complete.
    n_jobs, random_state, verbose
        As everywhere in scikit-learn.

    Attributes
    ----------
    tree_
        The tree; printing it shows its rules.
    solution_
        The claim with its evidence: `proven`, `objective`, `bound`, `gap`, `status`, `seconds`, `trace`,
        `certificate`.
    fairness_
        Each discrimination index on the training data: of its labels and of the tree's decisions.
    classes_, feature_importances_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    protected_
        The protected columns that stood in X and were left out of learning.
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
        max_feature_uses: int | Mapping[str, int] | None = None,
        max_features_used: int | None = None,
        max_features_per_test: int | None = None,
        max_leaves: int | None = None,
        min_samples_leaf: int = 1,
        allowed_features: Sequence[str] | None = None,
        costs: Sequence[Sequence[float]] | np.ndarray | None = None,
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
        self.max_feature_uses = max_feature_uses
        self.max_features_used = max_features_used
        self.max_features_per_test = max_features_per_test
        self.max_leaves = max_leaves
        self.min_samples_leaf = min_samples_leaf
        self.allowed_features = allowed_features
        self.costs = costs
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
        outcome = self._outcome(y)
        self.classes_ = class_labels(y)
        return self._learn(data, outcome, sensitive_features, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """The class that the tree decides for each person; protected columns are not needed."""
        tree, table = self._encoded(X)
        return np.asarray(self.classes_[tree.decide(table)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """The share of each class among the training people of the leaf that a person reaches.

        The tree's decision need not be the most frequent class there: fairness or costs may ask for another.
        """
        leaf = self.apply(X)
        counts = self._leaf_counts[leaf]
        if not self._leaf_counts.any():
            raise InputError("this model was read from a file without head counts, so it knows no shares of classes")
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _outcome(self, y: Any) -> Outcome:
        return class_outcome(y)

    def _loss(self, outcome: Outcome) -> Loss | None:  # noqa: ARG002
        return Misclassification(self.costs)


def class_outcome(y: Any) -> Outcome:
    """The decided classes; a missing label is named by its row."""
    values = column_or_1d(y, warn=True)
    outcome = make_outcome(values, task="classification", name=outcome_name(y))
    check_classification_targets(values)
    return outcome


def class_labels(y: Any) -> np.ndarray:
    """The labels in order, as numpy stores them."""
    return np.unique(column_or_1d(y))


def outcome_name(y: Any) -> str:
    """The name of a series, or y."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"
