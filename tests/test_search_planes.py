"""The planes of the trees met: the nearest point above a level, ceilings, and ascents that never claim too much."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.problem import Problem, Shape
from evenleaf.solve import Budget
from evenleaf.solve.search import kernels
from evenleaf.solve.search.ascent import CLIMB
from evenleaf.solve.search.boxes import first_boxes
from evenleaf.solve.search.compiled import compile_problem
from evenleaf.solve.search.kernels import planes
from evenleaf.solve.search.model import Model
from evenleaf.solve.search.worker import Worker
from evenleaf.testing import brute_force
from evenleaf.testing.strategies import problems


def nearest(
    centre: np.ndarray, constants: np.ndarray, slopes: np.ndarray, level: float
) -> tuple[np.ndarray, float, np.ndarray]:
    n = len(constants)
    pull, point, mixture = np.zeros(n), np.empty_like(centre), np.zeros(n)
    no_facets = np.zeros(0, dtype=np.int64)
    top = kernels.nearest_above(centre, constants, slopes, level, 1e-9, pull, point, mixture, no_facets, no_facets)
    return point, top, mixture


@given(seed=st.integers(0, 10_000), n=st.integers(1, 6), n_planes=st.integers(1, 5))
@settings(deadline=None, max_examples=100)
def test_a_ceiling_is_above_the_lowest_plane_everywhere(seed: int, n: int, n_planes: int) -> None:
    random = np.random.default_rng(seed)
    centre, slopes = random.uniform(-1, 1, n), random.normal(size=(n_planes, n))
    constants, level = random.normal(size=n_planes), float(random.normal())
    point, top, mixture = nearest(centre, constants, slopes, level)
    assert (np.abs(point) <= 1).all()
    anywhere = random.uniform(-1, 1, (2000, n))
    heights = (constants + anywhere @ slopes.T).min(axis=1)
    # It is what its mixture says.
    assert heights.max() <= top + 1e-9
    if np.isfinite(top):
        share = mixture / mixture.sum()
        assert top == pytest.approx(float(share @ constants + np.abs(share @ slopes).sum()))


def test_the_nearest_point_is_that_of_the_planes_that_pull() -> None:
    slopes, constants = np.array([[1.0, 0.0], [0.0, 2.0]]), np.zeros(2)
    point, top, _ = nearest(np.array([0.0, 0.9]), constants, slopes, 0.5)
    assert top >= 0.5
    assert point == pytest.approx([0.5, 0.9])  # the second plane is high enough already
    point, _, _ = nearest(np.zeros(2), constants, slopes, 0.5)
    assert point == pytest.approx([0.5, 0.25])


@given(seed=st.integers(0, 10_000), n_planes=st.integers(1, 12))
@settings(deadline=None, max_examples=60)
def test_a_step_drops_planes_that_would_push_and_brings_the_others_to_the_level(seed: int, n_planes: int) -> None:
    random = np.random.default_rng(seed)
    n = 20
    slopes = random.normal(size=(n_planes, n)) + random.normal(size=n)
    gap, pull = random.normal(size=n_planes), random.exponential(size=n_planes) + 1e-3
    nowhere, none = np.zeros(n), np.zeros(0, dtype=np.int64)
    everyone = np.arange(n_planes)
    step = planes._newton(nowhere, slopes, nowhere, gap, pull, everyone, nowhere, none, np.zeros(1, dtype=np.int64))
    after = pull + step
    assert (after >= -1e-9).all()
    still = after > 1e-9
    assert (slopes @ slopes.T @ step)[still] == pytest.approx(gap[still], abs=1e-5)


def test_a_level_out_of_reach_is_seen() -> None:
    # Two planes that cross at zero: what one gains the other loses.
    slopes, constants = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros(2)
    _, top, mixture = nearest(np.array([0.5, 0.2]), constants, slopes, 0.5)
    assert top < 0.5
    assert (mixture > 0).all()


@given(problem=problems(task="classification", max_people=7, max_values=3, max_columns=2, limits=False))
@settings(deadline=None, max_examples=25)
def test_the_lowest_bound_is_never_above_the_optimum(problem: Problem) -> None:
    problem = problem.with_shape(Shape(max_depth=3))
    worker = Worker(problem, compile_problem(problem), Budget())
    c, best = worker.compiled, brute_force(problem).objective
    assert best is not None
    # An aim far above the optimum asks for as much as the planes allow.
    worker.begin(None, 2 * best + 1.0, frozenset())
    bounds = [worker.climb(box, CLIMB).box.bound for box in first_boxes(c, np.zeros_like(c.weight), 1.0, 3, walk=False)]
    assert min(bounds, default=-np.inf) <= best + 1e-9


@given(problem=problems(task="classification", max_people=10, max_classes=3, limits=False), seed=st.integers(0, 999))
@settings(deadline=None, max_examples=40)
def test_pieces_of_any_parts_add_up_to_the_cost_of_the_labels(problem: Problem, seed: int) -> None:
    c, random = compile_problem(problem), np.random.default_rng(seed)
    part = random.integers(-1, 3, c.n_people)
    model = Model(c, c.base, c.constant, part)
    labels = random.integers(0, c.n_labels + 1, c.n_people)
    model.learn(labels)
    mu = random.uniform(-1, 1, c.weight.shape)
    costs = np.empty_like(c.base)
    kernels.dual_costs(c.pointers, c.rows, c.entries, c.weight, 1.0, mu, c.base, costs)
    chosen = np.flatnonzero(labels)
    expected = c.constant + costs[chosen, labels[chosen] - 1].sum()
    plane, bundle = model.bundle.origins[0], model.bundle
    assert bundle.constants[0] + bundle.slopes[0] @ mu[model.used] == pytest.approx(expected)
    assert model.cheapest == pytest.approx(bundle.constants[0] + np.abs(bundle.slopes[0]).sum())
    assert np.array_equal(model.average([(1.0, plane)]).sum(axis=1), labels > 0)
    # People on their own take their cheapest label, so the lowest plane costs no more.
    assert model.lowest(mu[model.used])[0] <= expected + 1e-9
