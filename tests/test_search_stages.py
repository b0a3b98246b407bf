"""Hard roots whose bound is raised step by step, and trees that annealing meets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certified import certificate_holds
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, Status
from evenleaf.solve.proofs.labels import Labels
from evenleaf.solve.search import SearchSolver, engine, kernels, worker
from evenleaf.solve.search.boxes import Box
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.decode import decode
from evenleaf.solve.search.descent import Descent
from evenleaf.solve.search.plan import Found, Plan
from evenleaf.solve.search.wander import Wanderer
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import problems

_WORST = 1e6


@contextmanager
def every_root_is_hard() -> Iterator[None]:
    """No label is decided at first, or for many roots at once; and small steps are taken to the last."""
    changed = patch.multiple(worker, _MOST_NEW_AT_FIRST=0, _EAGER_DEPTH=0)
    with changed, patch.object(engine, "_LAST_STEP", 1e-3):
        yield


def without_pattern(seed: int, n_people: int = 60, n_neighbors: int = 6) -> Problem:
    """Outcomes by chance, so that the bound of a root is far below its best tree."""
    random = np.random.default_rng(seed)
    columns = {"x": random.integers(9, size=n_people), "z": random.integers(7, size=n_people)}
    people = people_from(columns, random.integers(2, size=n_people), {"g": ["ab"[i] for i in np.arange(n_people) % 2]})
    return pose(people, fairness=DisparateTreatment(n_neighbors), fairness_weight=1.0, shape=Shape(max_depth=3))


@given(problem=problems(task="classification", max_people=8, max_depth=3, max_columns=2))
@settings(deadline=None, max_examples=60)
def test_raised_step_by_step_the_optimum_is_the_same(problem: Problem) -> None:
    with every_root_is_hard():
        answer = SearchSolver().solve(problem, Budget())
    assert answer.proven
    assert answer.objective == pytest.approx(brute_force(problem).objective, abs=1e-9)


@pytest.mark.parametrize("much", [-1.0, 2.0])
def test_a_root_that_misses_much_is_raised_step_by_step_from_the_start(much: float) -> None:
    """Whether a root counts as one from the start, or never does: the answer is the same, and so its proof holds."""
    problem = without_pattern(1, 40)
    with patch.object(engine, "_MUCH", much), patch.object(engine, "_LAST_STEP", 1e-3):
        answer = SearchSolver().solve(problem, Budget())
    assert answer.objective == pytest.approx(SearchSolver().solve(problem, Budget()).objective, abs=1e-12)
    assert answer.certificate is not None
    certificate_holds(answer.certificate, problem, (6,))


def test_hard_roots_come_back_until_they_are_closed() -> None:
    """Several steps are taken, and the proof, the answer and the certificate are what they are without."""
    problem, steps = without_pattern(2), []
    plain = SearchSolver().solve(problem, Budget())
    go_on = engine.Engine._go_on_later

    def noted(self: engine.Engine, item: engine.Open, box: Box, begun: Labels) -> None:
        steps.append(box.bound)
        go_on(self, item, box, begun)

    with every_root_is_hard(), patch.object(engine.Engine, "_go_on_later", noted):
        answer = SearchSolver().solve(problem, Budget())
    assert len(steps) > 3
    assert max(steps) < plain.objective
    assert answer.proven
    assert answer.objective == pytest.approx(plain.objective, abs=1e-12)
    assert answer.certificate is not None
    certificate_holds(answer.certificate, problem, (6,))


def test_steps_do_not_depend_on_the_number_of_jobs() -> None:
    problem = without_pattern(2, 40)
    with every_root_is_hard():
        one, two = (SearchSolver().solve(problem, Budget(n_jobs=jobs)) for jobs in (1, 2))
    assert one.tree == two.tree
    assert one.certificate is not None
    assert two.certificate is not None
    assert one.certificate.to_bytes() == two.certificate.to_bytes()


def test_out_of_memory_hard_roots_wait_with_their_bound_alone() -> None:
    problem = without_pattern(3, 40)
    with every_root_is_hard():
        answer = SearchSolver(memory=0.001).solve(problem, Budget())
    assert answer.status is Status.PROVEN
    assert answer.certificate is None
    assert "memory" in answer.message
    assert answer.objective == pytest.approx(SearchSolver().solve(problem, Budget()).objective, abs=1e-12)


@given(
    problem=problems(task="classification", max_people=12, max_depth=3, max_columns=3, max_classes=3),
    seed=st.integers(0, 99),
)
@settings(deadline=None, max_examples=60)
def test_trees_met_by_annealing_are_worth_what_it_says(problem: Problem, seed: int) -> None:
    c, limit = compile_problem(problem), problem.max_discrimination
    if not c.n_features:
        return
    descent, size = Descent(c, 3, limit), int(c.sizes[0])
    left = np.arange(size) <= np.random.default_rng(seed).integers(size)
    start = Found(Plan(0, left), np.where(left[c.ranks[0]], 0, c.n_labels), _WORST)
    for found in Wanderer(descent).wander(start, 300 * c.n_people, 0, lambda: False):
        v = np.zeros_like(c.weight)
        kernels.differences(c.pointers, c.rows, c.entries, found.labels, v)
        loss, discrimination = c.labels_to_loss(found.labels), float((c.weight * np.abs(v)).sum())
        assert found.objective == pytest.approx(loss + (discrimination if limit is None else 0.0), abs=1e-9)
        assert limit is None or discrimination <= limit
        # Its leaves are labelled anew, as suits them best.
        assert problem.evaluate(decode(found.plan, problem, c)).objective <= found.objective + 1e-9


def test_annealing_meets_better_trees() -> None:
    problem = without_pattern(5, n_neighbors=3)
    c = compile_problem(problem)
    left = np.arange(int(c.sizes[0])) < 1
    start = Found(Plan(0, left), np.where(left[c.ranks[0]], 0, 1), _WORST)
    met = [found.objective for found in Wanderer(Descent(c, 3, None)).wander(start, 60 * 4000, 0, lambda: False)]
    assert met == sorted(met, reverse=True)
    best = SearchSolver().solve(problem, Budget())
    assert best.objective - 1e-9 <= met[-1] < 1.1 * best.objective


def test_annealing_is_the_same_every_time() -> None:
    problem = without_pattern(4)
    trees = [SearchSolver().solve(problem, Budget(time_limit=60)).tree for _ in range(2)]
    assert trees[0] == trees[1]


@given(problem=problems(task="classification", max_people=12, max_columns=3, max_classes=3, limits=False))
@settings(deadline=None, max_examples=60)
def test_subtrees_get_the_best_root_once_everybody_is_placed(problem: Problem) -> None:
    """It is worth what it says, and no more than the root that leaves all free ranks on the right."""
    c = compile_problem(problem.with_shape(Shape(max_depth=3)))
    if not c.n_features or problem.max_discrimination is not None:
        return
    placed = (c.ranks[0] == 0) | (c.ranks[0] == int(c.sizes[0]) - 1)
    first = c.ranks[0] == 0
    draft = Found(Plan(0, np.arange(int(c.sizes[0])) == 0), np.where(first, 0, c.n_labels), np.inf)
    found = Descent(c, 3, None).completed(draft, placed)
    assert found.objective == pytest.approx(true_objective(c, found.labels), abs=1e-9)
    everybody_right = np.full(c.n_people, 0 if first.all() else c.n_labels)
    assert found.objective <= true_objective(c, everybody_right) + 1e-9


def true_objective(c: Compiled, labels: np.ndarray) -> float:
    v = np.zeros_like(c.weight)
    kernels.differences(c.pointers, c.rows, c.entries, labels, v)
    return float(c.labels_to_loss(labels) + (c.weight * np.abs(v)).sum())
