"""Random tiny problems for property tests. Needs hypothesis, which is not a dependency of Evenleaf itself.

Values are few and small, so that ties, duplicates, empty strata and one-person groups are common, and so that
hypothesis can shrink a failure to something a person can check by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import sklearn.neighbors  # noqa: F401  (its import draws random numbers, which hypothesis forbids inside a strategy)
from hypothesis import strategies as st

from evenleaf.fairness import (
    ConditionalParity,
    DisparateImpact,
    DisparateMistreatment,
    DisparateTreatment,
    EqualizedOdds,
    EqualOpportunity,
    Notion,
    PredictiveEquality,
)
from evenleaf.problem import Misclassification, Problem, Shape, pose
from evenleaf.table import Label, People, Table, Task
from evenleaf.testing.columns import people_from
from evenleaf.tree import Branch, Leaf, LinearTest, Node, SubsetTest, Target, Term, Test, ThresholdTest, Tree
from evenleaf.tree.questions import NO_LEVEL

Form = Literal["weight", "limit", "plain"]

NOTIONS: tuple[str, ...] = (
    "impact",
    "treatment",
    "nearest",
    "outcomes",
    "conditional",
    "opportunity",
    "predictive",
    "odds",
    "mistreatment",
    "combination",
)
_CLASS_ONLY = {"opportunity", "predictive", "odds", "mistreatment"}
_WEIGHTS = (1.0, 2.0, 0.5, 3.0, 1.5, 0.0)
_FAIRNESS_WEIGHTS = (0.1, 0.0, 0.3, 1.0, 3.0)
_LIMITS = (0.25, 0.6, 0.1, 1.0, 0.0)


@st.composite
def problems(
    draw: st.DrawFn,
    *,
    task: Task | None = None,
    min_people: int = 4,
    max_people: int = 8,
    max_columns: int = 3,
    max_values: int = 4,
    max_depth: int = 2,
    max_classes: int = 3,
    max_groups: int = 3,
    notions: Sequence[str] = NOTIONS,
    forms: Sequence[Form] = ("weight", "limit", "plain"),
    limits: bool = True,
    missing: bool = True,
    categorical: bool = True,
    weights: bool = True,
    costs: bool = True,
) -> Problem:
    """A whole problem; `task=None` draws the task too.

    With the defaults `brute_force` answers in milliseconds. At depth 3 keep to two columns of three values, or to
    eight people. `max_values` counts the different numbers or levels of a column, the missing not included.
    """
    drawn_task: Task = draw(st.sampled_from(("classification", "regression"))) if task is None else task
    form = draw(st.sampled_from(tuple(forms)))
    people = draw(
        peoples(
            task=drawn_task,
            min_people=min_people,
            max_people=max_people,
            max_columns=max_columns,
            max_values=max_values,
            max_classes=max_classes,
            max_groups=max_groups,
            missing=missing,
            categorical=categorical,
            weights=weights,
        )
    )
    loss = draw(st.none() | cost_losses(people)) if costs and drawn_task == "classification" else None
    shape = draw(shapes(people, max_depth=max_depth, limits=limits))
    if form == "plain":
        return pose(people, loss=loss, shape=shape)
    notion = draw(fairness_notions(people, names=notions))
    if form == "weight":
        weight = draw(st.sampled_from(_FAIRNESS_WEIGHTS))
        return pose(people, loss=loss, shape=shape, fairness=notion, fairness_weight=weight)
    limit = draw(st.sampled_from(_LIMITS))
    return pose(people, loss=loss, shape=shape, fairness=notion, max_discrimination=limit)


@st.composite
def peoples(
    draw: st.DrawFn,
    *,
    task: Task = "classification",
    min_people: int = 4,
    max_people: int = 8,
    max_columns: int = 3,
    max_values: int = 4,
    max_classes: int = 3,
    max_groups: int = 3,
    missing: bool = True,
    categorical: bool = True,
    weights: bool = True,
) -> People:
    """People in at least two groups; there may be a class that nobody has, as in a part of a larger table."""
    n = draw(st.integers(max(2, min_people), max_people))
    kinds = st.lists(st.booleans() if categorical else st.just(False), min_size=1, max_size=max_columns)
    features = {f"x{i}": draw(_column(n, levels, missing, max_values)) for i, levels in enumerate(draw(kinds))}
    classes = None if task == "regression" else tuple(range(draw(st.integers(2, max_classes))))
    y = draw(_outcomes(list(features.values()), n, classes or (0.0, 1.0, 2.0, -1.0, 0.5)))
    # The first two people are of different groups: fairness between fewer than two groups is refused.
    others = draw(_values(n - 2, tuple("ab" + "cdefgh"[: max_groups - 2])))
    weight = draw(st.none() | _values(n, _WEIGHTS).filter(any)) if weights else None
    return people_from(features, y, {"g": ["a", "b", *others]}, task=task, classes=classes, weight=weight)


@st.composite
def _outcomes(draw: st.DrawFn, columns: list[list[Any]], n: int, choices: Sequence[Any]) -> list[Any]:
    """Outcomes without a pattern, or ones that follow from a column or two, so that a tree has something to find."""
    looked_at = draw(st.integers(0, min(2, len(columns))))
    if looked_at == 0:
        return draw(_values(n, choices))
    kinds = list(zip(*columns[:looked_at], strict=True))
    answers = {kind: draw(st.sampled_from(tuple(choices))) for kind in dict.fromkeys(kinds)}
    return [answers[kind] for kind in kinds]


def _values(n: int, choices: Sequence[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(tuple(choices)), min_size=n, max_size=n)


def _column(n: int, levels: bool, missing: bool, max_values: int) -> st.SearchStrategy[list[Any]]:
    choices: tuple[Any, ...] = tuple("pqrstuvw")[:max_values] if levels else tuple(map(float, range(max_values)))
    if not missing:
        return _values(n, choices)
    return _values(n, choices) | _values(n, (*choices, None))


@st.composite
def fairness_notions(draw: st.DrawFn, people: People, *, names: Sequence[str] = NOTIONS) -> Notion:
    """A notion that suits these people; `names` are taken from `NOTIONS`."""
    numbers = people.outcome.classes is None
    fitting = [name for name in names if not (numbers and name in _CLASS_ONLY)]
    name = draw(st.sampled_from(fitting))
    if name != "combination":
        return draw(_notion(people, name))
    simple = [other for other in fitting if other != "combination"] or ["impact"]
    first, second = (draw(_notion(people, draw(st.sampled_from(simple)))) for _ in range(2))
    return first + draw(st.sampled_from((0.5, 2.0))) * second


@st.composite
def _notion(draw: st.DrawFn, people: People, name: str) -> Notion:
    if name == "treatment":
        reach = draw(st.sampled_from((1.0, 0.5, 2.0)))
        return DisparateTreatment(weights="triangular", bandwidth=reach, normalize=draw(st.booleans()))
    if name == "nearest":
        return DisparateTreatment(n_neighbors=draw(st.integers(1, min(4, people.n_people))))
    if name == "conditional":
        given = draw(st.sampled_from(people.features.schema.names))
        return ConditionalParity(given, weigh_by_size=draw(st.booleans()))
    if name in ("opportunity", "predictive", "odds"):
        positive = draw(st.sampled_from(people.outcome.classes or ()))
        kinds: dict[str, Callable[[Label], Notion]] = {
            "opportunity": EqualOpportunity,
            "predictive": PredictiveEquality,
            "odds": EqualizedOdds,
        }
        return kinds[name](positive)
    ready: dict[str, Notion] = {
        "impact": DisparateImpact(),
        "outcomes": DisparateTreatment(distance="outcomes"),
        "mistreatment": DisparateMistreatment(),
    }
    return ready[name]


@st.composite
def shapes(draw: st.DrawFn, people: People, *, max_depth: int = 2, limits: bool = True) -> Shape:
    """A depth and, with `limits`, at most two of the other limits: more would leave only the constant tree."""
    depth = draw(st.sampled_from([*range(max_depth, 0, -1), max_depth, 0]))
    names = people.features.schema.names
    values: dict[str, st.SearchStrategy[Any]] = {
        "max_leaves": st.integers(1, 4),
        "min_samples_leaf": st.integers(1, 3),
        "max_features_used": st.integers(0, 2),
        "max_features_per_test": st.integers(0, 1),
        "max_feature_uses": st.integers(0, 2) | st.dictionaries(st.sampled_from(names), st.integers(0, 2)),
        "allowed_features": st.lists(st.sampled_from(names), unique=True),
    }
    chosen = draw(st.lists(st.sampled_from(list(values)), max_size=2, unique=True)) if limits else []
    settings: dict[str, Any] = {name: draw(values[name]) for name in chosen}
    return Shape(max_depth=depth, **settings)


@st.composite
def cost_losses(draw: st.DrawFn, people: People) -> Misclassification:
    """A cost matrix, the diagonal included: being right may cost something too."""
    classes = range(people.outcome.n_classes)
    wrong, right = st.sampled_from((1.0, 2.0, 0.5)), st.sampled_from((0.0, 0.0, 0.25))
    return Misclassification([[draw(right if true == said else wrong) for said in classes] for true in classes])


@st.composite
def trees(draw: st.DrawFn, people: People, *, max_depth: int = 3, linear: bool = False) -> Tree:
    """Any valid tree for these people, however foolish: empty leaves, tests that ask nothing, numbers out of range."""
    nodes: list[Node] = []
    single: st.SearchStrategy[Test] = single_tests(people.features)
    tests = single | linear_tests(people.features) if linear else single

    def grow(depth: int) -> int:
        place = len(nodes)
        nodes.append(Leaf(0.0))
        if depth and len(people.features.schema) and draw(st.integers(0, 3)):
            nodes[place] = Branch(draw(tests), grow(depth - 1), grow(depth - 1))
        else:
            nodes[place] = draw(_leaves(people, linear))
        return place

    grow(draw(st.integers(0, max_depth)))
    return Tree(people.features.schema, Target.of(people.outcome), tuple(nodes))


@st.composite
def single_tests(draw: st.DrawFn, table: Table) -> SubsetTest | ThresholdTest:
    """A threshold on, between or beyond the values, or any subset of levels."""
    column = draw(st.integers(0, table.n_columns - 1))
    side = draw(st.booleans())
    if not table.schema[column].is_categorical:
        return ThresholdTest(column, draw(st.sampled_from((1.0, 0.0, -1.0, 0.5, 1.3, 2.0, 2.9, 9.0))), side)
    levels = range(len(table.schema[column].levels))
    chosen = draw(st.lists(st.sampled_from(levels), unique=True)) if levels else []
    return SubsetTest(column, tuple(chosen), side)


@st.composite
def linear_tests(draw: st.DrawFn, table: Table) -> LinearTest:
    """A weighted sum of columns and levels against a threshold."""
    return LinearTest(draw(_terms(table, min_size=1)), draw(st.sampled_from((0.0, 0.5, 1.0, -1.0))))


@st.composite
def _terms(draw: st.DrawFn, table: Table, *, min_size: int = 0) -> tuple[Term, ...]:
    fitting = [
        Term(column, 1.0, level)
        for column, about in enumerate(table.schema)
        for level in (range(len(about.levels)) if about.is_categorical else (NO_LEVEL,))
    ]
    if not fitting:
        return ()
    chosen = draw(st.lists(st.sampled_from(fitting), min_size=min_size, max_size=3, unique=True))
    numbers = st.sampled_from((1.0, -1.0, 0.5, 0.0, 3.0))
    return tuple(replace(term, coefficient=draw(numbers), fill=draw(numbers)) for term in chosen)


@st.composite
def _leaves(draw: st.DrawFn, people: People, linear: bool) -> Leaf:
    if people.outcome.classes is not None:
        return Leaf(float(draw(st.integers(0, people.outcome.n_classes - 1))))
    value = draw(st.sampled_from((0.0, 1.0, 0.5, -5.0, 7.0)))
    return Leaf(value, draw(_terms(people.features)) if linear else ())
