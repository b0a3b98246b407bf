"""Methods from the literature to compare with, each an estimator with the same face."""

from evenleaf.baselines.base import Baseline
from evenleaf.baselines.berk import FairLinearRegression, FairLogisticRegression
from evenleaf.baselines.dadt import DiscriminationAwareTree
from evenleaf.baselines.reductions import ExponentiatedGradientTree
from evenleaf.baselines.trees import (
    GreedyTreeClassifier,
    GreedyTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)

__all__ = [
    "Baseline",
    "DiscriminationAwareTree",
    "ExponentiatedGradientTree",
    "FairLinearRegression",
    "FairLogisticRegression",
    "GreedyTreeClassifier",
    "GreedyTreeRegressor",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
]
