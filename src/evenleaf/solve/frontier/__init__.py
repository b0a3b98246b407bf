"""Every λ's optimum: the whole trade-off between loss and discrimination, each piece with its proof (ALGORITHM §7)."""

from evenleaf.solve.frontier.result import Frontier, FrontierPoint
from evenleaf.solve.frontier.run import frontier, frontier_over_depths

__all__ = ["Frontier", "FrontierPoint", "frontier", "frontier_over_depths"]
