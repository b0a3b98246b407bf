"""Discrimination-aware trees: gains by the formula, relabelling against every relabelling there is."""

from __future__ import annotations

from itertools import product
from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.baselines import DiscriminationAwareTree
from evenleaf.baselines.dadt import grow, leaf_counts
from evenleaf.baselines.gains import COMBINE, information_gain
from evenleaf.baselines.relabel import Leaves, relabel
from evenleaf.baselines.splits import splits_by
from evenleaf.errors import InputError
from evenleaf.metrics.arguments import make_people
from evenleaf.table import People, Table
from evenleaf.tree import Leaf

counts = st.integers(0, 6)


@st.composite
def leaves(draw: st.DrawFn) -> Leaves:
    """Leaves with four counts each (class × community), labelled by their majority."""
    cells = np.array(draw(st.lists(st.tuples(counts, counts, counts, counts), min_size=1, max_size=8)), dtype=float)
    cells = np.vstack([cells, [1, 0, 0, 1]])  # both communities have somebody
    yes_dep, no_dep, yes_fav, no_fav = cells.T
    positive, negative = yes_dep + yes_fav, no_dep + no_fav
    deprived, favoured = yes_dep + no_dep, yes_fav + no_fav
    return Leaves(positive, negative, deprived / deprived.sum(), favoured / favoured.sum(), positive > negative)


def after(leaves: Leaves, chosen: np.ndarray) -> tuple[float, float]:
    """(people decided wrongly, discrimination), counted afresh for turned labels."""
    says_yes = leaves.says_yes ^ chosen
    wrong = np.where(says_yes, leaves.negative, leaves.positive).sum()
    rates = [share[says_yes].sum() for share in (leaves.favoured, leaves.deprived)]
    return float(wrong), float(rates[0] - rates[1])


@settings(max_examples=150)
@given(leaves(), st.floats(0, 0.6))
def test_exact_relabelling_is_the_best_of_all(leaves: Leaves, bound: float) -> None:
    every = [np.array(turned) for turned in product([False, True], repeat=len(leaves.says_yes))]
    allowed = [after(leaves, turned)[0] for turned in every if after(leaves, turned)[1] <= bound + 1e-9]
    wrong, discrimination = after(leaves, relabel(leaves, bound, "exact"))
    assert discrimination <= bound + 1e-9
    assert wrong == min(allowed)


@settings(max_examples=150)
@given(leaves(), st.floats(0, 0.6))
def test_greedy_relabelling_keeps_the_bound_and_never_beats_the_exact_one(leaves: Leaves, bound: float) -> None:
    chosen = relabel(leaves, bound, "greedy")
    wrong, discrimination = after(leaves, chosen)
    assert discrimination <= bound + 1e-9
    assert wrong >= after(leaves, relabel(leaves, bound, "exact"))[0]
    assert (leaves.reductions[chosen] > 0).all()


def test_greedy_follows_the_ratio_of_discrimination_to_accuracy() -> None:
    """Three leaves of equal size say yes; the second loses least for what it gains, then the third."""
    given = Leaves(
        positive=np.array([9.0, 6.0, 8.0, 0.0]),
        negative=np.array([1.0, 4.0, 2.0, 1000.0]),
        deprived=np.array([0.1, 0.1, 0.1, 0.7]),
        favoured=np.array([0.3, 0.4, 0.3, 0.0]),
        says_yes=np.array([True, True, True, False]),
    )
    assert given.discrimination == pytest.approx(0.7)
    assert relabel(given, 0.45, "greedy").tolist() == [False, True, False, False]
    assert relabel(given, 0.25, "greedy").tolist() == [False, True, True, False]


def test_greedy_may_pay_more_than_needed() -> None:
    """A small leaf with the best ratio does not suffice, and then the large one is turned over as well."""
    given = Leaves(
        positive=np.array([11.0, 20.0, 0.0]),
        negative=np.array([10.0, 10.0, 1000.0]),
        deprived=np.array([0.0, 0.0, 1.0]),
        favoured=np.array([0.2, 0.5, 0.3]),
        says_yes=np.array([True, True, False]),
    )
    assert relabel(given, 0.3, "greedy").tolist() == [True, True, False]
    assert relabel(given, 0.3, "exact").tolist() == [False, True, False]


def entropy(labels: list[Any]) -> float:
    shares = [labels.count(label) / len(labels) for label in set(labels)]
    return sum(-share * log2(share) for share in shares)


def gain(labels: list[Any], left: np.ndarray) -> float:
    parts = [[label for label, side in zip(labels, left, strict=True) if side is wanted] for wanted in (True, False)]
    return entropy(labels) - sum(len(part) / len(labels) * entropy(part) for part in parts if part)


@settings(max_examples=80)
@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=2, max_size=15))
def test_gain_is_entropy_before_minus_entropy_after(drawn: list[tuple[int, bool]]) -> None:
    labels, left = [label for label, _ in drawn], np.array([side for _, side in drawn])
    sums = np.eye(3)[labels]
    found = information_gain(sums[left].sum(axis=0)[None, :], sums.sum(axis=0))[0]
    assert found == pytest.approx(max(0.0, gain(labels, left.tolist())), abs=1e-9)


