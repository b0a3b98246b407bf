"""Inside scikit-learn's machinery: pipelines, searches and cross-validation, with metadata routing on and off."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline

from estimator_data import hiring, pay
from evenleaf import FairTreeClassifier, FairTreeRegressor
from evenleaf.errors import InputError
from evenleaf.estimators import didi_scorer, dtdi_scorer, fairness_scorer
from evenleaf.fairness import ConditionalParity
from evenleaf.metrics import didi, dtdi

GRID = {"fairness_weight": [0.0, 2.0]}


def test_routing_hands_the_protected_column_to_fit_and_to_the_scorers() -> None:
    X, y, gender = hiring()
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            FairTreeClassifier(max_depth=1, fairness="didi"),
            GRID,
            cv=3,
            scoring={"right": "accuracy", "fair": didi_scorer},
            refit="fair",
        ).fit(X, y, sensitive_features=gender)
    plain, fair = search.cv_results_["mean_test_fair"]
    assert plain < fair <= 0
    assert search.best_params_ == {"fairness_weight": 2.0}
    assert search.cv_results_["mean_test_right"][0] >= search.cv_results_["mean_test_right"][1]


def test_routing_through_a_pipeline() -> None:
    X, y, gender = hiring()
    impute = make_column_transformer((SimpleImputer(), ["skill"]))
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(impute, FairTreeClassifier(max_depth=1, fairness="didi", fairness_weight=0.1))
        found = cross_validate(
            pipe,
            X,
            y,
            params={"sensitive_features": gender},
            scoring={"impact": didi_scorer, "treatment": dtdi_scorer},
            cv=3,
            return_estimator=True,
        )
    assert all(model[-1].fairness_ for model in found["estimator"])
    assert (found["test_impact"] <= 0).all()
    assert (found["test_treatment"] <= 0).all()


def test_weights_are_routed_when_asked_for() -> None:
    X, y, _ = hiring()
    weight = np.random.default_rng(0).random(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = (
            FairTreeClassifier(max_depth=1).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        )
        found = cross_validate(model, X, y, params={"sample_weight": weight}, cv=3, return_estimator=True)
    totals = [one._leaf_counts.sum() for one in found["estimator"]]
    assert sum(totals) == pytest.approx(2 * weight.sum())


def test_without_routing_the_columns_are_named() -> None:
    X, y, gender = hiring()
    whole = X.assign(gender=gender)
    scoring = {"right": "accuracy", "fair": fairness_scorer("didi", sensitive_features="gender")}
    search = GridSearchCV(FairTreeClassifier(max_depth=1, fairness="didi"), GRID, cv=3, scoring=scoring, refit="right")
    search.fit(whole, y, sensitive_features="gender")
    assert (search.cv_results_["mean_test_fair"] <= 0).all()
    assert search.predict(whole).tolist() == search.predict(X).tolist()
    pipe = make_pipeline(FairTreeClassifier(max_depth=1, fairness="didi"))
    pipe.fit(whole, y, fairtreeclassifier__sensitive_features="gender")
    assert pipe[-1].protected_ == ("gender",)


def test_the_scores_are_the_metrics() -> None:
    X, y, gender = hiring()
    model = FairTreeClassifier(max_depth=1).fit(X, y)
    decided = model.predict(X)
    assert didi_scorer(model, X, y, sensitive_features=gender) == pytest.approx(
        -didi(decided, sensitive_features=gender)
    )
    assert dtdi_scorer(model, X, y, sensitive_features=gender) == pytest.approx(
        -dtdi(decided, X, sensitive_features=gender)
    )
    other = fairness_scorer(ConditionalParity("schooling"))
    assert other(model, X, y, sensitive_features=gender) < 0
    Z, amount, gender = pay(20)
    numbers = FairTreeRegressor(max_depth=1).fit(Z, amount)
    assert didi_scorer(numbers, Z, amount, sensitive_features=gender) == pytest.approx(
        -didi(numbers.predict(Z), sensitive_features=gender, task="regression")
    )
    with pytest.raises(InputError, match="was given no sensitive_features"):
        didi_scorer(model, X, y)
    with pytest.raises(InputError, match="needs a notion"):
        fairness_scorer(None, sensitive_features="a")(model, X, y)  # type: ignore[arg-type]
    assert "didi" in repr(didi_scorer)
