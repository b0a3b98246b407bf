"""Solvers: each answers a `Problem` with a `Solution`, a claim with evidence."""

from evenleaf.solve.budget import Budget
from evenleaf.solve.choose import Solver, get_solver, solve
from evenleaf.solve.result import Solution, Status, Stop, TracePoint

__all__ = ["Budget", "Solution", "Solver", "Status", "Stop", "TracePoint", "get_solver", "solve"]
