"""What a scikit-learn user touches: fair trees as estimators, scorers, and models that travel."""

from evenleaf.estimators.classifier import FairTreeClassifier
from evenleaf.estimators.frontier import FairTreeFrontier
from evenleaf.estimators.model_file import load_model, save_model
from evenleaf.estimators.regressor import FairTreeRegressor
from evenleaf.estimators.scorers import FairnessScorer, didi_scorer, dtdi_scorer, fairness_scorer
from evenleaf.estimators.warning import NotProvenWarning, ProtectedColumnWarning

__all__ = [
    "FairTreeClassifier",
    "FairTreeFrontier",
    "FairTreeRegressor",
    "FairnessScorer",
    "NotProvenWarning",
    "ProtectedColumnWarning",
    "didi_scorer",
    "dtdi_scorer",
    "fairness_scorer",
    "load_model",
    "save_model",
]
