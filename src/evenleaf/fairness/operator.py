"""The disparity operator: every index of the paper as one sparse matrix with row weights (ALGORITHM §1).

With ψ(ŷ) the predictions as numbers (the values themselves in regression, the one-hot table of classes in
classification),

    D(ŷ) = Σ_r Σ_y weight[r, y] · |(matrix · ψ)[r, y]|.

A row compares two averages over people, so it holds for every class alike; `weight` says which classes count.
Metrics take the value, the mixed-integer program takes the rows, the search takes the transpose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from evenleaf.errors import InputError

# Entries and row sums this small against their row are rounding, not disparity.
_NOISE = 1e-12
# Rows are compared after rounding to about eleven digits, twice: what sits on the edge between two roundings
# the first time does not the second time.
_GRID = 2.0**37
_SHIFTS = (0.0, 0.37)
_FEW_CLASSES = 3


@dataclass(frozen=True, eq=False)
class Disparity:
    """A fairness notion for given people: rows over people, weights per row and class."""

    matrix: sp.csr_array
    weight: np.ndarray
    n_terms: int = 0
    empty_terms: int = 0

    def __post_init__(self) -> None:
        if self.weight.ndim != 2 or self.weight.shape[0] != self.matrix.shape[0]:
            raise ValueError("a disparity operator needs one row of weights for each row of its matrix")
        self.weight.flags.writeable = False

    @classmethod
    def none(cls, n_people: int, n_classes: int) -> Disparity:
        """No rows: the disparity that is always zero."""
        return cls(sp.csr_array((0, n_people)), np.zeros((0, n_classes)))

    @property
    def n_rows(self) -> int:
        """How many rows, each standing for one |·| a class."""
        return int(self.matrix.shape[0])

    @property
    def n_people(self) -> int:
        """How many people the rows are over."""
        return int(self.matrix.shape[1])

    @property
    def n_classes(self) -> int:
        """How many columns ψ has (one in regression)."""
        return int(self.weight.shape[1])

    @property
    def sums_to_zero(self) -> np.ndarray:
        """Whether each row does, so that it finds no disparity where everybody is decided alike."""
        return _sums_to_zero(self.matrix)

    @property
    def balanced(self) -> bool:
        """Whether deciding everybody alike is no disparity."""
        return bool(self.sums_to_zero.all())

    def differences(self, psi: np.ndarray) -> np.ndarray:
        """The signed differences (matrix · ψ), one a row and class."""
        if psi.shape[1] > _FEW_CLASSES:
            return np.asarray(self.matrix @ psi)
        # Class by class: scipy multiplies a sparse matrix by a vector faster than by each row of a narrow table.
        return np.array([self.matrix @ column for column in psi.T]).T

    def row_values(self, psi: np.ndarray) -> np.ndarray:
        """What each row contributes to D(ŷ), its classes taken together."""
        if psi.shape != (self.n_people, self.n_classes):
            raise ValueError(f"ψ has the shape {psi.shape}, not {(self.n_people, self.n_classes)}")
        return np.asarray((self.weight * np.abs(self.differences(psi))).sum(axis=1))

    def value(self, psi: np.ndarray) -> float:
        """D(ŷ), the weighted L1 norm of the differences."""
        return float(self.row_values(psi).sum())

    def dual(self, mu: np.ndarray) -> np.ndarray:
        """Each person's price on each class at multipliers μ ∈ [−1, 1]: matrixᵀ(weight ∘ μ) (ALGORITHM §2)."""
        return np.asarray(self.matrix.T @ (self.weight * mu))

    def __add__(self, other: Disparity) -> Disparity:
        matrix = sp.csr_array(sp.vstack([self.matrix, other.matrix], format="csr"))
        return Disparity(
            matrix,
            np.concatenate([self.weight, other.weight]),
            self.n_terms + other.n_terms,
            self.empty_terms + other.empty_terms,
        )

    def __rmul__(self, factor: float) -> Disparity:
        check_factor(factor)
        return replace(self, weight=factor * self.weight)

    def simplified(self) -> Disparity:
        """The same value with fewer rows: two classes need one column, proportional rows become one.

        With two groups the two rows of a comparison are proportional, because
        |m − m₁| + |m − m₂| = |m₁ − m₂|, so that identity needs no rule of its own.
        """
        matrix = _without_noise(self.matrix)
        weight = _one_column(matrix, self.weight)
        matrix, weight = _normalised(matrix, weight)
        for shift in _SHIFTS:
            matrix, weight = _merged(matrix, weight, shift)
        return Disparity(matrix, weight, self.n_terms, self.empty_terms)


