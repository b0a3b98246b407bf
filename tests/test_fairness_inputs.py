"""Every input that a fairness notion cannot use is refused with a sentence that says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from evenleaf.errors import InputError
from evenleaf.fairness import ConditionalParity, DisparateImpact, DisparateTreatment
from people_strategies import Sample

SAMPLE = Sample(
    ["a", "b", "a", "b"], ("a", "b"), {"race": ["p", "p", "q", "q"]}, [1] * 4, [[1, 2, 3, 4]], [["x", "y", "x", "y"]]
)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_neighbors": 0}, "at least 1, not 0"),
        ({"n_neighbors": -3}, "at least 1, not -3"),
        ({"n_neighbors": 2.5}, "whole number, not 2.5"),
        ({"n_neighbors": True}, "whole number, not True"),
        ({"distance": "labels"}, "'features' or 'outcomes', not 'labels'"),
        ({"weights": "gausian"}, "no kernel 'gausian'; choose one of uniform"),
        ({"weights": "gaussian", "bandwidth": 0}, "positive number, not 0"),
        ({"weights": "gaussian", "bandwidth": float("nan")}, "positive number, not nan"),
        ({"weights": 3}, "name of a kernel, a function of the distance, or a matrix"),
        ({"weights": "gaussian", "per_group": True}, "cannot be combined with weights"),
        ({"distance": "outcomes", "per_group": True}, "per_group=True draws nearest neighbours"),
        ({"distance": "outcomes", "metric": "l1"}, "a metric compares features"),
        ({"weights": np.eye(4), "metric": "l1"}, "a metric compares features"),
        ({"weights": np.eye(4), "distance": "outcomes"}, "give one of them"),
    ],
)
def test_settings_are_checked_when_they_are_given(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        DisparateTreatment(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_neighbors": 5}, "n_neighbors=5 is more than the table has: 4 people"),
        ({"n_neighbors": 4, "include_self": False}, "more than the table has others: 4 people"),
        ({"weights": np.eye(3)}, r"shape \(3, 3\), but there are 4 people"),
        ({"weights": np.ones(4)}, r"shape \(4,\), but there are 4 people"),
        ({"weights": sp.csr_array(-np.eye(4))}, "finite and not negative"),
        ({"weights": np.full((4, 4), np.inf)}, "finite and not negative"),
        ({"weights": np.full((4, 4), "x")}, "a matrix of numbers"),
        ({"weights": lambda d: d[:1]}, "returned the shape"),
        ({"weights": lambda d: -d}, "negative or non-finite"),
        ({"weights": lambda d: np.full_like(d, np.nan)}, "negative or non-finite"),
    ],
)
def test_what_only_the_people_can_tell(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        DisparateTreatment(**settings).operator(SAMPLE.people())


def test_as_many_neighbours_as_people_is_fine() -> None:
    assert DisparateTreatment(n_neighbors=4).operator(SAMPLE.people()).empty_terms == 0


def test_no_protected_column() -> None:
    with pytest.raises(InputError, match="disparate impact needs protected columns"):
        DisparateImpact().operator(replace(SAMPLE.people(), groups=()))


def test_one_group_only() -> None:
    alone = replace(SAMPLE, protected={"race": ["p"] * 4})
    with pytest.raises(InputError, match=r"'race' has only one group \('p'\)"):
        DisparateImpact().operator(alone.people())


def test_no_feature_left_to_compare_by() -> None:
    people = SAMPLE.people()
    bare = replace(people, features=people.features.drop(people.features.schema.names))
    with pytest.raises(InputError, match="no feature is left"):
        DisparateTreatment(n_neighbors=2).operator(bare)
    assert DisparateTreatment(distance="outcomes").operator(bare).n_people == 4


def test_conditional_parity_needs_columns_that_are_there() -> None:
    with pytest.raises(InputError, match="no column 'q1'; did you mean 'q0'"):
        ConditionalParity("q1").operator(SAMPLE.people())
    with pytest.raises(InputError, match="at least one column"):
        ConditionalParity([])
