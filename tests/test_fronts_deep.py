"""What hangs below first tests of deep slots: against every tree, however far it is looked into, and whole searches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certified import certificate_by, certificate_holds, people_without_pattern
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.fronts import FrontSolver, deep, engine, oracle, sweep, warmup, worker
from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.engine import Engine
from evenleaf.solve.fronts.node import Node
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.raising import raised
from evenleaf.solve.fronts.tests import Box, Cuts, Levels
from evenleaf.testing import check_against_brute_force
from evenleaf.testing.strategies import problems
from every_tree import all_tests, below, cheapest

SOLVER = FrontSolver()
NOTIONS = ("impact", "opportunity", "odds")
Problems = problems(task="classification", notions=NOTIONS, max_people=7, max_columns=2, max_values=4, max_groups=3)


@contextmanager
def boxes_of_many_tests() -> Iterator[None]:
    """As if tables were large: few blocks, lists of few points, several nodes at a time."""
    with ExitStack() as stack:
        stack.enter_context(patch.multiple(oracle, MOST_BLOCKS=2, FEW_BLOCKS=2, MOST_LEVELS=2))
        stack.enter_context(patch.object(oracle, "MOST_CUTS_TO_FORK", 0))
        stack.enter_context(patch.object(engine, "_MUCH_WORK", 0))
        stack.enter_context(patch.object(worker, "_POINTS", 8))
        stack.enter_context(patch.object(warmup, "_COARSE", 2))
        stack.enter_context(patch.multiple(sweep, FEWEST_BLOCKS=2, MOST_BLOCKS=2))
        yield


def holds(box: Box, test: Box) -> bool:
    """Whether a test is one of a box."""
    if box.feature != test.feature:
        return False
    if isinstance(box, Cuts):
        return isinstance(test, Cuts) and box.low <= test.low <= box.high
    assert isinstance(test, Levels)
    return (box.left <= test.left and box.right <= test.right) or (box.left <= test.right and box.right <= test.left)


def begun(problem: Problem) -> tuple[Oracle, np.ndarray]:
    """The oracle of a search to depth 3, where tables of flags are not used, and all people."""
    search = Engine(
        problem.with_shape(Shape(max_depth=3, min_samples_leaf=problem.shape.min_samples_leaf)), Budget(), None
    )
    return search.oracle, np.arange(search.lane.compiled.n_people)


@given(problem=Problems, seed=st.integers(0, 1000), most=st.sampled_from([1, 3, 10_000]))
@settings(max_examples=60)
def test_a_slot_costs_what_its_cheapest_tree_costs(problem: Problem, seed: int, most: int) -> None:
    with boxes_of_many_tests():
        asked, members = begun(problem)
        mu = np.random.default_rng(seed).uniform(-1, 1, (1, asked.lane.n_dimensions))
        prices = asked.lane.prices(mu)
        expected = cheapest(asked, members, 3, prices[:, :, 0])
        loosely = cheapest(asked.relaxed, members, 3, prices[:, :, 0])  # sweeps do not ask how large leaves are
        tests, before = deep.FirstTests(asked, members, 3, prices), -np.inf
        for target in [expected - 0.05, *[np.inf] * 500]:
            reached = tests.lift(target, most)
            assert before - 1e-12 <= reached <= expected + 1e-12
            before = reached
            if tests.settled:
                break
        assert tests.settled
        assert loosely - 1e-12 <= before
        if tests.first is not None and asked.least == 1:
            least = min(below(asked, test, members, 3, prices[:, :, 0]) for test in all_tests(asked, members))
            assert least == pytest.approx(expected, abs=1e-12)


@given(
    problem=Problems,
    seed=st.integers(0, 1000),
    far=st.sampled_from([0.0, 0.02, 0.2]),
    most=st.sampled_from([0, 5, 2000]),
)
@settings(max_examples=60)
def test_every_first_test_below_the_targets_is_listed(problem: Problem, seed: int, far: float, most: int) -> None:
    """In boxes where it would be much work, and never dearer than it is."""
    with boxes_of_many_tests(), patch.object(deep, "MOST_LOOKS", most):
        asked, members = begun(problem)
        if not asked.crowded(members):
            return
        mus = np.random.default_rng(seed).uniform(-1, 1, (2, asked.lane.n_dimensions))
        prices = asked.lane.prices(mus)
        targets = np.array([cheapest(asked, members, 3, prices[:, :, j]) + far for j in range(2)])
        found = deep.tests_below(asked, members, 3, prices, targets)
        for test in all_tests(asked, members):
            costs = np.array([below(asked, test, members, 3, prices[:, :, j]) for j in range(2)])
            listed = [values for box, values in zip(found.boxes, found.values, strict=True) if holds(box, test)]
            if (costs < targets - 1e-9).all():
                assert len(listed) >= 1
            for values in listed:
                assert (values <= costs + 1e-12).all()


@given(
    problem=problems(
        task="classification", notions=NOTIONS, max_people=8, max_depth=4, max_columns=2, max_values=3, max_groups=3
    )
)
@settings(max_examples=40)
def test_the_best_tree_of_depth_four(problem: Problem) -> None:
    with boxes_of_many_tests():
        check_against_brute_force(SOLVER.solve, problem)


@contextmanager
def told(looks: list[Node]) -> Iterator[None]:
    """Nodes as they are after they were raised."""

    def told(hand: worker.Worker, node: Node, cell: Cell) -> Node:
        looks.append(raised(hand, node, cell))
        return looks[-1]

    with patch.object(worker, "raised", told):
        yield


@pytest.mark.parametrize("limit", [None, 0.05])
def test_nodes_are_raised_little_by_little_and_the_proof_holds(limit: float | None) -> None:
    """The same tree as without a limit of time, for any number of threads, and a checker agrees."""
    people = people_without_pattern(26, levels=2)
    problem = pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=4))
    problem = problem.with_weight(0.5) if limit is None else problem.with_limit(limit)
    looks: list[Node] = []
    with boxes_of_many_tests(), patch.object(worker, "_POINTS", 200), told(looks):
        certificate = certificate_by(SOLVER, problem)
        answers = [SOLVER.solve(problem, Budget(n_jobs=jobs)) for jobs in (1, 2)]
    assert {node.looked for node in looks} == {False, True}
    assert answers[0].tree == answers[1].tree
    assert answers[0].objective == answers[1].objective == answers[0].bound
    certificate_holds(certificate, problem, steps=(5, 6))
