"""What is asked: losses, shapes, and the frozen `Problem` with its one truth, `evaluate`."""

from evenleaf.problem.loss import AbsoluteError, Loss, Misclassification, default_loss
from evenleaf.problem.problem import EDGE, FEASIBILITY_TOLERANCE, Problem, Score, pose
from evenleaf.problem.shape import Shape

__all__ = [
    "EDGE",
    "FEASIBILITY_TOLERANCE",
    "AbsoluteError",
    "Loss",
    "Misclassification",
    "Problem",
    "Score",
    "Shape",
    "default_loss",
    "pose",
]
