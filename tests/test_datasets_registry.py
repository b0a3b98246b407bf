"""The registry, loading by name, and what every Dataset can do."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.datasets import REGISTRY, Dataset, describe, find, load, load_adult, load_diabetes, names
from evenleaf.datasets.load import LOADERS
from evenleaf.errors import InputError
from evenleaf.table import Table, make_outcome, read_columns


@pytest.fixture(scope="module")
def adult() -> Dataset:
    return load_adult(complete=False, survey_weights=True)


def tiny(n: int = 6, **changes: object) -> Dataset:
    columns = {"number": np.arange(n) / 3, "word": np.array(["b", "a", None] * (n // 3), dtype=object)}
    parts: dict[str, object] = {
        "name": "tiny",
        "features": Table.of(columns),
        "protected": Table.of({"group": np.array(["x", "y"] * (n // 2), dtype=object)}),
        "outcome": make_outcome(["yes", "no"] * (n // 2), task="classification", name="label"),
        "positive": "yes",
        "definition": "made up",
    }
    return Dataset(**{**parts, **changes})  # type: ignore[arg-type]


def test_every_entry_has_a_loader_and_says_where_it_is_from() -> None:
    assert names() == ("adult", "default", "compas", "communities", "diabetes")
    assert set(LOADERS) == set(names())
    for name, entry in REGISTRY.items():
        assert entry.name == name
        assert all([entry.title, entry.source, entry.citation, entry.licence, entry.description, entry.groups])
        assert entry.page.startswith("https://")
        assert entry.protected
        assert (entry.positive is None) == (entry.task == "regression")
        for file in entry.files:
            assert len(bytes.fromhex(file.sha256)) == 32
            assert file.path.split("/")[0] == name
            assert all(url.startswith("https://") for url in file.urls)
            assert bool(file.urls) == (name != "adult")


@pytest.mark.parametrize("name", names())
def test_describe_tells_everything_that_was_recorded(name: str) -> None:
    entry, text = find(name), " ".join(describe(name).split())
    for fact in (entry.title, entry.licence, entry.citation, entry.target, entry.groups, entry.description):
        assert " ".join(fact.split()) in text
    for pair in (*entry.dropped, *entry.options):
        assert all(part in text for part in pair)
    assert all(file.sha256 in text for file in entry.files)


@pytest.mark.parametrize("name", names())
def test_options_described_are_options_taken(name: str) -> None:
    described = {option for option, _ in find(name).options}
    assert described == set(LOADERS[name].__annotations__) - {"return", "seed"}


def test_unknown_names_and_options_are_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'adult'"):
        load("adlut")
    with pytest.raises(InputError, match="choose from 'adult', 'default'"):
        describe("zzz")
    with pytest.raises(InputError, match=r"not an option of the data set 'adult'; did you mean 'protected'"):
        load("adult", protectd="race")
    with pytest.raises(InputError, match="'diabetes' has no options"):
        load("diabetes", protected="sex")


def test_load_is_the_loader() -> None:
    assert load("adult", protected="sex", race="white_or_not").people().groups[0].n_groups == 2
    assert load("diabetes").n_people == 442


def test_diabetes_in_its_own_units() -> None:
    diabetes = load_diabetes()
    assert diabetes.n_people == 442
    assert diabetes.features.schema.names == ("age", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
    assert not any(column.is_categorical for column in diabetes.features.schema)
    assert diabetes.outcome.task == "regression"
    assert (diabetes.outcome.values.min(), diabetes.outcome.values.max()) == (25, 346)
    age = diabetes.features.column("age")
    assert (age.min(), age.max()) == (19, 79)
    (sex,) = diabetes.people().groups
    assert sex.labels == ("1", "2")
    assert np.bincount(sex.codes).tolist() == [235, 207]


def test_sample_is_deterministic_without_replacement_and_keeps_rows_together(adult: Dataset) -> None:
    sample, again, other = adult.sample(500, seed=3), adult.sample(500, seed=3), adult.sample(500, seed=4)
    first, second, third = (drawn.frame_columns() for drawn in (sample, again, other))
    assert all((first[name] == second[name])[~missing(first[name])].all() for name in first)
    assert any((first[name] != third[name]).any() for name in first)
    whole = set(zip(*adult.frame_columns().values(), strict=True))
    assert set(zip(*first.values(), strict=True)) <= whole
    assert sample.people().weight.shape == (500,)
    assert sample.outcome.classes == adult.outcome.classes


def missing(values: np.ndarray) -> np.ndarray:
    return np.array([value is None or value != value for value in values])


@given(n=st.integers(1, 12), seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=50)
def test_sample_takes_distinct_rows_in_order(n: int, seed: int) -> None:
    rows = tiny(12).sample(n, seed).features.column("number") * 3
    assert len(rows) == n
    assert (np.diff(rows) > 0).all()


@pytest.mark.parametrize("n", [0, -1, 7])
def test_impossible_samples(n: int) -> None:
    with pytest.raises(InputError, match=f"a sample of {n} cannot be drawn from 6 people"):
        tiny().sample(n)


def test_people_carry_everything() -> None:
    weight = np.array([1.0, 2, 3, 4, 5, 6])
    data = tiny(weight=weight)
    people = data.people()
    assert people.features is data.features
    assert people.outcome is data.outcome
    assert np.array_equal(people.weight, weight)
    assert people.groups[0].labels == ("x", "y")
    taken = data.take(np.array([5, 0]))
    assert taken.weight is not None
    assert taken.weight.tolist() == [6, 1]


def test_frame_columns_are_copies_of_what_was_read() -> None:
    columns = tiny().frame_columns()
    assert list(columns) == ["number", "word", "group", "label"]
    assert columns["word"].tolist() == ["b", "a", None, "b", "a", None]
    assert columns["label"].tolist() == ["yes", "no"] * 3
    columns["number"][0] = 99
    assert tiny().features.column("number")[0] == 0


def test_csv_reads_back_as_the_same_table(adult: Dataset, tmp_path: Path) -> None:
    part = adult.sample(2_000, seed=1)
    part.to_csv(tmp_path / "adult.csv")
    written, expected = read_columns(tmp_path / "adult.csv"), part.frame_columns()
    assert list(written) == list(expected)
    for name, values in expected.items():
        gaps = missing(values)
        assert np.array_equal(missing(written[name]), gaps)
        assert (written[name][~gaps] == values[~gaps]).all()
    assert list(tmp_path.iterdir()) == [tmp_path / "adult.csv"]


def test_csv_keeps_every_digit(tmp_path: Path) -> None:
    numbers = np.array([0.1, 1 / 3, -0.0, 1e-300, 1e300, 2.0**53])
    tiny(features=Table.of({"number": numbers})).to_csv(tmp_path / "numbers.csv")
    assert np.array_equal(read_columns(tmp_path / "numbers.csv")["number"], numbers)


def test_csv_into_nowhere_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        tiny().to_csv(tmp_path / "absent" / "tiny.csv")
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        tiny().to_csv(tmp_path / "taken")
    assert list(tmp_path.iterdir()) == [tmp_path / "taken"]


def test_repr_is_one_readable_line() -> None:
    assert repr(tiny()) == "Dataset('tiny': 6 people, 2 features, protected group, classification of 'label')"


def test_everything_protected_leaves_nothing_to_learn_from() -> None:
    every = [*load_adult().features.schema.names, "race"]
    with pytest.raises(InputError, match="every column is protected"):
        load_adult(protected=every)
