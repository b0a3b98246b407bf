"""The figures of a report against the definitions: counted by hand, or by the plain functions anybody can call."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import fairness_by_loops as loops
from evenleaf.case import Case, Question, make_case
from evenleaf.errors import InputError
from evenleaf.metrics import gamma, group_rates
from evenleaf.report import summarise
from evenleaf.report.different import OtherGroups, people_apart
from evenleaf.report.entry import arrange
from evenleaf.solve import Budget, frontier, solve
from evenleaf.tree import tree_from_json
from report_cases import loan_case, loan_columns, loan_frontier, loan_summary, pay_columns


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return json.loads(json.dumps(loan_summary().to_json(), allow_nan=False))


def decisions(case: Case, place: int) -> np.ndarray:
    return loan_frontier().points[place].tree.decide(case.people.features)


def test_every_tree_of_the_frontier_is_there(data: dict[str, Any]) -> None:
    points = loan_frontier().points
    assert len(data["trees"]) == len(points) > 3
    for entry, point in zip(data["trees"], points, strict=True):
        assert entry["loss"] == point.loss
        assert entry["discrimination"] == point.discrimination
        assert entry["weight_from"] == point.weight_from
        assert entry["weight_to"] == (None if np.isinf(point.weight_to) else point.weight_to)
        assert entry["proven"] is point.proven is True
        assert entry["accuracy"] == pytest.approx(1 - point.loss)
        assert entry["text"] == str(point.tree)
        assert (entry["leaves"], entry["depth"]) == (point.leaves, point.depth)


def test_the_tree_of_lambda_one_is_shown_first(data: dict[str, Any]) -> None:
    shown = data["trees"][data["chosen"]]
    assert shown["weight_from"] <= 1.0
    assert shown["weight_to"] is None or shown["weight_to"] >= 1.0


def test_nodes_hold_the_people_who_pass(data: dict[str, Any]) -> None:
    case = loan_case()
    for entry, point in zip(data["trees"], loan_frontier(), strict=True):
        leaf = point.tree.apply(case.people.features)
        for position, node in enumerate(entry["nodes"]):
            if "test" in node:
                left, right = entry["nodes"][node["left"]], entry["nodes"][node["right"]]
                assert node["n"] == left["n"] + right["n"]
                sides = zip(left["groups"][0], right["groups"][0], strict=True)
                assert node["groups"][0] == [one + other for one, other in sides]
            else:
                here = leaf == position
                assert node["n"] == here.sum()
                codes = case.people.groups[0].codes[here]
                assert node["groups"][0] == [int((codes == code).sum()) for code in range(3)]
                rates = [float((case.people.outcome.values[here] == code).mean()) for code in range(2)]
                assert node["truth"] == pytest.approx(rates)
        assert entry["nodes"][0]["n"] == case.people.n_people


def test_nodes_read_back_as_the_tree(data: dict[str, Any]) -> None:
    """The page walks these nodes; they must be the tree itself."""
    case = loan_case()
    keys = ("test", "left", "right", "value", "terms")
    for entry, point in zip(data["trees"], loan_frontier(), strict=True):
        plain = [{key: node[key] for key in keys if key in node} for node in entry["nodes"]]
        header = {"format": "evenleaf-tree", "version": 1, "target": {"name": "granted", "classes": ["no", "yes"]}}
        tree = tree_from_json({**header, "schema": case.people.features.schema.to_json(), "nodes": plain})
        assert tree == point.tree


def test_rates_are_those_of_the_metrics(data: dict[str, Any]) -> None:
    case = loan_case()
    for place, entry in enumerate(data["trees"]):
        predicted = np.array(["no", "yes"])[decisions(case, place)]
        found = group_rates(
            predicted,
            y_true=np.array(["no", "yes"])[case.people.outcome.values],
            sensitive_features=case.people.groups[0],
            positive="yes",
            n_resamples=50,
        ).rows()
        assert len(found) == len(entry["rates"][0]) == 16  # four measures of everybody and of three groups
        for row, own in zip(found, entry["rates"][0], strict=True):
            assert (own["group"], own["measure"], own["n"]) == (row["group"], row["measure"], row["n"])
            assert own["value"] == row["value"]
            assert (own["low"], own["high"]) == ((None, None) if row["n"] < 30 else (row["low"], row["high"]))


def test_small_groups_have_no_interval() -> None:
    columns = loan_columns()
    columns["group"] = ["rare" if row < 4 else group for row, group in enumerate(columns["group"])]
    case = make_case(columns, Question("granted", ("group",), n_neighbors=5, max_depth=1))
    entry = summarise(case, asked=solve(case.problem), n_resamples=20).to_json()["trees"][0]
    rare = [row for row in entry["rates"][0] if row["group"] == "rare"]
    assert rare
    assert all(row["few"] and row["low"] is None and row["high"] is None for row in rare)


def test_gaps_are_gamma(data: dict[str, Any]) -> None:
    case, columns = loan_case(), loan_columns()
    group = columns.pop("group")
    columns.pop("granted")
    middles = np.array(data["gaps"]["middles"])
    half = (middles[1] - middles[0]) / 2
    for place, entry in enumerate(data["trees"]):
        predicted = np.array(["no", "yes"])[decisions(case, place)]
        if len(set(predicted)) == 1:
            assert entry["gaps"][0]["none"] == 1.0
            continue
        values = np.asarray(gamma(predicted, columns, sensitive_features=group, positive="yes", n_neighbors=5))
        (own,) = entry["gaps"]
        assert sum(own["counts"]) == len(values)
        assert own["mean_size"] == pytest.approx(np.abs(values).mean())
        assert own["none"] == pytest.approx((np.abs(values) < 1e-9).mean())
        assert own["notable"] == pytest.approx((np.abs(values) > 0.1).mean())
        inside = [int(((values > at - half + 1e-9) & (values < at + half - 1e-9)).sum()) for at in middles]
        assert all(count >= sure for count, sure in zip(own["counts"], inside, strict=True))


def test_similar_people_of_other_groups_by_looking_at_everybody() -> None:
    case, columns = loan_case(), loan_columns()
    others = OtherGroups.of(case.people, 5)
    squared = loops.exact_squared_distances(
        [
            [int(value) for value in columns["age"]],
            [None if value != value else int(value) for value in columns["hours"]],
        ],
        [columns["job"]],
        [1] * case.people.n_people,
    )
    for person in range(0, case.people.n_people, 7):
        elsewhere = [row for row, group in enumerate(columns["group"]) if group != columns["group"][person]]
        nearest = sorted(elsewhere, key=lambda row: (round(float(squared[row][person]), 9), row))[:5]
        assert others.near[person].tolist() == nearest


def test_who_is_decided_otherwise_is_counted_by_group(data: dict[str, Any]) -> None:
    case = loan_case()
    others, groups = OtherGroups.of(case.people, 5), case.people.groups[0]
    start = decisions(case, 0)
    for place, entry in enumerate(data["trees"]):
        decided = decisions(case, place)
        for code in range(groups.n_groups):
            members = np.flatnonzero(groups.members(code))
            apart = [row for row in members if (decided[others.near[row]] != decided[row]).sum() >= 3]
            gain = sum(decided[row] == 1 for row in apart)
            expected = {"n": len(members), "differ": len(apart), "gain": gain, "lose": len(apart) - gain}
            assert entry["different"][code] == expected
            changed = [row for row in members if decided[row] != start[row]]
            gained = sum(decided[row] == 1 for row in changed)
            expected = {"n": len(members), "differ": len(changed), "gain": gained, "lose": len(changed) - gained}
            assert entry["changed"][code] == expected


def test_people_come_with_their_neighbours_and_from_every_group() -> None:
    case = loan_case()
    others = OtherGroups.of(case.people, 5)
    decided = decisions(case, 0)
    found = people_apart(others, decided)
    apart = [entry["apart"] for entry in found]
    assert apart == sorted(apart, reverse=True)
    assert {entry["group"] for entry in found} == {"east", "west", "north"}
    for entry in found:
        row = entry["row"] - 1
        assert [near["row"] - 1 for near in entry["near"]] == others.near[row].tolist()
        assert entry["apart"] == (decided[others.near[row]] != decided[row]).mean() > 0
        assert all(near["group"] != entry["group"] for near in entry["near"])
        assert [near["distance"] for near in entry["near"]] == sorted(near["distance"] for near in entry["near"])


def test_no_row_leaves_unless_asked() -> None:
    columns = loan_columns()
    columns["age"] = [value + 0.123456789 * (row + 1) / 1000 for row, value in enumerate(columns["age"])]
    case = make_case(columns, Question("granted", ("group",), n_neighbors=5, fairness_weight=0.0))
    solution = solve(case.problem)
    without = json.dumps(summarise(case, asked=solution, n_resamples=20).to_json())
    assert not any(repr(value) in without for value in columns["age"])
    told = summarise(case, asked=solution, include_rows=True, n_resamples=20).to_json()
    assert told["includes_rows"] is True
    assert told["trees"][0]["people"]
    shown = json.dumps(told)
    assert any(repr(value) in shown for value in columns["age"])


def test_a_tree_off_the_frontier_takes_its_place() -> None:
    case = loan_case()
    points = loan_frontier().points
    between = (points[1].discrimination + points[2].discrimination) / 2
    solution = solve(case.problem.with_limit(between), Budget(60))
    entries, place = arrange(case.problem, points, solution)
    assert len(entries) == len(points) + 1
    assert entries[place].tree == solution.tree
    assert entries[place].weight_from is None
    found = [case.problem.evaluate(entry.tree).discrimination for entry in entries]
    assert found == sorted(found, reverse=True)


def test_a_tree_on_the_frontier_is_found_there() -> None:
    case, points = loan_case(), loan_frontier().points
    for place, point in enumerate(points):
        entries, chosen = arrange(case.problem, points, point.solution)
        assert (len(entries), chosen) == (len(points), place)
    with pytest.raises(InputError, match="at least one tree"):
        arrange(case.problem, [], None)


def test_numbers_instead_of_classes() -> None:
    question = Question("pay", ("group",), max_depth=1, fairness=("didi",), n_neighbors=5)
    case = make_case(pay_columns(), question)
    found = frontier(case.problem, Budget(60), solver="local")
    data = summarise(case, found, n_resamples=20).to_json()
    assert data["asked"]["classes"] is None
    assert data["target"]["low"] == min(pay_columns()["pay"])
    for entry, point in zip(data["trees"], found, strict=True):
        assert entry["accuracy"] is None
        assert entry["loss"] == point.loss
        assert sum(entry["gaps"][0]["counts"]) == case.people.n_people
        means = [row for row in entry["rates"][0] if row["measure"] == "mean" and row["group"] is None]
        assert means[0]["value"] == pytest.approx(point.tree.decide(case.people.features).mean())
    json.dumps(data, allow_nan=False)


def test_many_classes_and_several_partitions() -> None:
    columns = loan_columns()
    rng = np.random.default_rng(2)
    columns["granted"] = rng.choice(["a", "b", "c"], len(columns["age"])).tolist()
    columns["sex"] = rng.choice(["f", "m"], len(columns["age"])).tolist()
    question = Question("granted", ("group", "sex"), groups="each", max_depth=1, fairness=("didi",), n_neighbors=5)
    case = make_case(columns, question)
    data = summarise(case, asked=solve(case.problem), n_resamples=20).to_json()
    assert data["asked"]["positive"] is None
    assert [part["name"] for part in data["asked"]["partitions"]] == ["group", "sex"]
    assert data["gaps"]["classes"] == [0, 1, 2]
    (tree,) = data["trees"]
    assert len(tree["gaps"]) == 3
    assert len(tree["rates"]) == 2
    assert [len(part) for part in tree["nodes"][0]["groups"]] == [3, 2]


def test_without_groups_there_is_only_the_tree() -> None:
    columns = loan_columns()
    del columns["group"]
    case = make_case(columns, Question("granted", fairness=("none",), max_depth=1))
    data = summarise(case, asked=solve(case.problem)).to_json()
    assert data["asked"]["index"] is None
    assert data["gaps"] is None
    (tree,) = data["trees"]
    assert "different" not in tree
    assert tree["rates"] == []
    assert tree["proven"] is True


def test_where_it_comes_from(data: dict[str, Any]) -> None:
    told = data["provenance"]
    assert told["checksum"] == loan_case().checksum
    assert told["command"] == "evenleaf frontier loans.csv"
    assert told["seed"] == 0
    assert {"numpy", "scipy"} <= set(told["packages"])
