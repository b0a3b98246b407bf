"""What the slots of a box of first tests cost: remembered between boxes, and cut short, against plain values."""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.fronts import oracle
from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.engine import Engine
from evenleaf.solve.fronts.recall import Recall
from evenleaf.solve.fronts.tests import Cuts, Fork, Levels, Part, Slot, Split
from evenleaf.testing import people_from

N_PEOPLE = 40


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """A search to depth 3 over people with more cuts than are looked at one by one."""
    monkeypatch.setattr(oracle, "MOST_BLOCKS", 4)
    monkeypatch.setattr(oracle, "MOST_CUTS_TO_FORK", 0)
    random = np.random.default_rng(5)
    features = {
        "a": random.integers(0, 12, N_PEOPLE).astype(float),
        "b": random.integers(0, 20, N_PEOPLE).astype(float),
    }
    outcome = random.permutation(np.arange(N_PEOPLE) % 2).tolist()
    groups = random.permutation(np.arange(N_PEOPLE) % 3 > 0).astype(str).tolist()
    people = people_from(features, outcome, {"g": groups})
    return Engine(pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=3)), Budget(), None)


@pytest.mark.parametrize("share", [None, 2.0, 1.0, 0.7])
def test_remembered_and_cut_short_values_are_those_of_the_slots(engine: Engine, share: float | None) -> None:
    recall, shortened = Recall(), 0
    prices = engine.lane.prices(np.array([[0.4], [-0.2]]))
    for low, high in combinations_with_replacement(range(10), 2):
        part = Split(Cuts(0, low, high), Slot(2), Slot(2))
        engine.oracle.use(Recall())
        plain = Cell(part, engine.lane, engine.oracle)
        expected = np.array([plain.oracle.value(place.members, 2, prices) for place in plain.places])
        # Prices are negative: with a share below 1, what the sum may reach at least is above what it costs.
        cutoff = None if share is None else share * expected.sum(axis=0)
        engine.oracle.use(recall)
        found = Cell(part, engine.lane, engine.oracle).values(prices, cutoff)
        reached = expected.sum(axis=0) if cutoff is None else np.minimum(expected.sum(axis=0), cutoff)
        np.testing.assert_allclose(found.sum(axis=0), reached, atol=1e-12)
        shortened += int((found.sum(axis=0) < expected.sum(axis=0) - 1e-12).any())
    assert len(recall.known) > 0
    assert (shortened > 0) == (share == 2.0)


def test_a_fork_is_not_taken_for_the_slot_that_it_is_a_part_of() -> None:
    """Below the same first tests and at the same multipliers, whichever is asked for first."""
    random = np.random.default_rng(3)
    features = {
        "a": random.integers(0, 4, N_PEOPLE).astype(float),
        "b": random.choice(list("pqr"), N_PEOPLE).tolist(),
        "c": random.integers(0, 6, N_PEOPLE).astype(float),
    }
    people = people_from(features, (np.arange(N_PEOPLE) % 2).tolist(), {"g": (np.arange(N_PEOPLE) % 3 > 0).tolist()})
    engine = Engine(pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=3)), Budget(), None)
    prices, box = engine.lane.prices(np.array([[0.4], [-0.2]])), Cuts(0, 1, 1)
    settled = Fork(Levels(1, frozenset({0}), frozenset({1, 2})))
    parts: list[Part] = [Split(box, Slot(2), Slot(2)), Split(box, settled, Slot(2)), Split(box, Slot(2), settled)]

    def values(part: Part, recall: Recall) -> np.ndarray:
        engine.oracle.use(recall)
        return Cell(part, engine.lane, engine.oracle).values(prices)

    plain = [values(part, Recall()) for part in parts]
    assert (plain[1][0] > plain[0][0] + 1e-9).any()
    assert (plain[2][1] > plain[0][1] + 1e-9).any()
    for order in permutations(range(3)):
        shared = Recall()
        for number in order:
            np.testing.assert_allclose(values(parts[number], shared), plain[number], atol=1e-12)
