"""The runner: rows that survive kills, the same results however often it was stopped and however many work at once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.errors import InputError, MissingExtraError
from evenleaf.study import Progress, runner
from evenleaf.study.chains import chains_of
from evenleaf.study.journal import Journal, only_one
from evenleaf.study.runner import orphaned, run_study
from small_study import SMALL, small_study

RESULTS = "results.jsonl"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that nobody interrupted."""
    folder = tmp_path_factory.mktemp("finished")
    run_study(small_study(), folder)
    return folder


def test_every_chain_has_its_rows(finished: Path) -> None:
    rows = [json.loads(line) for line in (finished / RESULTS).read_text("utf-8").splitlines()]
    found = {(row["kind"], row["data"], row["index"], row["fold"], row["method"]) for row in rows}
    assert found == {chain.prefix for chain in chains_of(small_study())}
    timings = [json.loads(line) for line in (finished / "timings.jsonl").read_text("utf-8").splitlines()]
    assert [row["run"] for row in timings] == [row["run"] for row in rows]
    assert not any("seconds" in row for row in rows)
    assert all(row["status"] == "proven" for row in rows if row["method"] in ("MIP-DT", "CART"))


def test_the_record_says_what_the_results_depend_on(finished: Path) -> None:
    record = json.loads((finished / "study.json").read_text("utf-8"))
    assert record["settings"] == small_study().to_json()
    assert record["versions"]["numpy"]
    assert all(len(checksum) == 64 for checksum in record["sha256"]["adult"].values())


def test_a_finished_study_is_not_run_again(finished: Path) -> None:
    before = {path.name: path.read_bytes() for path in finished.glob("*.jsonl")}
    seen: list[Progress] = []
    run_study(small_study(), finished, tell=seen.append)
    assert {path.name: path.read_bytes() for path in finished.glob("*.jsonl")} == before
    assert [progress.chains_done for progress in seen] == list(range(1, len(chains_of(small_study())) + 1))
    assert seen[-1].part == pytest.approx(1.0)


@settings(max_examples=6)
@given(place=st.floats(0, 1), junk=st.binary(max_size=5))
def test_a_journal_cut_anywhere_gives_the_same_results(
    finished: Path, tmp_path_factory: pytest.TempPathFactory, place: float, junk: bytes
) -> None:
    whole = (finished / "journal.jsonl").read_bytes()
    folder = tmp_path_factory.mktemp("cut")
    (folder / "journal.jsonl").write_bytes(whole[: int(place * len(whole))] + junk.replace(b"\n", b""))
    run_study(small_study(), folder)
    assert (folder / RESULTS).read_bytes() == (finished / RESULTS).read_bytes()


def test_two_at_a_time_give_the_same_results(finished: Path, tmp_path: Path) -> None:
    run_study(small_study(), tmp_path, jobs=2)
    assert (tmp_path / RESULTS).read_bytes() == (finished / RESULTS).read_bytes()


@pytest.mark.needs("distributed")
def test_a_dask_cluster_gives_the_same_results(finished: Path, tmp_path: Path) -> None:
    import joblib
    from distributed import Client

    with (
        Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None),  # type: ignore[no-untyped-call]
        joblib.parallel_config(backend="dask"),
    ):
        run_study(small_study(), tmp_path, jobs=-1)
    assert (tmp_path / RESULTS).read_bytes() == (finished / RESULTS).read_bytes()


def test_other_settings_are_refused_in_the_same_folder(finished: Path) -> None:
    from dataclasses import replace

    with pytest.raises(InputError, match="other settings"):
        run_study(replace(small_study(), seed=4), finished)


