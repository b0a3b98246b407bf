"""What goes into an estimator: frames of every kind, protected columns given in every way, weights, odd values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from estimator_data import hiring, strange_rows
from evenleaf import FairTreeClassifier, FairTreeRegressor
from evenleaf.errors import InputError
from evenleaf.estimators import ProtectedColumnWarning
from evenleaf.fairness import DisparateImpact

FAIR = {"fairness": "didi", "fairness_weight": 0.2}


def fit(X: Any, y: Any, sensitive_features: Any, **settings: Any) -> FairTreeClassifier:
    return FairTreeClassifier(**{**FAIR, **settings}).fit(X, y, sensitive_features=sensitive_features)


@pytest.mark.needs("polars", "pyarrow")
def test_every_kind_of_frame_gives_the_same_tree() -> None:
    import polars as pl
    import pyarrow as pa

    X, y, gender = hiring()
    rows = strange_rows(X, 300)
    expected = fit(X, y, gender)
    polars, arrow = pl.from_pandas(X), pa.Table.from_pandas(X)
    for frame, new in ((polars, pl.from_pandas(rows)), (arrow, pa.Table.from_pandas(rows))):
        model = fit(frame, y.to_numpy(), gender.to_numpy())
        assert model.tree_.nodes == expected.tree_.nodes
        assert model.predict(new).tolist() == expected.predict(rows).tolist()
        assert list(model.feature_names_in_) == list(X.columns)


def test_the_callers_table_is_not_touched() -> None:
    X, y, gender = hiring()
    before = X.copy(deep=True)
    model = fit(X, y, gender)
    model.predict(X)
    pd.testing.assert_frame_equal(X, before)


def test_arrays_with_declared_levels() -> None:
    X, y, gender = hiring()
    codes = np.column_stack([X["skill"], X["schooling"].cat.codes, X["works nights"]]).astype(float)
    model = fit(codes, y, gender, categorical_features=[1])
    assert model.solution_.objective == pytest.approx(fit(X, y, gender).solution_.objective)
    masked = fit(codes, y, gender, categorical_features=[False, True, False])
    assert masked.tree_ == model.tree_
    assert model.predict(codes.tolist()).tolist() == model.predict(codes).tolist()
    assert model.predict(codes.astype(object)).tolist() == model.predict(codes).tolist()
    assert model.predict(np.asfortranarray(codes)).tolist() == model.predict(codes).tolist()


def test_a_column_may_hold_texts_in_an_array() -> None:
    X, y, gender = hiring()
    mixed = X.astype({"schooling": object}).to_numpy(dtype=object)
    model = fit(mixed, y, gender)
    assert model.solution_.objective == pytest.approx(fit(X, y, gender).solution_.objective)
    assert model.predict(mixed[:5]).tolist() == model.predict(mixed)[:5].tolist()


def test_protected_columns_by_name_leave_x() -> None:
    X, y, gender = hiring()
    whole = X.assign(gender=gender)
    model = fit(whole, y, "gender")
    assert model.protected_ == ("gender",)
    assert model.n_features_in_ == 4
    assert model.tree_ == fit(X, y, gender).tree_
    assert model.predict(whole).tolist() == model.predict(X).tolist()
    assert model.feature_importances_[3] == 0
    assert fit(whole, y, ["gender"]).tree_ == model.tree_


def test_two_protected_columns_are_joint_or_each() -> None:
    X, y, gender = hiring()
    town = pd.Series(np.random.default_rng(1).choice(["here", "there"], len(y)), name="town")
    whole = X.assign(gender=gender, town=town)
    joint, each = (fit(whole, y, ["gender", "town"], groups=groups) for groups in ("joint", "each"))
    assert joint.protected_ == each.protected_ == ("gender", "town")
    assert joint.fairness_["disparate impact"].data != pytest.approx(each.fairness_["disparate impact"].data)
    given = fit(X, y, pd.DataFrame({"gender": gender, "town": town}))
    assert given.tree_ == joint.tree_


def test_a_protected_column_that_also_stands_in_x_is_left_out_with_a_word() -> None:
    X, y, gender = hiring()
    whole = X.assign(gender=gender)
    with pytest.warns(ProtectedColumnWarning, match="protected column 'gender' also stands in X and was left out"):
        model = fit(whole, y, gender)
    assert model.protected_ == ("gender",)
    kept = fit(whole, y, gender, allow_protected_splits=True, fairness_weight=0.0)
    assert kept.protected_ == ()
    assert "gender" in kept.tree_.schema.names


def test_protected_columns_of_an_array() -> None:
    X, y, gender = hiring()
    codes = np.column_stack([X["skill"], (gender == "man").astype(float), X["works nights"]])
    model = fit(codes, y, "x1")
    assert model.protected_ == ("x1",)
    assert model.predict(codes).tolist() == model.predict(codes[:, [0, 2]]).tolist()
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(codes[:, :1])


def test_columns_must_be_those_of_fit() -> None:
    X, y, gender = hiring()
    model = fit(X.assign(gender=gender), y, "gender")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"skill": "skil"}))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[["schooling", "skill", "works nights"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X.assign(gender=gender).to_numpy(dtype=object))


def test_weights_are_repetitions_and_zero_is_absence() -> None:
    X, y, gender = hiring(60)
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    counted = np.repeat(np.arange(len(y)), weight)
    settings: dict[str, Any] = {**FAIR, "fairness": DisparateImpact()}
    weighted = FairTreeClassifier(**settings).fit(X, y, sensitive_features=gender, sample_weight=weight)
    repeated = FairTreeClassifier(**settings).fit(
        X.iloc[counted], y.iloc[counted], sensitive_features=gender.iloc[counted]
    )
    assert weighted.solution_.objective == pytest.approx(repeated.solution_.objective, abs=1e-12)
    assert weighted.tree_.schema == repeated.tree_.schema
    there = weight > 0
    absent = FairTreeClassifier(**settings).fit(
        X[there], y[there], sensitive_features=gender[there], sample_weight=weight[there]
    )
    assert absent.tree_ == weighted.tree_


def test_missing_and_unseen_values_go_where_the_tree_says() -> None:
    X = pd.DataFrame({"x": [1.0, 2.0, np.nan, np.nan, 1.0, 2.0]})
    model = FairTreeClassifier(max_depth=2).fit(X, [0, 1, 1, 1, 0, 1])
    assert model.predict(pd.DataFrame({"x": [np.nan, 0.0, 9.0]})).tolist() == [1, 0, 1]
    levels = pd.DataFrame({"c": ["a", "b", None, "a", "b", None]})
    model = FairTreeClassifier(max_depth=1).fit(levels, [0, 1, 1, 0, 1, 1])
    assert model.predict(pd.DataFrame({"c": [None, "unseen", "a"]})).tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [0, 1], [3, -1], [False, True], [1.0, 2.0], np.array([0, 1], dtype=np.int8)],
    ids=["text", "whole", "negative", "truth", "float", "int8"],
)
def test_labels_come_back_as_they_came(labels: Any) -> None:
    X, y, _ = hiring(40)
    given = np.array(labels)[(y == "yes").astype(int)]
    model = FairTreeClassifier(max_depth=1).fit(X, given)
    assert model.classes_.dtype == given.dtype
    assert model.predict(X).dtype == given.dtype
    assert sorted(model.classes_.tolist()) == sorted(np.array(labels).tolist())
    assert model.score(X, given) == FairTreeClassifier(max_depth=1).fit(X, y).score(X, y)


def test_a_categorical_series_of_labels() -> None:
    X, y, _ = hiring(40)
    assert FairTreeClassifier(max_depth=1).fit(X, y.astype("category")).classes_.tolist() == ["no", "yes"]


def test_three_classes_and_three_groups() -> None:
    X, _, _ = hiring(60)
    draw = np.random.default_rng(0)
    y = X["skill"].fillna(0) // 2
    group = draw.choice(["a", "b", "c"], 60)
    model = fit(X[["skill"]], y, group, max_depth=1)
    assert model.classes_.tolist() == [0.0, 1.0, 2.0]
    assert model.predict_proba(X[["skill"]]).shape == (60, 3)
    assert model.solution_.proven


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y, g: (X.assign(skill=np.inf), y, g), "column 'skill' holds an infinite value in row 1"),
        (lambda X, y, g: (X, y.where(y.index != 3), g), "'hired' is missing in row 4"),
        (lambda X, y, g: (X, y.head(5), g), "X has 20 rows, but y has 5"),
        (lambda X, y, g: (X, y, g.head(5)), "5 rows"),
        (lambda X, y, g: (X, y, g.map(lambda _: "all")), "has only one group"),
        (lambda X, y, g: (X, y.map(lambda _: "no"), g), "has only one class"),
        (lambda X, y, _: (X, y, "gendre"), "there is no column 'gendre'"),
        (lambda X, y, g: (X.head(0), y.head(0), g.head(0)), "0 sample|empty|no rows"),
    ],
)
def test_bad_tables(change: Any, message: str) -> None:
    X, y, gender = change(*hiring(20))
    with pytest.raises(ValueError, match=message):
        fit(X, y, gender)


def test_bad_numbers_to_predict() -> None:
    X, y, _ = hiring(20)
    with pytest.raises(InputError, match="must hold numbers, but row 1 holds"):
        FairTreeRegressor(max_depth=1).fit(X, y)


def test_a_column_vector_of_labels_is_understood_with_a_warning() -> None:
    X, y, _ = hiring(20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FairTreeClassifier(max_depth=1).fit(X, y.to_numpy().reshape(-1, 1))
    assert model.classes_.tolist() == ["no", "yes"]
