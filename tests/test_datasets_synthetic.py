"""Made-up people: the sample's indices come to the population's, which follow from the dials."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.datasets import Biased, make_biased
from evenleaf.errors import InputError
from evenleaf.table import Task

N = 200_000


def didi(values: np.ndarray, group: np.ndarray, classes: int | None) -> float:
    """The paper's definitions 2 (classification) and 4 (regression), term by term."""
    if classes is None:
        return float(sum(abs(values[group == p].mean() - values.mean()) for p in np.unique(group)))
    return sum(didi((values == y).astype(float), group, None) for y in range(classes))


def standard_error(values: np.ndarray, group: np.ndarray, classes: int | None) -> float:
    """At most this: every group's mean errs by its own standard error, the overall mean by less than any."""
    errors = [values[group == p].std() / np.sqrt((group == p).sum()) for p in np.unique(group)]
    return float(2 * sum(errors)) * (1 if classes is None else classes)


def parts(biased: Biased) -> tuple[np.ndarray, np.ndarray, int | None]:
    data = biased.dataset
    classes = None if data.outcome.classes is None else data.outcome.n_classes
    return data.outcome.values, data.people().groups[0].codes, classes


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n_groups", [2, 3, 5])
@pytest.mark.parametrize("dials", [(0.0, 0.0), (0.4, 0.0), (0.0, 0.3), (0.5, 0.2), (1.0, 1.0)])
def test_sample_indices_come_to_the_closed_form(dials: tuple[float, float], n_groups: int, task: Task) -> None:
    label_bias, error_bias = dials
    biased = make_biased(
        N, label_bias=label_bias, error_bias=error_bias, n_groups=n_groups, noise=0.1, task=task, seed=11
    )
    labels, group, classes = parts(biased)
    for values, index in ((labels, biased.label_didi), (biased.decisions, biased.decision_didi)):
        assert abs(didi(values, group, classes) - index) <= 5 * standard_error(values, group, classes)


def test_two_groups_by_hand() -> None:
    # Labels: yes for 1/2 and for 1/2·(1 − 0.4) = 0.3. Both classes and both groups: 2·|0.5 − 0.3|.
    biased = make_biased(100, label_bias=0.4, error_bias=0.5)
    assert biased.label_didi == pytest.approx(0.4)
    # Decisions: 0.5 and 0.3·(1 − 0.5) = 0.15.
    assert biased.decision_didi == pytest.approx(0.7)


def test_three_groups_by_hand() -> None:
    # Means 1/2, 1/2 − 0.1, 1/2 − 0.2 lie 0.1, 0 and 0.1 from their mean.
    biased = make_biased(99, label_bias=0.2, error_bias=0.4, n_groups=3, task="regression")
    assert biased.label_didi == pytest.approx(0.2)
    assert biased.decision_didi == pytest.approx(0.6)


@given(noise=st.floats(0, 1), n_groups=st.integers(2, 6), task=st.sampled_from(["classification", "regression"]))
@settings(deadline=None, max_examples=50)
def test_errors_alike_for_all_do_not_discriminate(noise: float, n_groups: int, task: Task) -> None:
    """Propositions 1 and 2 of the paper."""
    biased = make_biased(n_groups, noise=noise, n_groups=n_groups, task=task)
    assert biased.label_didi == pytest.approx(0, abs=1e-12)
    assert biased.decision_didi == pytest.approx(0, abs=1e-12)


@given(low=st.floats(0, 1), high=st.floats(0, 1), task=st.sampled_from(["classification", "regression"]))
@settings(deadline=None, max_examples=50)
def test_each_dial_turns_its_own_index_up(low: float, high: float, task: Task) -> None:
    low, high = sorted((low, high))
    mild, harsh = (make_biased(4, label_bias=bias, task=task) for bias in (low, high))
    assert mild.label_didi <= harsh.label_didi + 1e-12
    mild, harsh = (make_biased(4, error_bias=bias, task=task) for bias in (low, high))
    assert mild.decision_didi <= harsh.decision_didi + 1e-12
    assert harsh.label_didi == pytest.approx(0, abs=1e-12)


def test_bias_only_ever_withholds() -> None:
    biased = make_biased(5_000, label_bias=0.5, error_bias=0.5, n_groups=3)
    labels, group, _ = parts(biased)
    assert (labels <= biased.merit).all()
    assert (biased.decisions <= labels).all()
    best = group == 0
    assert np.array_equal(biased.merit[best], labels[best])
    assert np.array_equal(labels[best], biased.decisions[best])


def test_merit_is_in_the_features_and_the_group_only_leaves_a_trace() -> None:
    biased = make_biased(5_000, n_groups=4, seed=2)
    data = biased.dataset
    assert data.features.schema.names == ("merit", "district", "age")
    assert data.protected.schema.names == ("group",)
    assert data.positive == "yes"
    assert np.array_equal(data.features.column("merit") >= 0.5, biased.merit == 1)
    same = data.features.column("district") == data.people().groups[0].codes
    # At home with probability 0.8 + 0.2/4.
    assert abs(same.mean() - 0.85) < 5 * np.sqrt(0.85 * 0.15 / 5_000)


@given(n=st.integers(6, 40), n_groups=st.integers(2, 6), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=50)
def test_groups_are_equal_in_size_and_draws_repeat(n: int, n_groups: int, seed: int) -> None:
    first, second = (make_biased(n, n_groups=n_groups, label_bias=0.3, noise=0.2, seed=seed) for _ in range(2))
    counts = np.bincount(first.dataset.people().groups[0].codes, minlength=n_groups)
    assert counts.max() - counts.min() <= 1
    assert counts.min() >= 1
    assert np.array_equal(first.decisions, second.decisions)
    assert np.array_equal(first.dataset.features.column("age"), second.dataset.features.column("age"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_groups": 1}, "n_groups must be at least 2"),
        ({"n": 2, "n_groups": 3}, "n must be at least n_groups"),
        ({"label_bias": -0.1}, "label_bias must be between 0 and 1"),
        ({"error_bias": 1.1}, "error_bias must be between 0 and 1"),
        ({"noise": float("nan")}, "noise must be between 0 and 1"),
        ({"task": "ranking"}, "'ranking' is not a task"),
    ],
)
def test_wrong_dials_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_biased(**options)  # type: ignore[arg-type]
