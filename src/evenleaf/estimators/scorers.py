"""Scorers for the discrimination indices: for `scoring=` wherever scikit-learn takes one. Higher is fairer."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_regressor
from sklearn.utils.metadata_routing import MetadataRequest

from evenleaf.errors import InputError
from evenleaf.estimators.settings import as_notion
from evenleaf.fairness import Notion
from evenleaf.metrics.arguments import make_people, one_outcome, outcome_pair
from evenleaf.metrics.indices import psi_of
from evenleaf.table import Grouping, Outcome, Task


class FairnessScorer:
    """Minus the discrimination of a model's predictions, by a notion.

    The protected columns reach it through metadata routing, which it asks for by itself; where routing is off, name
    the columns of X that are protected.
    """

    def __init__(
        self,
        fairness: Notion | str = "didi",
        sensitive_features: str | list[str] | None = None,
        groups: Grouping = "joint",
    ) -> None:
        self.fairness = fairness
        self.sensitive_features = sensitive_features
        self.groups = groups

    def __call__(
        self, estimator: Any, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> float:
        """The score of an estimator on some people."""
        protected = self.sensitive_features if sensitive_features is None else sensitive_features
        notion = as_notion(self.fairness)
        if notion is None:
            raise InputError("a fairness scorer needs a notion, for example 'didi'")
        if protected is None:
            raise InputError(
                "the fairness scorer was given no sensitive_features: turn metadata routing on and pass them, "
                "or name columns of X: fairness_scorer('didi', sensitive_features='race')"
            )
        task: Task = "regression" if is_regressor(estimator) else "classification"
        true, predicted = _outcomes(y, estimator.predict(X), task)
        people = make_people(true, protected, X=X, task=task, sample_weight=sample_weight, groups=self.groups)
        return -notion.operator(people).value(psi_of(predicted))

    def get_metadata_routing(self) -> MetadataRequest:
        """What the scorer asks of scikit-learn's routing: the protected columns, but not the weights."""
        request = MetadataRequest(owner=self)
        if self.sensitive_features is None:
            request.score.add_request(param="sensitive_features", alias=True)
        return request

    def __repr__(self) -> str:
        return f"FairnessScorer({self.fairness!r}, sensitive_features={self.sensitive_features!r})"


def _outcomes(y: Any, predictions: Any, task: Task) -> tuple[Outcome, Outcome]:
    if task == "regression":
        return one_outcome(y, task), one_outcome(predictions, task)
    return outcome_pair(y, predictions)


def fairness_scorer(
    fairness: Notion | str = "didi",
    sensitive_features: str | list[str] | None = None,
    groups: Grouping = "joint",
) -> FairnessScorer:
    """A scorer for `cross_validate`, `GridSearchCV` and the like; zero is perfectly fair, less is less fair."""
    return FairnessScorer(fairness, sensitive_features, groups)


didi_scorer = FairnessScorer("didi")
dtdi_scorer = FairnessScorer("dtdi")
