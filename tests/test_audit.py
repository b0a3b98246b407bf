"""The audit as pure data: the same numbers as the metrics, for all protected columns, each alone, each left out."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evenleaf import metrics
from evenleaf.audit import AuditReport, View, audit, audit_file
from evenleaf.errors import InputError


def people(n: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    race, sex = rng.choice(["p", "q", "r"], n), rng.choice(["f", "m"], n)
    age = rng.integers(20, 60, n)
    return pd.DataFrame(
        {
            "age": age,
            "job": rng.choice(["x", "y", "z"], n),
            "race": race,
            "sex": sex,
            "area": rng.choice(["north", "south"], n),
            "granted": np.where(rng.random(n) < 0.3 + 0.3 * (race == "p") + 0.005 * (age - 20), "yes", "no"),
            "amount": np.round(rng.normal(10, 3, n) + 2.0 * (sex == "m"), 2),
            "stands_for": rng.integers(1, 5, n),
        }
    )


FRAME = people()
FEATURES = ["age", "job", "area", "amount"]
ONE: dict[str, Any] = {"target": "granted", "protected": "race", "ignore": ["sex", "stands_for"], "n_resamples": 50}


def value(view: View, index: str) -> float:
    found = view.value(index)
    assert found is not None
    return found


def test_one_protected_column_gives_one_view_with_the_metrics_numbers() -> None:
    report = audit(FRAME, **ONE)
    (view,) = report.views
    race = FRAME["race"]
    assert (view.how, view.columns, view.without, view.n_groups) == ("joint", ("race",), None, 3)
    assert report.index("didi") == pytest.approx(metrics.didi(FRAME["granted"], sensitive_features=race))
    expected = metrics.dtdi(FRAME["granted"], FRAME[FEATURES], sensitive_features=race)
    assert report.index("dtdi") == pytest.approx(expected)
    rates = metrics.rate_by_group(
        "selection_rate", FRAME["granted"], FRAME["granted"], sensitive_features=race, positive="yes"
    )
    assert {group.group: group.figures[0]["value"] for group in view.groups} == pytest.approx(rates)
    assert {group.group: group.n for group in view.groups} == race.value_counts().to_dict()
    assert report.overall[0]["value"] == pytest.approx((FRAME["granted"] == "yes").mean())


@pytest.mark.parametrize("groups", ["joint", "each"])
def test_what_the_groups_contribute_adds_up(groups: Any) -> None:
    options = ONE | {"protected": ["race", "sex"], "ignore": [], "groups": groups}
    for view in audit(FRAME, **options).views:
        for note in view.indices if view.groups else ():
            assert sum(group.contributions[note.index] for group in view.groups) == pytest.approx(note.value)


def test_three_protected_columns_jointly_alone_and_left_out() -> None:
    names = ["race", "sex", "area"]
    report = audit(FRAME, target="granted", protected=names, ignore=["stands_for"], n_resamples=20)
    found = {(view.how, view.columns, view.without): view for view in report.views}
    assert list(found) == [
        ("joint", ("race", "sex", "area"), None),
        ("alone", ("race",), None),
        ("alone", ("sex",), None),
        ("alone", ("area",), None),
        ("without", ("sex", "area"), "race"),
        ("without", ("race", "area"), "sex"),
        ("without", ("race", "sex"), "area"),
    ]
    for (how, columns, _), view in found.items():
        y, groups = FRAME["granted"], FRAME[list(columns)]
        assert value(view, "didi") == pytest.approx(metrics.didi(y, sensitive_features=groups))
        # A protected column stays out of the distance also where it is not compared by.
        bare = FRAME[["age", "job", "amount"]]
        assert value(view, "dtdi") == pytest.approx(metrics.dtdi(y, bare, sensitive_features=groups))
        assert bool(view.groups) == (how != "without")


def test_each_column_by_itself_is_a_sum() -> None:
    names = ["race", "sex", "area"]
    options: dict[str, Any] = {"target": "granted", "protected": names, "groups": "each", "n_resamples": 20}
    first, *rest = audit(FRAME, **options).views
    assert (first.how, first.n_groups, first.groups) == ("each", 7, ())
    alone = {view.columns[0]: view for view in rest if view.how == "alone"}
    without = {view.without: view for view in rest if view.how == "without"}
    for index in ("didi", "dtdi"):
        total = sum(value(view, index) for view in alone.values())
        assert value(first, index) == pytest.approx(total)
        for name in names:
            assert value(without[name], index) == pytest.approx(total - value(alone[name], index))
    assert first.indices[1].empty_terms == sum(view.indices[1].empty_terms for view in alone.values())


def test_numbers_have_means() -> None:
    report = audit(FRAME, target="amount", protected="sex", ignore=["stands_for"], n_resamples=50)
    assert (report.task, report.task_inferred, report.classes, report.positive) == ("regression", True, None, None)
    means = FRAME.groupby("sex")["amount"].mean().to_dict()
    (view,) = report.views
    assert {group.group: group.figures[0]["value"] for group in view.groups} == pytest.approx(means)
    expected = metrics.didi(FRAME["amount"], sensitive_features=FRAME["sex"], task="regression")
    assert report.index("didi") == pytest.approx(expected)


def test_several_classes_show_every_rate_unless_one_is_named() -> None:
    options = ONE | {"target": "job", "protected": "sex", "ignore": []}
    assert [figure["label"] for figure in audit(FRAME, **options).overall] == ["x", "y", "z"]
    named = audit(FRAME, **options, positive="y")
    assert (named.positive, [figure["label"] for figure in named.overall]) == ("y", ["y"])


def test_numbers_can_be_classes_and_are_found_by_their_text() -> None:
    frame = FRAME.assign(granted=(FRAME["granted"] == "yes").astype(int))
    assert audit(frame, **ONE).positive == 1
    assert audit(frame, **ONE, positive="0").positive == 0
    assert audit(frame, **ONE, task="regression").classes is None
    codes = FRAME.assign(granted=np.arange(60) % 25)
    assert audit(codes, **ONE).task == "regression"
    assert audit(codes, **ONE, categorical=["granted"]).task == "classification"


def test_weights_count() -> None:
    report = audit(FRAME, target="granted", protected="race", ignore=["sex"], weight="stands_for", n_resamples=50)
    weight = FRAME["stands_for"]
    expected = metrics.didi(FRAME["granted"], sensitive_features=FRAME["race"], sample_weight=weight)
    assert report.index("didi") == pytest.approx(expected)
    assert report.overall[0]["value"] == pytest.approx(np.average(FRAME["granted"] == "yes", weights=weight))
    assert [column.role for column in report.columns if column.name == "stands_for"] == ["weight"]


def test_columns_say_what_they_were_taken_for() -> None:
    frame = FRAME.assign(job=FRAME["job"].where(FRAME.index > 0))
    report = audit(frame, target="granted", protected="race", categorical=["age"], n_resamples=20)
    found = {column.name: (column.role, column.kind, column.n_levels, column.n_missing) for column in report.columns}
    assert found["granted"] == ("target", "categorical", 2, 0)
    assert found["race"] == ("protected", "categorical", 3, 0)
    assert found["age"] == ("feature", "categorical", FRAME["age"].nunique(), 0)
    assert found["job"] == ("feature", "categorical", 3, 1)
    assert found["amount"] == ("feature", "quantitative", None, 0)


def test_incomplete_rows_are_left_out_on_request_and_counted() -> None:
    frame = FRAME.assign(granted=FRAME["granted"].where(FRAME.index > 0), age=FRAME["age"].where(FRAME.index < 59))
    report = audit(frame, **ONE, drop_incomplete=True)
    assert (report.n_people, report.n_dropped) == (58, 2)
    assert report.index("didi") == audit(FRAME.iloc[1:-1], **ONE).index("didi")
    assert any("2 rows with a missing value" in note for note in report.notes)
    with pytest.raises(InputError, match="'granted' is missing in row 1; fill it in, or leave out incomplete rows"):
        audit(frame, **ONE)


def test_any_frame_gives_the_same_report(tmp_path: Path) -> None:
    expected = audit(FRAME, **ONE)
    FRAME.to_csv(tmp_path / "people.csv", index=False)
    for other in (
        audit(pl.from_pandas(FRAME), **ONE),
        audit(FRAME.to_dict("list"), **ONE),
        audit(pl.from_pandas(FRAME).to_arrow(), **ONE),
        audit_file(tmp_path / "people.csv", **ONE),
    ):
        assert other == expected


def test_ignored_columns_may_hold_anything() -> None:
    frame = FRAME.assign(born=dt.datetime(2000, 1, 1))
    options = ONE | {"ignore": [*ONE["ignore"], "born"]}
    assert audit(frame, **options) == audit(FRAME, **ONE)
    with pytest.raises(InputError, match="'born' holds dates"):
        audit(frame, **ONE)


def test_the_json_is_pure_and_its_keys_are_stable() -> None:
    data = audit(FRAME, **ONE).to_json()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert list(data) == [
        "format",
        "version",
        "target",
        "task",
        "task_inferred",
        "classes",
        "positive",
        "n_people",
        "n_dropped",
        "overall",
        "columns",
        "views",
        "settings",
        "notes",
    ]
    (view,) = data["views"]
    assert list(view) == ["how", "columns", "without", "n_groups", "indices", "groups"]
    assert list(view["indices"][0]) == ["index", "value", "n_terms", "empty_terms"]
    assert list(view["groups"][0]) == ["group", "n", "share", "figures", "contributions"]
    assert list(view["groups"][0]["figures"][0]) == ["measure", "label", "value", "low", "high"]
    assert list(data["columns"][0]) == ["name", "role", "kind", "n_levels", "n_missing"]


def test_a_report_is_repeatable_and_frozen() -> None:
    report = audit(FRAME, **ONE)
    assert report == audit(FRAME, **ONE)
    assert report != audit(FRAME, **ONE, random_state=1)
    with pytest.raises(AttributeError):
        report.target = "other"  # type: ignore[misc]


def test_one_index_alone() -> None:
    assert audit(FRAME, **ONE, index="didi").index("dtdi") is None
    assert audit(FRAME, **ONE, index="dtdi").index("didi") is None


def test_without_features_all_means_impact_alone() -> None:
    report: AuditReport = audit(FRAME[["race", "granted"]], target="granted", protected="race", n_resamples=20)
    assert report.index("dtdi") is None
    assert any("DTDI was left out" in note for note in report.notes)


def test_small_groups_are_pointed_out() -> None:
    report = audit(FRAME, **ONE)
    (note,) = report.notes
    assert "fewer than 30 people: p (" in note


def test_progress_is_told_once() -> None:
    seen: list[float] = []
    audit(FRAME, **ONE | {"protected": ["race", "sex", "area"], "ignore": []}, progress=seen.append)
    assert seen == [1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "grantd"}, "no column 'grantd'; did you mean 'granted'"),
        ({"protected": "rase"}, "did you mean 'race'"),
        ({"protected": []}, "no protected column was given"),
        ({"protected": ["race", "race"]}, "'race' is given as protected twice"),
        ({"protected": "granted"}, "'granted' is the target and also protected"),
        ({"ignore": ["race"]}, "'race' is to be ignored and also protected"),
        ({"ignore": ["granted"]}, "'granted' is to be ignored and also the target"),
        ({"ignore": ["agee"]}, "did you mean 'age'"),
        ({"weight": "race"}, "'race' is protected and also the weight"),
        ({"weight": "weigth"}, "no column 'weigth'"),
        ({"categorical": ["jop"]}, "did you mean 'job'"),
        ({"positive": "maybe"}, "no class 'maybe'; its classes are"),
        ({"target": "amount", "positive": "3"}, "'amount' is a number"),
        ({"task": "ranking"}, "task must be one of 'auto'"),
        ({"groups": "both"}, "groups must be one of 'joint', 'each'"),
        ({"index": "gini"}, "index must be one of 'didi', 'dtdi', 'all'"),
        ({"n_neighbors": 61}, "n_neighbors=61 is more than the table has: 60 people"),
        ({"n_neighbors": 0}, "at least 1"),
        ({"confidence": 2}, "between 0 and 1"),
        ({"ignore": [*FEATURES, "sex", "stands_for"], "index": "dtdi"}, "no feature is left"),
    ],
)
def test_bad_inputs(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        audit(FRAME, **ONE | options)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.assign(granted="yes"), "only one value"),
        (FRAME.assign(race="p"), "'race' has only one group"),
        (FRAME.assign(age=np.inf), "'age' holds an infinite value in row 1"),
        (FRAME.assign(granted=[f"c{i}" for i in range(60)]), "60 classes, too many"),
        (FRAME.assign(age=np.nan), "every row has a missing value"),
    ],
)
def test_bad_tables(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(InputError, match=message):
        audit(frame, **ONE, drop_incomplete=True)
