"""The fair regressions against the double sums of their formulas, and the face that all baselines share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from evenleaf.baselines import (
    Baseline,
    DiscriminationAwareTree,
    ExponentiatedGradientTree,
    FairLinearRegression,
    FairLogisticRegression,
    GreedyTreeClassifier,
    GreedyTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    cross_pairs,
)
from evenleaf.baselines.cross_pairs import penalty_form
from evenleaf.baselines.design import Design
from evenleaf.errors import InputError
from evenleaf.table import Table, make_outcome


def by_double_sum(
    kind: str, x: np.ndarray, y: np.ndarray, codes: np.ndarray, weight: np.ndarray, w: np.ndarray, labels: bool
) -> float:
    """The penalty of the scores w·x as Berk et al. write it, pair by pair, summed over pairs of groups."""
    total, score = 0.0, x @ w

    def near(i: Any, j: Any) -> float:
        return float(y[i] == y[j]) if labels else math.exp(-((y[i] - y[j]) ** 2))

    groups = [g for g in sorted(set(codes.tolist())) if weight[codes == g].sum() > 0]
    for a, first in enumerate(groups):
        for second in groups[a + 1 :]:
            pairs = [(i, j) for i in np.flatnonzero(codes == first) for j in np.flatnonzero(codes == second)]
            scale = weight[codes == first].sum() * weight[codes == second].sum()
            if kind == "hybrid":
                for label in set(y.tolist()):
                    same = [(i, j) for i, j in pairs if y[i] == label and y[j] == label]
                    size = sum(weight[i] * weight[j] for i, j in same)
                    if size > 0:
                        total += (sum(weight[i] * weight[j] * (score[i] - score[j]) for i, j in same) / size) ** 2
                continue
            power = 2 if kind == "individual" else 1
            value = sum(weight[i] * weight[j] * near(i, j) * (score[i] - score[j]) ** power for i, j in pairs) / scale
            total += value if kind == "individual" else value**2
    return total


@settings(max_examples=80)
@given(
    st.sampled_from(["individual", "group", "hybrid"]),
    st.booleans(),
    st.integers(0, 10**6),
    st.integers(2, 25),
    st.integers(2, 3),
)
def test_penalties_are_the_double_sums(kind: Any, labels: bool, seed: int, n: int, n_groups: int) -> None:
    rng = np.random.default_rng(seed)
    labels = labels or kind == "hybrid"
    x, w = rng.normal(size=(n, 3)), rng.normal(size=3)
    y = rng.integers(0, 2, n).astype(float) if labels else np.round(rng.normal(size=n), 1)
    codes = np.append(rng.integers(0, n_groups, n - 2), [0, 1])
    weight = rng.integers(0, 3, n).astype(float)
    weight[-2:] = 1.0
    form = penalty_form(kind, x, y, codes, weight, labels=labels)
    assert w @ form @ w == pytest.approx(by_double_sum(kind, x, y, codes, weight, w, labels), rel=1e-9, abs=1e-9)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    given = rng.normal(size=(50, 2)), rng.normal(size=50), rng.integers(0, 2, 50), np.ones(50)
    whole = penalty_form("individual", *given, labels=False)
    monkeypatch.setattr(cross_pairs, "_BLOCK", 120)
    assert penalty_form("individual", *given, labels=False) == pytest.approx(whole, rel=1e-12)


def made_up(n: int = 200, seed: int = 0) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    group = np.array(["p", "q"])[rng.integers(0, 2, n)]
    a, b = rng.normal(size=n) + (group == "q"), rng.normal(size=n)
    return {"a": a, "b": b, "c": np.array(list("xyz"), dtype=object)[rng.integers(0, 3, n)]}, a + b, group


def test_without_a_penalty_they_are_the_plain_regressions() -> None:
    X, score, _ = made_up()
    y = score + np.random.default_rng(1).normal(size=len(score))
    matrix = Design.of(Table.of(X), np.ones(len(y))).matrix(Table.of(X))
    plain = LinearRegression().fit(matrix, y).predict(matrix)
    assert FairLinearRegression(ridge=0.0).fit(X, y).predict(X) == pytest.approx(plain, abs=1e-9)
    ridge = 0.01
    # scikit-learn adds up the losses and halves the ridge: C = 1 / (2 · n · ridge).
    reference = LogisticRegression(C=1 / (2 * len(y) * ridge), tol=1e-10, max_iter=1000).fit(matrix, y > 0)
    found = FairLogisticRegression(ridge=ridge).fit(X, y > 0).predict_proba(X)
    assert found == pytest.approx(reference.predict_proba(matrix), abs=1e-5)


@pytest.mark.parametrize("penalty", ["individual", "group", "hybrid"])
def test_no_other_coefficients_have_a_lower_objective(penalty: Any) -> None:
    X, score, group = made_up()
    noisy = score + np.random.default_rng(1).normal(size=len(score))
    check_optimal(FairLogisticRegression(penalty, 0.7, 0.01), X, (noisy > 0).astype(int), group)
    if penalty != "hybrid":
        check_optimal(FairLinearRegression(penalty, 0.7, 0.01), X, noisy, group)


def check_optimal(model: Any, X: Any, y: np.ndarray, group: np.ndarray) -> None:
    """The objective by the formulas is no lower at any of some coefficients near by."""
    classes = is_classifier(model)
    matrix = model.fit(X, y, sensitive_features=group).design_.matrix(Table.of(X))
    codes, ones = (group == "q").astype(int), np.ones(len(y))

    def objective(w: np.ndarray, b: float) -> float:
        s = matrix @ w + b
        loss = np.mean(np.logaddexp(0, s) - y * s) if classes else np.mean((y - s) ** 2)
        unfair = by_double_sum(model.penalty, matrix, y.astype(float), codes, ones, w, classes)
        return float(loss + 0.7 * unfair + 0.01 * w @ w)

    best, rng = objective(model.coef_, model.intercept_), np.random.default_rng(2)
    for _ in range(8):
        step = rng.normal(size=len(model.coef_) + 1) * 1e-3
        assert objective(model.coef_ + step[:-1], model.intercept_ + step[-1]) >= best - 1e-12


@pytest.mark.parametrize("penalty", ["individual", "group"])
def test_a_heavy_weight_drives_the_penalty_to_zero(penalty: Any) -> None:
    X, score, group = made_up()
    models = [FairLinearRegression(penalty, weight).fit(X, score, sensitive_features=group) for weight in (0, 1, 1e6)]
    table, codes = Table.of(X), (group == "q").astype(int)
    matrix = models[0].design_.matrix(table)
    form = penalty_form(penalty, matrix, score, codes, np.ones(len(score)), labels=False)
    values = [float(model.coef_ @ form @ model.coef_) for model in models]
    assert values[0] > values[1] > values[2]
    assert values[2] < 1e-6


MODELS: list[Baseline] = [
    DiscriminationAwareTree(relabel="exact", max_depth=3),
    FairLogisticRegression("individual"),
    FairLogisticRegression("hybrid"),
    FairLinearRegression("group"),
    OptimalTreeClassifier(max_depth=1),
    OptimalTreeRegressor(max_depth=1, solver="greedy"),
    GreedyTreeClassifier(),
    GreedyTreeRegressor(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_same_face(model: Any) -> None:
    X, score, group = made_up()
    with_group = {**X, "group": group}
    y = score if is_regressor(model) else np.where(score > 0, "yes", "no")
    fitted = clone(model).fit(with_group, y, sensitive_features="group")
    assert is_classifier(fitted) is not is_regressor(fitted)
    decided = fitted.predict({"a": [0.5, np.nan], "b": [1.0, 2.0], "c": ["x", "unheard of"]})
    assert len(decided) == 2
    assert is_regressor(model) or set(decided) <= {"yes", "no"}
    assert fitted.predict(with_group).tolist() == fitted.predict(X).tolist()
    assert fitted.score(X, y) > 0.2
    again = clone(model).fit(X, y, sensitive_features=group)
    assert again.predict(X).tolist() == fitted.predict(X).tolist()


@pytest.mark.parametrize("model", [*MODELS[:4], MODELS[6]], ids=lambda model: type(model).__name__)
def test_a_weight_of_two_is_the_person_twice(model: Any) -> None:
    X, score, group = made_up(60)
    y = score if is_regressor(model) else (score > 0).astype(int)
    weight = np.ones(60)
    weight[:10] = 2.0
    rows = np.append(np.arange(60), np.arange(10))
    weighted = clone(model).fit(X, y, sensitive_features=group, sample_weight=weight).predict(X)
    twice = {name: values[rows] for name, values in X.items()}
    repeated = clone(model).fit(twice, y[rows], sensitive_features=group[rows]).predict(X)
    assert weighted.astype(float) == pytest.approx(repeated.astype(float), abs=1e-6)


@pytest.mark.needs("fairlearn")
def test_the_reduction_evens_the_rates_and_draws_the_same_lots() -> None:
    X, score, group = made_up(600)
    y = (score > 0.5).astype(int)
    loose, strict = (
        ExponentiatedGradientTree(bound, max_depth=3).fit(X, y, sensitive_features=group).predict(X)
        for bound in (1.0, 0.01)
    )
    gaps = [abs(decided[group == "p"].mean() - decided[group == "q"].mean()) for decided in (loose, strict)]
    assert gaps[1] < gaps[0] / 2
    again = ExponentiatedGradientTree(0.01, max_depth=3).fit(X, y, sensitive_features=group).predict(X)
    assert again.tolist() == strict.tolist()
    with pytest.raises(InputError, match="no sample weights"):
        ExponentiatedGradientTree().fit(X, y, sensitive_features=group, sample_weight=np.arange(600))


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (FairLogisticRegression(), [0, 1, 2, 1], "two classes"),
        (FairLogisticRegression("group", -1.0), [0, 1, 0, 1], "at least 0"),
        (FairLogisticRegression("nearly"), [0, 1, 0, 1], "penalty must be one of"),  # type: ignore[arg-type]
        (FairLogisticRegression(ridge=0.0), [0, 1, 0, 1], "ridge must be positive"),
        (FairLinearRegression("hybrid"), [0.5, 1, 2, 1], "classification only"),
    ],
)
def test_wrong_settings_are_refused(model: Baseline, y: list[float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        model.fit({"a": [1.0, 2, 3, 4]}, y, sensitive_features=list("pqpq"))


def test_one_group_or_none_or_no_feature_is_refused() -> None:
    X, y = {"a": [1.0, 2, 3, 4], "g": list("pppp")}, [0, 1, 0, 1]
    with pytest.raises(InputError, match="only one group"):
        FairLogisticRegression("group").fit(X, y, sensitive_features="g")
    with pytest.raises(InputError, match="pass sensitive_features"):
        FairLogisticRegression("group").fit(X, y)
    with pytest.raises(InputError, match="no column is left"):
        GreedyTreeClassifier().fit({"g": list("pqpq")}, y, sensitive_features="g")
    classes = make_outcome(y, task="classification")
    with pytest.raises(InputError, match="is for regression"):
        FairLinearRegression().fit(X, classes)
