"""The neighbours of a tree: another test at one node, or a leaf split in two."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from evenleaf.solve.local.allowance import allowance, may_grow
from evenleaf.solve.local.axis import Proposal, axis_proposals
from evenleaf.solve.local.choice import Choice
from evenleaf.solve.local.design import Plane
from evenleaf.solve.local.directions import fitted_directions, random_direction
from evenleaf.solve.local.model_splits import model_splits
from evenleaf.solve.local.planes import PlaneMoves
from evenleaf.solve.local.sketch import Fork, Path, Sketch, at, decided, reached, replaced, rows_at
from evenleaf.solve.local.workspace import Workspace
from evenleaf.tree import Leaf, LinearTest

# So many features (or columns) are swept exactly after all have been ranked by a guess.
_SWEPT = 8
_EXCHANGED = 3
_RANDOM = 3
_POLISHES = 12
_MOST_PAIRS = 6
_QUANTILES = ((0.25, 0.75), (0.1, 0.5), (0.5, 0.9))


def neighbours(
    space: Workspace, sketch: Sketch, path: Path, most: int, rng: np.random.Generator, *, single: bool = False
) -> list[Sketch]:
    """The most promising trees that differ in one node, the best first; their leaves are not yet fitted.

    `single` leaves out the linear tests.
    """
    here = at(sketch, path)
    rows = rows_at(sketch, path, space.table)
    if len(rows) < 2 or (isinstance(here, Leaf) and not may_grow(space.problem, sketch, path)):
        return []
    elsewhere = decided(sketch, space.table, space.everybody, space.problem.target)
    ranked: list[tuple[float, Fork]] = []
    for left, right in _sides(space, here, rows):
        if space.budget.exhausted:
            break
        choice = _choice(space, rows, elsewhere, left, right)
        for proposal in _proposals(choice, sketch, path, rng, single=single):
            sides = (right, left) if proposal.swapped else (left, right)
            ranked.append((proposal.merit, Fork(proposal.test, *sides)))
    ranked.sort(key=lambda entry: entry[0])
    forks = list(dict.fromkeys(fork for _, fork in ranked))[:most]
    if isinstance(here, Leaf) and space.problem.shape.leaves == "linear":
        tests = model_splits(space, rows, allowance(space.problem, sketch, path).single(), most, rng)
        forks = [Fork(test, here, here) for test in tests] + forks
    return [replaced(sketch, path, fork) for fork in forks]


def polished(space: Workspace, sketch: Sketch, path: Path) -> Sketch:
    """The sketch with the linear test at a node improved one coefficient at a time, the leaves as they are."""
    for _ in range(_POLISHES):
        here = at(sketch, path)
        if not isinstance(here, Fork) or not isinstance(here.test, LinearTest) or space.budget.exhausted:
            break
        rows = rows_at(sketch, path, space.table)
        elsewhere = decided(sketch, space.table, space.everybody, space.problem.target)
        choice = _choice(space, rows, elsewhere, here.left, here.right)
        moves = PlaneMoves(choice, allowance(space.problem, sketch, path))
        found = moves.changes(space.design.plane(here.test), _SWEPT)
        best = min(found, key=lambda proposal: proposal.merit, default=None)
        if best is None or best.merit >= choice.merit_now() - 1e-12:
            break
        sides = (here.right, here.left) if best.swapped else (here.left, here.right)
        sketch = replaced(sketch, path, Fork(best.test, *sides))
    return sketch


def _sides(space: Workspace, here: Sketch, rows: np.ndarray) -> Sequence[tuple[Sketch, Sketch]]:
    """What the two sides of a new test may hold: the old ones, or where there was a leaf pairs of leaves."""
    if isinstance(here, Fork):
        return [(here.left, here.right)]
    if space.problem.target.classes is not None:
        losses = np.array([space.losses(rows, np.full(len(rows), label)).sum() for label in _labels(space)])
        likely = np.argsort(losses, kind="stable")
        return [(Leaf(float(a)), Leaf(float(b))) for a, b in combinations(likely, 2)][:_MOST_PAIRS]
    if here.terms:
        spread = float(np.abs(space.outcome[rows] - decided(here, space.table, rows, space.problem.target)).mean())
        return [(Leaf(here.value - spread, here.terms), Leaf(here.value + spread, here.terms))]
    pairs = dict.fromkeys(tuple(np.quantile(space.outcome[rows], pair).tolist()) for pair in _QUANTILES)
    return [(Leaf(low), Leaf(high)) for low, high in pairs if low < high]


def _labels(space: Workspace) -> range:
    return range(len(space.problem.target.classes or ()))


def _choice(space: Workspace, rows: np.ndarray, elsewhere: np.ndarray, left: Sketch, right: Sketch) -> Choice:
    table, target = space.table, space.problem.target
    return Choice(
        space,
        rows,
        elsewhere,
        decided(left, table, rows, target),
        decided(right, table, rows, target),
        reached(left, table, rows),
        reached(right, table, rows),
    )


def _proposals(choice: Choice, sketch: Sketch, path: Path, rng: np.random.Generator, *, single: bool) -> list[Proposal]:
    """Single-feature tests, and where linear ones are allowed cuts along directions and changes of one coefficient."""
    space, here = choice.space, at(sketch, path)
    allowed = allowance(space.problem, sketch, path)
    found = axis_proposals(choice, allowed.single(), _SWEPT)
    if single or allowed.most < 2 or not space.design.n_columns or space.budget.exhausted:
        return found
    moves = PlaneMoves(choice, allowed)
    plane = space.design.plane(here.test) if isinstance(here, Fork) else None
    near = None if plane is None or not allowed.permits(space.design.features_in(plane.beta)) else plane.beta
    directions = [*fitted_directions(moves, rng), *(random_direction(moves, near, rng) for _ in range(_RANDOM))]
    cuts = [moves.along(beta) for beta in directions]
    if plane is not None and near is not None:
        cuts.append(moves.along(near))
        found += moves.changes(plane, _SWEPT)
        found += _exchanges(moves, plane)
    return found + [cut for cut in cuts if cut is not None]


def _exchanges(moves: PlaneMoves, plane: Plane) -> list[Proposal]:
    """One feature out, another in: those that weigh least leave first."""
    weight = np.bincount(moves.design.feature, weights=np.abs(plane.beta))
    inside = sorted(moves.design.features_in(plane.beta), key=lambda feature: float(weight[feature]))
    found: list[Proposal] = []
    for feature in inside[:_EXCHANGED] if len(inside) > 1 else []:
        found += moves.changes(plane, 2, without=feature)
    return found
