"""Gurobi, for those who have a licence; the one that comes with its package allows small models only."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from evenleaf.errors import InputError
from evenleaf.solve.mip.backend import Backend
from evenleaf.solve.mip.model import LinearModel
from evenleaf.solve.mip.run import ROUNDING, Ending, Outcome, Run, SolverError, ending_of

# What the size-limited licence allows, of variables and of rows each.
SIZE_LIMIT = 2000
# How far a row or a whole number may be off: the tightest that Gurobi offers.
FEASIBILITY = 1e-9
_ENDINGS = {
    "OPTIMAL": Ending.OPTIMAL,
    "INFEASIBLE": Ending.INFEASIBLE,
    "INF_OR_UNBD": Ending.UNDECIDED,
    "UNBOUNDED": Ending.UNDECIDED,
    "CUTOFF": Ending.STOPPED,
    "INTERRUPTED": Ending.STOPPED,
    "ITERATION_LIMIT": Ending.STOPPED,
    "MEM_LIMIT": Ending.STOPPED,
    "NODE_LIMIT": Ending.STOPPED,
    "SOLUTION_LIMIT": Ending.STOPPED,
    "SUBOPTIMAL": Ending.STOPPED,
    "TIME_LIMIT": Ending.STOPPED,
    "USER_OBJ_LIMIT": Ending.STOPPED,
    "WORK_LIMIT": Ending.STOPPED,
}


class Gurobi(Backend):
    """Gurobi by gurobipy."""

    name = "gurobi"
    package = "gurobipy"
    extra = "gurobi"
    parallel = True
    needs_licence = True

    @classmethod
    def licence_problem(cls, model: LinearModel) -> str | None:
        """Whether a licence is there at all, and whether it takes a model of this size."""
        gurobipy = cls.load()
        try:
            limited = is_size_limited()
        except gurobipy.GurobiError as error:
            return (
                f"Gurobi has no valid licence here: {error}. Install one (see gurobi.com), or use the solver "
                "'highs', which needs none"
            )
        rows = len(_one_sided_rows(model)[1])
        if not limited or max(model.n_variables, rows) <= SIZE_LIMIT:
            return None
        return (
            f"Gurobi's size-limited licence allows {SIZE_LIMIT} variables and {SIZE_LIMIT} rows, and this model has "
            f"{model.n_variables} and {rows}. Install a full licence (free for academics, see gurobi.com), make the "
            "tree or the table smaller, or use the solver 'highs', which has no limit"
        )

    def _solve(self, run: Run) -> Outcome:
        gurobipy = self.load()
        try:
            with _quiet_environment(gurobipy) as environment, gurobipy.Model(env=environment) as solver:
                variables = _hand_over(gurobipy, solver, run)
                run.interrupt = solver.terminate
                try:
                    solver.optimize(_listener(gurobipy.GRB, run, variables))
                finally:
                    run.interrupt = lambda: None
                return _outcome(gurobipy.GRB.Status, solver, variables)
        except gurobipy.GurobiError as error:
            raise SolverError(f"Gurobi failed: {error}") from error


def _quiet_environment(gurobipy: Any) -> Any:
    environment = gurobipy.Env(empty=True)
    environment.setParam("OutputFlag", 0)
    environment.start()
    return environment


@cache
def is_size_limited() -> bool:
    """Found out by trying, once: one variable more than the limit, and nothing else. Raises without a licence."""
    gurobipy = Gurobi.load()
    with _quiet_environment(gurobipy) as environment, gurobipy.Model(env=environment) as probe:
        probe.addMVar(SIZE_LIMIT + 1)
        try:
            probe.optimize()
        except gurobipy.GurobiError as error:
            if error.errno == gurobipy.GRB.Error.SIZE_LIMIT_EXCEEDED:
                return True
            raise
    return False


def _hand_over(gurobipy: Any, solver: Any, run: Run) -> Any:
    """Options, variables, rows and start; returns the variables."""
    _set_options(gurobipy, solver, run)
    model = run.model
    kinds = np.where(model.integer, gurobipy.GRB.INTEGER, gurobipy.GRB.CONTINUOUS)
    variables = solver.addMVar(
        model.n_variables, lb=model.lower, ub=np.maximum(model.lower, model.upper), obj=model.cost, vtype=kinds
    )
    solver.ObjCon = model.offset
    matrix, senses, sides = _one_sided_rows(model)
    if len(sides):
        solver.addMConstr(matrix, variables, senses, sides)
    if run.start is not None:
        variables.Start = run.start
    return variables


def _set_options(gurobipy: Any, solver: Any, run: Run) -> None:
    ours: dict[str, Any] = {
        "FeasibilityTol": FEASIBILITY,
        "IntFeasTol": FEASIBILITY,
        "MIPGap": run.budget.gap,
        "MIPGapAbs": ROUNDING,
        "OptimalityTol": FEASIBILITY,
        "Seed": run.seed,
        "Threads": run.budget.threads,
        "TimeLimit": run.budget.remaining,
    }
    for option, value in (ours | run.options).items():
        try:
            solver.setParam(option, value)
        except (gurobipy.GurobiError, TypeError, ValueError) as error:
            raise InputError(f"Gurobi refuses {value!r} for the option {option!r}: {error}") from error


def _one_sided_rows(model: LinearModel) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """The rows as Gurobi takes them, each with one sense: equations, then upper sides, then lower sides."""
    equal = model.row_upper <= model.row_lower
    below, above = ~equal & np.isfinite(model.row_upper), ~equal & np.isfinite(model.row_lower)
    order = np.concatenate([np.flatnonzero(part) for part in (equal, below, above)])
    senses = np.repeat(["=", "<", ">"], [equal.sum(), below.sum(), above.sum()])
    sides = np.concatenate([model.row_lower[equal], model.row_upper[below], model.row_lower[above]])
    return model.matrix[order], senses, sides


def _listener(grb: Any, run: Run, variables: Any) -> Any:
    def listen(solver: Any, where: int) -> None:
        if where == grb.Callback.MIP:
            run.prove(solver.cbGet(grb.Callback.MIP_OBJBND))
        elif where == grb.Callback.MIPSOL:
            run.prove(solver.cbGet(grb.Callback.MIPSOL_OBJBND))
            run.find(np.asarray(solver.cbGetSolution(variables)))
        if run.stopping:
            solver.terminate()

    return listen


def _outcome(statuses: Any, solver: Any, variables: Any) -> Outcome:
    status = next(name for name in dir(statuses) if getattr(statuses, name) == solver.Status)
    ending = ending_of("Gurobi", status, _ENDINGS)
    if solver.IsMIP:
        has_point, bound = solver.SolCount > 0, solver.ObjBound
    else:
        # Of a linear program stopped half-way neither the point nor the objective proves anything.
        has_point = ending is Ending.OPTIMAL
        bound = solver.ObjVal if has_point else -np.inf
    return Outcome(ending, np.array(variables.X) if has_point else None, float(bound), status)
