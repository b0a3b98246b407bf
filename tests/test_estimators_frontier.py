"""The whole trade-off as an estimator: its frame, its trees, the ways to choose one, and a cluster to find it on."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from estimator_data import hiring, pay
from evenleaf import FairTreeClassifier, FairTreeFrontier, FairTreeRegressor
from evenleaf.errors import InputError
from evenleaf.estimators import NotProvenWarning
from evenleaf.solve import FrontierPoint
from evenleaf.solve.preference import Preference, Question, knee, least_loss

COLUMNS = ["weight_from", "weight_to", "loss", "discrimination", "depth", "leaves", "proven"]


@pytest.fixture(scope="module")
def found() -> FairTreeFrontier:
    X, y, gender = hiring()
    return FairTreeFrontier(fairness="dtdi").fit(X.assign(gender=gender), y, sensitive_features="gender")


def test_the_frame_has_a_row_a_tree(found: FairTreeFrontier) -> None:
    frame = found.frontier_
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == COLUMNS
    assert len(frame) == len(found.trees_) == len(found.points_) >= 3
    assert found.proven_
    assert frame["proven"].all()
    assert frame["loss"].is_monotonic_increasing
    assert frame["discrimination"].is_monotonic_decreasing
    assert frame["weight_from"].tolist()[1:] == frame["weight_to"].tolist()[:-1]
    assert frame["leaves"].tolist() == [tree.n_leaves for tree in found.trees_]


@pytest.mark.needs("polars")
def test_the_frame_is_of_the_callers_kind() -> None:
    import polars as pl

    X, y, gender = hiring(60)
    model = FairTreeFrontier(max_depth=1, fairness="didi")
    assert isinstance(model.fit(pl.from_pandas(X), y, sensitive_features=gender).frontier_, pl.DataFrame)
    assert isinstance(model.fit(X[["skill"]].to_numpy(), y, sensitive_features=gender).frontier_, pd.DataFrame)


def test_without_a_frame_library_there_is_a_dict(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, gender = hiring(60)
    model = FairTreeFrontier(max_depth=1, fairness="didi").fit(X[["skill"]].to_numpy(), y, sensitive_features=gender)
    monkeypatch.setattr("evenleaf.estimators.frames.find_spec", lambda _: None)
    assert list(model.frontier_) == COLUMNS


def test_a_weight_selects_what_a_single_fit_finds(found: FairTreeFrontier) -> None:
    X, y, gender = hiring()
    for weight in (0.0, 0.2, 0.5, 1.0, 30.0):
        chosen = found.select(fairness_weight=weight)
        assert isinstance(chosen, FairTreeClassifier)
        single = FairTreeClassifier(fairness="dtdi", fairness_weight=weight).fit(X, y, sensitive_features=gender)
        index = chosen.fairness_["disparate treatment"].decisions
        loss = 1 - chosen.score(X, y)
        assert loss + weight * index == pytest.approx(single.solution_.objective, abs=1e-9)
        assert chosen.solution_.proven


def test_a_selected_model_is_a_whole_estimator(found: FairTreeFrontier) -> None:
    X, y, gender = hiring()
    model = found.select(fairness_weight=0.3)
    assert model.predict(X).tolist() == model.tree_.predict(X).tolist()
    assert model.predict_proba(X).shape == (len(y), 2)
    assert model.n_features_in_ == 4
    assert model.protected_ == ("gender",)
    assert len(model.feature_importances_) == 4
    assert len(model.explain(X.head(2))) == 2
    again = clone(model).fit(X, y, sensitive_features=gender)
    assert again.solution_.objective == pytest.approx(model.solution_.objective, abs=1e-9)


def test_a_limit_selects_the_least_loss(found: FairTreeFrontier) -> None:
    frame = found.frontier_
    for limit in (0.0, *frame["discrimination"], 1.0):
        fair = frame[frame["discrimination"] <= limit + 1e-9]
        chosen = found.select(max_discrimination=limit)
        assert chosen.fairness_["disparate treatment"].decisions == pytest.approx(fair["discrimination"].max())
    with pytest.raises(InputError, match="at least 0"):
        found.select(max_discrimination=-1)


def test_the_knee_is_where_the_curve_bends() -> None:
    corner = [point(0.0, 1.0), point(0.1, 0.1), point(1.0, 0.0)]
    assert knee(corner) is corner[1]
    assert knee(corner[:1]) is corner[0]
    assert least_loss(corner, 0.5) is corner[1]


def test_nothing_said_is_the_knee(found: FairTreeFrontier) -> None:
    assert found.select().tree_ == knee(found.points_).tree


def test_one_way_at_a_time(found: FairTreeFrontier) -> None:
    with pytest.raises(InputError, match="give one of"):
        found.select(fairness_weight=1.0, max_discrimination=0.1)
    with pytest.raises(InputError, match=r"no trade-off for max_depth=7; there is for \[2\]"):
        found.select(max_depth=7)


def point(loss: float, discrimination: float, low: float = 0.0, high: float = np.inf) -> FrontierPoint:
    nothing: Any = None
    return FrontierPoint(nothing, loss, discrimination, low, high, True, 2, 4)


def curve(n_points: int) -> list[FrontierPoint]:
    """Points on a parabola, whose λ are the slopes between them."""
    spots = [(i**2 / n_points**2, (n_points - 1 - i) / n_points) for i in range(n_points)]
    slopes = [(b[0] - a[0]) / (a[1] - b[1]) for a, b in pairwise(spots)]
    return [point(*spot, low, high) for spot, low, high in zip(spots, [0, *slopes], [*slopes, np.inf], strict=True)]


@pytest.mark.parametrize("n_points", [1, 2, 3, 8, 20])
def test_whoever_has_a_weight_ends_at_its_tree_after_few_questions(n_points: int) -> None:
    points = curve(n_points)
    for weight in (0.0, *(p.weight_from + 1e-6 for p in points), 99.0):
        preference, asked = Preference.over(points), 0
        while (question := preference.question()) is not None:
            assert question.a.loss < question.b.loss
            values = [p.loss + weight * p.discrimination for p in (question.a, question.b)]
            preference = preference.answer("a" if values[0] <= values[1] else "b")
            asked += 1
        best = min(points, key=lambda p: p.loss + weight * p.discrimination)
        assert preference.done
        assert preference.result is best
        assert preference.weight_from <= weight <= preference.weight_to
        assert asked <= int(np.ceil(np.log2(n_points))) + 1


def test_answers_are_understood_and_change_nothing_in_place() -> None:
    start = Preference.over(curve(8))
    question = start.question()
    assert question is not None
    middle = start.result
    fairer = start.answer("b")
    assert start.result is middle
    assert fairer.weight_from == question.weight
    even = start.answer("either")
    assert even.done
    assert even.result.weight_from <= question.weight <= even.result.weight_to
    with pytest.raises(InputError, match="must be 'a', 'b' or 'either'"):
        start.answer("c")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nothing left to ask"):
        even.answer("a")
    with pytest.raises(InputError, match="no tree to choose from"):
        Preference.over([])


def test_a_question_in_words() -> None:
    words = str(Question(point(0.18, 0.04), point(0.2, 0.01)))
    assert "A: loss 0.18, discrimination 0.04, 4 leaves" in words
    assert "B loses 0.02 more and takes away 75% of the discrimination" in words


def test_answers_select_a_tree(found: FairTreeFrontier) -> None:
    preference = found.preference()
    while not preference.done:
        preference = preference.answer("b")
    assert found.select(preference=preference).tree_ == found.trees_[-1]


def test_over_depths() -> None:
    X, y, gender = hiring(80)
    model = FairTreeFrontier(max_depth=[1, 0, 2], fairness="dtdi").fit(
        X[["skill", "schooling"]], y, sensitive_features=gender
    )
    frame = model.frontier_
    assert list(frame.columns) == ["max_depth", *COLUMNS]
    assert sorted(set(frame["max_depth"])) == [0, 1, 2]
    assert (frame["depth"] <= frame["max_depth"]).all()
    assert model.select(fairness_weight=0.0).max_depth == 2
    assert model.select(fairness_weight=0.0, max_depth=1).tree_.depth <= 1
    assert model.proven_


def test_numbers() -> None:
    X, y, gender = pay(14)
    model = FairTreeFrontier(max_depth=1, fairness="didi", task="regression").fit(
        X[["skill"]], y, sensitive_features=gender
    )
    assert model.proven_
    assert isinstance(model.select(), FairTreeRegressor)
    single = FairTreeRegressor(max_depth=1, fairness="didi", fairness_weight=0.2).fit(
        X[["skill"]], y, sensitive_features=gender
    )
    chosen = model.select(fairness_weight=0.2)
    value = np.abs(chosen.predict(X[["skill"]]) - y).mean() + 0.2 * chosen.fairness_["disparate impact"].decisions
    assert value == pytest.approx(single.solution_.objective, abs=3e-6)


def test_notebooks_show_the_table(found: FairTreeFrontier) -> None:
    shown = found._repr_html_()
    assert shown.count("<tr><td>") >= len(found.points_)
    assert "<th>weight_from</th>" in shown
    assert "<th>weight_from</th>" not in FairTreeFrontier()._repr_html_()


def test_verbose_tells(capsys: pytest.CaptureFixture[str]) -> None:
    X, y, gender = hiring(60)
    FairTreeFrontier(max_depth=1, fairness="didi", verbose=1).fit(X, y, sensitive_features=gender)
    assert "1 weights solved" in capsys.readouterr().err


def test_out_of_time() -> None:
    X, y, gender = hiring(300)
    with pytest.warns(NotProvenWarning, match="trees are not proven optimal"):
        model = FairTreeFrontier(fairness="dtdi", time_limit=1e-6).fit(X, y, sensitive_features=gender)
    assert not model.proven_
    assert not model.frontier_["proven"].all()


@pytest.mark.needs("skops")
def test_copies_are_equal(found: FairTreeFrontier) -> None:
    import skops.io

    written = skops.io.dumps(found)
    copies = [
        pickle.loads(pickle.dumps(found)),  # noqa: S301
        skops.io.loads(written, trusted=skops.io.get_untrusted_types(data=written)),
    ]
    for again in copies:
        pd.testing.assert_frame_equal(again.frontier_, found.frontier_)
        assert again.trees_ == found.trees_
        assert again.select().solution_.proven
        assert [p.weight for p in again.points_] == [p.weight for p in found.points_]


@pytest.mark.needs("distributed")
@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_finds_the_same(found: FairTreeFrontier) -> None:
    from distributed import Client, LocalCluster

    X, y, gender = hiring()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,  # type: ignore[no-untyped-call]
        Client(cluster) as client,  # type: ignore[no-untyped-call]
        joblib.parallel_config(backend="dask"),
    ):
        spread = clone(found).fit(X.assign(gender=gender), y, sensitive_features="gender")
        done = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    pd.testing.assert_frame_equal(spread.frontier_, found.frontier_)
    assert spread.proven_
    assert done > 0
