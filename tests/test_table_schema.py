"""Schemas: what a column may be, the JSON that travels with a model, names that are nearly right."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.table import Column, Kind, Schema, find_name
from evenleaf.table.schema import check_unique, is_missing, level_label, ordered_levels

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
columns = st.one_of(
    st.builds(Column, names, st.just(Kind.QUANTITATIVE), has_missing=st.booleans()),
    st.builds(
        Column,
        names,
        st.just(Kind.CATEGORICAL),
        st.lists(texts, unique=True, max_size=5).map(tuple),
        st.booleans(),
    ),
)
schemas = st.lists(columns, max_size=5, unique_by=lambda column: column.name).map(lambda cs: Schema(tuple(cs)))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
entries = st.fixed_dictionaries(
    {},
    optional={
        "name": anything | names,
        "kind": anything | st.sampled_from(list(Kind)),
        "levels": anything | st.lists(texts, max_size=3),
        "has_missing": anything | st.booleans(),
        "more": anything,
    },
)


@given(schemas)
def test_json_gives_the_same_schema_back(schema: Schema) -> None:
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


@given(anything | st.lists(anything | entries, max_size=3))
def test_json_from_a_stranger_is_a_schema_or_an_input_error(data: Any) -> None:
    try:
        schema = Schema.from_json(data)
    except InputError as error:
        schema, complaint = None, str(error)
    if schema is None:
        assert complaint
        assert "\n" not in complaint
    else:
        assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (None, "a schema must be a list of columns"),
        ({"name": "age"}, "a schema must be a list of columns"),
        (["age"], "each column of a schema must be an object with a name and a kind"),
        ([{}], "each column of a schema needs a name that is a text"),
        ([{"name": ["age"], "kind": "categorical"}], "needs a name that is a text"),
        ([{"name": "", "kind": "categorical"}], "non-empty text"),
        ([{"name": "age"}], "column 'age': the kind must be 'quantitative' or 'categorical', not None"),
        ([{"name": "age", "kind": []}], "the kind must be 'quantitative' or 'categorical', not []"),
        ([{"name": "age", "kind": {"a": 1}}], "the kind must be"),
        ([{"name": "age", "kind": "ordinal"}], "not 'ordinal'"),
        ([{"name": "age", "kind": "quantitative", "levels": ["a"]}], "is quantitative, so it cannot have levels"),
        ([{"name": "sex", "kind": "categorical", "levels": None}], "the levels must be a list of texts"),
        ([{"name": "sex", "kind": "categorical", "levels": "MF"}], "the levels must be a list of texts"),
        ([{"name": "sex", "kind": "categorical", "levels": ["M", 1]}], "the levels must be a list of texts"),
        ([{"name": "sex", "kind": "categorical", "levels": ["M", "M"]}], "column 'sex' lists a level twice"),
        ([{"name": "sex", "kind": "categorical", "has_missing": 1}], "has_missing must be true or false"),
        ([{"name": "sex", "kind": "categorical", "weights": 1}], "an unknown entry: 'weights'"),
        ([{"name": "sex", "kind": "categorical"}] * 2, "two columns are called 'sex'; rename one of them"),
        ([{"name": "\ud800", "kind": "categorical"}], "not valid text"),
        ([{"name": "sex", "kind": "categorical", "levels": ["\udfff"]}], "not valid text"),
    ],
)
def test_malformed_json_is_answered_in_words(data: Any, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        Schema.from_json(data)
    assert complaint in str(caught.value)
    str(caught.value).encode("utf-8")  # a message that cannot be printed helps nobody


def test_a_complaint_about_a_long_name_is_short() -> None:
    with pytest.raises(InputError) as caught:
        Schema.from_json([{"name": "a" * 100_000, "kind": "b" * 100_000}])
    assert len(str(caught.value)) < 200


def test_a_kind_may_be_spelt_as_text() -> None:
    column = Column("sex", "categorical", ["M", "F"])  # type: ignore[arg-type]
    assert column.is_categorical
    assert column == Column("sex", Kind.CATEGORICAL, ("M", "F"))
    with pytest.raises(InputError, match="not 'nominal'"):
        Column("sex", "nominal")  # type: ignore[arg-type]


def test_a_schema_is_a_sequence_of_columns() -> None:
    schema = Schema((Column("age", Kind.QUANTITATIVE), Column("sex", Kind.CATEGORICAL, ("F", "M"))))
    assert len(schema) == 2
    assert schema.names == ("age", "sex")
    assert schema.position("sex") == 1
    assert [column.name for column in schema] == ["age", "sex"]
    assert schema[1].levels == ("F", "M")
    assert hash(schema) == hash(Schema(tuple(schema)))


@pytest.mark.parametrize(
    ("asked", "known", "answer"),
    [
        ("AGE", ["sex", "age"], "there is no column 'AGE'; did you mean 'age'?"),
        ("agee", ["sex", "age"], "there is no column 'agee'; did you mean 'age'?"),
        ("sxe", ["age", "sex"], "there is no column 'sxe'; did you mean 'sex'?"),
        ("Credit Amount", ["age", "credit_amount"], "did you mean 'credit_amount'?"),
        ("credit", ["duration", "credit_amount"], "did you mean 'credit_amount'?"),
        ("age", ["Age", "AGE"], "did you mean 'Age'?"),
        ("STRASSE", ["Straße", "age"], "did you mean 'Straße'?"),
        ("income", ["age", "sex"], "there is no column 'income'; the columns are 'age', 'sex'"),
        ("age", [], "there is no column 'age'; there are no columns"),
        (0, ["0", "1"], "there is no column 0; did you mean '0'?"),
        (None, ["age"], "there is no column None; the columns are 'age'"),
        (["age"], ["age"], "there is no column ['age']; did you mean 'age'?"),
    ],
)
def test_a_name_that_is_nearly_right(asked: Any, known: list[str], answer: str) -> None:
    with pytest.raises(InputError) as caught:
        find_name(asked, known)
    assert answer in str(caught.value)


def test_a_long_list_of_columns_is_cut() -> None:
    with pytest.raises(InputError, match=r"'c9' and 490 more$"):
        find_name("wine", [f"c{number}" for number in range(500)])


@given(st.lists(names, min_size=1, unique=True), st.data())
def test_a_known_name_is_found_where_it_stands(known: list[str], data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(known) - 1))
    assert find_name(known[position], iter(known)) == position


def test_check_unique_names_the_double() -> None:
    check_unique(["a", "A", "b"])
    with pytest.raises(InputError, match="two columns are called 'b'; rename one of them"):
        check_unique(["a", "b", "c", "b"])


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("1.0", "1.0"),
        ("", ""),
        (np.str_("a"), "a"),
        (1, "1"),
        (1.0, "1"),
        (-0.0, "0"),
        (np.int8(1), "1"),
        (np.float32(2.0), "2"),
        (0.5, "0.5"),
        (True, "True"),
        (np.bool_(False), "False"),
        (2**70, str(2**70)),
        (1e300, "1e+300"),
        (float("inf"), "inf"),
        (None, None),
        (float("nan"), None),
        (np.float16("nan"), None),
    ],
)
def test_one_label_a_value_however_it_is_stored(value: object, label: str | None) -> None:
    found = level_label(value)
    assert found == label
    assert found is None or type(found) is str


@pytest.mark.parametrize(
    "value",
    [
        None,
        float("nan"),
        np.float32("nan"),
        np.datetime64("NaT"),
        np.timedelta64("NaT"),
        Decimal("NaN"),
        Decimal("sNaN"),
        np.ma.masked,
    ],
)
def test_every_form_of_missing(value: object) -> None:
    assert is_missing(value)


@pytest.mark.needs("pandas")
def test_the_missing_values_of_pandas() -> None:
    import pandas as pd

    assert is_missing(pd.NA)
    assert is_missing(pd.NaT)


@pytest.mark.parametrize("value", ["", "nan", 0, False, 0.0, float("inf"), [], {}, dt.date(2020, 1, 1), np.zeros(3)])
def test_a_value_is_not_missing(value: object) -> None:
    assert not is_missing(value)


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (["10", "9", "2.5"], ("2.5", "9", "10")),
        (["b", "a", "B"], ("B", "a", "b")),
        (["10", "9", "none"], ("10", "9", "none")),
        (["3", "-nan", "-5", "1"], ("-5", "-nan", "1", "3")),
        (["inf", "2", "10"], ("10", "2", "inf")),
        (["1.0", "1", "01"], ("01", "1", "1.0")),
        ([], ()),
    ],
)
def test_levels_by_number_where_all_are_numbers(labels: list[str], order: tuple[str, ...]) -> None:
    assert ordered_levels(labels) == order


@given(st.lists(texts | st.sampled_from(["1", "10", "nan", "-nan", "inf", "2.0"])), st.randoms())
def test_level_order_does_not_depend_on_row_order(labels: list[str], random: Any) -> None:
    shuffled = list(labels)
    random.shuffle(shuffled)
    assert ordered_levels(shuffled) == ordered_levels(labels)
    assert set(ordered_levels(labels)) == set(labels)
