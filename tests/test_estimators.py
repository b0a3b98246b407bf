"""The estimators keep scikit-learn's contract, and say what the tree and its proof are."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, estimator_checks_generator

import evenleaf
from estimator_data import hiring, pay, strange_rows
from evenleaf import FairTreeClassifier, FairTreeFrontier, FairTreeRegressor
from evenleaf.errors import InputError
from evenleaf.estimators import NotProvenWarning
from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Misclassification, Shape, pose
from evenleaf.solve import solve
from evenleaf.table import People, Table, make_groups, make_outcome, make_weight
from evenleaf.tree import Branch

CHECKED = [FairTreeClassifier(), FairTreeRegressor(), FairTreeFrontier()]
N_CHECKS = {"FairTreeClassifier": 61, "FairTreeRegressor": 58, "FairTreeFrontier": 48}
# This one runs only where scipy was started with its array interface on: see the test after the next.
ELSEWHERE = "check_array_api_input"


def all_checks() -> list[Any]:
    found = []
    for estimator in CHECKED:
        for number, (instance, check) in enumerate(estimator_checks_generator(estimator)):
            name = f"{type(estimator).__name__}-{number}-{check.func.__name__}"
            found.append(pytest.param(instance, check, id=name))
    return found


def test_no_check_is_missing() -> None:
    found = {type(estimator).__name__: len(list(estimator_checks_generator(estimator))) for estimator in CHECKED}
    assert found == N_CHECKS


@pytest.mark.parametrize(("estimator", "check"), [one for one in all_checks() if ELSEWHERE not in str(one.id)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_scikit_learn_with_the_array_interface() -> None:
    source = """
from sklearn.utils.estimator_checks import check_array_api_input
from evenleaf import FairTreeClassifier, FairTreeFrontier, FairTreeRegressor
for estimator in (FairTreeClassifier(), FairTreeRegressor(), FairTreeFrontier()):
    check_array_api_input("tree", estimator, array_namespace="numpy", expect_only_array_outputs=False)
    print("passed")
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    said = subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["passed"] * 3


@pytest.mark.parametrize("estimator", CHECKED[:2], ids=lambda one: type(one).__name__)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_column_names(estimator: Any) -> None:
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)


def test_import_is_light() -> None:
    source = "import sys, evenleaf; print([m for m in ('sklearn', 'numba', 'scipy', 'pandas') if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
    assert set(evenleaf.__all__) == set(dir(evenleaf))
    with pytest.raises(AttributeError, match="no attribute 'FairForest'"):
        _ = evenleaf.FairForest


@pytest.fixture(scope="module")
def fitted() -> FairTreeClassifier:
    X, y, gender = hiring()
    model = FairTreeClassifier(fairness=DisparateTreatment(n_neighbors=5), fairness_weight=0.3)
    return model.fit(X, y, sensitive_features=gender)


def test_the_answer_is_the_solvers(fitted: FairTreeClassifier) -> None:
    X, y, gender = hiring()
    people = People(
        Table.of(X),
        make_outcome(y, task="classification", name="hired"),
        make_groups(Table.of({"gender": gender})),
        make_weight(None, len(y)),
    )
    problem = pose(people, fairness=DisparateTreatment(n_neighbors=5), fairness_weight=0.3, shape=Shape(max_depth=2))
    answer = solve(problem)
    assert fitted.solution_.proven
    assert fitted.solution_.objective == pytest.approx(answer.objective, abs=1e-12)
    score = problem.evaluate(fitted.tree_)
    assert score.objective == pytest.approx(answer.objective, abs=1e-12)
    assert fitted.score(X, y) == pytest.approx(1 - score.loss)
    assert fitted.fairness_["disparate treatment"].decisions == pytest.approx(score.discrimination)
    assert fitted.fairness_["disparate treatment"].data > fitted.fairness_["disparate treatment"].decisions
    assert set(fitted.fairness_) == {"disparate treatment", "disparate impact", "disparate mistreatment"}


def test_predictions_fit_together(fitted: FairTreeClassifier) -> None:
    X, _, _ = hiring()
    rows = strange_rows(X, 500)
    labels, shares, leaves = fitted.predict(rows), fitted.predict_proba(rows), fitted.apply(rows)
    assert list(fitted.classes_) == ["no", "yes"]
    assert labels.tolist() == fitted.tree_.predict(rows).tolist()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    path = fitted.decision_path(rows)
    assert isinstance(path, sp.csr_array)
    assert path.shape == (500, len(fitted.tree_.nodes))
    assert path[np.arange(500), leaves].all()
    assert path[:, [0]].toarray().all()
    for node in fitted.tree_.nodes:
        if isinstance(node, Branch):
            below = path[:, [node.left]].toarray() | path[:, [node.right]].toarray()
            assert (below == path[:, [fitted.tree_.nodes.index(node)]].toarray()).all()
    explained = fitted.explain(rows)
    assert all(sentence.endswith(f"so hired = {label}") for sentence, label in zip(explained, labels, strict=True))
    assert (fitted.get_depth(), fitted.get_n_leaves()) == (fitted.tree_.depth, fitted.tree_.n_leaves)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(fitted.predict_log_proba(rows), np.log(shares))


