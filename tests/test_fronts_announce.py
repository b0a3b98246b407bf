"""A word before kernels are compiled for the first time."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from evenleaf.datasets import load_adult
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import pose
from evenleaf.solve import Budget
from evenleaf.solve.fronts import announce
from evenleaf.solve.fronts.engine import Engine


def kernel_of(name: str, kept_in: Path) -> SimpleNamespace:
    """What a kernel that was not used yet looks like from outside."""
    stats = SimpleNamespace(cache_path=str(kept_in))
    return SimpleNamespace(py_func=SimpleNamespace(__qualname__=name), signatures=[], stats=stats)


def test_compilation_is_announced_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(announce, "spanned_cuts_below", kernel_of("never_compiled_here", tmp_path))
    problem = pose(load_adult(race="white_or_not").sample(60, seed=1).people(), fairness=DisparateImpact())
    oracle = Engine(problem, Budget(), None).oracle
    assert announce.announce_compilation(oracle)
    assert not announce.announce_compilation(oracle)
    assert caplog.text.count("compiling once") == 1


def test_nothing_is_said_where_kernels_are_on_disk(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "spanned.on_disk_here-1.py311.nbi").touch()
    monkeypatch.setattr(announce, "spanned_cuts_below", kernel_of("on_disk_here", tmp_path))
    problem = pose(load_adult(race="white_or_not").sample(60, seed=1).people(), fairness=DisparateImpact())
    assert not announce.announce_compilation(Engine(problem, Budget(), None).oracle)
    assert not caplog.text
