"""The budget: one deadline, and a trace in which what is known never gets worse."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.solve.budget import Budget
from evenleaf.solve.result import TracePoint

numbers = st.one_of(st.floats(-10, 10), st.sampled_from([np.nan, np.inf, -np.inf]))


def test_the_trace_keeps_only_news_and_progress_hears_all() -> None:
    heard: list[TracePoint] = []
    budget = Budget(on_progress=heard.append)
    for bound, objective in [(-np.inf, 5.0), (1.0, 5.0), (1.0, 5.0), (0.5, 6.0), (2.0, 4.0)]:
        budget.report(bound, objective)
    assert [(point.bound, point.objective) for point in budget.trace] == [(-np.inf, 5.0), (1.0, 5.0), (2.0, 4.0)]
    assert [(point.bound, point.objective) for point in heard[2:4]] == [(1.0, 5.0), (1.0, 5.0)]
    assert len(heard) == 5


def test_what_is_not_a_number_says_nothing() -> None:
    budget = Budget()
    budget.report(np.nan, np.nan)
    budget.report(1.0, 2.0)
    budget.report(np.nan, np.nan)
    assert [(point.bound, point.objective) for point in budget.trace] == [(-np.inf, np.inf), (1.0, 2.0)]


def test_a_bound_is_not_above_the_point() -> None:
    budget = Budget()
    budget.report(2.0 + 1e-12, 2.0)
    assert budget.trace[-1].bound == 2.0


@given(optimum=st.floats(-5, 5), news=st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)), min_size=1))
def test_true_news_in_any_order_make_a_monotone_trace(optimum: float, news: list[tuple[float, float]]) -> None:
    budget = Budget()
    for below, above in news:
        budget.report(optimum - below, optimum + above)
    bounds, objectives = [[p.bound for p in budget.trace], [p.objective for p in budget.trace]]
    assert bounds == sorted(bounds)
    assert objectives == sorted(objectives, reverse=True)
    assert bounds[-1] == optimum - min(below for below, _ in news)
    assert objectives[-1] == optimum + min(above for _, above in news)


@given(news=st.lists(st.tuples(numbers, numbers), min_size=1))
def test_no_news_whatever_break_the_trace(news: list[tuple[float, float]]) -> None:
    budget = Budget()
    for bound, objective in news:
        budget.report(bound, objective)
    assert not any(np.isnan([point.bound, point.objective]).any() for point in budget.trace)
    assert all(point.bound <= point.objective for point in budget.trace)
    assert [p.objective for p in budget.trace] == sorted((p.objective for p in budget.trace), reverse=True)


def test_deadline_and_cancel() -> None:
    assert not Budget().exhausted
    assert Budget().remaining == np.inf
    budget = Budget(time_limit=100.0)
    assert 0 < budget.remaining <= 100
    assert not budget.exhausted
    late = Budget(time_limit=1.0, started=budget.started - 2.0)
    assert late.remaining == 0
    assert late.exhausted
    budget.cancel()
    assert budget.exhausted


def test_threads_count_as_in_scikit_learn() -> None:
    cores = os.cpu_count() or 1
    assert [Budget(n_jobs=3).threads, Budget(n_jobs=-1).threads, Budget(n_jobs=-999).threads] == [3, cores, 1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"time_limit": 0}, "time_limit"),
        ({"time_limit": np.nan}, "time_limit"),
        ({"gap": -0.1}, "gap"),
        ({"gap": np.nan}, "gap"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_nonsense_is_refused(arguments: dict[str, float], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Budget(**arguments)  # type: ignore[arg-type]
