"""What every mixed-integer solver must do alike: a new backend is done when it passes these."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from evenleaf.errors import InputError, MissingExtraError
from evenleaf.solve.budget import Budget
from evenleaf.solve.mip import gurobi
from evenleaf.solve.mip.backend import Backend, LicenceError, MipResult, SolverError
from evenleaf.solve.mip.backends import BACKENDS, available, get_backend
from evenleaf.solve.mip.gurobi import SIZE_LIMIT, Gurobi
from evenleaf.solve.mip.highs import Highs
from evenleaf.solve.mip.model import LinearModel, ModelBuilder
from evenleaf.solve.mip.paper import build_paper
from evenleaf.solve.mip.run import Run
from evenleaf.solve.mip.scip import Scip, interrupt
from evenleaf.solve.result import Stop, TracePoint
from evenleaf.testing import SHELF
from mip_models import (
    KNOWN,
    assignment,
    brute_force,
    knapsack,
    market_split,
    one_sided_start,
    random_models,
    whole_numbers,
)

EVERY = [
    pytest.param("highs"),
    pytest.param("gurobi", marks=pytest.mark.needs("gurobi")),
    pytest.param("scip", marks=pytest.mark.needs("scip")),
]
every_backend = pytest.mark.parametrize("name", EVERY)
# Longer than any solver needs to hear that it should stop, on however busy a machine.
FAR_TOO_LONG = 60.0


def check(model: LinearModel, result: MipResult) -> float:
    """The objective of the result, whose point must keep the model and whose bound must not be above it."""
    assert result.x is not None
    assert not result.infeasible
    assert model.violation(result.x) <= 1e-6
    assert result.bound <= model.objective(result.x)
    return model.objective(result.x)


def check_trace(trace: list[TracePoint]) -> None:
    assert trace
    assert (np.diff([point.seconds for point in trace]) >= 0).all()
    assert not (np.diff([point.bound for point in trace if np.isfinite(point.bound)]) < 0).any()
    assert not (np.diff([point.objective for point in trace if np.isfinite(point.objective)]) > 0).any()
    assert all(point.bound <= point.objective for point in trace)


@every_backend
@pytest.mark.parametrize("known", KNOWN)
def test_known_optima(name: str, known: Any) -> None:
    model, optimum = known()
    budget = Budget(time_limit=FAR_TOO_LONG)
    result = get_backend(name).solve(model, budget)
    assert check(model, result) == pytest.approx(optimum, abs=1e-7)
    assert result.bound == pytest.approx(optimum, abs=1e-7)
    assert result.stop is Stop.FINISHED
    assert "optimal" in result.message.lower()
    check_trace(budget.trace)
    assert budget.trace[-1].objective == check(model, result)


@every_backend
@settings(max_examples=60)
@given(model=random_models())
def test_random_models_agree_with_brute_force(name: str, model: LinearModel) -> None:
    optimum, budget = brute_force(model), Budget()
    result = get_backend(name).solve(model, budget)
    if np.isinf(optimum):
        assert result.infeasible
        assert result.x is None
        assert result.bound == np.inf
        return
    assert check(model, result) == pytest.approx(optimum, abs=1e-6)
    assert result.stop is Stop.FINISHED
    # Every bound on the way was in the units of the model, offset included.
    assert all(point.bound <= optimum + 1e-6 for point in budget.trace)


@every_backend
@pytest.mark.parametrize("seed", [1, 2])
def test_tolerances_are_not_so_tight_that_a_worse_tree_is_called_optimal(name: str, seed: int) -> None:
    """HiGHS did that on this model, with these seeds, when asked to keep rows to 1e-9."""
    (entry,) = [entry for entry in SHELF if entry.name == "treatment_by_kernel_unnormalised"]
    formulation = build_paper(entry.build())
    result = get_backend(name).solve(formulation.model, Budget(seed=seed))
    assert check(formulation.model, result) * formulation.scale == pytest.approx(entry.objective, abs=1e-6)
    assert result.stop is Stop.FINISHED


@every_backend
def test_progress_is_told_in_the_callers_units(name: str) -> None:
    model, optimum = whole_numbers()
    budget = Budget()
    result = get_backend(name).solve(model, budget, scale=0.5)
    assert check(model, result) == pytest.approx(optimum)
    assert budget.trace[-1].objective == pytest.approx(optimum / 2)
    assert budget.trace[-1].bound == pytest.approx(optimum / 2)


@every_backend
def test_whole_numbers_come_back_whole(name: str) -> None:
    model, _ = whole_numbers()
    result = get_backend(name).solve(model, Budget())
    assert result.x is not None
    assert result.x.tolist() == [2.0, 2.0]


@every_backend
def test_infeasible(name: str) -> None:
    builder = ModelBuilder()
    x = builder.variables("x", (3,), upper=1.0, cost=1.0, integer=True)
    builder.rows("odd", 1, [(0, x, 2.0)], lower=3.0, upper=3.0)
    result = get_backend(name).solve(builder.build(), Budget())
    assert result.infeasible
    assert result.x is None
    assert result.bound == np.inf
    assert result.stop is Stop.FINISHED
    assert "infeasible" in result.message.lower()


@every_backend
def test_crossing_bounds_are_infeasible_unless_by_rounding(name: str) -> None:
    builder = ModelBuilder()
    x = builder.variables("x", (), lower=2.0, upper=2.0 - 1e-12, cost=1.0)
    builder.rows("row", 1, [(0, x, 1.0)], lower=2.0, upper=2.0 - 1e-12)
    assert check(builder.build(), get_backend(name).solve(builder.build(), Budget())) == pytest.approx(2.0)
    builder.rows("none", 1, [(0, x, 1.0)], lower=3.0, upper=2.0)
    result = get_backend(name).solve(builder.build(), Budget())
    assert result.infeasible
    assert "none_0" in result.message


@every_backend
@pytest.mark.parametrize("integer", [True, False])
def test_unbounded_is_an_error(name: str, integer: bool) -> None:
    builder = ModelBuilder()
    x = builder.variables("x", (2,), cost=-1.0, integer=integer)
    builder.rows("row", 1, [(0, x[0], 1.0), (0, x[1], -1.0)], upper=3.0)
    with pytest.raises(SolverError, match="unbounded"):
        get_backend(name).solve(builder.build(), Budget())


@every_backend
def test_an_unbounded_relaxation_without_whole_points_is_infeasible(name: str) -> None:
    builder = ModelBuilder()
    x = builder.variables("x", (2,), cost=-1.0, integer=True)
    builder.rows("odd", 1, [(0, x[0], 2.0), (0, x[1], -2.0)], lower=1.0, upper=1.0)
    assert get_backend(name).solve(builder.build(), Budget()).infeasible


@every_backend
def test_models_with_almost_nothing_in_them(name: str) -> None:
    empty = ModelBuilder(offset=3.0).build()
    result = get_backend(name).solve(empty, Budget())
    assert (result.bound, result.stop, result.infeasible) == (3.0, Stop.FINISHED, False)
    assert result.x is not None
    assert result.x.shape == (0,)
    builder = ModelBuilder()
    builder.rows("says", 1, [], lower=1.0)
    assert get_backend(name).solve(builder.build(), Budget()).infeasible
    builder.variables("x", (2,), upper=1.0, cost=-1.0)
    assert get_backend(name).solve(builder.build(), Budget()).infeasible
    builder = ModelBuilder()
    builder.variables("x", (2,), upper=1.0, cost=-1.0)
    builder.rows("says", 1, [], lower=-1.0)
    assert check(builder.build(), get_backend(name).solve(builder.build(), Budget())) == pytest.approx(-2.0)


@every_backend
def test_a_start_is_taken_by_the_solver_itself(name: str) -> None:
    """A near-perfect split cannot be found in this time, so the solver can only have it from the start."""
    model = planted_split()
    start = planted_start(model)
    run = Run(model, Budget(time_limit=1.0), start, None)
    outcome = get_backend(name)._solve(run)
    assert outcome.x is not None
    assert model.objective(outcome.x) <= model.objective(start) + 1e-6


def planted_split() -> LinearModel:
    """A market split whose first half against the rest is exact, so that its optimum is known to be 10."""
    model = market_split()
    half = model.matrix @ planted_sides(model)
    return LinearModel(
        model.cost,
        model.offset,
        model.lower,
        model.upper,
        model.integer,
        model.matrix,
        half,
        half,
        model.variable_names,
        model.row_names,
    )


def planted_sides(model: LinearModel) -> np.ndarray:
    return np.where(model.integer & (np.arange(model.n_variables) % 3 == 0), 1.0, 0.0)


def planted_start(model: LinearModel) -> np.ndarray:
    assert model.objective(planted_sides(model)) == 10.0
    return planted_sides(model)


@every_backend
def test_the_answer_is_never_worse_than_the_start(name: str) -> None:
    model = planted_split()
    budget = Budget(time_limit=0.01)
    result = get_backend(name).solve(model, budget, start=planted_start(model))
    assert check(model, result) == 10.0
    assert budget.trace[0].objective == 10.0


@every_backend
def test_a_start_of_a_linear_program_does_no_harm(name: str) -> None:
    builder = ModelBuilder()
    builder.variables("x", (2,), upper=3.0, cost=-1.0)
    result = get_backend(name).solve(builder.build(), Budget(), start=np.zeros(2))
    assert check(builder.build(), result) == pytest.approx(-6.0)


@every_backend
def test_a_start_outside_the_model_is_refused_by_name(name: str) -> None:
    model, _ = assignment()
    with pytest.raises(InputError, match="breaks 'person_0' by 1"):
        get_backend(name).solve(model, Budget(), start=np.zeros(9))
    with pytest.raises(InputError, match=r"breaks 'post_1_1' by 0\.5"):
        get_backend(name).solve(model, Budget(), start=np.eye(3).ravel() - 0.5 * np.eye(9)[4])
    with pytest.raises(InputError, match="full point of 9 values"):
        get_backend(name).solve(model, Budget(), start=np.zeros(8))
    with pytest.raises(InputError, match="breaks"):
        get_backend(name).solve(model, Budget(), start=np.full(9, np.nan))


@every_backend
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_time_limit_holds_and_brings_the_incumbent(name: str, n_jobs: int) -> None:
    model, budget = market_split(), Budget(time_limit=1.0, n_jobs=n_jobs, seed=3)
    result = get_backend(name).solve(model, budget)
    assert result.stop is Stop.TIME_LIMIT
    assert budget.seconds < FAR_TOO_LONG
    assert check(model, result) < model.objective(one_sided_start(model))
    assert result.bound >= 10.0 - 1e-6
    check_trace(budget.trace)


@every_backend
def test_cancel_from_another_thread(name: str) -> None:
    model, budget = market_split(), Budget(time_limit=2 * FAR_TOO_LONG)
    timer = threading.Timer(0.5, budget.cancel)
    timer.start()
    result = get_backend(name).solve(model, budget)
    timer.join()
    assert result.stop is Stop.INTERRUPTED
    assert budget.seconds < FAR_TOO_LONG
    check(model, result)


@every_backend
def test_cancel_from_progress(name: str) -> None:
    budget = Budget(time_limit=2 * FAR_TOO_LONG)

    def cancel_at_a_point(point: TracePoint) -> None:
        if np.isfinite(point.objective):
            budget.cancel()

    budget.on_progress = cancel_at_a_point
    model = market_split()
    result = get_backend(name).solve(model, budget)
    assert result.stop is Stop.INTERRUPTED
    check(model, result)
    check_trace(budget.trace)


@every_backend
def test_a_budget_cancelled_before_is_not_spent(name: str) -> None:
    model, budget = market_split(), Budget()
    budget.cancel()
    result = get_backend(name).solve(model, budget, start=one_sided_start(model))
    assert result.stop is Stop.INTERRUPTED
    check(model, result)


@every_backend
def test_what_progress_raises_reaches_the_caller(name: str) -> None:
    def fail(point: TracePoint) -> None:
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user"):
        get_backend(name).solve(market_split(), Budget(on_progress=fail))
    wait_for_quiet()


@pytest.mark.needs("scip")
def test_a_stage_in_which_scip_takes_no_interrupt_raises_nothing() -> None:
    solver = Scip().load().Model()
    solver.freeProb()
    with pytest.raises(Exception, match="cannot be called at this time"):
        solver.interruptSolve()
    interrupt(solver)


def wait_for_quiet() -> None:
    """A solver that was left behind stops by itself."""
    deadline = time.monotonic() + FAR_TOO_LONG
    while any(thread.name == "evenleaf-mip" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@every_backend
def test_the_gap_that_was_asked_for_is_enough(name: str) -> None:
    """The bound of 10 is had at once, so that a point below 10 / (1 − 0.9) = 100 suffices."""
    model, budget = market_split(), Budget(gap=0.9, time_limit=FAR_TOO_LONG)
    result = get_backend(name).solve(model, budget)
    objective = check(model, result)
    assert result.stop is Stop.GAP
    assert objective - result.bound <= 0.9 * objective + 1e-9


@every_backend
def test_the_same_seed_gives_the_same_point(name: str) -> None:
    model = market_split(3, 12)
    first, second = (get_backend(name).solve(model, Budget(seed=5)) for _ in range(2))
    assert np.array_equal(first.x, second.x)  # type: ignore[arg-type]


@every_backend
def test_solving_from_several_threads_at_once(name: str) -> None:
    model, optimum = knapsack()
    found: list[float] = []

    def solve() -> None:
        found.append(check(model, get_backend(name).solve(model, Budget())))

    threads = [threading.Thread(target=solve) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == pytest.approx([optimum] * 3)


@pytest.mark.parametrize(
    ("name", "good", "unknown", "bad"),
    [
        pytest.param("highs", {"mip_max_nodes": 0}, {"mip_max_nodse": 0}, {"threads": "many"}),
        pytest.param(
            "gurobi", {"NodeLimit": 0}, {"NodeLimmit": 0}, {"Threads": "x"}, marks=pytest.mark.needs("gurobi")
        ),
        pytest.param(
            "scip", {"limits/nodes": 1}, {"limits/nodse": 1}, {"limits/nodes": "x"}, marks=pytest.mark.needs("scip")
        ),
    ],
)
def test_options_are_the_solvers_own(
    name: str, good: dict[str, Any], unknown: dict[str, Any], bad: dict[str, Any]
) -> None:
    model, backend = market_split(), get_backend(name)
    result = backend.solve(model, Budget(time_limit=FAR_TOO_LONG), options=good)
    assert result.stop is Stop.INTERRUPTED
    assert "limit" in result.message.lower()
    for wrong in (unknown, bad):
        with pytest.raises(InputError, match=next(iter(wrong))):
            backend.solve(model, Budget(), options=wrong)


def test_highs_refuses_coefficients_it_would_drop() -> None:
    builder = ModelBuilder()
    x = builder.variables("x", (2,), upper=1.0, cost=-1.0, integer=True)
    builder.rows("row", 1, [(0, x, np.array([1e-12, 1.0]))], upper=1.0)
    with pytest.raises(SolverError, match=r"refuses the model.*less than or equal to 1e-09"):
        Highs().solve(builder.build(), Budget())


def test_the_registry() -> None:
    assert set(BACKENDS) == {"highs", "gurobi", "scip"}
    assert "highs" in available()
    assert isinstance(get_backend("auto"), Highs)
    assert isinstance(get_backend(), Highs)
    with pytest.raises(InputError, match="did you mean 'gurobi'"):
        get_backend("gurobbi")
    with pytest.raises(InputError, match="choose from 'auto', 'highs'"):
        get_backend("zzz")


@pytest.mark.parametrize("backend", [Scip, Gurobi])
def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, backend: type[Backend]) -> None:
    monkeypatch.setattr(backend, "package", "a_package_that_is_not_there")
    assert backend.name not in available()
    with pytest.raises(MissingExtraError, match=rf"pip install 'evenleaf\[{backend.name}\]'"):
        get_backend(backend.name)


@pytest.mark.needs("gurobi")
def test_a_model_too_large_for_the_licence_is_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = ModelBuilder()
    x = builder.variables("x", (2,), upper=1.0, cost=1.0)
    # A row with two sides counts twice, as Gurobi takes them one by one.
    builder.rows("row", SIZE_LIMIT // 2 + 1, [(np.arange(SIZE_LIMIT // 2 + 1), x[0], 1.0)], lower=0.0, upper=2.0)
    model = builder.build()
    monkeypatch.setattr(gurobi, "is_size_limited", lambda: True)
    with pytest.raises(LicenceError, match=r"allows 2000 variables .* this model has 2 and 2002.*'highs'"):
        Gurobi().solve(model, Budget())
    monkeypatch.setattr(gurobi, "is_size_limited", lambda: False)
    assert Gurobi.licence_problem(model) is None


@pytest.mark.needs("gurobi")
def test_no_licence_is_said_plainly(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("GRB_LICENSE_FILE", str(tmp_path / "none.lic"))
    gurobi.is_size_limited.cache_clear()
    model, _ = knapsack()
    with pytest.raises(LicenceError, match=r"no valid licence here: .*none\.lic.*'highs', which needs none"):
        Gurobi().solve(model, Budget())
