"""The caller's X at prediction time: checked as scikit-learn does, and read only where the tree looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from evenleaf.estimators.arrange import as_table_data, is_frame
from evenleaf.table import Table
from evenleaf.tree import Tree


def encode(estimator: Any, X: Any, tree: Tree, protected: Sequence[str]) -> Table:
    """The columns that a tree looks at. Protected columns that stood in X when it was learnt need not be there."""
    if isinstance(X, Table):
        return X.conform(tree.schema)
    if is_frame(X):
        _check_names(estimator, X, protected)
        return Table.of(X, schema=tree.schema) if len(tree.schema) else _nothing(tree, len(X))
    array = as_table_data(X)
    names = _array_names(estimator, array, protected)
    positions = [names.index(column.name) for column in tree.schema]
    if array.dtype.kind == "f" and not any(column.is_categorical for column in tree.schema):
        return _numbers(tree, array, positions)
    return Table.of(array[:, positions], schema=tree.schema) if positions else _nothing(tree, len(array))


def _numbers(tree: Tree, array: np.ndarray, positions: Sequence[int]) -> Table:
    """Floats are copied once, column by column, and nothing else is done to them."""
    columns = [np.array(array[:, position], dtype=np.float64) for position in positions]
    for column in columns:
        column.flags.writeable = False
    return Table(tree.schema, tuple(columns), (0,) * len(columns), len(array))


def _nothing(tree: Tree, n_rows: int) -> Table:
    """A tree that asks nothing looks at no column."""
    return Table(tree.schema, (), (), n_rows)


def _check_names(estimator: Any, X: Any, protected: Sequence[str]) -> None:
    """The columns of fit, in that order, with or without the protected ones; else scikit-learn says what is wrong."""
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and protected:
        given = [name for name in _header(X) if name not in protected]
        if given == [name for name in known if name not in protected]:
            return
    validate_data(estimator, X, reset=False, skip_check_array=True)


def _array_names(estimator: Any, array: np.ndarray, protected: Sequence[str]) -> list[str]:
    """The names that the columns of an array had in fit; an array without the protected ones is understood too."""
    known = getattr(estimator, "feature_names_in_", None)
    names = [f"x{position}" for position in range(estimator.n_features_in_)] if known is None else list(known)
    if protected and array.shape[1] == len(names) - len(protected):
        return [name for name in names if name not in protected]
    validate_data(estimator, array, reset=False, skip_check_array=True)
    return names


def _header(X: Any) -> list[str]:
    """The names of a frame's columns; pyarrow calls them column_names."""
    return list(getattr(X, "column_names", None) or X.columns)