def check_factor(factor: float) -> None:
    """A notion may be scaled by any finite number that is not negative."""
    if not np.isfinite(factor) or factor < 0:
        raise InputError(f"a fairness notion can be multiplied by a number of at least 0, not by {factor}")


def indicators(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """ψ of a classification: the one-hot table of class codes, each class in one piece."""
    return (codes == np.arange(n_classes)[:, None]).astype(np.float64).T


def _without_noise(matrix: sp.csr_array) -> sp.csr_array:
    cleaned = matrix.copy()
    cleaned.sum_duplicates()
    cleaned.sort_indices()
    if cleaned.nnz:
        largest = abs(cleaned).max(axis=1).toarray().ravel()
        rows = np.repeat(np.arange(cleaned.shape[0]), np.diff(cleaned.indptr))
        cleaned.data[np.abs(cleaned.data) <= _NOISE * largest[rows]] = 0.0
        cleaned.eliminate_zeros()
    return cleaned


def _one_column(matrix: sp.csr_array, weight: np.ndarray) -> np.ndarray:
    """With two classes ψ₀ = 1 − ψ₁, and a row that sums to zero says the same of both up to sign."""
    if weight.shape[1] != 2:
        return weight
    folded = np.column_stack([np.zeros(len(weight)), weight.sum(axis=1)])
    return np.where(_sums_to_zero(matrix)[:, None], folded, weight)


def _sums_to_zero(matrix: sp.csr_array) -> np.ndarray:
    return np.asarray(np.abs(matrix.sum(axis=1)) <= 1e-9 * abs(matrix).sum(axis=1))


def _normalised(matrix: sp.csr_array, weight: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
    """Rows scaled so that the first entry is 1, the scale moved into the weights; empty rows dropped."""
    filled = np.flatnonzero((np.diff(matrix.indptr) > 0) & (weight > 0).any(axis=1))
    matrix, weight = sp.csr_array(matrix[filled]), weight[filled]
    lead = matrix.data[matrix.indptr[:-1]]
    scaled = matrix.copy()
    scaled.data = matrix.data / np.repeat(lead, np.diff(matrix.indptr))
    return scaled, weight * np.abs(lead)[:, None]


def _merged(matrix: sp.csr_array, weight: np.ndarray, shift: float) -> tuple[sp.csr_array, np.ndarray]:
    """Equal rows become one that carries their weights together."""
    first, merged = np.unique(_equal_row_groups(matrix, shift), return_inverse=True)
    total = np.zeros((len(first), weight.shape[1]))
    np.add.at(total, merged, weight)
    return sp.csr_array(matrix[first]), total


def _equal_row_groups(matrix: sp.csr_array, shift: float) -> np.ndarray:
    """For each row the first row that equals it, found by two random projections and then verified."""
    n_rows = matrix.shape[0]
    if n_rows == 0:
        return np.zeros(0, dtype=np.intp)
    rounded = _rounded(matrix.data, shift)
    random = np.random.default_rng(0).random((2, matrix.shape[1]))
    starts, lengths = matrix.indptr[:-1], np.diff(matrix.indptr)
    prints = [np.add.reduceat(rounded * vector[matrix.indices], starts) for vector in random]
    _, first, group = np.unique(np.column_stack([lengths, *prints]), axis=0, return_index=True, return_inverse=True)
    leader = first[group.ravel()]
    offset = np.arange(matrix.nnz) - np.repeat(starts, lengths)
    twin = np.repeat(starts[leader], lengths) + offset
    differs = (matrix.indices != matrix.indices[twin]) | (rounded != rounded[twin])
    collided = np.add.reduceat(differs, starts) > 0
    return np.where(collided, np.arange(n_rows), leader)


def _rounded(values: np.ndarray, shift: float) -> np.ndarray:
    """To the same number of digits whatever the size, so that large and tiny entries tie alike."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.floor(mantissa * _GRID + 0.5 + shift) / _GRID, exponent))
