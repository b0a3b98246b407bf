"""Exactly equal rates where shares are left: whole errors, sides matched by counts, points settled one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certified import certificate_by, certificate_holds, claim_is_refused, worse_classifiers
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.certify.fronts.errors import below
from evenleaf.solve.fronts import FrontSolver, engine, oracle, repair, scouting, settle, sweep, tuning, worker
from evenleaf.solve.fronts import lane as lanes
from evenleaf.solve.fronts import lists as search_lists
from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.examined import Incumbent
from evenleaf.solve.fronts.front import Question
from evenleaf.solve.fronts.kernels.match import best_match, distinct_sums
from evenleaf.solve.fronts.lane import make_lane
from evenleaf.solve.fronts.lattice import with_share
from evenleaf.solve.fronts.node import Node
from evenleaf.solve.fronts.one_share import ShareEngine
from evenleaf.solve.fronts.shares import ShareSearch, find_search
from evenleaf.solve.fronts.steps import Steps
from evenleaf.solve.fronts.tests import Part, Sketch, Slot
from evenleaf.testing import brute_force, check_against_brute_force, people_from
from every_tree import cheapest

SOLVER = FrontSolver()
SIZES = st.sampled_from([(4, 6), (6, 9), (8, 4), (5, 10), (6, 6), (4, 8), (3, 6, 3), (4, 2, 6), (10, 4)])


@st.composite
def equal_rates(draw: st.DrawFn, depth: int = 3, weights: bool = False) -> Problem:
    """Groups whose sizes have a common divisor, numbers and levels, and a limit of nothing."""
    sizes, seed = draw(SIZES), draw(st.integers(0, 10_000))
    random, n_people = np.random.default_rng(seed), sum(sizes)
    features: dict[str, list[float] | list[str]] = {
        "x": random.integers(0, draw(st.integers(2, 6)), n_people).astype(float).tolist(),
        "y": random.integers(0, 4, n_people).astype(float).tolist(),
    }
    if draw(st.booleans()):
        features["c"] = random.choice(list("pqr"), n_people).tolist()
    outcome = (random.random(n_people) < draw(st.sampled_from([0.3, 0.5]))).astype(int)
    outcome[:2] = [0, 1]
    groups = {"g": np.repeat(list("abc")[: len(sizes)], sizes).tolist()}
    weight = random.integers(1, 3, n_people) if weights else None
    people = people_from(features, random.permutation(outcome).tolist(), groups, weight=weight)
    shape = Shape(max_depth=depth, min_samples_leaf=draw(st.sampled_from([1, 1, 2])))
    return pose(people, fairness=DisparateImpact(), max_discrimination=0.0, shape=shape)


@contextmanager
def settling() -> Iterator[None]:
    """Lists of whole nodes are too long at once, those of one side and for one of its points are not."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(worker, "_POINTS", 0))
        stack.enter_context(patch.object(engine, "_MUCH_WORK", 0))
        stack.enter_context(patch.multiple(oracle, MOST_BLOCKS=2, FEW_BLOCKS=2, MOST_LEVELS=2))
        stack.enter_context(patch.multiple(search_lists, MOST_SUBSETS=2, _MOST_FORKS=3))
        yield