@st.composite
def tables(draw: st.DrawFn) -> People:
    n = draw(st.integers(6, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    number = rng.integers(0, 6, n).astype(float)
    if draw(st.booleans()):
        number[rng.integers(0, n, 2)] = np.nan
    level = np.array(list("abc"), dtype=object)[rng.integers(0, 3, n)]
    group = np.array(["p", "q"])[np.append(rng.integers(0, 2, n - 2), [0, 1])]
    y = np.append(rng.integers(0, 2, n - 2), [0, 1])
    return make_people(y, group, X={"number": number, "level": level})


@settings(max_examples=60)
@given(tables(), st.sampled_from(sorted(COMBINE)))
def test_the_root_has_the_best_merit_of_all_splits(people: People, criterion: str) -> None:
    y, group = people.outcome.values.tolist(), people.groups[0].codes.tolist()
    rows, sums = np.arange(people.n_people), np.zeros((people.n_people, 1))
    merits = []
    for column in range(2):
        splits = splits_by(people.features, column, rows, sums)
        for place in range(0 if splits is None else len(splits.count)):
            assert splits is not None
            left = splits.test(place).goes_left(people.features, rows)
            assert left.sum() == splits.count[place]
            merits.append(merit(criterion, gain(y, left.tolist()), gain(group, left.tolist())))
    tree = grow(people, criterion, 1, 1)
    if max(merits, default=0.0) <= 1e-9:
        assert tree.n_leaves == 1
    else:
        left = tree.tests[0].goes_left(people.features, rows).tolist()
        assert merit(criterion, gain(y, left), gain(group, left)) == pytest.approx(max(merits), rel=1e-6, abs=1e-9)


def merit(criterion: str, by_class: float, by_group: float) -> float:
    by_class, by_group = (0.0 if g < 1e-12 else g for g in (by_class, by_group))
    return {
        "IGC": by_class,
        "IGC-IGS": by_class - by_group,
        "IGC/IGS": by_class / max(by_group, 1e-12),
        "IGC+IGS": by_class + by_group,
    }[criterion]


@settings(max_examples=40)
@given(tables(), st.sampled_from(["greedy", "exact"]), st.floats(0, 0.3))
def test_a_relabelled_tree_keeps_the_bound_on_its_people(people: People, how: Any, bound: float) -> None:
    tree = grow(people, "IGC+IGS", 3, 1)
    nodes = np.array([place for place, node in enumerate(tree.nodes) if isinstance(node, Leaf)])
    model = DiscriminationAwareTree(relabel=how, max_discrimination=bound, max_depth=3)
    model.fit(people.features, people.outcome, sensitive_features=people.groups[0])
    decided, codes = model.decide(people.features), people.groups[0].codes
    rates = [decided[codes == group].mean() for group in (0, 1)]
    truth = [people.outcome.values[codes == group].mean() for group in (0, 1)]
    deprived = int(truth[1] < truth[0])
    assert rates[1 - deprived] - rates[deprived] <= bound + 1e-9
    if how == "exact":
        given_leaves = leaf_counts(tree, nodes, people, codes == deprived, 1)
        turned = relabel(given_leaves, bound, "exact")
        assert (decided != people.outcome.values).sum() == after(given_leaves, turned)[0]


def test_unseen_and_missing_values_are_decided_and_protected_columns_are_not_needed() -> None:
    X = {"a": [1.0, 2, 3, 4, 5, 6], "c": list("xxyyzz"), "sex": list("fmfmfm")}
    model = DiscriminationAwareTree("IGC", max_depth=2).fit(X, [0, 0, 0, 1, 1, 1], sensitive_features="sex")
    assert model.schema_.names == ("a", "c")
    assert model.predict({"a": [1.0, np.nan, 9], "c": ["x", None, "new"]}).tolist()[::2] == [0, 1]
    assert set(model.predict({"a": [np.nan], "c": [None]}).tolist()) <= {0, 1}


def test_many_groups_and_the_deprived_one_by_name() -> None:
    rng = np.random.default_rng(0)
    group = np.array(["p", "q", "r"])[np.arange(90) % 3]
    a = rng.normal(size=90) + (group == "r")
    y = np.where(a > 0.3, "yes", "no")
    for name in ("p", "q"):
        model = DiscriminationAwareTree(relabel="exact", max_depth=3, deprived=name, positive="yes")
        decided = model.fit({"a": a}, y, sensitive_features=group).predict({"a": a}) == "yes"
        assert decided[group != name].mean() - decided[group == name].mean() <= 1e-9
    with pytest.raises(InputError, match="there is no group 'x'"):
        DiscriminationAwareTree(relabel="exact", deprived="x").fit({"a": a}, y, sensitive_features=group)


@pytest.mark.parametrize(
    ("options", "y", "words"),
    [
        ({"criterion": "gini"}, [0, 1, 0, 1], "criterion must be one of"),
        ({"relabel": "some"}, [0, 1, 0, 1], "relabel must be"),
        ({"max_discrimination": -1.0}, [0, 1, 0, 1], "at least 0"),
        ({"relabel": "exact"}, [0, 1, 2, 1], "two classes"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, Any], y: list[int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        DiscriminationAwareTree(**options).fit({"a": [1.0, 2, 3, 4]}, y, sensitive_features=list("pqpq"))


def test_groups_are_asked_for_only_where_they_count() -> None:
    table = Table.of({"a": [1.0, 2, 3, 4]})
    assert DiscriminationAwareTree("IGC").fit(table, [0, 0, 1, 1]).predict(table).tolist() == [0, 0, 1, 1]
    with pytest.raises(InputError, match="pass sensitive_features"):
        DiscriminationAwareTree().fit(table, [0, 0, 1, 1])
