"""Groups: joint levels or each column, missing values as a group, one group alone refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.table import Groups, Table, make_groups, require_two

SEX = ["F", "M", "F", "M", "F"]
RACE = ["b", "a", "a", "a", "b"]


def test_joint_levels_are_the_groups() -> None:
    (groups,) = make_groups(Table.of({"sex": SEX, "race": RACE}))
    assert groups.columns == ("sex", "race")
    assert groups.name == "sex × race"
    assert groups.labels == ("F × a", "F × b", "M × a")
    assert groups.codes.tolist() == [1, 2, 0, 2, 1]
    assert groups.n_groups == 3
    assert groups.members(1).tolist() == [True, False, False, False, True]


def test_each_column_by_itself() -> None:
    sex, race = make_groups(Table.of({"sex": SEX, "race": RACE}), "each")
    assert (sex.name, sex.labels, sex.codes.tolist()) == ("sex", ("F", "M"), [0, 1, 0, 1, 0])
    assert (race.name, race.labels, race.codes.tolist()) == ("race", ("a", "b"), [1, 0, 0, 0, 1])


def test_a_missing_value_is_a_group_of_its_own_and_comes_last() -> None:
    (groups,) = make_groups(Table.of({"sex": ["M", None, "F", None]}))
    assert groups.labels == ("F", "M", "(missing)")
    assert groups.codes.tolist() == [1, 2, 0, 2]
    (bands,) = make_groups(Table.of({"age": [30, None, 20]}))
    assert bands.labels == ("20", "30", "(missing)")
    assert bands.codes.tolist() == [1, 2, 0]
    (joint,) = make_groups(Table.of({"sex": ["M", None], "age": [None, 20]}))
    assert joint.labels == ("M × (missing)", "(missing) × 20")


def test_levels_are_in_the_order_of_the_schema() -> None:
    (groups,) = make_groups(Table.of({"band": ["10", "9", "100"]}))
    assert groups.labels == ("9", "10", "100")
    (truth,) = make_groups(Table.of({"citizen": [True, False, True]}))
    assert truth.labels == ("False", "True")
    (numbers,) = make_groups(Table.of({"age": [0.5, 10, 9]}))
    assert numbers.labels == ("0.5", "9", "10")


def test_no_two_groups_have_the_same_label() -> None:
    (groups,) = make_groups(Table.of({"sex": ["(missing)", None, "F"]}))
    assert groups.labels == ("'(missing)'", "'F'", "(missing)")
    (joint,) = make_groups(Table.of({"a": ["x × y", "x"], "b": ["z", "y × z"]}))
    assert joint.labels == ("'x' × 'y × z'", "'x × y' × 'z'")


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "(missing)", "a × b", None]), st.sampled_from([1.5, 2.0, None])),
        min_size=1,
        max_size=15,
    )
)
def test_two_people_share_a_group_when_all_their_values_agree(rows: list[tuple[Any, Any]]) -> None:
    (groups,) = make_groups(Table.of({"a": [row[0] for row in rows], "b": [row[1] for row in rows]}))
    assert groups.n_groups == len(set(rows)) == len(set(groups.labels))
    for row, code in zip(rows, groups.codes, strict=True):
        assert [other == row for other in rows] == groups.members(code).tolist()


def test_one_group_alone_cannot_be_compared() -> None:
    require_two(make_groups(Table.of({"sex": ["F", "M"]})))
    with pytest.raises(InputError) as caught:
        require_two(make_groups(Table.of({"sex": ["F", "F"]})))
    assert str(caught.value) == ("protected column 'sex' has only one group ('F'); there is nobody to compare it with")
    with pytest.raises(InputError, match=r"'race' has only one group \('\(missing\)'\)"):
        require_two(make_groups(Table.of({"sex": ["F", "M"], "race": [None, None]}), "each"))
    require_two(make_groups(Table.of({"sex": ["F", "M"], "race": [None, None]})))
    require_two(())


def test_a_group_without_members_or_weight_is_no_group() -> None:
    groups = make_groups(Table.of({"sex": ["F", "M", "F"]}))
    with pytest.raises(InputError, match=r"has only one group \('F'\)"):
        require_two(tuple(group.take(np.array([0, 2])) for group in groups))
    with pytest.raises(InputError, match=r"has only one group \('M'\)"):
        require_two(groups, np.array([0.0, 1.0, 0.0]))
    require_two(groups, np.array([0.0, 1.0, 0.5]))
    with pytest.raises(InputError, match="'sex' has nobody in it"):
        require_two(make_groups(Table.of({"sex": np.array([], dtype=str)})))


def test_taking_people_keeps_the_groups() -> None:
    (groups,) = make_groups(Table.of({"sex": SEX}))
    few = groups.take(np.array([1, 3]))
    assert few.labels == ("F", "M")
    assert few.codes.tolist() == [1, 1]


def test_too_many_groups_to_compare() -> None:
    (groups,) = make_groups(Table.of({"age": np.arange(200)}))
    assert groups.n_groups == 200
    with pytest.raises(InputError, match="protected column 'age' makes 201 groups, too many to compare"):
        make_groups(Table.of({"age": np.arange(201)}))
    table = Table.of({"a": np.repeat(np.arange(20), 20), "b": np.tile(np.arange(20), 20)})
    with pytest.raises(InputError, match=r"'a × b' makes 400 groups.*; put its values into a few bands first"):
        make_groups(table)
    assert [group.n_groups for group in make_groups(table, "each")] == [20, 20]


def test_what_cannot_be_asked() -> None:
    with pytest.raises(InputError, match="groups must be 'joint' or 'each', not 'all'"):
        make_groups(Table.of({"sex": SEX}), "all")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no protected column was given"):
        make_groups(Table.of({"sex": SEX}).drop(["sex"]))


def test_the_codes_are_read_only_and_not_the_callers() -> None:
    mine = np.array([0, 1])
    groups = Groups(("sex",), ("F", "M"), mine)
    mine[0] = 1
    assert groups.codes.tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        groups.codes[0] = 1
