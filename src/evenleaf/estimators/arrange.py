"""The caller's X, y and protected columns, made into the people that a tree learns from."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from evenleaf.errors import InputError
from evenleaf.estimators.warning import ProtectedColumnWarning
from evenleaf.metrics.arguments import protected_columns
from evenleaf.table import Grouping, Groups, Outcome, People, Table, make_groups, make_weight


@dataclass(frozen=True, eq=False)
class Arranged:
    """The people to learn from, and the protected columns that also stood in X."""

    people: People
    protected: tuple[str, ...]


def as_table_data(X: Any) -> Any:
    """A frame as it is; lists and arrays after scikit-learn's own checks, so that its users meet its errors."""
    if is_frame(X):
        return X
    # Texts, truth values and gaps are welcome; infinite numbers among objects are refused further down, by name.
    return check_array(X, dtype=None, ensure_all_finite="allow-nan", estimator="the tree")


def is_frame(X: Any) -> bool:
    """Whether the columns have names: pandas, polars, pyarrow, or a dict of columns."""
    return isinstance(X, (Table, dict)) or hasattr(X, "columns") or hasattr(X, "__dataframe__")


def arrange(
    X: Any,
    outcome: Outcome,
    sensitive_features: Any,
    sample_weight: Any,
    *,
    categorical: Any,
    groups: Grouping,
    keep_protected: bool,
    need_groups: bool,
    counts_people: bool,
) -> Arranged:
    """Everybody with a positive weight, their groups, and the features that a tree may look at."""
    features = X if isinstance(X, Table) else Table.of(X, categorical=categorical)
    n_people = len(outcome.values)
    if features.n_rows != n_people:
        raise InputError(f"X has {features.n_rows} rows, but y has {n_people}: inconsistent numbers of samples")
    weight = make_weight(sample_weight, n_people)
    found: tuple[Groups, ...] = ()
    protected: tuple[str, ...] = ()
    if sensitive_features is not None:
        given = protected_columns(sensitive_features, features, n_people)
        found, protected = make_groups(given.table, groups), given.in_features
        if protected and not keep_protected:
            _say_dropped(protected, sensitive_features)
            features = features.drop(protected)
    elif need_groups:
        raise InputError("a fairness notion needs protected columns: pass sensitive_features to fit")
    people = _weighty(People(features, outcome, found, weight))
    if not need_groups:
        people = _canonical(people, merge=not counts_people)
    return Arranged(people, () if keep_protected else protected)


def _say_dropped(protected: tuple[str, ...], given: Any) -> None:
    """Whoever names columns of X as protected knows that they are there; whoever passes values may not."""
    if isinstance(given, str) or (isinstance(given, (list, tuple)) and tuple(given) == protected):
        return
    names = ", ".join(map(repr, protected))
    warnings.warn(
        f"protected column {names} also stands in X and was left out of learning; "
        "allow_protected_splits=True lets the tree test it",
        ProtectedColumnWarning,
        stacklevel=5,
    )


def _weighty(people: People) -> People:
    """Without those of weight zero: they count for nothing, so they must not move a threshold either."""
    counts = people.weight > 0
    if counts.all():
        return people
    kept = people.take(np.flatnonzero(counts))
    return replace(kept, features=_retyped(kept.features))


def _canonical(people: People, *, merge: bool) -> People:
    """Sorted by what is known of them, and equal people as one with their weight together.

    Many trees may be equally good, and which of them is found must not depend on the order of the rows, nor on
    whether somebody stands there twice or once with twice the weight. Where fairness is asked for, the rows stay as
    they are: neighbours at the same distance are taken in row order. Limits that count people keep them apart.
    """
    columns = (*people.features.data, people.outcome.values)
    order = np.lexsort(columns[::-1])
    if not merge:
        return people.take(order)
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for values in columns:
        before, after = values[order][:-1], values[order][1:]
        # NaN differs from itself, but missing is missing.
        new[1:] |= (before != after) & ~((before != before) & (after != after))
    kept = people.take(order[new])
    return replace(kept, weight=np.bincount(np.cumsum(new) - 1, weights=people.weight[order]))


def _retyped(table: Table) -> Table:
    """The schema that these people alone give: levels that nobody has left are unseen."""
    columns = []
    for position, column in enumerate(table.schema):
        missing = bool(table.missing(position).any())
        levels: tuple[str, ...] = ()
        if column.is_categorical:
            present = np.unique(table.data[position])
            levels = tuple(column.levels[code] for code in present if code >= 0)
        columns.append(replace(column, levels=levels, has_missing=missing))
    return table.conform(replace(table.schema, columns=tuple(columns)))