def test_a_second_study_in_the_folder_has_to_wait(tmp_path: Path) -> None:
    with only_one(tmp_path), pytest.raises(InputError, match="another study is running"):
        run_study(small_study(), tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot write into"):
        run_study(small_study(), tmp_path / "file" / "below")


def test_a_missing_package_is_said_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    monkeypatch.setattr(runner, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"evenleaf\[study\]"):
        run_study(replace(small_study(), classification=("reduction",)), tmp_path / "none")
    assert not (tmp_path / "none").exists()


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False, allow_infinity=False)), max_size=5),
    st.data(),
)
def test_half_a_line_spoils_only_itself(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, float]], data: st.DataObject
) -> None:
    journal = Journal(tmp_path_factory.mktemp("journal") / "journal.jsonl")
    journal.open_for("settings")
    for number, value in enumerate(values):
        journal.append(("run", number), value, {})
    whole = journal.path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    journal.path.write_bytes(whole[:cut])
    journal.append(("run", 99), {"x": 1.0}, {})
    rows = {key: row["result"] for key, row in journal.rows().items()}
    assert rows.pop(("run", 99)) == {"x": 1.0}
    assert rows == {("run", number): values[number] for number in range(len(rows))}
    assert journal.open_for("settings").keys() >= {("run", 99)}


def test_of_a_run_done_twice_the_first_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append(("run", 0), {"x": 1}, {})
    journal.append(("run", 0), {"x": 2}, {})
    assert journal.rows()["run", 0]["result"] == {"x": 1}


def test_orphans_are_known_by_their_parent() -> None:
    import platform

    assert not orphaned(platform.node(), os.getpid())
    assert not orphaned("another machine", 2**22 - 1)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert orphaned(platform.node(), gone.pid)


def start(folder: Path, jobs: int) -> subprocess.Popen[bytes]:
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    code = (
        "import sys; from pathlib import Path; from evenleaf.study import read_config, run_study\n"
        "run_study(read_config(Path(sys.argv[1])), Path(sys.argv[2]), jobs=int(sys.argv[3]))"
    )
    command = [sys.executable, "-c", code, str(folder / "small.toml"), str(folder / "out"), str(jobs)]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)


def kill_at_random(folder: Path, jobs: int, rng: random.Random) -> bool:
    """Start the study and kill it once the journal has grown by a random bit; False where it was done before."""
    journal = folder / "out" / "journal.jsonl"
    before = journal.stat().st_size if journal.exists() else 0
    enough, patience = before + rng.choice([0, 1, 200, 1000, 3000]), rng.uniform(0.0, 0.05)
    process = start(folder, jobs)
    while process.poll() is None and (not journal.exists() or journal.stat().st_size <= enough):
        time.sleep(0.001)
    time.sleep(patience)
    running = process.poll() is None
    if rng.random() < 0.5:
        process.kill()  # the head alone: its workers must notice
    elif running:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return running


def killed_and_resumed(folder: Path, times: int, seed: int) -> int:
    """How many of the kills hit a running study; the last start runs to its end."""
    rng = random.Random(seed)  # noqa: S311 (nothing is secret here)
    hits = sum(kill_at_random(folder, jobs=1 + number % 2, rng=rng) for number in range(times))
    assert start(folder, jobs=1).wait() == 0
    return hits


def test_killed_twice_and_resumed(finished: Path, tmp_path: Path) -> None:
    assert killed_and_resumed(tmp_path, 2, seed=1) > 0
    assert (tmp_path / "out" / RESULTS).read_bytes() == (finished / RESULTS).read_bytes()


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_what_is_finished(finished: Path, tmp_path: Path, jobs: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    code = "import sys; from evenleaf.cli import main; main(sys.argv[1:])"
    journal = tmp_path / "out" / "journal.jsonl"
    command = [sys.executable, "-c", code, "study", str(tmp_path / "small.toml"), "--out", str(tmp_path / "out")]
    process = subprocess.Popen([*command, "--jobs", jobs], stderr=subprocess.PIPE, start_new_session=True)
    while process.poll() is None and (not journal.exists() or journal.stat().st_size < 500):
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to everybody
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"the same command goes on" in said
    assert b"Traceback" not in said
    run_study(small_study(), tmp_path / "out")
    assert (tmp_path / "out" / RESULTS).read_bytes() == (finished / RESULTS).read_bytes()


@pytest.mark.long
def test_killed_twenty_times_and_resumed(finished: Path, tmp_path: Path) -> None:
    hits = 0
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir()
        hits += killed_and_resumed(folder, 5, seed=number)
        assert (folder / "out" / RESULTS).read_bytes() == (finished / RESULTS).read_bytes()
    assert hits >= 15  # of the twenty, most must hit a study that was still at work
