"""Linear leaves against fair linear regression on Communities: the error that is left at next to no discrimination.

    python benchmarks/linear_leaves.py

The figure of the paper: fair linear regression (Berk et al.) trades error for fairness by its penalty; a tree with
linear leaves is asked for the least error with no more discrimination than the fairest of them has. Error is the mean
absolute error, discrimination the notion that is named; both on the communities that were learnt from.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from evenleaf.baselines import FairLinearRegression
from evenleaf.datasets import load_communities
from evenleaf.fairness import DisparateImpact, DisparateTreatment, Notion
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, solve
from evenleaf.table import People

WEIGHTS = (0.0, *np.logspace(-2, 6, 17))
NOTIONS: dict[str, Callable[[], Notion]] = {"DIDI": DisparateImpact, "DTDI": lambda: DisparateTreatment(n_neighbors=10)}


def regressions(people: People, problem: Problem, penalty: str) -> list[tuple[float, float]]:
    """(discrimination, error) of fair linear regression for each weight of its penalty."""
    points = []
    for weight in WEIGHTS:
        model = FairLinearRegression(penalty=penalty, fairness_weight=float(weight))  # type: ignore[arg-type]
        model._learn(people)
        decided = np.clip(model.score_of(people.features), problem.target.low, problem.target.high)
        operator = problem.simplified
        discrimination = float(operator.weight[:, 0] @ np.abs(operator.matrix @ decided))
        points.append((discrimination, float(people.share @ np.abs(people.outcome.values - decided))))
    return points


def compare(notion: str, n_people: int, depth: int, seconds: float) -> None:
    """Print the fairest regressions, and the tree that is at least as fair."""
    people = load_communities(n_features=11).sample(n_people, seed=1).people()
    problem = pose(people, fairness=NOTIONS[notion](), shape=Shape(max_depth=depth, leaves="linear"))
    limit = np.inf
    for penalty in ("individual", "group"):
        points = regressions(people, problem, penalty)
        discrimination, error = min(points)
        limit = min(limit, discrimination)
        print(f"{notion}  fair linear regression, {penalty:10}  error {error:.4f}  discrimination {discrimination:.5f}")
    answer = solve(problem.with_limit(limit), Budget(time_limit=seconds))
    if answer.score is not None:
        print(
            f"{notion}  tree of depth {depth}, linear leaves        error {answer.score.loss:.4f}  discrimination "
            f"{answer.score.discrimination:.5f}  {answer.seconds:.1f} s, {answer.solver}, gap {answer.gap:.1%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=400)
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    for notion in NOTIONS:
        compare(notion, arguments.people, arguments.depth, arguments.seconds)


if __name__ == "__main__":
    main()
