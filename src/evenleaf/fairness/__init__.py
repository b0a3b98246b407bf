"""What is unfair: each notion is a description that becomes one sparse disparity operator."""

from evenleaf.fairness.impact import ConditionalParity, DisparateImpact
from evenleaf.fairness.mistreatment import (
    DisparateMistreatment,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
)
from evenleaf.fairness.notion import Combination, Notion, Progress
from evenleaf.fairness.operator import Disparity, indicators
from evenleaf.fairness.treatment import DisparateTreatment

__all__ = [
    "Combination",
    "ConditionalParity",
    "DisparateImpact",
    "DisparateMistreatment",
    "DisparateTreatment",
    "Disparity",
    "EqualOpportunity",
    "EqualizedOdds",
    "Notion",
    "PredictiveEquality",
    "Progress",
    "indicators",
]
