"""Good multipliers and a good tree to begin with (ALGORITHM §9.9)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenleaf.solve.search.ascent import CLIMB, GLANCE, LOOK, SEARCH
from evenleaf.solve.search.boxes import MOST_SWEPT_DEPTH, single_root
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.facets import find_facets
from evenleaf.solve.search.plan import Found
from evenleaf.solve.search.steps import Effort
from evenleaf.solve.search.worker import Worker

_DEEPEST_CLIMBED = 3  # below that a single bound takes too long
_WORK, _MORE_WORK = 8_000_000, 16_000_000  # people that wandering may look at, again and again
_ROUNDS, _NEAR = 4, 0.02  # of facets at a root; of the incumbent: a bound as close as that needs none
_CUTS_TRIED, _ROOTS_CLIMBED, _DESCENTS = 8, 3, 2


Root = tuple[int, np.ndarray]  # a feature, and the ranks that go left
Look = tuple[float, Root, Found | None]  # the bound of a root, and the best tree met there


def warm_up(worker: Worker) -> tuple[np.ndarray, float]:
    """A good tree soon, then good multipliers; a deep tree starts from what a shallow one found."""
    deep = worker.depth > MOST_SWEPT_DEPTH
    shallow = _shallower(worker) if deep else worker
    mu, scale = _first_look(shallow)
    _descend(worker, shallow)
    looks = _looks(shallow, _CUTS_TRIED if worker.depth > 1 else 1, mu, scale)  # a single test is soon found
    if not deep:
        _descend_elsewhere(worker, looks)
    roots = _lowest(looks, _ROOTS_CLIMBED)
    for _ in range(2):
        mu, scale = _climb(shallow, roots, SEARCH, mu, scale)
    if deep:
        _descend(worker, shallow)
        worker.wander(_WORK, 0)
    if worker.depth == _DEEPEST_CLIMBED:
        roots = _lowest(_looks(worker, _CUTS_TRIED, mu, scale), _ROOTS_CLIMBED)
        mu, scale = _climb(worker, roots, CLIMB, mu, scale)
        worker.wander(_MORE_WORK, 1)
        for root in roots:
            mu, scale = _find_facets(worker, root, mu, scale)
    return mu, scale


def _shallower(worker: Worker) -> Worker:
    problem = worker.problem
    shape = replace(problem.shape, max_depth=MOST_SWEPT_DEPTH)
    shallow = Worker(problem.with_shape(shape), worker.compiled, worker.budget)
    shallow.begin(worker.tree, worker.objective, frozenset())
    shallow.on_better = worker.on_better
    return shallow


def _first_look(worker: Worker) -> tuple[np.ndarray, float]:
    """Few roots, few steps, no descents."""
    mu, scale = np.zeros_like(worker.compiled.weight), 1.0
    worker.polishes = False
    mu, scale = _climb(worker, _lowest(_looks(worker, 1, mu, scale), 2), GLANCE, mu, scale)
    worker.polishes = True
    return mu, scale


def _descend(worker: Worker, shallow: Worker) -> None:
    """Descend from the best tree that the shallow search has met."""
    if shallow.tree is not None:
        worker.offer(shallow.tree)
    if shallow.found is not None and not worker.coupled:
        worker.descend(shallow.found)


def _descend_elsewhere(worker: Worker, looks: list[Look]) -> None:
    """Where a descent ends depends on where it starts: some from the best trees with roots on different features."""
    best: dict[int, Found] = {}
    for _, (feature, _), found in looks:
        if found is not None and (feature not in best or found.objective < best[feature].objective):
            best[feature] = found
    for found in sorted(best.values(), key=lambda found: found.objective)[: 0 if worker.coupled else _DESCENTS]:
        if not worker.budget.exhausted:
            worker.descend(found)


def _looks(worker: Worker, cuts: int, mu: np.ndarray, scale: float) -> list[Look]:
    """A look at some roots a feature."""
    looks: list[Look] = []
    for feature in range(worker.compiled.n_features):
        for left in _sample_roots(worker.compiled, feature, cuts) if worker.pairs[feature].any() else []:
            if worker.budget.exhausted:
                break
            box = single_root(worker.compiled, feature, left, mu, scale, worker.depth)
            reached = worker.climb(box, LOOK)
            looks.append((reached.box.bound, (feature, left), reached.found))
    return looks


def _lowest(looks: list[Look], n_roots: int) -> list[Root]:
    """The roots with the lowest bounds, the first among equals."""
    return [root for _, root, _ in sorted(looks, key=lambda look: look[0])[:n_roots]]


def _climb(worker: Worker, roots: list[Root], effort: Effort, mu: np.ndarray, scale: float) -> tuple[np.ndarray, float]:
    """Climb on each root; the multipliers of the one whose bound stays lowest."""
    best, best_mu, best_scale = np.inf, mu, scale
    for feature, left in roots:
        if worker.budget.exhausted:
            break
        reached = worker.climb(single_root(worker.compiled, feature, left, mu, scale, worker.depth), effort).box
        if reached.bound < best:
            best, best_mu, best_scale = reached.bound, reached.mu, reached.scale
    return best_mu, best_scale


def _find_facets(worker: Worker, root: Root, mu: np.ndarray, scale: float) -> tuple[np.ndarray, float]:
    """Climb at a root again and again, each time with better prices for what keeps its bound low."""
    for _ in range(_ROUNDS if worker.has_facets else 0):
        reached = worker.climb(single_root(worker.compiled, *root, mu, scale, worker.depth), CLIMB)
        mu, scale = reached.box.mu, reached.box.scale
        if reached.box.bound >= (1 - _NEAR) * worker.objective or worker.budget.exhausted:
            break
        worker.adopt(worker.facets.and_new(find_facets(worker.compiled, reached.average[:, 0], worker.objective)))
    return mu, scale


def _sample_roots(compiled: Compiled, feature: int, cuts_tried: int) -> list[np.ndarray]:
    """Cuts at quantiles of the people; for levels, prefixes in the order of their mean cost."""
    size = int(compiled.sizes[feature])
    people = np.bincount(compiled.ranks[feature], weights=compiled.count, minlength=size)
    rank_order = np.arange(size)
    if compiled.unordered[feature]:
        cost = np.bincount(compiled.ranks[feature], weights=compiled.base[:, -1], minlength=size)
        rank_order = np.argsort(cost / people, kind="stable")
    reached = np.cumsum(people[rank_order]) / people.sum()
    cuts = np.unique(np.searchsorted(reached, np.arange(1, cuts_tried + 1) / (cuts_tried + 1)))
    return [np.isin(np.arange(size), rank_order[: min(cut, size - 2) + 1]) for cut in cuts]
