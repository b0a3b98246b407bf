"""Rows of the disparity that lie inside one part of the people: what stumps and trees pay for them, by definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.datasets import load_diabetes
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.values import kernels
from evenleaf.solve.values.boxes import single_root
from evenleaf.solve.values.compiled import Compiled, compile_values
from evenleaf.solve.values.oracle import Scratch, SubtreeOracle
from evenleaf.solve.values.shelf import Shelf
from paid_rows import Priced
from value_proofs import mixed


def numbers(n: int, *columns: str) -> Problem:
    people, shape = load_diabetes().sample(n, seed=n).people(), Shape(max_depth=3, allowed_features=columns or None)
    return pose(people, fairness=DisparateTreatment(n_neighbors=3), fairness_weight=2.0, shape=shape)


def levels(n: int) -> Problem:
    return mixed(n, 5, depth=3, fairness=DisparateTreatment(n_neighbors=3), fairness_weight=2.0)


PROBLEMS = [numbers(24), numbers(40), levels(24), levels(40)]


def priced(scratch: Scratch, mu: np.ndarray) -> Priced:
    """The definition of what people and rows cost at some multipliers; the scratch has these prices, too."""
    c = scratch.compiled
    scratch.price(mu, 1.0)
    entries = sp.csr_array((c.entries, c.rows, c.pointers), shape=(c.n_people, len(c.weight)))
    return Priced.at(c, entries, scratch.costs.copy(), c.weight[:, 0], c.weight[:, 0] * mu[:, 0])


def below(c: Compiled, people: np.ndarray, test: int) -> tuple[np.ndarray, np.ndarray]:
    """The people left and right of a test; where there is none (−1), everybody is left."""
    if test < 0:
        return people, people[:0]
    feature, left = c.left_ranks(test)
    goes = left[c.ranks[feature][people]]
    return people[goes], people[~goes]


def parts_people(c: Compiled, people: np.ndarray, test: int) -> bool:
    """Whether there is no test, or one with somebody on either side."""
    return test < 0 or all(len(leaf) for leaf in below(c, people, test))


def stump_cost(definition: Priced, c: Compiled, people: np.ndarray, test: int) -> float:
    return definition.stump(*below(c, people, test), c.levels, c.levels)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("part_of", ["halves", "thirds"])
def test_stumps_pay_for_rows_inside_their_part(problem: Problem, part_of: str) -> None:
    """Whatever is asked for: a pair of stumps below it is priced exactly, and none is if there is none."""
    c, scratch = compile_values(problem), Scratch(compile_values(problem), problem.shape)
    definition = priced(scratch, np.random.default_rng(0).uniform(-1, 1, (len(c.weight), 1)))
    order = np.argsort(c.ranks[0], kind="stable").argsort()
    part = (2 * order // c.n_people) if part_of == "halves" else np.array([0, 2, 1])[3 * order // c.n_people]
    kernels.rows_of_parts(part, scratch.within)
    n_inside = [int((scratch.within[3] == s).sum()) for s in (0, 1)]
    assert sum(n_inside), "no row lies inside a part, so that nothing is tested"
    tests = [*range(c.n_tests), -1]
    exact = np.array([[stump_cost(definition, c, np.flatnonzero(part == s), t) for t in tests] for s in (0, 1)])
    apart = np.array([[parts_people(c, np.flatnonzero(part == s), t) for t in tests] for s in (0, 1)])
    least_pair = sum(np.where(apart, exact, np.inf).min(axis=1))
    for enough in (kernels.INFINITE, least_pair + 0.05, least_pair + 1e-9, least_pair - 0.05):
        scratch.within[6][:] = n_inside
        alive = np.ones((2, c.n_tests + 1), dtype=np.uint8)
        known = np.full((2, c.n_features + 1), -kernels.INFINITE)
        kernels.stumps(
            scratch.people, scratch.tables, c.orders, part, 0, alive, scratch.busy(alive), True,
            enough, scratch.out, known, scratch.best, scratch.work, scratch.within,
        )  # fmt: skip
        found = np.where(apart, scratch.out, np.inf)
        said = found < kernels.INFINITE  # a test that leads nowhere may be passed over
        assert (found[said] <= exact[said] + 1e-12).all()
        if least_pair < enough:
            assert sum(found.min(axis=1)) == pytest.approx(least_pair, abs=1e-12)
        else:
            assert sum(found.min(axis=1)) >= enough - 1e-12
        if enough == kernels.INFINITE:
            assert found[apart] == pytest.approx(exact[apart], abs=1e-12)


@given(seed=st.integers(0, 10**6), which=st.integers(0, len(PROBLEMS) - 1))
@settings(max_examples=60, deadline=None)
def test_trees_decide_and_pay_as_their_stumps_do(seed: int, which: int) -> None:
    """A tree with its values, and its subtrees kept on a shelf, cost what the definition says of its four stumps."""
    problem, random = PROBLEMS[which], np.random.default_rng(seed)
    c = compile_values(problem)
    scratch = Scratch(c, problem.shape)
    mu = random.uniform(-1, 1, (len(c.weight), 1))
    definition = priced(scratch, mu)
    alive = np.ones((6, c.n_tests + 1), dtype=np.uint8)
    cut = int(random.integers(0, c.sizes[0] - 1))
    box = single_root(0, np.arange(int(c.sizes[0])) <= cut, alive, np.zeros_like(mu), 1.0)
    oracle = SubtreeOracle(box, scratch, keeps_sides=False)
    tests = random.integers(0, c.n_tests, 6)
    loss, decided = oracle.decide(tests)
    inside = scratch.within[3] >= 0
    due = (definition.entries.T @ decided)[inside]
    paid = (definition.steep[inside] * np.abs(due) - definition.lean[inside] * due).sum()
    expected = [
        sum(stump_cost(definition, c, people, int(tests[2 + 2 * side + k])) for k, people in enumerate(parts))
        for side in (0, 1)
        for parts in [below(c, np.flatnonzero(oracle.part == side), int(tests[side]))]
    ]
    assert loss + definition.person @ decided + paid == pytest.approx(sum(expected), abs=1e-12)
    leaf = oracle.leaves(tests)
    for side in (0, 1):
        shelf = Shelf(oracle.ids[side][-1], scratch.compiled.levels[c.level], c.share, len(c.weight))
        shelf.add((0, 0, 0), leaf, oracle.paid(side, leaf))
        assert shelf.cheapest(scratch.costs, mu[:, 0], 1.0)[0] == pytest.approx(expected[side], abs=1e-12)


@pytest.mark.parametrize("problem", [numbers(20, "bmi", "bp"), levels(24)])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_tree_below_a_root_is_that_of_the_definition(problem: Problem, seed: int) -> None:
    c = compile_values(problem)
    scratch = Scratch(c, problem.shape)
    definition = priced(scratch, np.random.default_rng(seed).uniform(-1, 1, (len(c.weight), 1)))
    alive = np.ones((6, c.n_tests + 1), dtype=np.uint8)
    box = single_root(0, np.arange(int(c.sizes[0])) <= c.sizes[0] // 2, alive, np.zeros_like(c.weight), 1.0)
    oracle = SubtreeOracle(box, scratch, keeps_sides=False)
    every = [*range(c.n_tests), -1]

    def best_stump(people: np.ndarray) -> float:
        return min(stump_cost(definition, c, people, test) for test in every)

    def best_subtree(side: int) -> float:
        people = np.flatnonzero(oracle.part == side)
        children = [below(c, people, test) for test in every if test >= 0 and parts_people(c, people, test)]
        return min(stump_cost(definition, c, people, -1), *(sum(map(best_stump, parts)) for parts in children))

    assert oracle.best(kernels.INFINITE)[0] == pytest.approx(best_subtree(0) + best_subtree(1), abs=1e-12)
