"""The whole trade-off as an estimator: every λ's best tree, and ways to choose one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, column_or_1d

from evenleaf.errors import InputError
from evenleaf.estimators.base import TreeLearner
from evenleaf.estimators.classifier import FairTreeClassifier, class_labels, class_outcome
from evenleaf.estimators.display import frontier_html
from evenleaf.estimators.frames import library_of, make_frame
from evenleaf.estimators.regressor import FairTreeRegressor, number_outcome
from evenleaf.estimators.settings import make_budget
from evenleaf.estimators.warning import NotProvenWarning
from evenleaf.fairness import Notion
from evenleaf.problem import Loss, Misclassification, Problem, Shape
from evenleaf.solve import Budget, Frontier, FrontierPoint, frontier_over_depths
from evenleaf.solve.preference import Preference, knee, least_loss
from evenleaf.table import Grouping, Outcome, infer_task
from evenleaf.tree import Tree

_COLUMNS = ("weight_from", "weight_to", "loss", "discrimination", "depth", "leaves", "proven")
_NUMBERS = (*_COLUMNS, "weight")


class FairTreeFrontier(TreeLearner):
    """Every tree that is optimal for some weight λ, with the interval of λ in which it is, and the proof.

    The parameters are those of `FairTreeClassifier` and `FairTreeRegressor`, but for λ and ε. `task` is
    "classification", "regression", or "auto" to tell from y. `max_depth` may be several depths: the trade-off is
    then found for each of them. `n_jobs` solves run at a time through joblib, or wherever
    `joblib.parallel_config` sends them, a cluster for example.

    After `fit`, `frontier_` is a frame with one row a tree, `trees_` holds the trees beside it, and `proven_` says
    whether all of it is proven. `select` hands one over as a fitted estimator.
    """

    def __init__(
        self,
        max_depth: int | Sequence[int] = 2,
        *,
        fairness: Notion | str | None = None,
        task: Literal["auto", "classification", "regression"] = "auto",
        groups: Grouping = "joint",
        branching: Literal["single", "linear"] = "single",
        leaves: Literal["constant", "linear"] = "constant",
        max_feature_uses: int | Mapping[str, int] | None = None,
        max_features_used: int | None = None,
        max_features_per_test: int | None = None,
        max_leaves: int | None = None,
        min_samples_leaf: int = 1,
        allowed_features: Sequence[str] | None = None,
        costs: Sequence[Sequence[float]] | np.ndarray | None = None,
        categorical_features: Any = "from_dtype",
        allow_protected_splits: bool = False,
        solver: str = "auto",
        time_limit: float | None = None,
        gap: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.fairness = fairness
        self.task = task
        self.groups = groups
        self.branching = branching
        self.leaves = leaves
        self.max_feature_uses = max_feature_uses
        self.max_features_used = max_features_used
        self.max_features_per_test = max_features_per_test
        self.max_leaves = max_leaves
        self.min_samples_leaf = min_samples_leaf
        self.allowed_features = allowed_features
        self.costs = costs
        self.categorical_features = categorical_features
        self.allow_protected_splits = allow_protected_splits
        self.solver = solver
        self.time_limit = time_limit
        self.gap = gap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.solver_options = solver_options

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Find the whole trade-off; the arguments are those of `FairTreeClassifier.fit`."""
        data = self._table_data(X, y)
        outcome, budget = self._outcome(y), self._budget()
        self.__dict__.pop("classes_", None)  # an earlier fit may have left them
        if outcome.classes is not None:
            self.classes_ = class_labels(y)
        problem, self.protected_ = self._question(data, outcome, sensitive_features, sample_weight)
        tell = _tell if self.verbose else None
        found = frontier_over_depths(
            problem, self._depths(), budget, self.solver, self.solver_options, self.n_jobs, on_solved=tell
        )
        self.points_ = tuple(point for frontier in found.values() for point in frontier)
        self.max_depths_ = tuple(depth for depth, frontier in found.items() for _ in frontier)
        self.proven_ = all(frontier.proven for frontier in found.values())
        self.models_ = tuple(map(partial(self._model, problem), self.points_, self.max_depths_))
        self._library = library_of(X)
        self._say_if_unproven()
        return self

    def __getstate__(self) -> dict[str, Any]:
        """The points are written as numbers beside the models, which hold the trees."""
        state = super().__getstate__()
        if "points_" not in state:
            return state
        numbers = [[getattr(point, name) for name in _NUMBERS] for point in state["points_"]]
        return {**{name: value for name, value in state.items() if name != "points_"}, "_numbers": numbers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_numbers" in state:
            state = dict(state)
            rows = [dict(zip(_NUMBERS, row, strict=True)) for row in state.pop("_numbers")]
            models = zip(state["models_"], rows, strict=True)
            state["points_"] = tuple(FrontierPoint(solution=model.solution_, **row) for model, row in models)
        super().__setstate__(state)

    @property
    def trees_(self) -> tuple[Tree, ...]:
        """The trees, in the order of the rows of `frontier_`."""
        check_is_fitted(self, "points_")
        return tuple(point.tree for point in self.points_)

    @property
    def frontier_(self) -> Any:
        """One row a tree, as a frame of the kind that X was."""
        check_is_fitted(self, "points_")
        return make_frame(self._rows(), self._library)

    def _rows(self) -> dict[str, list[Any]]:
        """The columns of `frontier_`."""
        depths = {"max_depth": list(self.max_depths_)} if len(set(self.max_depths_)) > 1 else {}
        return {**depths, **{name: [getattr(point, name) for point in self.points_] for name in _COLUMNS}}

    def select(
        self,
        *,
        fairness_weight: float | None = None,
        max_discrimination: float | None = None,
        preference: Preference | None = None,
        max_depth: int | None = None,
    ) -> FairTreeClassifier | FairTreeRegressor:
        """One tree of the trade-off as a fitted estimator.

        By its weight λ; as the least loss with discrimination of at most ε (among these trees: a tree off the
        curve may be better still, and `max_discrimination` of the single estimators finds it); by answers to
        pairwise questions (`preference()`); or, where nothing is said, at the knee of the curve. `max_depth` says
        which of several depths is meant, the largest unless said otherwise.
        """
        given = [value for value in (fairness_weight, max_discrimination, preference) if value is not None]
        if len(given) > 1:
            raise InputError("give one of fairness_weight, max_discrimination and preference, or none for the knee")
        points = self._of_depth(max_depth)
        if fairness_weight is not None:
            chosen = Frontier(points, self.proven_, 0.0).at(fairness_weight)
        elif max_discrimination is not None:
            chosen = least_loss(points, max_discrimination)
        else:
            chosen = knee(points) if preference is None else preference.result
        return self.models_[next(place for place, point in enumerate(self.points_) if point is chosen)]

    def preference(self, max_depth: int | None = None) -> Preference:
        """Pairwise questions that narrow λ down: `question()`, `answer("a" or "b")`, and at the end `select`."""
        return Preference.over(self._of_depth(max_depth))

    def _of_depth(self, max_depth: int | None) -> tuple[FrontierPoint, ...]:
        check_is_fitted(self, "points_")
        depth = max(self.max_depths_) if max_depth is None else max_depth
        found = [point for point, own in zip(self.points_, self.max_depths_, strict=True) if own == depth]
        if not found:
            raise InputError(
                f"there is no trade-off for max_depth={depth}; there is for {sorted(set(self.max_depths_))}"
            )
        return tuple(found)

    def _outcome(self, y: Any) -> Outcome:
        task = infer_task(column_or_1d(y, warn=True)) if self.task == "auto" else self.task
        return class_outcome(y) if task == "classification" else number_outcome(y)

    def _depths(self) -> list[int]:
        return [self.max_depth] if isinstance(self.max_depth, (int, np.integer)) else list(self.max_depth)

    def _shape(self) -> Shape:
        deepest = clone(self).set_params(max_depth=max(self._depths(), default=0))
        return super(FairTreeFrontier, deepest)._shape()

    def _loss(self, outcome: Outcome) -> Loss | None:
        return None if outcome.classes is None else Misclassification(self.costs)

    def _budget(self) -> Budget:
        """The cores go to the solves that run side by side, one each."""
        return make_budget(self.time_limit, self.gap, None, self.random_state, self.verbose)

    def _model(self, problem: Problem, point: FrontierPoint, depth: int) -> FairTreeClassifier | FairTreeRegressor:
        """A single estimator that holds one of the trees, as if it had been fitted with that tree's λ."""
        of_classes = hasattr(self, "classes_")
        kind = FairTreeClassifier if of_classes else FairTreeRegressor
        own = kind()._get_param_names()
        params = {name: value for name, value in self.get_params(deep=False).items() if name in own}
        weight = None if self.fairness is None else point.weight
        model = kind(**{**params, "max_depth": depth, "fairness_weight": weight})
        for name in ("classes_", "n_features_in_", "feature_names_in_", "protected_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        model._keep(problem.with_weight(point.weight), point.solution)
        return model

    def _html_repr(self) -> str:
        return frontier_html(self, super()._html_repr())

    def _say_if_unproven(self) -> None:
        if not self.proven_:
            open_ones = sum(not point.proven for point in self.points_)
            warnings.warn(
                f"{open_ones} of the {len(self.points_)} trees are not proven optimal; allow more time",
                NotProvenWarning,
                stacklevel=3,
            )


def _tell(done: int, waiting: int) -> None:
    """A line a solve, for `verbose`."""
    sys.stderr.write(f"{done} weights solved, {waiting} known to be waiting\n")
