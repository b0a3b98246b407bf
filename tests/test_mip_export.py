"""Exported models, read back by solvers that know nothing of this library."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.solve.mip import export
from evenleaf.solve.mip.export import legal_names, write_model
from evenleaf.solve.mip.export_rows import one_sided
from evenleaf.solve.mip.model import LinearModel, ModelBuilder
from mip_models import KNOWN, brute_force, knapsack, random_models, whole_numbers

# What a reader found: the names of the variables, and the optimum, ∞ where the model is infeasible.
Found = tuple[list[str], float]


def read_by_highs(path: Path) -> Found:
    highspy: Any = import_module("highspy")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    infeasible = solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible
    value = np.inf if infeasible else solver.getInfo().objective_function_value
    return list(solver.getLp().col_names_), value


def read_by_scip(path: Path) -> Found:
    solver: Any = import_module("pyscipopt").Model()
    solver.hideOutput()
    solver.readProblem(str(path))
    names = [variable.name for variable in solver.getVars()]
    solver.optimize()
    return names, np.inf if solver.getStatus() == "infeasible" else solver.getObjVal()


def read_by_gurobi(path: Path) -> Found:
    gurobipy: Any = import_module("gurobipy")
    with gurobipy.Env(params={"OutputFlag": 0}) as environment, gurobipy.read(str(path), environment) as solver:
        solver.optimize()
        infeasible = solver.Status in (gurobipy.GRB.Status.INFEASIBLE, gurobipy.GRB.Status.INF_OR_UNBD)
        names = [variable.VarName for variable in solver.getVars()]
        return names, np.inf if infeasible else solver.ObjVal


every_reader = pytest.mark.parametrize(
    "read",
    [
        pytest.param(read_by_highs, id="highs"),
        pytest.param(read_by_gurobi, id="gurobi", marks=pytest.mark.needs("gurobi")),
        pytest.param(read_by_scip, id="scip", marks=pytest.mark.needs("scip")),
    ],
)
every_format = pytest.mark.parametrize("suffix", [".mps", ".lp"])


def expected_names(model: LinearModel, suffix: str) -> list[str]:
    """The variables, and in the LP format the one that carries the constant of the objective."""
    constant = ["constant"] if suffix == ".lp" and model.offset else []
    return sorted([*legal_names(model.variable_names), *constant])


@every_format
@every_reader
@pytest.mark.parametrize("known", KNOWN)
def test_known_optima_survive(tmp_path: Path, suffix: str, read: Callable[[Path], Found], known: Any) -> None:
    model, optimum = known()
    names, value = read(write_model(model, tmp_path / f"model{suffix}"))
    assert sorted(names) == expected_names(model, suffix)
    assert value == pytest.approx(optimum, abs=1e-6)


@every_format
@every_reader
@settings(max_examples=40)
@given(model=random_models())
def test_random_models_survive(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, read: Callable[[Path], Found], model: LinearModel
) -> None:
    path = write_model(model, tmp_path_factory.mktemp("export") / f"model{suffix}")
    names, value = read(path)
    assert sorted(names) == expected_names(model, suffix)
    assert value == pytest.approx(brute_force(model), abs=1e-5)


AWKWARD = (
    "a b",
    "a_b",
    "a_b",
    "2x",
    "e5",
    "E",
    "free",
    "End",
    "größe",
    "x≤3",
    "",
    "<= 4",
    "p[1,2]",
    "obj",
    "sos1",
    "-",
)


@every_format
@every_reader
def test_names_that_no_format_allows(tmp_path: Path, suffix: str, read: Callable[[Path], Found]) -> None:
    """Each variable has a price of its own, so that the optimum tells whether one was lost or mixed up."""
    n = len(AWKWARD)
    builder = ModelBuilder(offset=0.25)
    x = builder.variables("x", (n,), lower=np.arange(n) - 3.0, upper=np.inf, cost=2.0 ** np.arange(n))
    builder.rows("row", n, [(np.arange(n), x, 1.0)], lower=np.arange(n) - 2.5)
    model = replace(builder.build(), variable_names=AWKWARD, row_names=AWKWARD)
    names, value = read(write_model(model, tmp_path / f"model{suffix}"))
    assert sorted(names) == expected_names(model, suffix)
    assert value == pytest.approx(float((2.0 ** np.arange(n)) @ (np.arange(n) - 2.5)) + 0.25)


def test_legal_names_are_legal_and_kept_where_they_were() -> None:
    legal = legal_names(AWKWARD)
    assert legal[:8] == ("a_b", "a_b__2", "a_b__3", "n_2x", "n_e5", "n_E", "n_free", "n_End")
    assert len(set(legal)) == len(AWKWARD)
    assert legal_names(["x_0_1", "y", "error_3", "total"]) == ("x_0_1", "y", "error_3", "total")


@given(names=st.lists(st.text(max_size=300)))
def test_legal_names_of_anything(names: list[str]) -> None:
    legal = legal_names(names)
    assert len(set(legal)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,149}", name) for name in legal)


@every_format
def test_numbers_are_written_to_the_last_bit(tmp_path: Path, suffix: str) -> None:
    builder = ModelBuilder()
    x = builder.variables("x", (2,), lower=-0.7 / 3, cost=np.array([0.1 + 0.2, -1e-7 / 3]))
    builder.rows("row", 1, [(0, x, np.array([1 / 7, 1e5 / 3]))], lower=1 / 3)
    model = builder.build()
    solver: Any = import_module("highspy").Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(write_model(model, tmp_path / f"model{suffix}")))
    read = solver.getLp()
    assert list(read.col_cost_) == model.cost.tolist()
    assert list(read.col_lower_) == model.lower.tolist()
    assert list(read.row_lower_) == model.row_lower.tolist()
    assert sorted(read.a_matrix_.value_) == sorted(model.matrix.data.tolist())


@every_format
@every_reader
def test_a_long_row_is_read(tmp_path: Path, suffix: str, read: Callable[[Path], Found]) -> None:
    builder = ModelBuilder()
    x = builder.variables("a_variable_with_quite_a_long_name", (500,), upper=1.0, cost=1.0 / 3)
    builder.rows("row", 1, [(0, x, 1.0)], lower=7.5)
    assert read(write_model(builder.build(), tmp_path / f"model{suffix}"))[1] == pytest.approx(2.5)


@every_reader
@every_format
def test_variables_in_no_row_and_rows_without_variables(
    tmp_path: Path, suffix: str, read: Callable[[Path], Found]
) -> None:
    builder = ModelBuilder()
    builder.variables("idle", (2,), upper=4.0, integer=True)
    builder.rows("says", 1, [], lower=-1.0, upper=1.0)
    names, value = read(write_model(builder.build(), tmp_path / f"fine{suffix}"))
    assert (names, value) == (["idle_0", "idle_1"], 0.0)
    builder.rows("wrong", 1, [], lower=1.0)
    assert read(write_model(builder.build(), tmp_path / f"wrong{suffix}"))[1] == np.inf


def test_the_suffix_chooses_and_must_be_known(tmp_path: Path) -> None:
    model, _ = knapsack()
    assert write_model(model, tmp_path / "a.MPS").read_text("ascii").startswith("NAME")
    assert "Minimize" in write_model(model, str(tmp_path / "a.Lp")).read_text("ascii")
    with pytest.raises(InputError, match=r"suffix of 'a\.txt' must be one of \.mps, \.lp"):
        write_model(model, tmp_path / "a.txt")


@every_format
def test_a_variable_called_constant_is_not_the_constant(tmp_path: Path, suffix: str) -> None:
    builder = ModelBuilder(offset=5.0)
    builder.variables("constant", (), lower=2.0, cost=1.0)
    assert read_by_highs(write_model(builder.build(), tmp_path / f"model{suffix}"))[1] == pytest.approx(7.0)


def test_rows_of_two_sides_do_not_take_anothers_name() -> None:
    builder = ModelBuilder()
    x = builder.variables("x", ())
    for name in ("a", "a_0__low"):
        builder.rows(name, 1, [(0, x, 1.0)], lower=0.0, upper=1.0)
    model = replace(builder.build(), row_names=("a", "a__low"))
    assert [side.name for side in one_sided(model)] == ["a__low", "a__high", "a__low__low", "a__low__high"]
    clash = replace(model, row_names=("a", "a__low"), row_upper=np.array([1.0, np.inf]))
    assert [side.name for side in one_sided(clash)] == ["a__low", "a__high", "a__low__2"]


def test_what_no_format_can_say_is_refused(tmp_path: Path) -> None:
    model, _ = whole_numbers()
    with pytest.raises(InputError, match="'range_0' cross"):
        write_model(replace(model, row_lower=np.array([9.0])), tmp_path / "a.mps")
    with pytest.raises(InputError, match="no variables"):
        write_model(ModelBuilder().build(), tmp_path / "a.mps")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = knapsack()
    path = write_model(model, tmp_path / "a.mps")
    before = path.read_text("ascii")

    def fail(*parts: Any) -> Any:
        yield "NAME half"
        raise OSError("disk full")

    monkeypatch.setitem(export.WRITERS, ".mps", fail)
    with pytest.raises(OSError, match="disk full"):
        write_model(model, path)
    assert path.read_text("ascii") == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.mps"]
