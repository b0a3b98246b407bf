"""Adult as embedded: the published bytes, the counts of its documentation, every option."""

import hashlib
import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenleaf.datasets import Dataset, find, load_adult
from evenleaf.datasets.adult import embedded
from evenleaf.errors import InputError

COLUMNS = [
    *["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"],
    *["race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"],
]


def published() -> pd.DataFrame:
    """The same bytes read by other code."""
    options: dict[str, Any] = {"names": COLUMNS, "skipinitialspace": True, "na_values": "?"}
    parts = [
        pd.read_csv(io.BytesIO(embedded("adult.data")), **options),
        pd.read_csv(io.BytesIO(embedded("adult.test")), skiprows=1, **options),
    ]
    frame = pd.concat(parts, ignore_index=True)
    frame["income"] = frame["income"].str.rstrip(".")
    return frame


@pytest.fixture(scope="module")
def adult() -> Dataset:
    return load_adult()


@pytest.mark.parametrize("name", ["adult.data", "adult.test"])
def test_embedded_bytes_are_the_published_ones(name: str) -> None:
    assert hashlib.sha256(embedded(name)).hexdigest() == find("adult").checksums[f"adult/{name}"]


def test_complete_rows_and_their_classes(adult: Dataset) -> None:
    assert adult.n_people == 45_222
    assert adult.outcome.classes == ("<=50K", ">50K")
    assert adult.positive == ">50K"
    assert round(100 * adult.outcome.values.mean(), 2) == 24.78
    assert not any(column.has_missing for column in adult.features.schema)


def test_five_race_groups_with_their_sizes_and_rates(adult: Dataset) -> None:
    people = adult.people()
    (race,) = people.groups
    sizes = {label: int(race.members(code).sum()) for code, label in enumerate(race.labels)}
    assert sizes == {
        "White": 38_903,
        "Black": 4_228,
        "Asian-Pac-Islander": 1_303,
        "Amer-Indian-Eskimo": 435,
        "Other": 353,
    }
    rates = {label: people.outcome.values[race.members(code)].mean() for code, label in enumerate(race.labels)}
    assert round(100 * rates["White"], 2) == 26.24
    assert round(100 * rates["Black"], 2) == 12.63


def test_two_race_groups() -> None:
    (race,) = load_adult(race="white_or_not").people().groups
    assert race.labels == ("White", "not White")
    assert np.bincount(race.codes).tolist() == [38_903, 45_222 - 38_903]


def test_columns_are_the_published_ones_without_weight_and_copy(adult: Dataset) -> None:
    kept = [name for name in COLUMNS if name not in {"fnlwgt", "education", "race", "income"}]
    assert list(adult.features.schema.names) == kept
    assert adult.protected.schema.names == ("race",)
    quantitative = [column.name for column in adult.features.schema if not column.is_categorical]
    assert quantitative == ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]


@pytest.mark.parametrize("complete", [True, False])
def test_every_cell_is_the_published_one(complete: bool) -> None:
    expected = published()
    if complete:
        expected = expected.dropna().reset_index(drop=True)
    found = load_adult(complete=complete, education="both", survey_weights=True).frame_columns()
    assert len(expected) == (45_222 if complete else 48_842)
    assert set(found) == set(COLUMNS) - {"fnlwgt"} | {"sample_weight"}
    for name, values in found.items():
        column = expected["fnlwgt" if name == "sample_weight" else name]
        missing = column.isna().to_numpy()
        assert np.array_equal(pd.isna(values), missing), name
        assert (values[~missing] == column.to_numpy()[~missing]).all(), name


def test_missing_values_stay_missing_when_asked_for() -> None:
    adult = load_adult(complete=False)
    with_gaps = [column.name for column in adult.features.schema if column.has_missing]
    assert with_gaps == ["workclass", "occupation", "native-country"]


def test_survey_weights_weigh_people_and_are_never_a_feature(adult: Dataset) -> None:
    weighed = load_adult(survey_weights=True)
    assert weighed.features.schema == adult.features.schema
    expected = published().dropna()["fnlwgt"].to_numpy(dtype=float)
    assert np.array_equal(weighed.people().weight, expected)
    assert np.array_equal(adult.people().weight, np.ones(45_222))


def test_education_by_name() -> None:
    names = load_adult(education="name").features.schema.names
    assert "education" in names
    assert "education-num" not in names


def test_several_protected_columns_make_joint_or_separate_groups() -> None:
    adult = load_adult(protected=["race", "sex"])
    assert not {"race", "sex"} & set(adult.features.schema.names)
    assert adult.people("joint").groups[0].n_groups == 10
    assert [groups.n_groups for groups in adult.people("each").groups] == [5, 2]
    assert load_adult(protected="sex").people().groups[0].labels == ("Female", "Male")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protected": ["rase"]}, "did you mean 'race'"),
        ({"protected": ["fnlwgt"]}, "no column 'fnlwgt'"),
        ({"protected": ["income"]}, "no column 'income'"),
        ({"protected": []}, "protected names no column"),
        ({"protected": ["sex", "sex"]}, "names the column 'sex' twice"),
        ({"race": "white"}, "did you mean 'white_or_not'"),
        ({"education": "years"}, "not a value of education"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_adult(**options)  # type: ignore[arg-type]
