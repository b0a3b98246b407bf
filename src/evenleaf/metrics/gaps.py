"""γ(x) = P(y | x̄, x_p) − P(y | x̄), person by person: the distribution in the paper's Figure 2(d)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenleaf.errors import InputError
from evenleaf.fairness import DisparateTreatment
from evenleaf.fairness.nearest import Metric
from evenleaf.fairness.treatment import Weights, local_differences
from evenleaf.metrics.arguments import make_people, positive_code
from evenleaf.metrics.indices import psi_of
from evenleaf.table import Label, Task, require_two


@dataclass(frozen=True, eq=False)
class LocalGaps:
    """γ of each person, and how many have nobody of their own group around them (their γ is 0, as for 0/0)."""

    values: np.ndarray
    empty: int

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy)


def gamma(
    y: Any,
    X: Any,
    *,
    sensitive_features: Any,
    positive: Label | None = None,
    task: Task = "classification",
    n_neighbors: int = 10,
    weights: Weights = None,
    metric: Metric | None = None,
    include_self: bool = True,
    bandwidth: float = 1.0,
    per_group: bool = False,
    distance: Literal["features", "outcomes"] = "features",
    sample_weight: Any = None,
    categorical_features: Any = "from_dtype",
) -> LocalGaps:
    """For each person the local rate in their own group minus the local rate overall (Definition 2.6).

    The neighbourhoods are those of `dtdi`. The rate is of the positive class, for numbers the mean.
    """
    notion = DisparateTreatment(n_neighbors, weights, bandwidth, metric, include_self, per_group, distance)
    people = make_people(
        y,
        sensitive_features,
        X=X,
        task=task,
        sample_weight=sample_weight,
        categorical_features=categorical_features,
    )
    if positive is not None and people.outcome.classes is None:
        raise InputError("a positive class was named, but the task is regression")
    require_two(people.groups)
    (groups,) = people.groups
    around = notion.neighbourhoods(people, groups)
    differences, empty = local_differences(around, groups, people.weight)
    column = 0 if people.outcome.classes is None else positive_code(people.outcome, positive)
    gaps = -np.asarray(differences @ psi_of(people.outcome)[:, column])
    own = groups.codes * around.weights.shape[0] + around.kind
    return LocalGaps(gaps[own] + 0.0, int(empty.ravel()[own].sum()))  # + 0.0 turns −0.0 into 0.0
