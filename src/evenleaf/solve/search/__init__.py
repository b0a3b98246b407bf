"""The exact search for classification trees with tests on single features."""

from evenleaf.solve.search.solver import SearchSolver

__all__ = ["SearchSolver"]