def test_shares_are_those_of_the_training_people() -> None:
    X = pd.DataFrame({"x": [1, 1, 1, 2, 2]})
    model = FairTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1, 1], sample_weight=[1, 1, 1, 2, 3])
    np.testing.assert_allclose(model.predict_proba(X), [[2 / 3, 1 / 3]] * 3 + [[0, 1]] * 2)


def test_importances_count_what_parts_people() -> None:
    X = pd.DataFrame({"noise": [1, 2, 1, 2, 1, 2, 1, 2], "x": [1, 1, 1, 1, 2, 2, 2, 2], "g": list("abababab")})
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    model = FairTreeClassifier().fit(X, y, sensitive_features="g")
    assert model.feature_importances_.tolist() == [0, 1, 0]
    nothing = FairTreeClassifier(max_depth=0).fit(X, y, sensitive_features="g")
    assert nothing.feature_importances_.tolist() == [0, 0, 0]
    numbers = FairTreeRegressor(max_depth=1).fit(X[["noise", "x"]], np.array(y) * 3.0)
    assert numbers.feature_importances_.tolist() == [0, 1]


def test_regression() -> None:
    X, y, gender = pay()
    plain = FairTreeRegressor(max_depth=1).fit(X, y)
    fair = FairTreeRegressor(max_depth=1, fairness="didi", fairness_weight=5.0).fit(X, y, sensitive_features=gender)
    assert plain.solution_.proven
    assert fair.solution_.proven
    mean_error = float(np.abs(plain.predict(X) - y).mean())
    assert plain.solution_.objective == pytest.approx(mean_error)
    assert fair.fairness_["disparate impact"].decisions < fair.fairness_["disparate impact"].data
    assert y.min() <= fair.predict(X).min() <= fair.predict(X).max() <= y.max()
    assert fair.explain(X.head(1))[0].count("pay = ") == 1


def test_the_constrained_form_and_costs() -> None:
    X, y, gender = hiring()
    limited = FairTreeClassifier(fairness="didi", max_discrimination=0.1).fit(X, y, sensitive_features=gender)
    assert limited.fairness_["disparate impact"].decisions <= 0.1 + 1e-9
    costly = FairTreeClassifier(max_depth=1, costs=[[0, 1], [100, 0]]).fit(X, y)
    assert (costly.predict(X) == "yes").mean() > (y == "yes").mean()
    assert costly.solution_.objective == pytest.approx(
        Misclassification([[0, 1], [100, 0]]).value(
            make_outcome(y, task="classification"),
            (costly.predict(X) == "yes").astype(int),
            np.full(len(y), 1 / len(y)),
        )
    )


def test_limits_reach_the_tree() -> None:
    X, y, _ = hiring()
    small = FairTreeClassifier(max_leaves=3, allowed_features=["skill", "works nights"], max_features_used=1).fit(X, y)
    assert small.get_n_leaves() <= 3
    assert small.feature_importances_[1] == 0
    assert len(small.tree_.feature_uses) <= 1


@pytest.mark.parametrize("copy", ["pickle", "joblib", "skops"])
@pytest.mark.needs("skops")
def test_copies_are_equal(fitted: FairTreeClassifier, copy: str, tmp_path: Any) -> None:
    X, _, _ = hiring()
    if copy == "pickle":
        again = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    elif copy == "joblib":
        joblib.dump(fitted, tmp_path / "model.joblib")
        again = joblib.load(tmp_path / "model.joblib")
    else:
        import skops.io

        written = skops.io.dumps(fitted)
        trusted = skops.io.get_untrusted_types(data=written)
        assert all(name.startswith("evenleaf.") for name in trusted)
        assert len(trusted) == 2  # the estimator and its notion: everything else is plain
        again = skops.io.loads(written, trusted=trusted)
    rows = strange_rows(X, 200)
    assert again.tree_ == fitted.tree_
    assert again.predict(rows).tolist() == fitted.predict(rows).tolist()
    np.testing.assert_array_equal(again.predict_proba(rows), fitted.predict_proba(rows))
    assert again.solution_.proven
    assert again.solution_.trace == fitted.solution_.trace
    assert again.fairness_ == fitted.fairness_
    assert again.get_params()["fairness_weight"] == 0.3


