"""The data sets that are read from a data folder or fetched: the counts of their documentation."""

import gzip
import hashlib
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenleaf.datasets import REGISTRY, Dataset, load_communities, load_compas, load_default
from evenleaf.datasets.communities import IDENTIFIERS, RACE_COLUMNS
from evenleaf.datasets.entry import DataFile
from evenleaf.datasets.fetch import FOLDER_VARIABLE
from evenleaf.errors import InputError

pytestmark = pytest.mark.needs("data")

LEAKS = ("decile_score", "score_text", "v_", "r_", "vr_", "is_recid", "is_violent", "two_year", "event", "violent")
ALL_FILES = [file for entry in REGISTRY.values() for file in entry.files]


def raw(path: str) -> bytes:
    return gzip.decompress((Path(os.environ[FOLDER_VARIABLE]) / f"{path}.gz").read_bytes())


def frame(path: str, **options: Any) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(raw(path)), **options)


def sizes(dataset: Dataset) -> dict[str, int]:
    (groups,) = dataset.people().groups
    return dict(zip(groups.labels, np.bincount(groups.codes).tolist(), strict=True))


def rate(dataset: Dataset, group: str) -> float:
    (groups,) = dataset.people().groups
    members = groups.members(groups.labels.index(group))
    return round(100 * float(dataset.outcome.values[members].mean()), 2)


@pytest.mark.parametrize("file", ALL_FILES, ids=lambda file: file.path)
def test_recorded_checksums(file: DataFile) -> None:
    assert hashlib.sha256(raw(file.path)).hexdigest() == file.sha256


def test_default_counts() -> None:
    default = load_default()
    assert default.n_people == 30_000
    assert default.features.n_columns == 22
    assert default.outcome.classes == ("no default", "default")
    assert default.positive == "default"
    assert round(100 * float(default.outcome.values.mean()), 2) == 22.12
    assert sizes(default) == {"female": 18_112, "male": 11_888}
    assert (rate(default, "male"), rate(default, "female")) == (24.17, 20.78)
    assert not any(column.has_missing for column in default.features.schema)


def test_default_cells_and_unexplained_codes() -> None:
    expected = frame("default/default_of_credit_card_clients.csv", header=1)
    default = load_default()
    found = default.frame_columns()
    for name in set(found) - {"SEX", "EDUCATION", "MARRIAGE", default.outcome.name}:
        assert np.array_equal(found[name], expected[name].to_numpy(dtype=float)), name
    words = {0: "code 0", 1: "graduate school", 2: "university", 3: "high school", 4: "other", 5: "code 5", 6: "code 6"}
    assert (found["EDUCATION"] == expected["EDUCATION"].map(words).to_numpy()).all()
    assert set(found["MARRIAGE"]) == {"married", "single", "other", "code 0"}
    assert (found["PAY_0"] == -2).any()
    assert (found["PAY_0"] == 0).any()
    categorical = [column.name for column in default.features.schema if column.is_categorical]
    assert categorical == ["EDUCATION", "MARRIAGE"]


def test_default_protected_is_a_choice() -> None:
    assert load_default(protected=("SEX", "MARRIAGE")).features.n_columns == 21
    with pytest.raises(InputError, match="did you mean 'SEX'"):
        load_default(protected="sex")


def test_compas_violent_counts() -> None:
    compas = load_compas()
    assert compas.n_people == 10_552
    assert compas.outcome.name == "is_violent_recid"
    assert compas.positive == "new violent charge"
    assert round(100 * float(compas.outcome.values.mean()), 1) == 8.2
    assert sum(sizes(compas).values()) == 10_552
    assert sizes(compas)["African-American"] == 5_244
    assert not any(column.has_missing for column in compas.features.schema)
    table = frame("compas/compas-scores.csv")
    assert ((table["is_recid"] != -1) & table["c_jail_in"].notna()).sum() == 10_576


def test_compas_violent_rows_are_the_documented_ones() -> None:
    table = frame("compas/compas-scores.csv")
    table = table[(table["is_recid"] != -1) & (table["c_charge_degree"] != "O")]
    table = table.dropna(subset=["c_jail_in", "score_text", "v_score_text", "c_charge_desc"])
    found = load_compas(extra=("age_cat", "c_days_from_compas", "c_charge_desc")).frame_columns()
    label = found.pop("is_violent_recid")
    assert np.array_equal(label == "new violent charge", table["is_violent_recid"].to_numpy() == 1)
    for name, values in found.items():
        assert (values == table[name].to_numpy()).all(), name


