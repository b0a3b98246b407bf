"""Small mixed-integer programs with known optima, one that no solver closes in time, and brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from evenleaf.solve.mip.model import LinearModel, ModelBuilder, Term

GAP_ALLOWED = 1e-6


def knapsack() -> tuple[LinearModel, float]:
    """The most value within weight 10 of items that weigh 5, 4, 6 and 3: the second and the fourth, 40 + 50."""
    builder = ModelBuilder()
    take = builder.variables("take", (4,), upper=1.0, integer=True, cost=-np.array([10.0, 40.0, 30.0, 50.0]))
    builder.rows("weight", 1, [(0, take, np.array([5.0, 4.0, 6.0, 3.0]))], upper=10.0)
    return builder.build(), -90.0


def set_cover() -> tuple[LinearModel, float]:
    """Cover 1…5 by the cheapest of {1,2,3}, {2,4}, {3,4}, {4,5}, {5}: the first and the fourth, 2 + 3."""
    sets = [(0, 1, 2), (1, 3), (2, 3), (3, 4), (4,)]
    builder = ModelBuilder()
    use = builder.variables("use", (5,), upper=1.0, integer=True, cost=np.array([2.0, 2.0, 2.0, 3.0, 2.0]))
    terms = [(np.array(members), np.full(len(members), use[number]), 1.0) for number, members in enumerate(sets)]
    builder.rows("cover", 5, terms, lower=1.0)
    return builder.build(), 5.0


def assignment() -> tuple[LinearModel, float]:
    """Three people to three posts, one each: 1 + 2 + 2 on costs ((1, 9, 9), (9, 9, 2), (9, 2, 9))."""
    cost = np.array([[1.0, 9.0, 9.0], [9.0, 9.0, 2.0], [9.0, 2.0, 9.0]])
    builder = ModelBuilder()
    post = builder.variables("post", (3, 3), upper=1.0, integer=True, cost=cost)
    each = np.arange(3)[:, None]
    builder.rows("person", 3, [(each, post, 1.0)], lower=1.0, upper=1.0)
    builder.rows("filled", 3, [(each, post.T, 1.0)], lower=1.0, upper=1.0)
    return builder.build(), 5.0


def whole_numbers() -> tuple[LinearModel, float]:
    """Min 3a + 2b + 7 with 2a + b in [5.5, 6.5], a ≤ 2, a and b whole: a = 2, b = 2."""
    builder = ModelBuilder(offset=7.0)
    a = builder.variables("a", (), upper=2.0, cost=3.0, integer=True)
    b = builder.variables("b", (), upper=9.0, cost=2.0, integer=True)
    builder.rows("range", 1, [(0, a, 2.0), (0, b, 1.0)], lower=5.5, upper=6.5)
    return builder.build(), 17.0


def free_variable() -> tuple[LinearModel, float]:
    """The distance |t − 2.5| for a whole number t, written with a free variable: 0.5, and an offset of −4."""
    builder = ModelBuilder(offset=-4.0)
    t = builder.variables("t", (), lower=-np.inf, integer=True)
    away = builder.variables("away", (), lower=-np.inf, cost=1.0)
    builder.rows("above", 1, [(0, away, 1.0), (0, t, -1.0)], lower=-2.5)
    builder.rows("below", 1, [(0, away, 1.0), (0, t, 1.0)], lower=2.5)
    builder.rows("idle", 1, [(0, t, 1.0)])
    return builder.build(), -3.5


def linear_program() -> tuple[LinearModel, float]:
    """No whole numbers: min −x − 2y with x + y ≤ 4, y ≤ 3, x ≤ 3 and an offset of 1."""
    builder = ModelBuilder(offset=1.0)
    x = builder.variables("x", (), upper=3.0, cost=-1.0)
    y = builder.variables("y", (), upper=3.0, cost=-2.0)
    builder.rows("both", 1, [(0, x, 1.0), (0, y, 1.0)], upper=4.0)
    return builder.build(), -6.0


def without_rows() -> tuple[LinearModel, float]:
    """Bounds only: each variable goes where its cost sends it."""
    builder = ModelBuilder(offset=0.5)
    builder.variables("w", (3,), lower=-1.5, upper=2.5, cost=np.array([1.0, -1.0, 0.0]), integer=True)
    return builder.build(), -2.5


KNOWN = [knapsack, set_cover, assignment, whole_numbers, free_variable, linear_program, without_rows]


def market_split(rows: int = 5, columns: int = 40, seed: int = 0) -> LinearModel:
    """Split columns into halves that are equal in every row, or nearly: no solver closes 5 × 40 in seconds.

    The offset of 10 is what a bound would lack if it were in other units.
    """
    weights = np.random.default_rng(seed).integers(0, 100, (rows, columns)).astype(float)
    half = np.floor(weights.sum(axis=1) / 2)
    builder = ModelBuilder(offset=10.0)
    side = builder.variables("side", (columns,), upper=1.0, integer=True)
    over, under = builder.variables("miss", (2, rows), cost=1.0)
    each = np.arange(rows)
    terms: list[Term] = [(each[:, None], side[None, :], weights), (each, over, 1.0), (each, under, -1.0)]
    builder.rows("split", rows, terms, lower=half, upper=half)
    return builder.build()


def one_sided_start(model: LinearModel) -> np.ndarray:
    """A point of `market_split`, and a bad one: nobody on the side."""
    start = np.zeros(model.n_variables)
    columns = int(model.integer.sum())
    start[columns : columns + model.n_rows] = model.row_lower
    return start


@st.composite
def random_models(draw: st.DrawFn) -> LinearModel:
    """Up to five whole numbers and one real one, with rows of every kind."""
    n_whole, n_rows = draw(st.integers(1, 5)), draw(st.integers(0, 4))
    small = st.integers(-4, 4)
    lower = np.array(draw(st.lists(st.integers(-2, 0), min_size=n_whole, max_size=n_whole)), dtype=float)
    width = np.array(draw(st.lists(st.integers(0, 3), min_size=n_whole, max_size=n_whole)), dtype=float)
    cost = np.array(draw(st.lists(small, min_size=n_whole, max_size=n_whole)), dtype=float)
    builder = ModelBuilder(offset=draw(st.integers(-20, 20)) / 4)
    whole = builder.variables("whole", (n_whole,), lower=lower, upper=lower + width, cost=cost, integer=True)
    real = builder.variables("real", (), lower=-3.0, upper=3.0, cost=draw(small) / 2)
    for number in range(n_rows):
        weights = np.array(draw(st.lists(small, min_size=n_whole, max_size=n_whole)), dtype=float)
        side, breadth = draw(st.integers(-6, 6)) / 2, draw(st.sampled_from([0.0, 1.0, 2.5, np.inf]))
        low, high = (side, side + breadth) if draw(st.booleans()) else (side - breadth, side)
        builder.rows(f"row{number}", 1, [(0, whole, weights), (0, real, float(draw(small)))], lower=low, upper=high)
    return builder.build()


def brute_force(model: LinearModel) -> float:
    """The optimum of such a model: every whole point, and for each the interval of the last variable. ∞ if none."""
    ranges = [np.arange(low, high + 1) for low, high in zip(model.lower[:-1], model.upper[:-1], strict=True)]
    return min((_best_given(model, np.array(point)) for point in product(*ranges)), default=np.inf)


def _best_given(model: LinearModel, point: np.ndarray) -> float:
    matrix = model.matrix.toarray()
    low, high = float(model.lower[-1]), float(model.upper[-1])
    for row, base in enumerate(matrix[:, :-1] @ point):
        below, above, slope = model.row_lower[row] - base, model.row_upper[row] - base, matrix[row, -1]
        if slope == 0:
            if below > 0 or above < 0:
                return np.inf
            continue
        ends = sorted((below / slope, above / slope))
        low, high = max(low, ends[0]), min(high, ends[1])
    if low > high + 1e-12:
        return np.inf
    return min(model.objective(np.append(point, end)) for end in (low, high))
