"""A mixed-integer linear program as plain arrays, built block by block and handed to a solver whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

# Rows within a block, variables, coefficients: broadcast together.
Term = tuple[np.ndarray | int, np.ndarray | int, np.ndarray | float]
# Bounds that cross by no more than this are taken for equal: the difference is rounding.
CROSSING_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Minimise cost·x + offset subject to row_lower ≤ matrix·x ≤ row_upper, lower ≤ x ≤ upper, some x whole."""

    cost: np.ndarray
    offset: float
    lower: np.ndarray
    upper: np.ndarray
    integer: np.ndarray
    matrix: sp.csr_array
    row_lower: np.ndarray
    row_upper: np.ndarray
    variable_names: tuple[str, ...]
    row_names: tuple[str, ...]

    def __post_init__(self) -> None:
        shapes = {len(part) for part in (self.cost, self.lower, self.upper, self.integer, self.variable_names)}
        rows = {len(part) for part in (self.row_lower, self.row_upper, self.row_names)}
        if shapes != {self.matrix.shape[1]} or rows != {self.matrix.shape[0]}:
            raise ValueError("the parts of the linear model differ in length")
        if not (np.isfinite(self.cost).all() and np.isfinite(self.matrix.data).all() and np.isfinite(self.offset)):
            raise ValueError("the linear model has a cost or a coefficient that is not a finite number")
        if any(np.isnan(part).any() for part in (self.lower, self.upper, self.row_lower, self.row_upper)):
            raise ValueError("the linear model has a bound that is not a number")

    @property
    def n_variables(self) -> int:
        """How many variables."""
        return len(self.cost)

    @property
    def n_rows(self) -> int:
        """How many constraints."""
        return len(self.row_lower)

    def objective(self, x: np.ndarray) -> float:
        """The objective at a point."""
        return float(self.cost @ x + self.offset)

    def box_bound(self) -> float:
        """A lower bound on the objective that needs no solver: every variable at its better bound."""
        up, down = self.cost > 0, self.cost < 0
        return float(self.cost[up] @ self.lower[up] + self.cost[down] @ self.upper[down] + self.offset)

    def violation(self, x: np.ndarray) -> float:
        """The largest amount by which a point breaks a bound, a row or integrality: solver-independent."""
        return self.worst_break(x)[0]

    def worst_break(self, x: np.ndarray) -> tuple[float, str]:
        """The largest amount by which a point breaks the model, at least 0, and the name of what it breaks."""
        with np.errstate(invalid="ignore"):
            activity = np.asarray(self.matrix @ x)
            fraction = np.where(self.integer, np.abs(x - np.round(x)), 0.0)
            variables = np.maximum.reduce([self.lower - x, x - self.upper, fraction])
            rows = np.maximum(self.row_lower - activity, activity - self.row_upper)
        breaks, names = np.concatenate([variables, rows]), self.variable_names + self.row_names
        # A point that is not a number breaks whatever it touches.
        breaks = np.where(np.isnan(breaks), np.inf, breaks)
        if not breaks.size or breaks.max() <= 0:
            return 0.0, ""
        return float(breaks.max()), names[int(breaks.argmax())]

    def crossing_bounds(self) -> str | None:
        """The name of a variable or row whose lower bound is above its upper one, by more than rounding."""
        gaps = np.concatenate([self.lower, self.row_lower]) - np.concatenate([self.upper, self.row_upper])
        if not gaps.size or gaps.max() <= CROSSING_TOLERANCE:
            return None
        return (self.variable_names + self.row_names)[int(gaps.argmax())]


@dataclass
class ModelBuilder:
    """Collects blocks of variables and rows. Variables come in arrays of indices shaped as the caller likes."""

    offset: float = 0.0
    _cost: list[np.ndarray] = field(default_factory=list)
    _lower: list[np.ndarray] = field(default_factory=list)
    _upper: list[np.ndarray] = field(default_factory=list)
    _integer: list[np.ndarray] = field(default_factory=list)
    _variables: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    _rows: list[tuple[str, int]] = field(default_factory=list)
    _entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    _row_lower: list[np.ndarray] = field(default_factory=list)
    _row_upper: list[np.ndarray] = field(default_factory=list)
    n_variables: int = 0
    n_rows: int = 0

    def variables(
        self,
        name: str,
        shape: tuple[int, ...],
        *,
        lower: float | np.ndarray = 0.0,
        upper: float | np.ndarray = np.inf,
        cost: float | np.ndarray = 0.0,
        integer: bool = False,
    ) -> np.ndarray:
        """Add an array of variables; returns their indices in the given shape."""
        count = int(np.prod(shape))
        for store, value in ((self._lower, lower), (self._upper, upper), (self._cost, cost)):
            store.append(np.broadcast_to(np.asarray(value, dtype=float), shape).ravel())
        self._integer.append(np.full(count, integer))
        self._variables.append((name, shape))
        indices = np.arange(self.n_variables, self.n_variables + count).reshape(shape)
        self.n_variables += count
        return indices

    def rows(
        self,
        name: str,
        count: int,
        terms: Sequence[Term],
        *,
        lower: float | np.ndarray = -np.inf,
        upper: float | np.ndarray = np.inf,
    ) -> None:
        """Add `count` rows. Each term is (row within the block, variable, coefficient), broadcast together."""
        for row, variable, coefficient in terms:
            r, v, c = np.broadcast_arrays(row, variable, coefficient)
            self._entries.append((r.ravel() + self.n_rows, v.ravel(), c.ravel().astype(float)))
        self._row_lower.append(np.broadcast_to(np.asarray(lower, dtype=float), (count,)))
        self._row_upper.append(np.broadcast_to(np.asarray(upper, dtype=float), (count,)))
        self._rows.append((name, count))
        self.n_rows += count

    def build(self) -> LinearModel:
        """The finished model; entries for the same cell add up."""
        return LinearModel(
            _join(self._cost),
            self.offset,
            _join(self._lower),
            _join(self._upper),
            _join(self._integer).astype(bool),
            self._matrix(),
            _join(self._row_lower),
            _join(self._row_upper),
            tuple(_name(name, index) for name, shape in self._variables for index in np.ndindex(shape)),
            tuple(f"{name}_{number}" for name, count in self._rows for number in range(count)),
        )

    def _matrix(self) -> sp.csr_array:
        row = _join([entry[0] for entry in self._entries]).astype(np.int64)
        variable = _join([entry[1] for entry in self._entries]).astype(np.int64)
        coefficient = _join([entry[2] for entry in self._entries])
        matrix = sp.csr_array((coefficient, (row, variable)), shape=(self.n_rows, self.n_variables))
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix


def _join(parts: list[np.ndarray]) -> np.ndarray:
    """The parts end to end; an empty array where there are none, so that a model may lack rows or variables."""
    return np.concatenate(parts) if parts else np.zeros(0)


def _name(name: str, index: tuple[int, ...]) -> str:
    return "_".join([name, *map(str, index)])
