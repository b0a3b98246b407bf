"""The people of one fold: whom to learn from, whom to test on, and the indices to measure both by."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from evenleaf.datasets import Dataset, load
from evenleaf.errors import InputError
from evenleaf.fairness import DisparateImpact, DisparateTreatment, Disparity
from evenleaf.metrics.indices import psi_of
from evenleaf.problem import Problem, Shape, default_loss, pose
from evenleaf.study.config import DataPlan
from evenleaf.table import Outcome, People

# γ is between −1 and 1; its distribution is kept as counts in this many bins.
GAMMA_BINS = 81


@dataclass(frozen=True, eq=False)
class Part:
    """Some people with their indices, built when first asked for."""

    people: People
    neighbors: int

    @cached_property
    def _around(self) -> Any:
        notion = DisparateTreatment(self.neighbors)
        (groups,) = self.people.groups
        return notion, notion.neighbourhoods(self.people, groups), groups

    @cached_property
    def dtdi(self) -> Disparity:
        """Disparate treatment among these people (eqs. 3 and 4)."""
        notion, around, groups = self._around
        return notion.compare_within(around, self.people, groups)

    @cached_property
    def didi(self) -> Disparity:
        """Disparate impact among these people."""
        return DisparateImpact().operator(self.people)

    def measures(self, decided: np.ndarray) -> dict[str, float]:
        """Loss and both indices of decisions about these people."""
        outcome = self.people.outcome
        psi = psi_of(Outcome(outcome.name, decided, outcome.classes))
        loss = default_loss(outcome).value(outcome, decided, self.people.share)
        return {"loss": loss, "dtdi": self.dtdi.value(psi), "didi": self.didi.value(psi)}

    def gamma_counts(self, decided: np.ndarray, positive: int) -> list[int]:
        """How many people have a γ(x) in each bin, for Figure 2(d)."""
        _, around, groups = self._around
        own = groups.codes * around.weights.shape[0] + around.kind
        gaps = -np.asarray(self.dtdi.matrix @ (decided == positive).astype(float))[own]
        counts, _ = np.histogram(gaps, bins=np.linspace(-1, 1, GAMMA_BINS + 1))
        return [int(count) for count in counts]


@dataclass(frozen=True, eq=False)
class Fold:
    """Training and test people that share nobody."""

    train: Part
    test: Part
    positive: int | None

    @cached_property
    def by_features(self) -> tuple[Problem, float]:
        """The question of MIP-DT without its λ, and the seconds that looking up similar people took."""
        return self._posed("dtdi")

    @cached_property
    def by_outcomes(self) -> tuple[Problem, float]:
        """The question of MIP-DT-A: similar means similar outcomes."""
        started = time.perf_counter()
        problem = pose(self.train.people, fairness=DisparateTreatment(distance="outcomes"))
        _ = problem.simplified
        return problem, time.perf_counter() - started

    @cached_property
    def by_impact(self) -> tuple[Problem, float]:
        """The question of MIP-DT with DIDI in the place of DTDI."""
        return self._posed("didi")

    def _posed(self, index: str) -> tuple[Problem, float]:
        started = time.perf_counter()
        disparity = getattr(self.train, index)
        problem = Problem(self.train.people, default_loss(self.train.people.outcome), Shape(), disparity)
        _ = problem.simplified
        return problem, time.perf_counter() - started


@lru_cache(maxsize=2)
def _loaded(plan: str) -> Dataset:
    wanted = DataPlan.of_text(plan)
    return load(wanted.loader, **wanted.options)


def make_fold(plan: DataPlan, number: int, *, seed: int, neighbors: int, train: int | None = None) -> Fold:
    """The data in k parts, one of them to test on; the people to learn from are drawn from all others.

    The paper computes each tree "on the fold" of 1,000 to 5,000 (400) people and evaluates it on the test set:
    that many are drawn here, so that learning takes place at the paper's sizes and no test person was seen.
    """
    data = _loaded(plan.text)
    rest, held_out = _parts(data.outcome, plan.folds, seed)[number]
    rng = np.random.default_rng([seed, number])
    chosen = _drawn(rng, rest, train or plan.train, f"train of {plan.name!r}")
    tested = held_out if len(held_out) <= plan.test else _drawn(rng, held_out, plan.test, "test")
    people = data.people()
    classes = data.outcome.classes
    positive = None if classes is None else classes.index(data.positive or classes[-1])
    return Fold(Part(people.take(chosen), neighbors), Part(people.take(tested), neighbors), positive)


def _drawn(rng: np.random.Generator, rows: np.ndarray, n: int, what: str) -> np.ndarray:
    if n > len(rows):
        raise InputError(f"{what} asks for {n} people, but the fold leaves {len(rows)}")
    return np.sort(rng.choice(rows, size=n, replace=False))


def _parts(outcome: Outcome, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rows = np.zeros((len(outcome.values), 1))
    splitter = KFold if outcome.classes is None else StratifiedKFold
    return list(splitter(folds, shuffle=True, random_state=seed).split(rows, outcome.values))
