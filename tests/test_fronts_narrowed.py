"""Features that smaller boxes of first tests need not ask for, first cuts moved, and a promising first test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.fronts import FrontSolver, engine, oracle, sweep
from evenleaf.solve.fronts import lane as lanes
from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.engine import Engine
from evenleaf.solve.fronts.first_move import better_first_cut
from evenleaf.solve.fronts.node import Node
from evenleaf.solve.fronts.recall import Recall
from evenleaf.solve.fronts.sketches import decided
from evenleaf.solve.fronts.tests import Cuts, Sketch, Slot, Split
from evenleaf.testing import brute_force, people_from

N_PEOPLE = 40


@pytest.fixture(autouse=True)
def few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of several ranks, and no forks."""
    monkeypatch.setattr(sweep, "FEWEST_BLOCKS", 3)
    monkeypatch.setattr(sweep, "MOST_BLOCKS", 3)
    monkeypatch.setattr(oracle, "MOST_BLOCKS", 4)
    monkeypatch.setattr(oracle, "MOST_CUTS_TO_FORK", 0)


def made_up(seed: int, depth: int = 3) -> Engine:
    """A search over people with two ordered features and one with levels."""
    random = np.random.default_rng(seed)
    features = {
        "a": random.integers(0, 12, N_PEOPLE).astype(float),
        "b": random.integers(0, 20, N_PEOPLE).astype(float),
        "c": random.choice(list("uvw"), N_PEOPLE).tolist(),
    }
    outcome = random.permutation(np.arange(N_PEOPLE) % 2).tolist()
    groups = random.permutation(np.arange(N_PEOPLE) % 3 > 0).astype(str).tolist()
    people = people_from(features, outcome, {"g": groups})
    return Engine(pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=depth)), Budget(), None)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("above", [-0.02, 0.0, 0.03, 0.1])
def test_features_below_a_cutoff_are_found_one_by_one(seed: int, above: float) -> None:
    search = made_up(seed)
    everybody = np.arange(search.lane.compiled.n_people)
    prices, swept = search.lane.prices(np.array([[0.3]])), search.oracle.sweep(everybody)
    alone = []
    for f in range(3):
        only = np.arange(3) == f
        alone.append(swept.narrowed(prices, np.inf, None, only)[0])
    cutoff = min(alone) + above + 1e-9
    value, test, alive = swept.narrowed(prices, min(min(alone) + 1e-6, cutoff), cutoff, np.ones(3, dtype=np.bool_))
    assert alive.tolist() == [cost < cutoff for cost in alone]
    assert (test is not None) == (min(alone) < cutoff)
    assert value == pytest.approx(min(*alone, cutoff), abs=1e-12)


def two_against_one(seed: int) -> Engine:
    """Two features tell only together what the outcome is, so that no stump is of use; another tells nothing."""
    random = np.random.default_rng(seed)
    features = {name: random.integers(0, 20, 2 * N_PEOPLE).astype(float) for name in "abc"}
    outcome = ((features["a"] >= 9) != (features["b"] >= 11)) ^ (random.random(2 * N_PEOPLE) < 0.05)
    groups = random.permutation(np.arange(2 * N_PEOPLE) % 3 > 0).astype(str).tolist()
    people = people_from(features, outcome.astype(int).tolist(), {"g": groups})
    return Engine(pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=3)), Budget(), None)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [1.0, 0.7, 0.4, 0.25])
@pytest.mark.parametrize("make", [made_up, two_against_one])
def test_smaller_boxes_lose_nothing_that_costs_less_than_the_incumbent(
    seed: int, share: float, make: Callable[[int], Engine]
) -> None:
    """Boxes are halved to the end, each half asking for the features that its whole left."""
    search, narrowed = make(seed), 0
    prices = search.lane.prices(np.array([[0.3]]))

    def look(box: Cuts, asked: list[np.ndarray] | None, recall: Recall, objective: float) -> np.ndarray:
        search.oracle.use(recall)
        cell = Cell(Split(box, Slot(2), Slot(2)), search.lane, search.oracle)
        base = cell.base(prices.multipliers, prices)
        return np.minimum(base + cell.values(prices, objective - base, asked).sum(axis=0), objective)

    for feature, size in enumerate(search.lane.compiled.sizes[:2].tolist()):
        top, shared = Cuts(feature, 0, size - 2), Recall()
        objective = share * search.objective
        waiting = [(top, [search.oracle.allowed] * 2)]
        while waiting:
            box, asked = waiting.pop()
            asked = list(asked)
            found, plain = look(box, asked, shared, objective), look(box, None, Recall(), objective)
            np.testing.assert_allclose(found, plain, atol=1e-12)
            narrowed += sum(int(mask.sum()) < 3 for mask in asked)
            if box.low < box.high and found[0] < objective - 1e-9:
                everybody = np.arange(search.lane.compiled.n_people)
                waiting += [(half, asked) for half in box.halves(search.oracle.weights(box, everybody))]
    assert narrowed > 0 or make is made_up or share > 0.25


@pytest.mark.parametrize("seed", range(6))
def test_the_first_cut_is_the_best_of_all(seed: int) -> None:
    search = made_up(seed)
    everybody, lane = np.arange(search.lane.compiled.n_people), search.lane

    def worth(sketch: Sketch) -> float:
        labels = decided(sketch, everybody, search.oracle.ranks, search.oracle.sizes)
        return float(lane.worth(lane.offset + lane.vectors[everybody[labels == 1], 0].sum(axis=0)))

    below = (Cuts(1, 4, 4), 0, 1), (Cuts(0, 6, 6), 1, 0)
    every = {(f, c): worth((Cuts(f, c, c), *below)) for f in range(2) for c in range(int(lane.compiled.sizes[f]) - 1)}
    found = better_first_cut((Cuts(0, 0, 0), *below), lane, search.oracle, np.inf)
    assert found is not None
    assert worth(found) == pytest.approx(min(every.values()), abs=1e-12)
    assert better_first_cut(found, lane, search.oracle, min(every.values()) - 1e-9) is None
    assert better_first_cut(1, lane, search.oracle, np.inf) is None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weight", [0.3, 2.0])
def test_a_promising_first_test_out_of_turn(seed: int, weight: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of many nodes, single first tests beside boxes of several: the best tree all the same."""
    monkeypatch.setattr(engine, "_MUCH_WORK", 1)
    monkeypatch.setattr(engine, "_ROUND", 2)
    monkeypatch.setattr(oracle, "FEW_BLOCKS", 4)
    monkeypatch.setattr(lanes, "_MANY_CUTS", 1)
    random = np.random.default_rng(seed)
    features = {"a": random.integers(0, 9, 30).astype(float), "b": random.integers(0, 3, 30).astype(float)}
    groups = random.permutation(np.arange(30) % 2 > 0).astype(str).tolist()
    people = people_from(features, random.permutation(np.arange(30) % 2).tolist(), {"g": groups})
    problem = pose(people, fairness=DisparateImpact(), fairness_weight=weight, shape=Shape(max_depth=3))
    tries: list[int] = []
    plain = Engine._out_of_turn

    def counted(self: Engine) -> list[Node]:
        nodes = plain(self)
        tries.append(len(nodes))
        return nodes

    monkeypatch.setattr(Engine, "_out_of_turn", counted)
    answer = FrontSolver().solve(problem, Budget())
    assert answer.status == "proven"
    assert answer.objective == pytest.approx(brute_force(problem).objective, abs=1e-9)
    assert sum(tries) > 0
