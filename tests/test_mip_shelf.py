"""The shelf of problems with known optima: the literal formulation = the strong one = the truth."""

from __future__ import annotations

import pytest

from evenleaf.solve.mip.solve import FormulationName, MipSolver
from evenleaf.testing import SHELF, ShelfProblem, check_solver

# At depth 2 with a disparity the literal formulation takes seconds a problem, and each is solved twice.
SLOW = [entry for entry in SHELF if entry.build().shape.max_depth >= 2 and entry.build().disparity.n_rows]
QUICK = [entry for entry in SHELF if entry not in SLOW]


def check(formulation: FormulationName, entries: list[ShelfProblem], backend: str = "auto") -> None:
    solver = MipSolver(formulation, backend)
    assert check_solver(solver.solve, solver.accepts, problems=entries) == len(entries)


def test_the_strong_formulation_on_the_whole_shelf() -> None:
    check("strong", list(SHELF))


def test_the_literal_formulation_on_the_quicker_problems() -> None:
    assert len(QUICK) > 20
    check("paper", QUICK)


@pytest.mark.long
def test_the_literal_formulation_on_the_slower_problems() -> None:
    check("paper", SLOW)


@pytest.mark.long
@pytest.mark.needs("scip")
@pytest.mark.parametrize("formulation", ["strong", "paper"])
def test_scip_on_the_whole_shelf(formulation: FormulationName) -> None:
    check(formulation, list(SHELF), "scip")


@pytest.mark.needs("gurobi")
def test_gurobi_on_the_whole_shelf() -> None:
    check("strong", list(SHELF), "gurobi")