def test_the_question_can_be_posed_again(fitted: FairTreeClassifier) -> None:
    X, y, gender = hiring()
    problem = fitted.pose(X, y, sensitive_features=gender)
    assert problem.fairness_weight == 0.3
    assert problem.evaluate(fitted.tree_) == fitted.solution_.score
    plain = FairTreeClassifier().fit(X, y)
    assert plain.pose(X, y).evaluate(plain.tree_) == plain.solution_.score
    amount = pay(20)
    numbers = FairTreeRegressor(max_depth=1).fit(*amount[:2])
    assert numbers.pose(*amount[:2]).evaluate(numbers.tree_) == numbers.solution_.score


def test_of_equal_trees_the_order_of_rows_does_not_choose() -> None:
    X, y, _ = hiring()
    order = np.random.default_rng(0).permutation(len(y))
    twice = np.repeat(np.arange(len(y)), 2)
    plain = FairTreeClassifier().fit(X, y)
    assert FairTreeClassifier().fit(X.iloc[order], y.iloc[order]).tree_ == plain.tree_
    assert FairTreeClassifier().fit(X.iloc[twice], y.iloc[twice]).tree_ == plain.tree_


def test_clone_forgets_the_tree(fitted: FairTreeClassifier) -> None:
    bare = clone(fitted)
    assert not hasattr(bare, "tree_")
    assert str(bare.get_params()) == str(fitted.get_params())
    X, _, _ = hiring()
    with pytest.raises(NotFittedError):
        bare.predict(X)


def test_refit_forgets_what_was() -> None:
    X, y, gender = hiring()
    model = FairTreeFrontier(max_depth=1, fairness="didi").fit(X, y, sensitive_features=gender)
    assert hasattr(model, "classes_")
    Z, amount, gender = pay(12)
    model.set_params(task="regression").fit(Z[["skill"]], amount, sensitive_features=gender)
    assert not hasattr(model, "classes_")


def test_the_same_question_has_the_same_answer() -> None:
    X, y, gender = hiring()
    first, second = (
        FairTreeClassifier(fairness="dtdi", fairness_weight=0.2, random_state=seed).fit(X, y, sensitive_features=gender)
        for seed in (None, np.random.RandomState(3))
    )
    assert first.tree_ == second.tree_


def test_out_of_time_is_a_warning_and_still_a_tree() -> None:
    X, y, gender = hiring(400)
    model = FairTreeClassifier(fairness="dtdi", time_limit=1e-6)
    with pytest.warns(NotProvenWarning, match="not proven optimal .time limit.*could be up to"):
        model.fit(X, y, sensitive_features=gender)
    assert issubclass(NotProvenWarning, ConvergenceWarning)
    assert not model.solution_.proven
    assert len(model.predict(X)) == 400


def test_a_heuristic_that_was_asked_for_is_no_warning() -> None:
    X, y, _ = hiring()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not FairTreeClassifier(solver="greedy").fit(X, y).solution_.proven


def test_verbose_tells(capsys: pytest.CaptureFixture[str]) -> None:
    X, y, _ = hiring()
    FairTreeClassifier(verbose=1).fit(X, y)
    assert "bound" in capsys.readouterr().err
    FairTreeClassifier().fit(X, y)
    assert capsys.readouterr().err == ""


def test_notebooks_show_the_tree(fitted: FairTreeClassifier) -> None:
    bare = FairTreeClassifier()._repr_html_()
    shown = fitted._repr_html_()
    assert "<svg" not in bare
    assert "people</tspan>" in shown
    assert "status     proven" in shown
    assert fitted._repr_mimebundle_()["text/html"].count('role="img"') == 1
    assert repr(FairTreeClassifier(max_depth=3)) == "FairTreeClassifier(max_depth=3)"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fairness": "dttdi"}, "there is no fairness notion 'dttdi'; did you mean 'dtdi'"),
        ({"fairness": 3}, "fairness must be None, a notion such as"),
        ({"fairness": "didi"}, "pass sensitive_features to fit"),
        ({"fairness_weight": 1.0}, "no fairness notion to measure it by"),
        ({"max_depth": -1}, "max_depth must be at least 0"),
        ({"solver": "simplex"}, "there is no solver 'simplex'"),
        ({"time_limit": -1}, "time_limit must be a positive number"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"allowed_features": ["skil"]}, "did you mean 'skill'"),
        ({"categorical_features": ["skil"]}, "did you mean 'skill'"),
        ({"costs": [[0, 1]]}, "cost matrix must have 2 rows"),
        ({"solver_options": {"threads": 1}}, "say which one they are for"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    X, y, _ = hiring(20)
    with pytest.raises(InputError, match=message):
        FairTreeClassifier(**settings).fit(X, y)


def test_both_forms_at_once() -> None:
    X, y, gender = hiring(20)
    model = FairTreeClassifier(fairness=DisparateImpact(), fairness_weight=1.0, max_discrimination=0.1)
    with pytest.raises(InputError, match="not both"):
        model.fit(X, y, sensitive_features=gender)
