"""The exact lane for notions with few disparity rows: fronts of (loss, disparities), to depth 4."""

from evenleaf.solve.fronts.solver import FrontSolver

__all__ = ["FrontSolver"]
