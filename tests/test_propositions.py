"""The paper's two propositions, on finite data sets for which their premises hold exactly.

Both follow from an inequality that holds for every data set. With M(y, p) = Σ_ŷ |P(ŷ | y) − P(ŷ | y, p)|,

    P(ŷ) − P(ŷ | p) = Σ_y [P(ŷ | y) − P(ŷ | y, p)] P(y | p) + Σ_y P(ŷ | y) [P(y) − P(y | p)],

so Σ_ŷ |P(ŷ) − P(ŷ | p)| ≤ Σ_y P(y | p) M(y, p) + Σ_y |P(y) − P(y | p)|, and summing over p with P(y | p) ≤ 1

    DIDI(ŷ) ≤ DIDI(y) + mistreatment(y, ŷ).

For numbers E(ŷ) − E(ŷ | p) splits into the same difference of y and of ŷ − y, so
|DIDI(ŷ) − DIDI(y)| ≤ DIDI(ŷ − y). The propositions are the cases in which the right-hand sides vanish.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.metrics import didi, mistreatment

MANY = settings(max_examples=100)
ZERO = pytest.approx(0.0, abs=1e-9)
Labelled = tuple[list[int], list[int], list[str], list[int]]


@st.composite
def independent_errors(draw: st.DrawFn) -> Labelled:
    """One table of (true, predicted) counts, repeated a whole number of times in every group.

    That is every finite data set with P(y | p) = P(y) and P(ŷ | y, p) = P(ŷ | y).
    """
    n_classes = draw(st.integers(2, 4))
    cells = [(y, guess) for y in range(n_classes) for guess in range(n_classes)]
    counts = draw(st.lists(st.integers(0, 3), min_size=len(cells), max_size=len(cells)).filter(any))
    times = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    people = [
        (*cell, f"g{p}")
        for p, repeat in enumerate(times)
        for cell, count in zip(cells, counts, strict=True)
        for _ in range(count * repeat)
    ]
    shuffled = draw(st.permutations(people))
    return [y for y, _, _ in shuffled], [g for _, g, _ in shuffled], [p for *_, p in shuffled], [1] * len(people)


@st.composite
def any_errors(draw: st.DrawFn) -> Labelled:
    """Any labels, predictions, groups and weights."""
    n = draw(st.integers(2, 25))
    label = st.integers(0, draw(st.integers(1, 3)))
    y, guess = (draw(st.lists(label, min_size=n, max_size=n)) for _ in range(2))
    group = ["p", "q", *draw(st.lists(st.sampled_from("pqrs"), min_size=n - 2, max_size=n - 2))]
    return y, guess, group, draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))


@MANY
@given(independent_errors())
def test_unbiased_labels_and_independent_errors_make_unbiased_predictions(data: Labelled) -> None:
    """Proposition 1."""
    y, guess, group, _ = data
    assert didi(y, sensitive_features=group) == ZERO
    assert mistreatment(y, guess, sensitive_features=group) == ZERO
    assert didi(guess, sensitive_features=group) == ZERO


@MANY
@given(any_errors())
def test_predictions_are_no_more_biased_than_labels_and_errors_together(data: Labelled) -> None:
    """Proposition 1 in numbers: DIDI(ŷ) ≤ DIDI(y) + mistreatment(y, ŷ)."""
    y, guess, group, weight = data
    options: dict[str, Any] = {"sensitive_features": group, "sample_weight": weight}
    assert didi(guess, **options) <= didi(y, **options) + mistreatment(y, guess, **options) + 1e-9


@MANY
@given(
    st.lists(st.integers(-8, 8), min_size=1, max_size=6),
    st.lists(st.integers(-8, 8), min_size=1, max_size=6),
    st.lists(st.integers(1, 3), min_size=2, max_size=4),
    st.randoms(use_true_random=False),
)
def test_unbiased_numbers_and_independent_errors(
    values: list[int], errors: list[int], times: list[int], random: Any
) -> None:
    """Proposition 2: every group has the same values and the same errors, but not in the same pairs."""
    y, guess, group = [], [], []
    for p, repeat in enumerate(times):
        own = values * len(errors) * repeat
        off = [error for error in errors for _ in values] * repeat
        random.shuffle(off)
        y += own
        guess += [a + b for a, b in zip(own, off, strict=True)]
        group += [f"g{p}"] * len(own)
    options: dict[str, Any] = {"sensitive_features": group, "task": "regression"}
    assert didi(y, **options) == ZERO
    assert didi(np.subtract(guess, y), **options) == ZERO
    assert didi(guess, **options) == ZERO


@MANY
@given(any_errors(), st.integers(0, 2**31))
def test_numbers_differ_in_bias_by_at_most_the_bias_of_the_errors(data: Labelled, seed: int) -> None:
    """Proposition 2 in numbers: |DIDI(ŷ) − DIDI(y)| ≤ DIDI(ŷ − y)."""
    *_, group, weight = data
    y, guess = np.random.default_rng(seed).normal(size=(2, len(group)))
    options: dict[str, Any] = {"sensitive_features": group, "sample_weight": weight, "task": "regression"}
    assert abs(didi(guess, **options) - didi(y, **options)) <= didi(guess - y, **options) + 1e-9


def test_independent_errors_alone_do_not_make_predictions_fair() -> None:
    """The remark after Proposition 1: where the labels are biased, so may be predictions without mistreatment.

    In both groups a tenth of each class is predicted wrongly, but half of p and four fifths of q are positive.
    """
    rows = {("p", 1): 50, ("p", 0): 50, ("q", 1): 80, ("q", 0): 20}
    y, guess, group = [], [], []
    for (p, label), count in rows.items():
        y += [label] * count
        guess += [1 - label] * (count // 10) + [label] * (count - count // 10)
        group += [p] * count
    assert mistreatment(y, guess, sensitive_features=group) == ZERO
    assert didi(y, sensitive_features=group) == pytest.approx(2 * 0.3)
    assert didi(guess, sensitive_features=group) == pytest.approx(2 * 0.8 * 0.3)