def test_compas_two_year_counts() -> None:
    compas = load_compas(kind="two_year")
    assert compas.n_people == 7_214
    assert compas.outcome.classes == ("no new charge", "new charge")
    assert round(100 * float(compas.outcome.values.mean()), 2) == 45.07
    gaps = compas.features.missing(compas.features.schema.position("days_b_screening_arrest"))
    assert int(gaps.sum()) == 307
    assert load_compas(kind="two_year", complete=True).n_people == 7_214 - 307
    assert load_compas(kind="two_year", screened_within_30_days=True).n_people == 6_172


def test_compas_violent_two_year_counts() -> None:
    compas = load_compas(kind="violent_two_year")
    assert compas.n_people == 4_743
    assert compas.positive == "new violent charge"
    expected = frame("compas/compas-scores-two-years-violent.csv")["two_year_recid"]
    assert int(compas.outcome.values.sum()) == int(expected.sum())


@pytest.mark.parametrize("name", ["compas-scores", "compas-scores-two-years", "compas-scores-two-years-violent"])
def test_compas_columns_named_twice_hold_the_same(name: str) -> None:
    table = frame(f"compas/{name}.csv")
    twice = [column for column in table.columns if column.endswith(".1")]
    assert "decile_score.1" in twice
    for column in twice:
        assert table[column].equals(table[column.removesuffix(".1")])


@pytest.mark.parametrize("kind", ["violent", "two_year", "violent_two_year"])
def test_compas_features_do_not_tell_the_outcome(kind: str) -> None:
    compas = load_compas(kind=kind, extra=("age_cat", "c_days_from_compas", "c_charge_desc"))  # type: ignore[arg-type]
    names = {*compas.features.schema.names, *compas.protected.schema.names}
    assert not [name for name in names if name.startswith(LEAKS) or "date" in name or "jail" in name]
    assert load_compas(kind=kind).features.n_columns == 8  # type: ignore[arg-type]


def test_compas_two_race_groups_and_wrong_options() -> None:
    assert sizes(load_compas(race="african_american_or_not")) == {
        "African-American": 5_244,
        "not African-American": 5_308,
    }
    with pytest.raises(InputError, match="not a kind of COMPAS"):
        load_compas(kind="two_years_later")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no column 'decile_score'"):
        load_compas(extra=["decile_score"])
    with pytest.raises(InputError, match="no column 'is_recid'"):
        load_compas(protected=["is_recid"])


def test_communities_by_true_majority() -> None:
    communities = load_communities()
    assert communities.n_people == 1_994
    assert sizes(communities) == {"majority Black": 58, "not majority Black": 1_936}
    assert communities.outcome.task == "regression"
    assert communities.outcome.values.min() >= 0
    assert communities.outcome.values.max() <= 1


def test_communities_by_the_scaled_column() -> None:
    communities = load_communities("normalised")
    assert sizes(communities) == {"normalised racepctblack <= 0.5": 1_755, "normalised racepctblack > 0.5": 239}
    scaled = communities.frame_columns()["race"] == "normalised racepctblack > 0.5"
    # 0.5 on the scale is a share of about 26 %, so that every true majority lies above it.
    assert scaled[load_communities().frame_columns()["race"] == "majority Black"].all()


def test_communities_features() -> None:
    complete, everything = load_communities().features, load_communities(features="all").features
    never = {*IDENTIFIERS, *RACE_COLUMNS, "ViolentCrimesPerPop", "race"}
    assert complete.n_columns == 95
    assert everything.n_columns == 118
    assert not never & set(everything.schema.names)
    assert not any(column.has_missing for column in complete.schema)
    gaps = {name: int(everything.missing(place).sum()) for place, name in enumerate(everything.schema.names)}
    assert sorted(gaps.values())[-23:] == [1, *[1_675] * 22]
    chosen = load_communities(features=["PctIlleg", "population"]).features
    assert chosen.schema.names == ("PctIlleg", "population")


def test_communities_cells() -> None:
    names = (Path(os.environ[FOLDER_VARIABLE]) / "communities/communities.names").read_text()
    columns = [line.split()[1] for line in names.splitlines() if line.startswith("@attribute")]
    expected = frame("communities/communities.data", names=columns, na_values="?")
    found = load_communities(features="all").frame_columns()
    del found["race"]
    for name, values in found.items():
        assert np.array_equal(values, expected[name].to_numpy(dtype=float), equal_nan=True), name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"definition": "majority_white"}, "did you mean 'majority_black'"),
        ({"features": "completed"}, "did you mean 'complete'"),
        ({"features": ["racepctblack"]}, "never a feature: race is protected"),
        ({"features": "fold"}, "never a feature: it says which community it is"),
        ({"features": ["ViolentCrimesPerPop"]}, "never a feature: it is what is predicted"),
        ({"features": ["populations"]}, "did you mean 'population'"),
        ({"n_features": 0}, "between 1 and 95"),
        ({"n_features": 96}, "between 1 and 95"),
    ],
)
def test_communities_wrong_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_communities(**options)  # type: ignore[arg-type]
