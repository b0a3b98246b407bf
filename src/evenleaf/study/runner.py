"""Runs a study: chain after chain or several at once, each run kept as soon as it is done, the rest resumable."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from evenleaf.errors import InputError, MissingExtraError
from evenleaf.files import write_whole
from evenleaf.study.chains import Chain, chains_of, run_chain
from evenleaf.study.config import StudyConfig
from evenleaf.study.journal import Journal, Key, only_one
from evenleaf.study.record import provenance

JOURNAL, RESULTS, TIMINGS, RECORD = "journal.jsonl", "results.jsonl", "timings.jsonl", "study.json"
# How long chains take against each other, before any has been seen: solves are long, baselines are short.
_SLOW = {"MIP-DT": 12.0, "MIP-DT-A": 15.0, "CART": 2.0, "log-grp": 2.0, "reduction": 6.0, "search": 2.0, "mip": 20.0}


@dataclass(frozen=True)
class Progress:
    """How far a study is; `left` is a guess in seconds, None before there is anything to guess from."""

    chains_done: int
    chains: int
    part: float
    left: float | None
    last: str


Tell = Callable[[Progress], None]


def run_study(config: StudyConfig, folder: Path, *, jobs: int = 1, tell: Tell = lambda _: None) -> Path:
    """Do every run that the folder does not hold yet, and write the sorted results; returns their path.

    Stopped at any moment, the same call goes on where it was: a run is lost only while it is in hand.
    """
    _check_extras(config)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {error.strerror or error}") from error
    with only_one(folder):
        journal = Journal(folder / JOURNAL)
        done = {key: row["result"] for key, row in journal.open_for(config.fingerprint).items()}
        _write(folder / RECORD, json.dumps(provenance(config), indent=2, ensure_ascii=False))
        _run_all(config, journal, done, jobs, tell)
        rows = journal.rows()
        keys = sorted(rows, key=lambda key: tuple(map(_sortable, key)))
        _write(folder / RESULTS, "\n".join(_line(key, rows[key]["result"]) for key in keys))
        _write(folder / TIMINGS, "\n".join(_line(key, rows[key]["timing"]) for key in keys))
    return folder / RESULTS


def _run_all(config: StudyConfig, journal: Journal, done: Mapping[Key, Any], jobs: int, tell: Tell) -> None:
    chains = chains_of(config)
    clock = _Clock(chains, tell)
    known = [{key: row for key, row in done.items() if key[:-1] == chain.prefix} for chain in chains]
    parent = (platform.node(), os.getpid())
    work = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    for chain in work(
        delayed(_finish)(config, chain, journal, mine, parent) for chain, mine in zip(chains, known, strict=True)
    ):
        clock.finished(chain)


def _finish(
    config: StudyConfig, chain: Chain, journal: Journal, done: Mapping[Key, Any], parent: tuple[str, int]
) -> Chain:
    """Do what is left of a chain, writing down each run."""
    for key, result, timing in run_chain(config, chain, done):
        if orphaned(*parent):
            raise SystemExit  # whoever started this is gone, and another may be at work in its place
        journal.append(key, result, timing)
    return chain


def orphaned(host: str, process: int) -> bool:
    """Whether the process that started a run is known to have ended: it was on this machine, and is no more."""
    if os.name != "posix" or host != platform.node():
        return False
    try:
        os.kill(process, 0)  # asks, and does nothing to it
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


class _Clock:
    """Guesses the time left from the chains that are done and how long each kind is expected to take."""

    def __init__(self, chains: list[Chain], tell: Tell) -> None:
        self.started, self.tell, self.chains = time.perf_counter(), tell, chains
        self.total, self.done, self.count = sum(map(expected, chains)), 0.0, 0

    def finished(self, chain: Chain) -> None:
        """One more is done."""
        self.count += 1
        self.done += expected(chain)
        elapsed, part = time.perf_counter() - self.started, self.done / self.total
        self.tell(Progress(self.count, len(self.chains), part, elapsed * (1 - part) / part, describe(chain)))


def expected(chain: Chain) -> float:
    """How long a chain takes, in units of a short one."""
    return _SLOW.get(chain.method, 5.0 if chain.kind == "depth" else 1.0)


def describe(chain: Chain) -> str:
    """A chain in a few words."""
    return f"{chain.data}, {chain.kind}, {chain.index.upper()}, fold {chain.fold + 1}, {chain.method}"


def _check_extras(config: StudyConfig) -> None:
    """Say at the start what would stop the study in the middle."""
    if "reduction" in config.classification and find_spec("fairlearn") is None:
        raise MissingExtraError("the method 'reduction' needs fairlearn: python -m pip install 'evenleaf[study]'")


def _sortable(part: Any) -> tuple[int, float, str]:
    return (0, float(part), "") if isinstance(part, (int, float)) else (1, 0.0, str(part))


def _line(key: Key, values: Mapping[str, Any]) -> str:
    names = ("kind", "data", "index", "fold", "method", "run")
    return json.dumps({**dict(zip(names, key, strict=True)), **values}, ensure_ascii=False)


def _write(path: Path, text: str) -> None:
    write_whole(path, [f"{text}\n".encode()])
