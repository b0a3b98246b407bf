"""Views, claims, figures and the page of findings, from made-up results whose answers are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runs import run
from evenleaf.errors import InputError
from evenleaf.solve import TracePoint
from evenleaf.study import Results, make_study, write_findings
from evenleaf.study.claims import ALONE, FAILS, HOLDS, NOISE, OPEN, SAME, Claim, all_claims, judge
from evenleaf.study.fold import GAMMA_BINS
from evenleaf.study.levels import at_levels
from evenleaf.study.methods import near_at
from evenleaf.study.views import Point, clouds, convex_hull, fairest, gaps, times
from small_study import SMALL, small_study

METHODS = ["MIP-DT", "MIP-DT-A", "IGC+IGS", "log-ind", "log-grp"]


def made_up(values: dict[str, tuple[float, float, float]], seconds: float = 2.0, status: str = "proven") -> Results:
    """Results on Adult with five folds: per method the accuracy at λ*, its DTDI in training and on test people."""
    rows: list[dict[str, Any]] = []
    timings: list[dict[str, Any]] = []
    for fold in range(5):
        for method, (accuracy, train, test) in values.items():
            for step in (0, 1):
                fair = step == 1
                key = {"kind": "trade-off", "data": "adult", "index": "dtdi", "fold": fold, "method": method}
                key["run"] = step
                loss = 1 - accuracy - 0.0001 * fold if fair else 0.1
                rows.append(
                    {
                        **key,
                        "step": step,
                        "dial": "λ",
                        "setting": float(step),
                        "train": {"loss": loss, "dtdi": train if fair else 0.2, "didi": 0.1},
                        "test": {"loss": loss, "dtdi": test if fair else 0.1, "didi": 0.1},
                        "constant": method == "log-ind" and fair,
                        "status": status,
                        "gamma": counts(60 if fair else 30),
                    }
                )
                timings.append({**key, "seconds": seconds, "near": seconds / 10})
    protocol = {"indices": ["dtdi"], "tolerance": 1e-4}
    plan = {"name": "adult", "loader": "adult", "folds": 5, "train": 1000, "test": 500, "options": {}}
    record = {
        "settings": {"seed": 1, "protocol": protocol, "data": [plan], "classification": METHODS, "regression": []},
        "versions": {"numpy": "2"},
        "machine": {"system": "any", "processor": "any", "cores": 1},
        "fingerprint": "0" * 64,
    }
    return Results(tuple(rows), tuple(timings), record)


def counts(alike: int) -> list[int]:
    """γ of a hundred people, so many of them zero."""
    return [100 - alike if place == 0 else alike if place == GAMMA_BINS // 2 else 0 for place in range(GAMMA_BINS)]


TYPICAL = {
    "MIP-DT": (0.80, 0.0, 0.01),
    "MIP-DT-A": (0.78, 0.0, 0.0),
    "IGC+IGS": (0.85, 0.05, 0.05),
    "log-ind": (0.80, 0.0, 0.0),
    "log-grp": (0.82, 0.00005, 0.02),
}


def verdicts(results: Results) -> dict[str, Claim]:
    return {claim.text: claim for claim in all_claims(results)}


def test_claims_are_judged_by_the_figures() -> None:
    found = verdicts(made_up(TYPICAL))
    logistic = found["MIP-DT is more accurate than fair logistic regression at zero discrimination"]
    assert logistic.verdict == FAILS  # log-grp is the best that reached zero
    assert "MIP-DT 80.02 %" in logistic.evidence
    assert "log-grp 82.02 %" in logistic.evidence
    aware = found["MIP-DT is slightly more accurate than DADT at zero discrimination"]
    assert aware.verdict == ALONE
    assert "IGC+IGS did not reach" in aware.evidence
    assert found["the approximate variant MIP-DT-A loses performance"].verdict == HOLDS
    closer = found["MIP-DT is closer to zero discrimination on test people than every other fair method"]
    assert closer.verdict == FAILS
    alike = found["being treated alike whatever the group is twice as likely with MIP-DT as with CART"]
    assert alike.verdict == HOLDS
    assert found["a near-optimal tree is found very early"].verdict == HOLDS
    assert "after 10% of the time" in found["a near-optimal tree is found very early"].evidence
    assert found["an optimal tree takes hours"].verdict == FAILS


def test_equal_means_are_no_difference_and_deciding_everybody_alike_is_said() -> None:
    found = verdicts(made_up({name: TYPICAL[name] for name in ("MIP-DT", "log-ind")}))
    claim = found["MIP-DT is more accurate than fair logistic regression at zero discrimination"]
    assert claim.verdict == SAME
    assert "log-ind 80.02 % (everybody decided alike in all folds)" in claim.evidence


def test_without_zero_or_without_proofs_nothing_is_claimed() -> None:
    found = verdicts(made_up({**TYPICAL, "MIP-DT": (0.8, 0.01, 0.01)}, status="feasible"))
    assert found["the approximate variant MIP-DT-A loses performance"].verdict == OPEN
    assert found["an optimal tree takes hours"].verdict == OPEN


def test_a_difference_must_stand_out_from_the_folds() -> None:
    assert judge([0.02, 0.021, 0.019, 0.02, 0.02]) == HOLDS
    assert judge([-0.02, -0.021, -0.019, -0.02, -0.02]) == FAILS
    assert judge([0.10, -0.05, 0.02, -0.01, 0.02]) == NOISE
    assert judge([0.0005, -0.0004]) == SAME
    assert judge([0.5]) == NOISE  # one fold says nothing about others


def test_methods_that_reached_zero_come_first_then_the_best() -> None:
    entries = fairest(made_up(TYPICAL), "adult", "dtdi")
    assert [entry.method for entry in entries] == ["log-grp", "MIP-DT", "log-ind", "MIP-DT-A", "IGC+IGS"]
    assert [entry.reached for entry in entries] == [5, 5, 5, 5, 0]
    assert entries[2].constant == 5


def test_levels_take_the_best_setting_that_is_fair_enough() -> None:
    cells = {
        (entry.method, entry.level): entry.value
        for entry in at_levels(made_up(TYPICAL), "adult", "dtdi", (1e-4, 0.06, 0.5))
    }
    assert cells["IGC+IGS", 1e-4] is None
    assert cells["IGC+IGS", 0.06] == pytest.approx(0.8502)
    assert cells["IGC+IGS", 0.5] == pytest.approx(0.9)


def test_times_and_gaps() -> None:
    results = made_up(TYPICAL, seconds=3.0)
    (entry,) = times(results)
    assert (entry.average, len(entry.proven), entry.stopped, entry.paper) == (3.0, 10, (), 15_944.94)
    assert [(gap.weight, gap.alike) for gap in gaps(results, "adult")] == [(0.0, 0.3), (1.0, 0.6)]


def test_near_optimal_is_within_a_hundredth_of_the_last() -> None:
    trace = [(0.1, float("inf")), (0.2, 0.5), (0.3, 0.2019), (0.9, 0.2)]
    assert near_at(tuple(TracePoint(seconds, 0.0, value) for seconds, value in trace)) == 0.3
    assert near_at((TracePoint(0.1, 0.0, float("inf")),)) is None


grid = st.tuples(st.integers(-4, 4), st.integers(-4, 4))


@given(st.lists(grid, min_size=1, max_size=12))
def test_a_hull_holds_every_point_and_has_no_idle_corner(drawn: list[tuple[int, int]]) -> None:
    points: list[Point] = [(float(x), float(y)) for x, y in drawn]
    hull = convex_hull(points)
    assert set(hull) <= set(points)
    if len(hull) > 2:
        edges = list(zip(hull, hull[1:] + hull[:1], strict=True))
        for (ax, ay), (bx, by) in edges:
            assert all((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0 for x, y in points)
        for (a, b), (_, c) in zip(edges, edges[1:] + edges[:1], strict=True):
            assert (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0
    else:
        assert min(points) in hull
        assert max(points) in hull


def test_a_cloud_has_a_point_a_fold_and_method() -> None:
    found = {cloud.family: len(cloud.points) for cloud in clouds(made_up(TYPICAL), "adult", "dtdi")}
    assert found == {"MIP-DT": 5, "MIP-DT-A": 5, "DADT": 5, "regression": 10}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    make_study(small_study(), folder)
    return folder


@pytest.mark.needs("matplotlib")
def test_figures_are_there_in_both_forms_and_linked(study: Path) -> None:
    names = {path.name for path in (study / "figures").iterdir()}
    stems = {
        "trade-off-dtdi",
        "trade-off-didi",
        "fairest-dtdi",
        "fairest-didi",
        "depth",
        "bounds",
        "gamma-adult",
        "times",
    }
    assert names == {f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")}
    page = (study / "findings.md").read_text("utf-8")
    for name in names:
        assert f"figures/{name}" in page
    assert (study / "figures" / "depth.png").read_bytes().startswith(b"\x89PNG")
    assert "MIP-DT" in (study / "figures" / "fairest-dtdi.svg").read_text("utf-8")


@pytest.mark.needs("matplotlib")
def test_writing_again_changes_nothing(study: Path) -> None:
    before = {path: path.read_bytes() for path in study.rglob("*") if path.is_file()}
    written = write_findings(study).files
    assert all(path.exists() for path in written)
    assert {path: path.read_bytes() for path in study.rglob("*") if path.is_file()} == before


@pytest.mark.needs("matplotlib")
def test_the_page_shows_methods_choices_and_checks(study: Path) -> None:
    page = (study / "findings.md").read_text("utf-8")
    for words in (
        "## The paper's claims",
        "| MIP-DT |",
        "## Choices",
        "| neighbors | 5 |",
        "race = white_or_not",
        "numpy 2",
    ):
        assert words in page
    table = (study / "fairest.csv").read_text("utf-8").splitlines()
    assert table[0].startswith("data,index,fold,method")
    chains = {json.dumps([row["index"], row["fold"], row["method"]]) for row in Results.read(study).of("trade-off")}
    assert len(table) == 1 + len(chains)


@pytest.mark.needs("matplotlib")
def test_the_command_runs_a_file_and_draws_again(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    assert run("study", str(tmp_path / "small.toml"), "--out", str(study), "--jobs", "1") == 0
    out, err = capsys.readouterr()
    assert str(study / "findings.md") in out
    assert "100%" in err
    assert run("study", "--redraw", "--out", str(study)) == 0
    assert str(study / "figures" / "times.svg") in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("study.toml", "--quick"), "--quick is a study of its own"),
        (("--quick", "--jobs", "0"), "--jobs must not be 0"),
        (("none.toml",), "cannot be read"),
        (("--redraw", "--out", "nowhere"), "holds no finished study"),
    ],
)
def test_the_command_says_what_is_wrong(
    arguments: tuple[str, ...],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("study", *arguments) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_results_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"study\.json is not there"):
        Results.read(tmp_path)
