"""What both estimators share: from the caller's table to a problem, its solution, and the tree's answers."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from evenleaf.estimators.arrange import Arranged, arrange, as_table_data
from evenleaf.estimators.encode import encode
from evenleaf.estimators.importance import importances
from evenleaf.estimators.indices import training_indices
from evenleaf.estimators.settings import as_notion, make_budget
from evenleaf.estimators.state import from_plain, to_plain
from evenleaf.estimators.warning import NotProvenWarning
from evenleaf.problem import Loss, Problem, Shape, pose
from evenleaf.solve import Budget, Solution, Stop, solve
from evenleaf.table import Outcome
from evenleaf.tree import Branch, Tree, compact, explain


class TreeLearner(BaseEstimator):  # type: ignore[misc]
    """Reads the parameters that every learner of this package has; the constructors of its heirs only store them."""

    # Routing hands the protected columns on without being asked to.
    __metadata_request__fit: ClassVar = {"sensitive_features": True}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    def pose(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Problem:
        """The question that `fit` asks with the same arguments: what a certificate is checked against."""
        outcome = self._outcome(y)
        return self._question(as_table_data(X), outcome, sensitive_features, sample_weight)[0]

    def _question(
        self, X: Any, outcome: Outcome, sensitive_features: Any, sample_weight: Any
    ) -> tuple[Problem, tuple[str, ...]]:
        """The problem, and the protected columns of X; what is wrong with the parameters is said first."""
        notion, shape, loss = as_notion(self.fairness), self._shape(), self._loss(outcome)
        arranged = self._arranged(X, outcome, sensitive_features, sample_weight)
        return pose(arranged.people, loss=loss, shape=shape, fairness=notion, **self._form()), arranged.protected

    def _outcome(self, y: Any) -> Outcome:
        """The decided column as the task of the estimator asks for it."""
        raise NotImplementedError

    def _arranged(self, X: Any, outcome: Outcome, sensitive_features: Any, sample_weight: Any) -> Arranged:
        return arrange(
            X,
            outcome,
            sensitive_features,
            sample_weight,
            categorical=self.categorical_features,
            groups=self.groups,
            keep_protected=self.allow_protected_splits,
            need_groups=self.fairness is not None,
            counts_people=self.min_samples_leaf != 1 or sensitive_features is not None,
        )

    def _table_data(self, X: Any, y: Any) -> Any:
        """X as scikit-learn wants it checked; remembers the names and the number of its columns."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        data = as_table_data(X)
        validate_data(self, X, skip_check_array=True)
        return data

    def _form(self) -> dict[str, Any]:
        """λ or ε, where they apply."""
        return {}

    def _loss(self, outcome: Outcome) -> Loss | None:  # noqa: ARG002 (the heirs look at it)
        return None

    def _shape(self) -> Shape:
        return Shape(
            max_depth=self.max_depth,
            branching=self.branching,
            leaves=getattr(self, "leaves", "constant"),
            max_feature_uses=self.max_feature_uses,
            max_features_used=self.max_features_used,
            max_features_per_test=self.max_features_per_test,
            max_leaves=self.max_leaves,
            min_samples_leaf=self.min_samples_leaf,
            allowed_features=self.allowed_features,
        )

    def _budget(self) -> Budget:
        return make_budget(self.time_limit, self.gap, self.n_jobs, self.random_state, self.verbose)


class FairTree(TreeLearner):
    """A single tree: how it is learnt, and everything that can be asked of it afterwards."""

    def _form(self) -> dict[str, Any]:
        return {"fairness_weight": self.fairness_weight, "max_discrimination": self.max_discrimination}

    def _learn(self, X: Any, outcome: Outcome, sensitive_features: Any, sample_weight: Any) -> Self:
        """Pose the question, solve it, and keep the answer."""
        budget = self._budget()
        problem, self.protected_ = self._question(X, outcome, sensitive_features, sample_weight)
        solution = solve(problem, budget, solver=self.solver, options=self.solver_options)
        self._keep(problem, solution)
        self._say_if_unproven()
        return self

    def _keep(self, problem: Problem, solution: Solution) -> None:
        """The fitted attributes; no training data stays behind, or only until a deferred certificate is written."""
        if solution.tree is None:
            raise RuntimeError(f"no tree was found: {solution.status} ({solution.stop}); allow more time")
        self.solution_ = solution
        self.tree_ = solution.tree
        self._compact = compact(self.tree_)
        self.fairness_ = training_indices(problem, self.tree_, as_notion(self.fairness))
        self.feature_importances_ = self._importances(problem)
        self._leaf_counts = leaf_counts(problem, self.tree_)

    def _importances(self, problem: Problem) -> np.ndarray:
        """One number a column of X: the protected columns that were left out matter nothing."""
        names = self.tree_.schema.names
        known = list(getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)]))
        found = dict(zip(names, importances(self.tree_, problem.people), strict=True))
        return np.array([found.get(str(name), 0.0) for name in known])

    def _say_if_unproven(self) -> None:
        solution = self.solution_
        if not solution.proven and solution.stop in (Stop.TIME_LIMIT, Stop.INTERRUPTED):
            warnings.warn(
                f"the tree is not proven optimal ({solution.stop} after {solution.seconds:.1f} s): "
                f"another could be up to {solution.gap:.1%} better",
                NotProvenWarning,
                stacklevel=4,
            )

    def _encoded(self, X: Any) -> tuple[Tree, Any]:
        """The tree over the columns that it looks at, and those columns of X."""
        check_is_fitted(self, "tree_")
        return self._compact, encode(self, X, self._compact, self.protected_)

    def __getstate__(self) -> dict[str, Any]:
        return to_plain(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(from_plain(state))

    def apply(self, X: Any) -> np.ndarray:
        """The leaf that each person reaches, by its number among the nodes of `tree_`."""
        tree, table = self._encoded(X)
        return tree.apply(table)

    def decision_path(self, X: Any) -> sp.csr_array:
        """Which nodes each person passes: a sparse matrix with a row a person and a column a node."""
        tree, table = self._encoded(X)
        above = np.eye(len(tree.nodes), dtype=bool)
        for position, node in enumerate(tree.nodes):
            if isinstance(node, Branch):
                above[[node.left, node.right]] |= above[position]
        return sp.csr_array(sp.csr_array(above)[tree.apply(table)])

    def explain(self, X: Any) -> list[str]:
        """The rule that decided each person, in words."""
        tree, table = self._encoded(X)
        return explain(tree, table)

    def get_depth(self) -> int:
        """The number of tests on the longest path."""
        check_is_fitted(self, "tree_")
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """How many leaves the tree has."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    def _html_repr(self) -> str:
        from evenleaf.estimators.display import html

        return html(self, super()._html_repr())


def leaf_counts(problem: Problem, tree: Tree) -> np.ndarray:
    """The weight of the training people at each node, by class (nodes × classes; one column for numbers)."""
    people = problem.people
    classes = people.outcome.values if people.outcome.classes is not None else np.zeros(people.n_people, dtype=np.intp)
    counts = np.zeros((len(tree.nodes), people.outcome.n_classes))
    np.add.at(counts, (tree.apply(people.features), classes), people.weight)
    return counts
