"""The exact search for regression trees with constant leaves and tests on single features."""

from evenleaf.solve.values.solver import ValueSolver

__all__ = ["ValueSolver"]
