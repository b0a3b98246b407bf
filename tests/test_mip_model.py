"""The linear model and its builder: shapes, sums, and what breaks a point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenleaf.solve.mip.model import ModelBuilder
from mip_models import assignment, whole_numbers


def test_entries_of_the_same_cell_add_up_and_zeros_go() -> None:
    builder = ModelBuilder()
    x = builder.variables("x", (2,))
    builder.rows("row", 2, [(np.array([0, 0, 1, 1]), x[[0, 0, 1, 1]], np.array([1.0, 2.0, 5.0, -5.0]))], upper=1.0)
    model = builder.build()
    assert model.matrix.toarray().tolist() == [[3.0, 0.0], [0.0, 0.0]]
    assert model.matrix.nnz == 1


def test_names_follow_the_shape() -> None:
    model, _ = assignment()
    assert model.variable_names[:4] == ("post_0_0", "post_0_1", "post_0_2", "post_1_0")
    assert model.row_names == ("person_0", "person_1", "person_2", "filled_0", "filled_1", "filled_2")
    assert whole_numbers()[0].variable_names == ("a", "b")


def test_a_model_may_lack_entries_rows_and_variables() -> None:
    empty = ModelBuilder(offset=2.0).build()
    assert (empty.n_variables, empty.n_rows, empty.objective(np.zeros(0)), empty.violation(np.zeros(0))) == (0, 0, 2, 0)
    builder = ModelBuilder()
    builder.variables("x", (0, 3))
    builder.variables("y", (2,), integer=True)
    builder.rows("row", 1, [], lower=-1.0)
    model = builder.build()
    assert (model.n_variables, model.n_rows, model.matrix.nnz) == (2, 1, 0)
    assert model.integer.tolist() == [True, True]


def test_violation_names_the_worst() -> None:
    model, _ = whole_numbers()
    assert model.worst_break(np.array([2.0, 2.0])) == (0.0, "")
    assert model.worst_break(np.array([2.0, 9.25])) == (6.75, "range_0")
    assert model.worst_break(np.array([2.0, 1.75])) == (0.25, "b")
    assert model.worst_break(np.array([3.0, 0.0])) == (1.0, "a")
    assert model.worst_break(np.array([2.0, -3.0])) == (4.5, "range_0")
    assert model.violation(np.array([np.nan, 2.0])) == np.inf
    assert model.violation(np.array([np.inf, 2.0])) == np.inf


def test_the_bound_of_the_box() -> None:
    builder = ModelBuilder(offset=1.0)
    builder.variables("x", (3,), lower=-2.0, upper=5.0, cost=np.array([3.0, -1.0, 0.0]))
    builder.variables("idle", (), lower=-np.inf)
    assert builder.build().box_bound() == -10.0
    builder.variables("free", (), lower=-np.inf, cost=1.0)
    assert builder.build().box_bound() == -np.inf
    assert ModelBuilder(offset=4.0).build().box_bound() == 4.0


def test_crossing_bounds_are_named() -> None:
    model, _ = whole_numbers()
    assert model.crossing_bounds() is None
    assert replace(model, lower=np.array([3.0, 0.0])).crossing_bounds() == "a"
    assert replace(model, row_lower=np.array([7.0])).crossing_bounds() == "range_0"
    assert replace(model, row_lower=np.array([6.5 + 1e-12])).crossing_bounds() is None


def test_a_broken_model_is_refused() -> None:
    model, _ = whole_numbers()
    with pytest.raises(ValueError, match="differ in length"):
        replace(model, cost=np.zeros(3))
    with pytest.raises(ValueError, match="differ in length"):
        replace(model, row_names=())
    with pytest.raises(ValueError, match="not a finite number"):
        replace(model, cost=np.array([np.inf, 0.0]))
    with pytest.raises(ValueError, match="not a finite number"):
        replace(model, offset=np.nan)
    with pytest.raises(ValueError, match="not a number"):
        replace(model, upper=np.array([np.nan, 1.0]))
