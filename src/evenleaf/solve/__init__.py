"""Solvers: each answers a `Problem` with a `Solution`, a claim with evidence."""

from evenleaf.solve.budget import Budget
from evenleaf.solve.choose import Solver, get_solver, solve
from evenleaf.solve.frontier import Frontier, FrontierPoint, frontier, frontier_over_depths
from evenleaf.solve.result import Solution, Status, Stop, TracePoint

__all__ = [
    "Budget",
    "Frontier",
    "FrontierPoint",
    "Solution",
    "Solver",
    "Status",
    "Stop",
    "TracePoint",
    "frontier",
    "frontier_over_depths",
    "get_solver",
    "solve",
]
