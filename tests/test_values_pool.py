"""Numbers at depth 3: subtrees that the parts of one root share, and parts that are split without a bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from certified import certificate_by, certificate_holds
from evenleaf.problem import Problem, Shape
from evenleaf.solve import Budget, Status
from evenleaf.solve.values import planes, pool, worker
from evenleaf.solve.values.ascent import DEEP_CLIMB, Ascended, Ascent
from evenleaf.solve.values.boxes import Cap, first_boxes
from evenleaf.solve.values.compiled import compile_values
from evenleaf.solve.values.limits import possible_tests
from evenleaf.solve.values.oracle import SubtreeOracle
from evenleaf.solve.values.planes import PlaneClimb
from evenleaf.solve.values.pool import Pool
from evenleaf.testing import brute_force
from evenleaf.testing.strategies import problems
from value_proofs import SOLVER, mixed, nodes_of


def test_a_full_pool_forgets_what_came_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_MOST", 2)
    shared, leaf = Pool(2, 0), np.array([4, 7])
    for k in (1, 2, 1, 3):
        shared.add((k, -1, 0), leaf, np.zeros((2, 0)))
    assert sorted(shared.tests[: shared.size].tolist()) == [[2, -1, 0], [3, -1, 0]]
    assert shared.known == {(2, -1, 0), (3, -1, 0)}
    assert shared.leaf.tolist() == [[0, 3], [0, 3]]
    alive = np.ones((3, 5), dtype=np.uint8)
    assert len(shared.within(alive)) == 2
    alive[0, 3] = 0
    assert shared.tests[shared.within(alive)].tolist() == [[2, -1, 0]]
    alive[1, -1] = 0  # no test, that is
    assert len(shared.within(alive)) == 0


@given(problem=problems(task="regression", max_depth=3, max_columns=2, forms=("weight",)), seed=st.integers(0, 999))
@settings(deadline=None, max_examples=40)
def test_subtrees_from_elsewhere_cost_what_they_cost_here(problem: Problem, seed: int) -> None:
    """Met where nobody's value is capped and priced where somebody's is: as if the subtree had been met here."""
    problem = problem.with_shape(Shape(max_depth=3))
    compiled = compile_values(problem)
    assume(compiled.n_tests > 0 and compiled.spread > 0)
    random = np.random.default_rng(seed)
    ascent = Ascent(compiled, problem.shape, None)
    (marks,) = possible_tests(problem.shape, compiled)
    pools = Pool(compiled.n_people, len(compiled.weight)), Pool(compiled.n_people, len(compiled.weight))
    box = first_boxes(compiled, marks, np.zeros_like(compiled.weight), 1.0)[0]
    mu = random.uniform(-1, 1, compiled.weight.shape)
    climb = PlaneClimb(box, SubtreeOracle(box, ascent.scratch, keeps_sides=False), ascent.scratch, 10.0, None)
    climb.pools = pools
    climb.begin()
    _, tests = climb.bound(mu, 1.0)
    climb.learn(tests)
    person = int(random.integers(compiled.n_people))
    capped = replace(box, caps=(Cap(person, float(random.random()), bool(seed % 2)),))
    scratch = ascent._scratch(capped)
    here = PlaneClimb(capped, SubtreeOracle(capped, scratch, keeps_sides=False), scratch, 10.0, None)
    here.begin()
    here._take_from_pools(pools, mu)
    taken, _ = here.cheapest_known(mu[:, 0])
    here.begin()
    here.learn(tests)
    met, _ = here.cheapest_known(mu[:, 0])
    assert taken == pytest.approx(met, abs=1e-9)


@given(problem=problems(task="regression", max_depth=3, max_columns=2, max_values=3, forms=("weight", "plain")))
@settings(deadline=None, max_examples=40)
def test_no_ascent_ends_above_what_known_trees_allow(problem: Problem) -> None:
    """A box that is given up because of the trees that are known would not have reached the target."""
    problem = problem.with_shape(replace(problem.shape, max_depth=3))
    compiled = compile_values(problem)
    assume(compiled.n_tests > 0 and compiled.spread > 0)
    best = brute_force(problem)
    assume(best.objective is not None)
    ascent = Ascent(compiled, problem.shape, None)
    allowed = np.ones((compiled.n_features + 1, compiled.n_features + 1), dtype=np.bool_)
    target = 1.5 * (best.objective or 0.0) / compiled.spread + 0.1
    for marks in possible_tests(problem.shape, compiled):
        for box in first_boxes(compiled, marks, np.zeros_like(compiled.weight), 1.0):
            reached = ascent.climb(box, allowed, target, DEEP_CLIMB).box.bound
            pools = Pool(compiled.n_people, len(compiled.weight)), Pool(compiled.n_people, len(compiled.weight))
            for _ in range(3):
                oracle = SubtreeOracle(box, ascent.scratch, keeps_sides=False)
                again = PlaneClimb(box, oracle, ascent.scratch, target, None)
                again.pools = pools
                again.run(DEEP_CLIMB, lambda: False)
                assert reached <= again.bundle.ceiling + 1e-9


def test_proofs_with_parts_that_were_given_up_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """No bound is asked for in such a part, and its certificate says nothing of it but how it is parted."""
    given_up: list[np.ndarray] = []
    give_up = planes.PlaneClimb._given_up

    def counted(self: PlaneClimb, mu: np.ndarray) -> Ascended:
        given_up.append(mu)
        return give_up(self, mu)

    monkeypatch.setattr(planes.PlaneClimb, "_given_up", counted)
    problem = mixed(30, depth=3, fairness_weight=1.0)
    certificate = certificate_by(SOLVER, problem)
    assert given_up
    assert any(not node.priced for node in nodes_of(certificate))
    certificate_holds(certificate, problem, steps=(4, 6))


def test_what_is_left_of_a_root_that_takes_too_long_is_proven_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = mixed(30, depth=3, fairness_weight=1.0)
    whole = SOLVER.solve(problem, Budget(n_jobs=1))
    monkeypatch.setattr(worker, "_MOST_DEEP_NODES", 3)
    pieces = SOLVER.solve(problem, Budget(n_jobs=1))
    assert pieces.status == whole.status == Status.PROVEN
    assert pieces.objective == pytest.approx(whole.objective, abs=1e-9)
    assert pieces.certificate is not None
    certificate_holds(pieces.certificate, problem, steps=(4, 6))
