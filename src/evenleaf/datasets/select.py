"""The most important features, by repeated cross-validation.

The paper keeps the 11 most important features of Communities with R's "repeatedcv". It does not name the
model, so that its list cannot be had again. Here: in each fold of a repeated k-fold split a random forest
is grown on the other folds; a feature's importance is how much the error on the held-out fold grows when
the feature's values are shuffled among the people in it, averaged over all folds of all repeats.
The choice sees all people, as the paper's does: an accuracy measured on a fold of them afterwards is
measured on features that were chosen with that fold in sight.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenleaf.datasets.dataset import Dataset
from evenleaf.errors import InputError
from evenleaf.table import Outcome, Table

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

_FOREST = {"n_estimators": 50, "max_features": 1 / 3, "min_samples_leaf": 5}


def keep_important(dataset: Dataset, n_features: int, *, folds: int = 5, repeats: int = 3, seed: int = 0) -> Dataset:
    """The data set with its most important features alone, in the order of the table."""
    if not 1 <= n_features <= dataset.features.n_columns:
        raise InputError(f"n_features must be between 1 and {dataset.features.n_columns}, not {n_features}")
    importance = importances(dataset.features, dataset.outcome, folds=folds, repeats=repeats, seed=seed)
    names = dataset.features.schema.names
    # A stable sort on the negated values lets the earlier column win a tie.
    chosen = np.sort(np.argsort(-importance, kind="stable")[:n_features])
    return replace(dataset, features=dataset.features.select([names[place] for place in chosen]))


def importances(features: Table, outcome: Outcome, *, folds: int = 5, repeats: int = 3, seed: int = 0) -> np.ndarray:
    """How much the held-out error grows when a feature is shuffled; the same for the same seed."""
    from sklearn.model_selection import RepeatedKFold

    X = np.column_stack([values.astype(np.float64) for values in features.data])
    rng = np.random.default_rng(seed)
    splits = list(RepeatedKFold(n_splits=folds, n_repeats=repeats, random_state=seed).split(X))
    growth = [_growth(X, outcome, train, held_out, rng) for train, held_out in splits]
    return np.mean(growth, axis=0)


def _growth(
    X: np.ndarray, outcome: Outcome, train: np.ndarray, held_out: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    forest = _forest(outcome, int(rng.integers(2**31))).fit(X[train], outcome.values[train])
    truth, plain = outcome.values[held_out], X[held_out]
    error = _errors(forest, outcome, plain, truth).mean()
    # All shuffled copies are predicted in one call: one copy of the fold a feature.
    copies = np.tile(plain, (X.shape[1], 1, 1))
    for feature, copy in enumerate(copies):
        copy[:, feature] = rng.permutation(copy[:, feature])
    stacked = _errors(forest, outcome, copies.reshape(-1, X.shape[1]), np.tile(truth, X.shape[1]))
    return np.asarray(stacked.reshape(X.shape[1], -1).mean(axis=1) - error)


def _forest(outcome: Outcome, seed: int) -> RandomForestClassifier | RandomForestRegressor:
    # Imported here: scikit-learn takes longer to import than all the rest together.
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    model = RandomForestRegressor if outcome.classes is None else RandomForestClassifier
    return model(random_state=seed, **_FOREST)


def _errors(
    forest: RandomForestClassifier | RandomForestRegressor, outcome: Outcome, X: np.ndarray, truth: np.ndarray
) -> np.ndarray:
    """The absolute error, or the probability that was not given to the true class."""
    if outcome.classes is None:
        return np.abs(forest.predict(X) - truth)
    given = np.zeros((len(X), outcome.n_classes))
    given[:, forest.classes_] = forest.predict_proba(X)
    return np.asarray(1.0 - given[np.arange(len(X)), truth])
