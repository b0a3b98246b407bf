"""The parts of the checker of proofs about few disparity rows, against the definitions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certified import constant_trees
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.certificate import certificate_from_bytes
from evenleaf.solve.certify import check
from evenleaf.solve.certify.fronts import proof
from evenleaf.solve.certify.fronts.asked import needless
from evenleaf.solve.certify.fronts.outlines import cuts_left_over, interval, subsets_left_over
from evenleaf.solve.certify.fronts.shares import fair_shares
from evenleaf.solve.proofs.fronts import LEFT, OPEN, RIGHT, FrontsProof
from evenleaf.table import People
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import problems
from front_proofs import FEW_ROWS, SOLVER


def test_no_kernel_is_shared_with_the_search() -> None:
    files = list(Path(proof.__file__).parent.glob("*.py"))
    assert len(files) > 4
    for file in files:
        text = file.read_text("utf-8")
        assert "solve.fronts" not in text, file.name
        assert "numba" not in text, file.name
        lines = [line for line in text.splitlines() if "import" in line and "solve.search" in line]
        assert all("search.compiled import" in line for line in lines), file.name


@given(
    points=st.lists(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=30),
    added=st.tuples(*[st.integers(-6, 6)] * 3),
    n_disparities=st.integers(0, 2),
    penalty=st.booleans(),
)
@settings(max_examples=200)
def test_needless_points_are_never_needed(
    points: list[tuple[int, ...]], added: tuple[int, ...], n_disparities: int, penalty: bool
) -> None:
    """Whatever is added to all points, the best sum is still there; for disparities also those that are kept alike."""
    vectors = np.array(points, dtype=np.float64)[:, : n_disparities + 1] * 0.1
    kept = vectors[~needless(vectors, penalty, 0)]
    both = [(rows + 0.1 * np.array(added)[: n_disparities + 1]) for rows in (vectors, kept)]
    if penalty:
        best = [float((rows[:, 0] + np.abs(rows[:, 1:]).sum(axis=1)).min()) for rows in both]
        assert best[0] == pytest.approx(best[1], abs=1e-12)
        return
    for limit in (0.0, 0.2, 0.5):
        found = [rows[np.abs(rows[:, 1:]).sum(axis=1) <= limit + 1e-9, 0].min(initial=np.inf) for rows in both]
        assert found[0] == pytest.approx(found[1], abs=1e-12)


@given(
    points=st.lists(st.tuples(*[st.integers(-4, 4)] * 2), min_size=1, max_size=30),
    added=st.tuples(*[st.integers(-6, 6)] * 2),
    side=st.sampled_from([1, -1]),
)
@settings(max_examples=100)
def test_points_needless_for_one_side(points: list[tuple[int, ...]], added: tuple[int, ...], side: int) -> None:
    vectors = np.array(points, dtype=np.float64) * 0.1
    both = [rows + 0.1 * np.array(added) for rows in (vectors, vectors[~needless(vectors, False, side)])]
    for limit in (0.0, 0.2, 0.5):
        found = [rows[side * rows[:, 1] <= limit + 1e-9, 0].min(initial=np.inf) for rows in both]
        assert found[0] == pytest.approx(found[1], abs=1e-12)


@given(
    parts=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=4),
    present=st.lists(st.booleans(), min_size=8, max_size=8).filter(any),
)
@settings(max_examples=100)
def test_cuts_left_over(parts: list[tuple[int, int]], present: list[bool]) -> None:
    """Every cut that parts somebody is like one in a part, or like one in what is left over."""
    there = np.array(present)
    whole = interval(8, 0, 6)
    held = [(min(pair), max(pair)) for pair in parts]
    left = [cuts_of(sides) for sides in cuts_left_over(whole, [interval(8, *pair) for pair in held], there)]
    alike = np.cumsum(there)
    spoken = {int(alike[cut]) for first, last in [*held, *left] for cut in range(first, last + 1)}
    assert spoken >= {int(n) for n in alike[:7]} - {0, int(alike[-1])}


def cuts_of(sides: np.ndarray) -> tuple[int, int]:
    return int((sides == LEFT).sum()) - 1, 7 - int((sides == RIGHT).sum())


@given(
    parts=st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), max_size=5),
    present=st.lists(st.booleans(), min_size=4, max_size=4).filter(any),
    mirrored=st.booleans(),
)
@settings(max_examples=100)
def test_subsets_left_over(parts: list[list[int]], present: list[bool], mirrored: bool) -> None:
    """Every subset of the levels that are there, or its mirror image, is in a part or left over."""
    there, held = np.array(present), [np.array(part, dtype=np.int8) for part in parts]
    left = list(subsets_left_over(np.full(4, OPEN, dtype=np.int8), held, there, mirrored=mirrored))

    def spoken_of(subset: np.ndarray) -> bool:
        return any(((sides == OPEN) | (sides == subset))[there].all() for sides in [*held, *left])

    for number in range(16):
        subset = (number >> np.arange(4)) & 1
        assert spoken_of(subset) or (mirrored and spoken_of(1 - subset))


@given(problem=problems(task="classification", forms=("limit",), notions=FEW_ROWS, max_classes=2, max_depth=2))
@settings(max_examples=100)
def test_fair_shares_are_all_there_are(problem: Problem) -> None:
    """Where it names shares, the best tree has one of them."""
    shares = fair_shares(problem) if SOLVER.accepts(problem) else None
    if shares is None:
        return
    constants = constant_trees(problem, range(2))
    best = brute_force(problem)
    if len(shares) == 2:
        assert best.objective == pytest.approx(min(problem.evaluate(tree).objective for tree in constants), abs=1e-9)
    assert best.tree is not None
    share = float(np.mean(best.tree.predict(problem.people.features)))
    assert np.abs(shares - share).min() <= 1e-9


def alike(people: People, limit: float) -> bool:
    shares = fair_shares(pose(people, fairness=DisparateImpact(), max_discrimination=limit))
    return shares is not None and len(shares) == 2


def test_fair_shares_count_people() -> None:
    """Groups of 7 and 9 people: shares that differ are at least 1/63 apart, and a common share is 0 or 1."""
    people = people_from({"x": list(range(16))}, [0, 1] * 8, {"g": ["a"] * 7 + ["b"] * 9})
    assert alike(people, 0.0)
    problem = pose(people, fairness=DisparateImpact(), max_discrimination=0.0)
    labels = [np.array([1] * a + [0] * (7 - a) + [1] * b + [0] * (9 - b)) for a in range(8) for b in range(10)]
    step = min(problem.disparity.value(problem.psi(one)) for one in labels if one.min() < one.max())
    assert alike(people, 0.99 * step)
    assert fair_shares(pose(people, fairness=DisparateImpact(), max_discrimination=1.01 * step)) is None
    even = people_from({"x": list(range(16))}, [0, 1] * 8, {"g": ["a"] * 6 + ["b"] * 10})
    shares = fair_shares(pose(even, fairness=DisparateImpact(), max_discrimination=0.0))
    assert shares is not None
    assert shares.tolist() == [0.0, 0.5, 1.0]


@st.composite
def with_a_common_divisor(draw: st.DrawFn) -> Problem:
    """Exactly equal rates for two groups whose sizes have a common divisor."""
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    sizes = draw(st.sampled_from([(4, 6), (3, 6), (4, 4), (6, 9), (8, 4)]))
    n_people = sum(sizes)
    features: dict[str, Any] = {"x": random.integers(0, 6, n_people).astype(float)}
    if draw(st.booleans()):
        features["y"] = random.integers(0, draw(st.sampled_from([2, 4])), n_people).astype(float)
    if draw(st.booleans()):
        features["z"] = random.choice(list("abc"), n_people).tolist()
    outcome = random.permutation(np.arange(n_people) % 2)
    people = people_from(features, outcome.tolist(), {"g": np.repeat(["a", "b"], sizes).tolist()})
    shape = Shape(max_depth=draw(st.sampled_from([1, 2])), min_samples_leaf=draw(st.sampled_from([1, 2])))
    return pose(people, fairness=DisparateImpact(), max_discrimination=0.0, shape=shape)


@given(problem=with_a_common_divisor())
@settings(max_examples=40)
def test_each_share_is_proven(problem: Problem) -> None:
    answer = SOLVER.solve(problem, Budget())
    assert answer.proven
    assert answer.objective == pytest.approx(brute_force(problem).objective, abs=1e-9)
    assert answer.certificate is not None
    again = certificate_from_bytes(answer.certificate.to_bytes())
    assert check(again, problem).holds
    if isinstance(again.proof, FrontsProof) and len(again.proof.others):
        without = replace(again.proof, others=again.proof.others[:-1])
        assert not check(replace(again, proof=without), problem).holds
