"""The face that all baselines share: scikit-learn's, with protected columns asked for in `fit`, never in `predict`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from evenleaf.errors import InputError
from evenleaf.metrics.arguments import make_people, one_outcome
from evenleaf.table import Groups, Outcome, People, Schema, Table, Task, make_weight, require_two


class Baseline(BaseEstimator):  # type: ignore[misc]
    """A method from the literature. A subclass learns from `People` and decides for an encoded table.

    `X` is any frame, array or `Table`; `y` a column or an `Outcome`; `sensitive_features` values, names of
    columns of X, or `Groups`. A protected column that stands in X is not learned from.
    """

    _task: ClassVar[Task] = "classification"
    _needs_groups: ClassVar[bool] = True

    schema_: Schema
    classes_: np.ndarray

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Learn; `sensitive_features` may be left out only by methods that do not look at groups."""
        people = self._people(X, y, sensitive_features, sample_weight)
        if people.outcome.classes is not None:
            self.classes_ = np.array(people.outcome.classes)
        self.schema_ = people.features.schema
        self.n_features_in_ = len(self.schema_)
        self._learn(people)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class labels, or numbers, decided for these people; protected columns are not needed."""
        check_is_fitted(self, "schema_")
        decided = self.decide(Table.of(X, schema=self.schema_))
        return self.classes_[decided] if self._task == "classification" else decided

    @abstractmethod
    def decide(self, table: Table) -> np.ndarray:
        """Class codes, or numbers, for a table encoded with `schema_`."""

    @abstractmethod
    def _learn(self, people: People) -> None:
        """Set the fitted attributes."""

    def _people(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> People:
        outcome = y if isinstance(y, Outcome) else one_outcome(y, self._task)
        if outcome.task != self._task:
            raise InputError(f"{type(self).__name__} is for {self._task}, but {outcome.name!r} asks for {outcome.task}")
        if sensitive_features is not None:
            people = make_people(outcome, sensitive_features, X=X, sample_weight=sample_weight)
        elif self._looks_at_groups():
            raise InputError(f"{type(self).__name__} compares groups: pass sensitive_features to fit")
        else:
            people = People(Table.of(X), outcome, (), make_weight(sample_weight, len(outcome.values)))
        if people.features.n_columns == 0:
            raise InputError("no column is left to learn from once the protected ones are taken out")
        return people

    def _looks_at_groups(self) -> bool:
        """Whether this method, as it is set, needs to know the groups."""
        return self._needs_groups


def the_groups(people: People) -> Groups:
    """The one partition of the people, with at least two groups in it."""
    require_two(people.groups, people.weight)
    (groups,) = people.groups
    return groups


def two_classes(people: People, method: str) -> None:
    """Refuse outcomes with other than two classes, for methods that are defined for two only."""
    if people.outcome.n_classes != 2:
        raise InputError(
            f"{method} is defined for two classes, but {people.outcome.name!r} has {people.outcome.n_classes}"
        )


def at_least_zero(name: str, value: Any) -> float:
    """A finite number that is not negative."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < 0:
        raise InputError(f"{name} must be a number of at least 0, not {value!r}")
    return float(value)
