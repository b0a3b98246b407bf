"""Gurobi, for those who have a licence; the one that comes with its package allows small models only."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from evenleaf.errors import InputError
from evenleaf.solve.mip.backend import Backend
from evenleaf.solve.mip.model import LinearModel
from evenleaf.solve.mip.run import SOLVER_TOLERANCE, Ending, Outcome, Run, SolverError

# What the size-limited licence allows, of variables and of rows each.
SIZE_LIMIT = 2000
_ENDINGS = {
    "OPTIMAL": Ending.OPTIMAL,
    "INFEASIBLE": Ending.INFEASIBLE,
    "INF_OR_UNBD": Ending.UNDECIDED,
    "UNBOUNDED": Ending.UNDECIDED,
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
        import gurobipy

        try:
            with _quiet_environment() as environment:
                limited = _is_size_limited(environment)
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
        import gurobipy

        try:
            with _quiet_environment() as environment, gurobipy.Model(env=environment) as solver:
                variables = _hand_over(solver, run)
                run.interrupt = solver.terminate
                try:
                    solver.optimize(_listener(run, variables))
                finally:
                    run.interrupt = lambda: None
                return _outcome(solver, variables)
        except gurobipy.GurobiError as error:
            raise SolverError(f"Gurobi failed: {error}") from error


def _quiet_environment() -> Any:
    import gurobipy

    environment = gurobipy.Env(empty=True)
    environment.setParam("OutputFlag", 0)
    environment.start()
    return environment


def _is_size_limited(environment: Any) -> bool:
    """Found out by trying: one variable more than the limit, and nothing else."""
    import gurobipy

    with gurobipy.Model(env=environment) as probe:
        probe.addMVar(SIZE_LIMIT + 1)
        try:
            probe.optimize()
        except gurobipy.GurobiError as error:
            if error.errno == gurobipy.GRB.Error.SIZE_LIMIT_EXCEEDED:
                return True
            raise
    return False


def _hand_over(solver: Any, run: Run) -> Any:
    """Options, variables, rows and start; returns the variables."""
    import gurobipy

    _set_options(solver, run)
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


def _set_options(solver: Any, run: Run) -> None:
    import gurobipy

    ours: dict[str, Any] = {
        "FeasibilityTol": SOLVER_TOLERANCE,
        "IntFeasTol": SOLVER_TOLERANCE,
        "MIPGap": run.budget.gap,
        "MIPGapAbs": SOLVER_TOLERANCE,
        "OptimalityTol": SOLVER_TOLERANCE,
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


def _listener(run: Run, variables: Any) -> Any:
    from gurobipy import GRB

    def listen(solver: Any, where: int) -> None:
        if where == GRB.Callback.MIP:
            run.prove(solver.cbGet(GRB.Callback.MIP_OBJBND))
        elif where == GRB.Callback.MIPSOL:
            run.prove(solver.cbGet(GRB.Callback.MIPSOL_OBJBND))
            run.find(np.asarray(solver.cbGetSolution(variables)))
        if run.stopping:
            solver.terminate()

    return listen


def _outcome(solver: Any, variables: Any) -> Outcome:
    from gurobipy import GRB

    status = next(name for name in dir(GRB.Status) if getattr(GRB.Status, name) == solver.Status)
    ending = _ENDINGS.get(status, Ending.STOPPED)
    # Of a linear program stopped half-way Gurobi may show a point that breaks rows; only an optimal one is taken.
    has_point = solver.SolCount > 0 and (bool(solver.IsMIP) or ending is Ending.OPTIMAL)
    if solver.IsMIP:
        bound = solver.ObjBound
    else:
        bound = solver.ObjVal if ending is Ending.OPTIMAL else -np.inf
    return Outcome(ending, np.array(variables.X) if has_point else None, float(bound), status)