@given(problem=equal_rates())
@settings(max_examples=40)
def test_the_best_tree_of_depth_three(problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


@given(problem=equal_rates())
@settings(max_examples=40)
def test_the_best_tree_where_points_are_settled(problem: Problem) -> None:
    with settling():
        check_against_brute_force(SOLVER.solve, problem)


@given(problem=equal_rates())
@settings(max_examples=25)
def test_the_best_tree_where_hardly_anything_fits(problem: Problem) -> None:
    """Lists of one point are too long for settling as well, and nothing is repaired."""
    with settling(), patch.multiple(settle, _FEW=1, _LISTED=1, _POINTS=1), patch.multiple(repair, _STUMPS=1, _SIDES=1):
        check_against_brute_force(SOLVER.solve, problem)


@contextmanager
def matching() -> Iterator[None]:
    """As if the table were large, and nobody comes across good trees before halves of trees are matched."""
    plain = worker.Worker.offer_sketch

    def offer(hand: worker.Worker, sketch: Sketch, *, improve: bool) -> None:
        if not improve:
            plain(hand, sketch, improve=improve)

    with ExitStack() as stack:
        stack.enter_context(patch.object(lanes, "_MANY_CUTS", 0))
        stack.enter_context(patch.object(oracle, "MOST_BLOCKS", 2))
        stack.enter_context(patch.object(sweep, "FEWEST_BLOCKS", 3))
        stack.enter_context(patch.object(engine.Engine, "offer_quick_tree", lambda *_, **__: None))
        stack.enter_context(patch.object(worker.Worker, "offer_sketch", offer))
        yield


@given(seed=st.integers(0, 10_000), half=st.sampled_from([6, 8, 10, 12]), n_values=st.sampled_from([5, 12, 40]))
@settings(max_examples=40)
def test_the_best_tree_of_depth_two_in_runs_of_cuts(seed: int, half: int, n_values: int) -> None:
    """Runs of cuts are ruled out only where counts of all kinds, with people in between, cannot cancel."""
    problem = scattered(2 * half, seed, 2, n_values)
    with matching():
        answer = SOLVER.solve(problem, Budget())
    assert answer.proven
    assert answer.objective == pytest.approx(brute_force(problem).objective, abs=1e-9)


@given(problem=equal_rates(depth=2, weights=True))
@settings(max_examples=30)
def test_the_best_tree_of_weighted_people(problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


@given(problem=equal_rates())
@settings(max_examples=25)
def test_proofs_hold(problem: Problem) -> None:
    with settling():
        certificate = certificate_by(SOLVER, problem)
    certificate_holds(certificate, problem, steps=(5, 6))


@given(problem=equal_rates(depth=2))
@settings(max_examples=25)
def test_worse_claims_are_refused(problem: Problem) -> None:
    certificate = certificate_by(SOLVER, problem)
    for tree in worse_classifiers(problem):
        claim_is_refused(problem, tree, certificate.proof)


def test_settling_is_needed_in_these_tests() -> None:
    """Some nodes are closed point by point, and some trees are found like that."""
    told: list[bool] = []
    plain = settle.Settler.settled

    def settled(*arguments: object) -> settle.Settled:
        found = plain(*arguments)  # type: ignore[arg-type]
        told.append(found.sketch is not None)
        return found

    others = patch.object(repair, "_PARTS", ()), patch.object(ShareEngine, "dive", lambda _: None)
    with settling(), patch.object(settle.Settler, "settled", settled), others[0], others[1]:
        for seed in range(6):
            SOLVER.solve(scattered(30, seed, 3), Budget())
    assert set(told) == {False, True}


def test_what_slots_cost_is_forgotten_with_the_multipliers() -> None:
    """A node that was settled only in part goes on at more multipliers than before."""
    delayed: list[Part] = []
    plain = settle.Settler.settled

    def settled(
        hand: settle.Settler, cell: Cell, question: Question, base: np.ndarray, values: np.ndarray
    ) -> settle.Settled:
        if cell.part in delayed:
            return plain(hand, cell, question, base, values)
        delayed.append(cell.part)
        more = np.vstack([np.zeros_like(question.multipliers[:1]), question.multipliers])
        return settle.Settled(more, -np.inf, None, complete=True)

    told, whole = list[Node](), worker.Worker._settled

    def left(hand: worker.Worker, *arguments: object) -> list[Node] | None:
        found = whole(hand, *arguments)  # type: ignore[arg-type]
        told.extend(found or [])
        return found

    others = patch.object(repair, "_PARTS", ()), patch.object(ShareEngine, "dive", lambda _: None)
    slowly = patch.object(settle.Settler, "settled", settled), patch.object(worker.Worker, "_settled", left)
    with settling(), slowly[0], slowly[1], others[0], others[1]:
        answers = [SOLVER.solve(scattered(30, seed, 3), Budget()) for seed in range(6)]
    assert len(told) > 0
    assert all(node.values is None for node in told)
    for seed, answer in enumerate(answers):
        assert answer.proven
        assert answer.objective == pytest.approx(SOLVER.solve(scattered(30, seed, 3), Budget()).objective, abs=1e-12)


@contextmanager
def tuning_all() -> Iterator[None]:
    """Every box of first cuts looks where others climbed to, and climbs itself as often as it is halved."""
    with settling(), patch.multiple(tuning, _LOOK=9.0, _CLIMB=9.0, _FEWER=2.0):
        yield


@given(problem=equal_rates())
@settings(max_examples=40)
def test_the_best_tree_where_boxes_climb(problem: Problem) -> None:
    with tuning_all():
        check_against_brute_force(SOLVER.solve, problem)


@given(problem=equal_rates())
@settings(max_examples=25)
def test_proofs_hold_where_boxes_climb(problem: Problem) -> None:
    with tuning_all():
        certificate = certificate_by(SOLVER, problem)
    certificate_holds(certificate, problem, steps=(5, 6))


def test_boxes_are_closed_by_multipliers_of_their_own() -> None:
    """Some by those that another box climbed to, some by a climb, and some by neither."""
    looks, climbs = list[bool](), list[bool]()
    look, lifted = tuning._looked, worker.Worker.lifted

    def looked(hand: worker.Worker, node: Node, cell: Cell, mu: np.ndarray) -> Node:
        after = look(hand, node, cell, mu)
        looks.append(after.bound >= hand.better)
        return after

    def climbed(hand: worker.Worker, node: Node, cell: Cell, start: np.ndarray | None, steps: int) -> Node:
        after = lifted(hand, node, cell, start, steps)
        if cell.loose and cell.deepest == 2:
            climbs.append(after.bound >= hand.better)
        return after

    with tuning_all(), patch.object(tuning, "_looked", looked), patch.object(worker.Worker, "lifted", climbed):
        for seed in range(6):
            SOLVER.solve(scattered(48, seed, 3, 30), Budget())
    assert set(looks) == set(climbs) == {False, True}


@contextmanager
def scouting_all() -> Iterator[None]:
    """Small tables have boxes that are looked into ahead, too, and their multipliers are taken over."""
    with settling(), patch.multiple(scouting, _FREE=0.3):
        yield


@given(problem=equal_rates())
@settings(max_examples=30)
def test_the_best_tree_where_boxes_go_on_at_other_multipliers(problem: Problem) -> None:
    with scouting_all():
        check_against_brute_force(SOLVER.solve, problem)
        certificate = certificate_by(SOLVER, problem)
    certificate_holds(certificate, problem, steps=(5, 6))


def test_all_boxes_of_first_cuts_go_on_at_the_multipliers_of_small_ones() -> None:
    """These are others in some searches, which are no worse for it and end with the same tree."""
    moves, scout = list[bool](), ShareEngine.scout

    def told(search: ShareEngine) -> None:
        before = {id(node.part): node for _, _, node in search.open}
        better = search.objective
        scout(search)
        assert search.objective <= better
        for bound, _, node in search.open:
            old = before[id(node.part)]
            assert bound == old.bound == node.bound
            if scouting.above_slots_of_two(node.part):
                assert len(node.mus) <= search.hand.kept
                assert node.values is None
                moves.append(not np.array_equal(node.mus[0], old.mus[0]))
            else:
                assert node is old

    with scouting_all(), patch.object(ShareEngine, "scout", told):
        found = [SOLVER.solve(scattered(48, seed, 3, 30), Budget()) for seed in range(4)]
    assert set(moves) == {False, True}
    for seed, answer in enumerate(found):
        plain = SOLVER.solve(scattered(48, seed, 3, 30), Budget())
        assert answer.proven
        assert answer.objective == pytest.approx(plain.objective, abs=1e-12)


def test_trees_are_found_below_promising_first_tests() -> None:
    """Some searches have a better tree after it, none has a worse one, and what it finds has equal rates."""
    gains, dive = list[float](), ShareEngine.dive

    def told(search: ShareEngine) -> None:
        before = search.objective
        dive(search)
        gains.append(before - search.objective)
        assert search.tree is None or search.problem.evaluate(search.tree).objective == search.objective

    with settling(), patch.object(ShareEngine, "dive", told), patch.object(repair, "_PARTS", ()):
        for seed in range(6):
            SOLVER.solve(scattered(30, seed, 3), Budget())
    assert min(gains) >= 0 < max(gains)


def scattered(n_people: int, seed: int, depth: int, n_values: int = 9) -> Problem:
    """Many cuts, few of which matter, and two groups of the same size."""
    random = np.random.default_rng(seed)
    features = {name: random.integers(0, n_values, n_people).astype(float).tolist() for name in "xyz"}
    outcome = (random.random(n_people) < 0.4).astype(int)
    outcome[:2] = [0, 1]
    people = people_from(features, outcome.tolist(), {"g": ["a", "b"] * (n_people // 2)})
    return pose(people, fairness=DisparateImpact(), max_discrimination=0.0, shape=Shape(max_depth=depth))


@given(problem=equal_rates(), seed=st.integers(0, 1000))
@settings(max_examples=60)
def test_losses_lie_on_steps(problem: Problem, seed: int) -> None:
    """With and without a share, for any decisions; bounds and targets keep to what trees can have."""
    random, lane = np.random.default_rng(seed), make_lane(problem)
    decided = random.integers(0, 2, problem.people.n_people)
    loss = problem.loss.value(problem.people.outcome, decided, problem.people.share)
    for steps in (lane.steps, with_share(lane, float(decided.mean())).steps):
        assert steps.size > 0
        assert (loss - steps.first) / steps.size == pytest.approx(round((loss - steps.first) / steps.size), abs=1e-6)
        assert steps.better(loss + 1.5 * steps.size) > loss
        assert steps.better(loss) < loss - 0.9 * steps.size
        assert steps.above(loss) == pytest.approx(loss)
        assert steps.above(loss - 0.3 * steps.size) == pytest.approx(loss)
        assert steps.above(loss + 0.1 * steps.size) == pytest.approx(loss + steps.size)
        assert steps.beyond(loss) > loss
    given = with_share(lane, float(decided.mean())).steps
    assert given.size == pytest.approx(2 * lane.steps.size)
    fewer = below(problem, loss, loss - 1e-7, float(decided.mean()))
    assert loss - given.size <= fewer <= loss - given.size + 1e-6


def test_without_whole_weights_any_loss_may_be_had() -> None:
    people = people_from({"x": [0.0, 1, 2, 3]}, [0, 1, 0, 1], {"g": list("aabb")}, weight=[1.0, 1.5, 1.0, 1.0])
    problem = pose(people, fairness=DisparateImpact(), max_discrimination=0.0)
    assert make_lane(problem).steps == Steps()
    assert make_lane(problem).steps.better(0.25) == pytest.approx(0.25, abs=1e-8)
    assert below(problem, 0.25, 0.2499, None) == 0.2499


def test_people_of_different_weights_are_not_counted_by_twos() -> None:
    """Their weights add up to their number, though."""
    people = people_from({"x": [0.0, 1, 2, 3]}, [0, 1, 0, 1], {"g": list("abab")}, weight=[1, 1, 0.0, 2])
    lane = make_lane(pose(people, fairness=DisparateImpact(), max_discrimination=0.0))
    assert with_share(lane, 0.5).steps == lane.steps == Steps(0.25)


@given(seed=st.integers(0, 10_000), width=st.integers(2, 3))
@settings(max_examples=60)
def test_matching_is_looking_at_all_pairs(seed: int, width: int) -> None:
    random = np.random.default_rng(seed)
    one, two = (random.integers(-3, 4, (random.integers(1, 30), width)).astype(float) for _ in range(2))
    every = one[:, None] + two[None]
    fair = np.abs(every[:, :, 1:]).sum(axis=2) <= 0.5
    loss, a, b, finished = best_match(one, two, 2.0, 0.5, 10_000)
    least = every[:, :, 0][fair].min(initial=2.0)
    assert finished
    assert loss == least
    assert (a < 0) == (least == 2.0)
    assert a < 0 or (fair[a, b] and every[a, b, 0] == loss)
    mus, rest = random.normal(size=(2, width - 1)), random.normal(size=2)
    sums, pairs, number = distinct_sums(one, two, mus, rest, 1.0, 1000, 10_000)
    alive = (every[:, :, :1] + every[:, :, 1:] @ mus.T + rest < 1.0).all(axis=2)
    cheapest: dict[tuple[float, ...], float] = {}
    for point in every[alive]:
        kind = tuple(point[1:])
        cheapest[kind] = min(point[0], cheapest.get(kind, np.inf))
    assert {tuple(point[1:]): point[0] for point in sums[:number]} == cheapest
    assert number == len(cheapest)
    np.testing.assert_allclose(one[pairs[:number, 0]] + two[pairs[:number, 1]], sums[:number])


@given(problem=equal_rates())
@settings(max_examples=20)
def test_what_other_shares_saw_is_true(problem: Problem) -> None:
    """Each look that is kept bounds the same part for every share, as a look of that share's own would."""
    search = find_search(problem, Budget(), None, keep_proof=False)
    if not isinstance(search, ShareSearch):
        return
    search.run()
    for share in search.engines:
        unhindered = ShareEngine(problem, Budget(), None, False, share.lane)
        unhindered.best = unhindered.hand.best = Incumbent()  # at which nothing is cut off
        for part in list(search.shown.known)[:30]:
            look = search.shown.best(part, share.lane)
            assert look is not None
            alone = Node(-np.inf, part, look.mu[None, :])
            cell = Cell(part, share.lane, unhindered.oracle)
            if cell.possible and isinstance(part, Slot):
                # This comes from parts of all trees, which may ask for large leaves where the slot does not.
                prices = share.lane.prices(look.mu[None, :])
                least = cheapest(unhindered.oracle, cell.places[0].members, part.depth, prices[:, :, 0])
                assert cell.base(look.mu[None, :], prices)[0] + least >= look.bound - 1e-9
            elif cell.possible:
                assert unhindered.hand.look(alone, cell)[0].bound >= look.bound - 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_any_number_of_threads(seed: int) -> None:
    problem = scattered(36, seed, 3)
    with settling():
        one, three = (SOLVER.solve(problem, Budget(n_jobs=n_jobs)) for n_jobs in (1, 3))
    assert one.proven
    assert (one.tree, one.bound, one.message) == (three.tree, three.bound, three.message)
    assert one.certificate is not None
    assert three.certificate is not None
    assert one.certificate.to_bytes() == three.certificate.to_bytes()
