"""A model of the dual: above the true bound everywhere, and equal to it wherever it was asked for (cutting planes).

The trees met say what each part of the people (the left side, the right side, the free) costs at most at any
multipliers. The parts are modelled apart: any left side of a tree met goes with any right side.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class DualModel:
    """max Σ θ_part − ε·s over z = s·μ near a centre, θ_part being at most what each tree met costs there.

    s is 1 where the discrimination has a weight, and a variable where it is limited to ε.
    """

    def __init__(self, n_rows: int, n_parts: int, limit: float | None) -> None:
        import highspy

        self.n_rows, self.n_parts, self.limit = n_rows, n_parts, limit
        # How much of each tree the mixture holds that the last point belongs to: an entry a plane.
        self.mixture = np.zeros(0)
        self.highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("presolve", "off")
        self.optimal = highspy.HighsModelStatus.kOptimal
        free, n_columns = np.full(n_parts, np.inf), n_rows + n_parts + 1
        lower = np.concatenate([np.full(n_rows, -1.0), -free, [1.0]])
        upper = np.concatenate([np.full(n_rows, 1.0), free, [1.0]])
        self.highs.addVars(n_columns, lower, upper)
        cost = np.concatenate([np.zeros(n_rows), np.full(n_parts, -1.0), [0.0 if limit is None else limit]])
        self.highs.changeColsCost(n_columns, np.arange(n_columns, dtype=np.int32), cost)
        self.first = 0 if limit is None else 2 * n_rows
        if limit is not None:
            scale = n_columns - 1
            for row in range(n_rows):
                for sign in (1.0, -1.0):
                    self.highs.addRow(-np.inf, 0.0, 2, np.array([row, scale], dtype=np.int32), np.array([sign, -1.0]))

    def add(self, part: int, constant: float, due: float, slope: np.ndarray) -> None:
        """A tree met costs constant + due·s + slope·z on a part."""
        used = np.flatnonzero(slope)
        columns = np.append(used, [self.n_rows + part, self.n_rows + self.n_parts]).astype(np.int32)
        self.highs.addRow(-np.inf, constant, len(columns), columns, np.append(-slope[used], [1.0, -due]))

    def best_near(self, mu: np.ndarray, scale: float, radius: float) -> tuple[np.ndarray, float, float] | None:
        """(μ, s, the model's value) at its highest point near a centre; None where the solver finds none."""
        columns = np.append(np.arange(self.n_rows), self.n_rows + self.n_parts).astype(np.int32)
        z = scale * mu
        if self.limit is None:
            low, high = np.append(np.maximum(z - radius, -1.0), 1.0), np.append(np.minimum(z + radius, 1.0), 1.0)
        else:
            around, most = radius * (scale + 1e-2), (1 + radius) * (scale + 1e-2)
            low, high = np.append(z - around, max(0.0, scale - around)), np.append(z + around, most)
        self.highs.changeColsBounds(len(columns), columns, low, high)
        self.highs.run()
        if self.highs.getModelStatus() != self.optimal:
            return None
        solution = np.asarray(self.highs.getSolution().col_value)
        self.mixture = np.abs(np.asarray(self.highs.getSolution().row_dual))[self.first :]
        s = float(solution[-1])
        found = np.clip(solution[: self.n_rows] / s, -1.0, 1.0) if s > 1e-12 else np.zeros(self.n_rows)
        return found, s, -float(self.highs.getInfo().objective_function_value)
