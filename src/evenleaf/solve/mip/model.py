"""A mixed-integer linear program as plain arrays, built block by block and handed to a solver whole."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp


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

    def violation(self, x: np.ndarray) -> float:
        """The largest amount by which a point breaks a bound, a row or integrality: solver-independent."""
        activity = np.asarray(self.matrix @ x)
        gaps = [self.lower - x, x - self.upper, self.row_lower - activity, activity - self.row_upper]
        gaps.append(np.abs(x - np.round(x))[self.integer])
        return max((float(gap.max()) for gap in gaps if gap.size), default=0.0)


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
        terms: list[tuple[np.ndarray, np.ndarray, np.ndarray | float]],
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
        row, variable, coefficient = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        matrix = sp.csr_array((coefficient, (row, variable)), shape=(self.n_rows, self.n_variables))
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return LinearModel(
            np.concatenate(self._cost),
            self.offset,
            np.concatenate(self._lower),
            np.concatenate(self._upper),
            np.concatenate(self._integer),
            matrix,
            np.concatenate(self._row_lower),
            np.concatenate(self._row_upper),
            tuple(_name(name, index) for name, shape in self._variables for index in np.ndindex(shape)),
            tuple(f"{name}_{number}" for name, count in self._rows for number in range(count)),
        )


def _name(name: str, index: tuple[int, ...]) -> str:
    return "_".join([name, *map(str, index)])
