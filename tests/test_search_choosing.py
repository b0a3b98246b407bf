"""Labels or places: which of them boxes with free people are split by is learnt from what it led to."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings

from evenleaf.problem import Problem, Shape
from evenleaf.solve.proofs.labels import Labels, Region
from evenleaf.solve.search.boxes import FREE, Box, Origin
from evenleaf.solve.search.choosing import Choosing
from evenleaf.solve.search.compiled import compile_problem
from evenleaf.solve.search.examined import Examined
from evenleaf.solve.search.regions import region_of
from evenleaf.testing.strategies import problems
from levelled_tables import answer_is_that_of_brute_force, levelled, same_for_any_number_of_workers

COMPILED = compile_problem(levelled())
AIM = 1.0


def free_box(feature: int, origin: Origin | None = None) -> Box:
    """A box in which nobody is placed."""
    none = np.zeros(0, dtype=np.int64)
    state = np.full(int(COMPILED.sizes[feature]), FREE, dtype=np.int8)
    alive = np.ones((4, int(COMPILED.offsets[-1])), dtype=np.uint8)
    mu = np.zeros_like(COMPILED.weight)
    return Box(feature, state, none, none, np.ones(1, dtype=np.bool_), alive, 0.8, mu, 1.0, origin=origin)


def placed(risen: float) -> Examined:
    """What is said of a box that was split in two."""
    return Examined(region_of(free_box(0), COMPILED), [free_box(0), free_box(0)], risen=risen)


def decided(risen: float, n_closed: int = 0) -> Examined:
    """What is said of a box in which a label was decided, and both answers wait but those that closed it."""
    below: list[tuple[Box, list[Region]]] = [(free_box(0), []) for _ in range(2 - n_closed)]
    labels = Labels(np.zeros((0, 0), dtype=np.int32), 1.0)
    return Examined(region_of(free_box(0), COMPILED), [], labels, below=below, risen=risen, n_closed=n_closed)


def taught(after_labels: float, after_places: float, rounds: int = 6) -> Choosing:
    """What is learnt of feature 0 where both kinds begin at 0.8 and lead to these bounds."""
    choosing = Choosing()
    for _ in range(rounds):
        choosing.learn(free_box(0, Origin(by_labels=True, bound=0.8)), decided(after_labels), AIM)
        choosing.learn(free_box(0, Origin(by_labels=False, bound=0.8)), placed(after_places), AIM)
    return choosing


def preferences(choosing: Choosing, times: int = 16, feature: int = 0) -> float:
    """How often labels are preferred."""
    return float(np.mean([choosing.prefers_labels(feature) for _ in range(times)]))


def test_the_kind_that_leaves_less_is_preferred_and_the_other_tried_now_and_then() -> None:
    assert preferences(taught(after_labels=0.95, after_places=0.85)) == pytest.approx(14 / 16)
    assert preferences(taught(after_labels=0.85, after_places=0.95)) == pytest.approx(2 / 16)


def test_both_kinds_are_tried_before_they_are_compared() -> None:
    choosing, chosen = Choosing(), []
    for _ in range(4):
        chosen.append(choosing.prefers_labels(0))
        choosing.learn(free_box(0), decided(0.9) if chosen[-1] else placed(0.9), AIM)
    assert sum(chosen) == 2


def test_what_is_learnt_of_one_feature_says_nothing_of_another() -> None:
    choosing = taught(after_labels=0.95, after_places=0.8)
    assert choosing.prefers_labels(1)
    choosing.learn(free_box(1), decided(0.9), AIM)
    assert not choosing.prefers_labels(1)


def test_what_was_long_ago_counts_less() -> None:
    choosing = taught(after_labels=0.95, after_places=0.85)
    for _ in range(30):
        choosing.learn(free_box(0, Origin(by_labels=True, bound=0.9)), decided(0.9), AIM)
        choosing.learn(free_box(0, Origin(by_labels=False, bound=0.9)), placed(0.99), AIM)
    assert preferences(choosing) == pytest.approx(2 / 16)


def test_parts_that_labels_close_at_once_count_as_done() -> None:
    choosing = Choosing()
    for _ in range(6):
        choosing.learn(free_box(0, Origin(by_labels=True, bound=0.8)), decided(0.88, n_closed=1), AIM)
        choosing.learn(free_box(0, Origin(by_labels=False, bound=0.8)), placed(0.9), AIM)
    assert preferences(choosing) == pytest.approx(14 / 16)


def test_nothing_is_learnt_of_boxes_without_free_people_or_that_were_cut_short() -> None:
    choosing = Choosing()
    single = replace(free_box(0), state=np.zeros(int(COMPILED.sizes[0]), dtype=np.int8))
    choosing.learn(single, decided(0.9), AIM)
    choosing.learn(free_box(0), replace(placed(0.9), risen=None, cut_short=True), AIM)
    assert not choosing.kinds


def sometimes(self: Choosing, feature: int) -> bool:
    """Now labels, now places."""
    self.turns[feature] += 1
    return self.turns[feature] % 3 == 0


@given(problem=problems(task="classification", max_people=7, max_values=4, limits=False))
@settings(max_examples=40)
def test_whichever_is_chosen_the_answer_is_that_of_brute_force(problem: Problem) -> None:
    with patch.object(Choosing, "prefers_labels", sometimes):
        answer_is_that_of_brute_force(problem.with_shape(Shape(max_depth=3)))


def test_what_is_learnt_is_the_same_for_any_number_of_workers() -> None:
    same_for_any_number_of_workers(levelled(90, 9))
