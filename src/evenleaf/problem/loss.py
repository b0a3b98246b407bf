"""What a wrong decision costs: misclassification (with a cost matrix if wanted) and the absolute error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table import Outcome


@dataclass(frozen=True)
class Misclassification:
    """1/N Σ 1[y_i ≠ ŷ_i], or with `costs` 1/N Σ costs[y_i][ŷ_i], rows and columns in the order of the classes."""

    costs: tuple[tuple[float, ...], ...] | None = None

    def __init__(self, costs: Sequence[Sequence[float]] | np.ndarray | None = None) -> None:
        object.__setattr__(self, "costs", None if costs is None else _rows_of_numbers(costs))

    def check(self, outcome: Outcome) -> None:
        """The costs must fit the classes."""
        if outcome.classes is None:
            raise InputError(
                f"misclassification needs classes, but {outcome.name!r} is a number: use the absolute error"
            )
        if self.costs is None:
            return
        if len({len(row) for row in self.costs}) > 1:
            raise InputError("the rows of the cost matrix have different lengths")
        table = self.matrix(outcome.n_classes)
        if table.shape != (outcome.n_classes,) * 2:
            raise InputError(f"the cost matrix must have {outcome.n_classes} rows and columns, one a class")
        if not np.isfinite(table).all() or (table < 0).any():
            raise InputError("the costs must be finite and not negative")

    def matrix(self, n_classes: int) -> np.ndarray:
        """The cost of deciding the column where the row is true."""
        if self.costs is None:
            return 1.0 - np.eye(n_classes)
        return np.array(self.costs)

    def table(self, outcome: Outcome) -> np.ndarray:
        """What each class would cost for each person (N × |Y|), before weights."""
        return self.matrix(outcome.n_classes)[outcome.values]

    def value(self, outcome: Outcome, decided: np.ndarray, share: np.ndarray) -> float:
        """The weighted mean cost of the decisions."""
        if self.costs is None:
            return float((share * (outcome.values != decided)).sum())
        # The cell of each person in the table of costs, read row by row.
        cell = outcome.values * outcome.n_classes + decided
        return float((share * self.matrix(outcome.n_classes).ravel().take(cell)).sum())


def _rows_of_numbers(costs: Any) -> tuple[tuple[float, ...], ...]:
    try:
        return tuple(tuple(float(cost) for cost in row) for row in costs)
    except (TypeError, ValueError) as error:
        raise InputError("the cost matrix must be rows of numbers, one row a true class") from error


@dataclass(frozen=True)
class AbsoluteError:
    """1/N Σ |y_i − ŷ_i|, the paper's loss for numbers."""

    def check(self, outcome: Outcome) -> None:
        """Only numbers can be off by an amount."""
        if outcome.classes is not None:
            raise InputError(f"the absolute error needs numbers, but {outcome.name!r} has classes")

    def value(self, outcome: Outcome, decided: np.ndarray, share: np.ndarray) -> float:
        """The weighted mean absolute error."""
        return float(share @ np.abs(outcome.values - decided))


Loss = Misclassification | AbsoluteError


def default_loss(outcome: Outcome) -> Loss:
    """Misclassification for classes, the absolute error for numbers."""
    return AbsoluteError() if outcome.classes is None else Misclassification()
