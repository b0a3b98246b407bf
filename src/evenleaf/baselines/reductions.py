"""fairlearn's reduction (Agarwal et al. 2018) over greedy trees, as a modern comparison; needs the extra `study`."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from evenleaf.baselines.base import Baseline, at_least_zero, the_groups, two_classes
from evenleaf.baselines.design import Design
from evenleaf.errors import InputError, MissingExtraError
from evenleaf.table import People, Table


class ExponentiatedGradientTree(ClassifierMixin, Baseline):  # type: ignore[misc]
    """A lottery over trees whose rates of the positive class differ by at most about `difference_bound`.

    It is one rule only on average: who is decided how is drawn from `random_state`, unlike all other methods here.
    """

    def __init__(
        self, difference_bound: float = 0.01, max_depth: int = 2, max_iter: int = 50, random_state: int = 0
    ) -> None:
        self.difference_bound = difference_bound
        self.max_depth = max_depth
        self.max_iter = max_iter
        self.random_state = random_state

    def decide(self, table: Table) -> np.ndarray:
        """The class codes of one draw."""
        drawn = self.reduction_.predict(self.design_.matrix(table), random_state=self.random_state)
        return np.asarray(drawn).astype(np.intp)

    def _learn(self, people: People) -> None:
        two_classes(people, "the reduction")
        groups = the_groups(people)
        bound = at_least_zero("difference_bound", self.difference_bound)
        self.design_ = Design.of(people.features, people.weight)
        self.reduction_ = self._reduction(bound)
        if not np.allclose(people.weight, people.weight[0]):
            raise InputError("fairlearn's reduction takes no sample weights: leave sample_weight out")
        features, y = self.design_.matrix(people.features), people.outcome.values
        with warnings.catch_warnings():
            # fairlearn uses parts of pandas that are on their way out; its users can do nothing about that.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.reduction_.fit(features, y, sensitive_features=groups.codes)

    def _reduction(self, bound: float) -> Any:
        if find_spec("fairlearn") is None:
            raise MissingExtraError("the reduction needs fairlearn: python -m pip install 'evenleaf[study]'")
        from fairlearn.reductions import DemographicParity, ExponentiatedGradient

        tree = DecisionTreeClassifier(max_depth=self.max_depth, random_state=self.random_state)
        return ExponentiatedGradient(tree, DemographicParity(difference_bound=bound), max_iter=self.max_iter)
