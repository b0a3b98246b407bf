"""What is asked: losses, shapes, and the frozen `Problem` with its one truth, `evaluate`."""

from evenleaf.problem.loss import AbsoluteError, Loss, Misclassification, default_loss
from evenleaf.problem.problem import FEASIBILITY_TOLERANCE, Problem, Score, pose
from evenleaf.problem.shape import Shape

__all__ = [
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
