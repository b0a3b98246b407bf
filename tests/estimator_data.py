"""Small tables for the tests of the estimators: quick to prove, with every kind of column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def hiring(n_people: int = 120, seed: int = 0) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """(X, y, gender): hired by schooling and skill, and women less than men; some values are missing."""
    draw = np.random.default_rng(seed)
    gender = pd.Series(draw.choice(["woman", "man"], n_people), name="gender")
    schooling = pd.Series(draw.choice(["none", "school", "college"], n_people), dtype="category")
    skill = draw.integers(0, 6, n_people).astype(float)
    score = skill + 2 * (schooling == "college") + 1.5 * (gender == "man") + draw.normal(0, 1, n_people)
    hired = pd.Series(np.where(score > 4.5, "yes", "no"), name="hired")
    skill[draw.random(n_people) < 0.1] = np.nan
    X = pd.DataFrame({"skill": skill, "schooling": schooling, "works nights": draw.random(n_people) < 0.3})
    return X, hired, gender


def pay(n_people: int = 40, seed: int = 0) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """(X, y, gender): a number to predict instead of a class."""
    X, _, gender = hiring(n_people, seed)
    draw = np.random.default_rng(seed + 1)
    amount = X["skill"].fillna(2) + 2 * (gender == "man") + draw.integers(0, 3, n_people)
    return X[["skill", "schooling"]], amount.rename("pay"), gender


def strange_rows(X: pd.DataFrame, n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Rows like those of X, and unlike them: numbers off the grid, levels never seen, values missing."""
    draw = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for name in X:
        values = X[name]
        if pd.api.types.is_float_dtype(values):
            column = draw.choice(np.concatenate([values.to_numpy(), values.to_numpy() + 0.5]), n_rows)
            columns[str(name)] = np.where(draw.random(n_rows) < 0.1, np.nan, column)
        else:
            unseen = [] if pd.api.types.is_bool_dtype(values) else ["never seen"]
            known = [*dict.fromkeys(values.astype(object)), *unseen, None]
            columns[str(name)] = draw.choice(np.array(known, dtype=object), n_rows)
    return pd.DataFrame(columns)
