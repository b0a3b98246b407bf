"""Good multipliers and a good tree to begin with (ALGORITHM §9.9)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenleaf.solve.search.ascent import CLIMB, GLANCE, LOOK, SEARCH
from evenleaf.solve.search.boxes import MOST_SWEPT_DEPTH, single_root
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.steps import Effort
from evenleaf.solve.search.worker import Worker

_DEEPEST_CLIMBED = 3  # below that a single bound takes too long
_WORK = 12_000_000  # people that wandering may look at, again and again
_CUTS_TRIED, _ROOTS_CLIMBED = 8, 3


Root = tuple[int, np.ndarray]  # a feature, and the ranks that go left


def warm_up(worker: Worker) -> tuple[np.ndarray, float]:
    """A good tree soon, then good multipliers; a deep tree starts from what a shallow one found."""
    deep = worker.depth > MOST_SWEPT_DEPTH
    shallow = _shallower(worker) if deep else worker
    mu, scale = _first_look(shallow)
    _first_trees(worker, shallow)
    roots = _promising(shallow, _CUTS_TRIED, mu, scale)[:_ROOTS_CLIMBED]
    for _ in range(2):
        mu, scale = _climb(shallow, roots, SEARCH, mu, scale)
    if worker.depth == _DEEPEST_CLIMBED:
        _first_trees(worker, shallow)
        mu, scale = _climb(worker, _promising(worker, _CUTS_TRIED, mu, scale)[:_ROOTS_CLIMBED], CLIMB, mu, scale)
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
    mu, scale = _climb(worker, _promising(worker, 1, mu, scale)[:2], GLANCE, mu, scale)
    worker.polishes = True
    return mu, scale


def _first_trees(worker: Worker, shallow: Worker) -> None:
    """Descend from the best tree that the shallow search has met, and wander about where that leads."""
    if shallow.tree is not None:
        worker.offer(shallow.tree)
    if shallow.found is None or worker.coupled:
        return
    worker.descend(shallow.found)
    if worker.depth > MOST_SWEPT_DEPTH:  # stumps are soon found without
        worker.wander(_WORK)


def _promising(worker: Worker, cuts: int, mu: np.ndarray, scale: float) -> list[Root]:
    """Some roots a feature, those with the lowest bounds first."""
    looks: list[tuple[float, int, Root]] = []
    for feature in range(worker.compiled.n_features):
        for left in _sample_roots(worker.compiled, feature, cuts) if worker.pairs[feature].any() else []:
            if worker.budget.exhausted:
                break
            box = single_root(worker.compiled, feature, left, mu, scale, worker.depth)
            looks.append((worker.climb(box, LOOK).box.bound, len(looks), (feature, left)))
    return [root for _, _, root in sorted(looks, key=lambda look: look[:2])]


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
