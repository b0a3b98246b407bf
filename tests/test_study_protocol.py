"""Which λ is tried next and which is chosen; what a study file may say."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.study import built_in, read_config
from evenleaf.study.config import Protocol, parse_config
from evenleaf.study.fold import make_fold
from evenleaf.study.methods import attempt, dial_name, tree_of, weights
from evenleaf.study.names import CLASSIFICATION, FAMILIES, REGRESSION
from evenleaf.study.protocol import chosen_step, doubling, every, next_step, settings_of
from small_study import SMALL, small_study


def walk(rule: str, hits: list[bool]) -> list[int]:
    """The places that a rule tries, one after another."""
    tried: dict[int, bool] = {}
    step = {"doubling": doubling, "every": every}[rule]
    while (place := step(tried, len(hits) - 1)) is not None:
        assert place not in tried
        tried[place] = hits[place]
    return list(tried)


@given(st.integers(1, 200), st.integers(0, 220))
def test_doubling_finds_the_first_hit_of_a_falling_curve_with_few_tries(n: int, first: int) -> None:
    hits = [place >= first for place in range(n)]
    tried = walk("doubling", hits)
    assert len(tried) <= 2 * n.bit_length() + 2
    if first < n:
        assert min(place for place in tried if hits[place]) == first
    else:
        assert n - 1 in tried  # it gives up only after the last setting


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_every_stops_at_the_first_hit_whatever_the_curve(hits: list[bool]) -> None:
    assert walk("every", hits) == list(range(hits.index(True) + 1 if True in hits else len(hits)))


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_doubling_ends_on_any_curve(hits: list[bool]) -> None:
    tried = walk("doubling", hits)
    assert 0 in tried
    assert any(hits[place] for place in tried) or len(hits) - 1 in tried


def test_the_grid_is_the_papers_and_then_grows() -> None:
    grid = list(weights(Protocol()))
    assert grid[:4] == [0.0, 0.1, 0.2, 0.3]
    assert grid[50:53] == [5.0, 7.5, 11.25]
    assert grid[-1] <= 10_000 < grid[-1] * 1.5
    assert grid == sorted(set(grid))
    assert list(islice(weights(Protocol(weight_step=2.0, even_until=1.0)), 3)) == [0.0, 3.0, 4.5]


def test_dials_go_from_no_fairness_to_all_there_is() -> None:
    assert {dial_name(method) for method in FAMILIES} == {"λ", "ε", None}
    for method in FAMILIES:
        settings = settings_of(method, Protocol())
        assert list(settings) == sorted(settings, reverse=dial_name(method) == "ε")
    assert settings_of("CART", Protocol()) == (0.0,)
    assert next_step("CART", Protocol(), {0: 0.5}) is None
    assert next_step("IGC+IGS Relab", Protocol(), {0: 0.5}) == 1
    assert next_step("MIP-DT", Protocol(), {0: 0.5, 1: 0.5, 2: 0.5, 4: 0.0}) == 3
    assert next_step("MIP-DT", replace(Protocol(), search="every"), {0: 0.5, 1: 0.5}) == 2


def test_the_chosen_row_is_the_first_below_or_the_least() -> None:
    rows = [
        {"step": 0, "train": {"dtdi": 0.3, "loss": 0.1}},
        {"step": 8, "train": {"dtdi": 0.0, "loss": 0.5}},
        {"step": 4, "train": {"dtdi": 0.00005, "loss": 0.4}},
    ]
    assert chosen_step(rows, "dtdi", 1e-4)["step"] == 4
    assert chosen_step(rows, "dtdi", 0.0)["step"] == 8
    ties = [{"step": k, "train": {"dtdi": 0.2, "loss": loss}} for k, loss in enumerate((0.3, 0.2, 0.2))]
    assert chosen_step(ties, "dtdi", 1e-4)["step"] == 1


def test_the_built_in_studies_are_the_papers() -> None:
    full, quick = built_in("full"), built_in("quick")
    for config in (full, quick):
        assert [plan.name for plan in config.data] == ["default", "adult", "compas", "crime"]
        assert config.protocol.tolerance == 1e-4
    assert [plan.folds for plan in full.data] == [5, 5, 5, 4]
    assert full.protocol.weight_step == 0.1
    assert full.protocol.indices == ("dtdi", "didi")
    assert set(full.classification) == set(CLASSIFICATION)
    assert set(full.regression) == set(REGRESSION)
    assert full.fingerprint != quick.fingerprint
    assert full.fingerprint == built_in("full").fingerprint


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("seed = 3", "sed = 3", "did you mean 'seed'"),
        ("depth = 1", "dpeth = 1", "did you mean 'depth'"),
        ("depth = 1", "depth = 'one'", "must be a number"),
        ("folds = 2", "folds = 1", "at least two folds"),
        ('loader = "adult"', 'loader = "adlut"', "did you mean 'adult'"),
        ('"MIP-DT",', '"MIP-TD",', "no method for classification"),
        ('indices = ["dtdi", "didi"]', 'indices = ["dtid"]', "no index"),
        ('indices = ["dtdi", "didi"]', "indices = []", "at least one index"),
        ("growth = 10.0", "growth = 1.0", "growth above 1"),
        ("train = 120\n", "", "train"),
        ('[depths]\ndata = "adult"', '[depths]\ndata = "adulte"', "did you mean 'adult'"),
        ("seed = 3", "seed = ", "not valid TOML"),
        ("time_limit = 60.0\n\n[methods]", "time_limit = true\n\n[methods]", "must be a number"),
        ("weights = [0.5]", "weights = 0.5", "must be a list"),
    ],
)
def test_a_wrong_entry_is_named(old: str, new: str, words: str) -> None:
    assert old in SMALL
    with pytest.raises(InputError, match=words):
        parse_config(SMALL.replace(old, new, 1), "small.toml")


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_config(tmp_path / "none.toml")
    (tmp_path / "noise.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_config(tmp_path / "noise.toml")
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    assert read_config(tmp_path / "small.toml") == small_study()


def test_folds_share_nobody_and_are_the_same_again() -> None:
    plan = small_study().data[0]
    folds = [make_fold(plan, number, seed=3, neighbors=5) for number in (0, 1)]
    for fold in folds:
        assert (fold.train.people.n_people, fold.test.people.n_people) == (120, 100)
        assert fold.positive == 1
    again = make_fold(plan, 1, seed=3, neighbors=5)
    assert again.train.people.features.data[0].tolist() == folds[1].train.people.features.data[0].tolist()
    whole = make_fold(replace(plan, train=22_000, test=50_000), 0, seed=3, neighbors=5)
    assert whole.test.people.n_people == 22_611
    with pytest.raises(InputError, match="asks for 40000 people"):
        make_fold(replace(plan, train=40_000), 0, seed=3, neighbors=5)


def test_measures_are_the_metrics_and_gamma_is_counted() -> None:
    from evenleaf.metrics import didi, dtdi, gamma

    part = make_fold(small_study().data[0], 0, seed=3, neighbors=5).test
    people, rng = part.people, np.random.default_rng(0)
    decided = rng.integers(0, 2, people.n_people)
    found = part.measures(decided)
    groups = people.groups[0]
    assert found["loss"] == pytest.approx((decided != people.outcome.values).mean())
    assert found["didi"] == pytest.approx(didi(decided, sensitive_features=groups))
    assert found["dtdi"] == pytest.approx(dtdi(decided, people.features, sensitive_features=groups, n_neighbors=5))
    codes = np.array(groups.labels)[groups.codes]
    local = np.asarray(gamma(decided, people.features, sensitive_features=codes, n_neighbors=5, positive=1))
    counts = part.gamma_counts(decided, 1)
    assert sum(counts) == people.n_people
    assert counts == np.histogram(local, bins=np.linspace(-1, 1, len(counts) + 1))[0].tolist()


def test_a_search_that_is_stopped_is_no_worse_than_its_neighbours() -> None:
    config = small_study()
    fold = make_fold(config.data[0], 0, seed=3, neighbors=5)
    best = attempt("MIP-DT", fold, 1.0, replace(config.protocol, depth=2), "dtdi")
    assert best.tree is not None
    assert tree_of(json.loads(json.dumps(best.evidence["tree"])), fold.train.people) == best.tree
    hurried = replace(config.protocol, depth=2, time_limit=1e-9)
    again = attempt("MIP-DT", fold, 1.0, hurried, "dtdi", [best.tree])
    assert again.evidence["objective"] <= best.evidence["objective"] + 1e-12
