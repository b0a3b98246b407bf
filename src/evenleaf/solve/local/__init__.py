"""Local search for the paper's linear classes at sizes no program closes, and for first incumbents."""

from evenleaf.solve.local.solver import LocalSearch, trivial_bound

__all__ = ["LocalSearch", "trivial_bound"]
