"""SCIP, free and often the quicker one on small trees; it uses one thread."""

from __future__ import annotations

from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.solve.mip.backend import Backend
from evenleaf.solve.mip.model import LinearModel
from evenleaf.solve.mip.run import INFINITY, Ending, Outcome, Run, SolverError, ending_of

# How far a row or a whole number may be off. SCIP takes 1e-9 for nothing, so its tolerance stays well above that.
FEASIBILITY = 1e-7
_ENDINGS = {
    "optimal": Ending.OPTIMAL,
    "gaplimit": Ending.OPTIMAL,
    "infeasible": Ending.INFEASIBLE,
    "unbounded": Ending.UNDECIDED,
    "inforunbd": Ending.UNDECIDED,
    "timelimit": Ending.STOPPED,
    "userinterrupt": Ending.STOPPED,
    "terminate": Ending.STOPPED,
    "memlimit": Ending.STOPPED,
    "nodelimit": Ending.STOPPED,
    "totalnodelimit": Ending.STOPPED,
    "stallnodelimit": Ending.STOPPED,
    "primallimit": Ending.STOPPED,
    "duallimit": Ending.STOPPED,
    "sollimit": Ending.STOPPED,
    "bestsollimit": Ending.STOPPED,
    "restartlimit": Ending.STOPPED,
}


class Scip(Backend):
    """SCIP by pyscipopt."""

    name = "scip"
    package = "pyscipopt"
    extra = "scip"
    parallel = False
    needs_licence = False

    def _solve(self, run: Run) -> Outcome:
        pyscipopt = self.load()
        solver = pyscipopt.Model()
        solver.hideOutput()
        _set_options(solver, run)
        variables = _hand_over(pyscipopt.scip, solver, run.model)
        solver.includeEventhdlr(
            _listener(pyscipopt, run, variables), "evenleaf", "bounds, points and questions whether to stop"
        )
        if run.start is not None:
            _give_start(solver, variables, run.start)
        run.interrupt = partial(interrupt, solver)
        try:
            # The other `optimize` would hold Python's lock, and with it every Ctrl-C, until the end.
            solver.optimizeNogil()
        except Exception as error:
            raise SolverError(f"SCIP failed: {error}") from error
        return _outcome(solver, variables)


def interrupt(solver: Any) -> None:
    """Ask SCIP to stop. Between two stages of its work it refuses the call; then it hears at its next event."""
    # pyscipopt has no error of its own for a refusal: all of SCIP's are plain exceptions.
    with suppress(Exception):
        solver.interruptSolve()


def _set_options(solver: Any, run: Run) -> None:
    ours: dict[str, Any] = {
        "limits/gap": run.budget.gap,
        "limits/time": min(run.budget.remaining, INFINITY),
        # Its own handler would take Ctrl-C away from Python.
        "misc/catchctrlc": False,
        "numerics/feastol": FEASIBILITY,
        "randomization/randomseedshift": run.seed,
    }
    known = solver.getParams()
    for option, value in (ours | run.options).items():
        if option not in known:
            near = get_close_matches(option, known, n=1)
            raise InputError(f"SCIP knows no option {option!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        try:
            solver.setParam(option, value)
        except Exception as error:
            raise InputError(f"SCIP refuses the value {value!r} for its option {option!r}: {error}") from error


def _hand_over(scip: Any, solver: Any, model: LinearModel) -> list[Any]:
    """Build the model in SCIP; returns its variables in our order."""
    kinds = np.where(model.integer, "I", "C").tolist()
    columns = zip(model.variable_names, kinds, model.lower, model.upper, model.cost.tolist(), strict=True)
    variables = [
        solver.addVar(name, kind, _bound(lower), _bound(max(lower, upper)), cost)
        for name, kind, lower, upper, cost in columns
    ]
    solver.addObjoffset(model.offset)
    for row in range(model.n_rows):
        _add_row(scip, solver, model, row, variables)
    return variables


def _add_row(scip: Any, solver: Any, model: LinearModel, row: int, variables: list[Any]) -> None:
    """One row as a ready dictionary of terms: adding up expressions would take several times as long."""
    lower, upper = _bound(model.row_lower[row]), _bound(max(model.row_lower[row], model.row_upper[row]))
    if lower is None and upper is None:
        return
    part = slice(model.matrix.indptr[row], model.matrix.indptr[row + 1])
    columns, values = model.matrix.indices[part].tolist(), model.matrix.data[part].tolist()
    terms = {scip.Term(variables[column]): value for column, value in zip(columns, values, strict=True)}
    solver.addCons(scip.ExprCons(scip.Expr(terms), lhs=lower, rhs=upper), name=model.row_names[row])


def _bound(value: float) -> float | None:
    return float(value) if abs(value) < INFINITY else None


def _listener(pyscipopt: Any, run: Run, variables: list[Any]) -> Any:
    """The event handler, of a class made here since its base is not imported above.

    SCIP swallows what is raised in a handler, so nothing here raises.
    """
    kinds = pyscipopt.SCIP_EVENTTYPE

    def eventinit(self: Any) -> None:
        for kind in (kinds.BESTSOLFOUND, kinds.LPSOLVED, kinds.NODESOLVED):
            self.model.catchEvent(kind, self)

    def eventexec(self: Any, event: Any) -> None:
        run.prove(self.model.getDualbound())
        if event.getType() == kinds.BESTSOLFOUND:
            run.find(_point(self.model, variables))
        if run.stopping:
            self.model.interruptSolve()

    return type("Listener", (pyscipopt.Eventhdlr,), {"eventinit": eventinit, "eventexec": eventexec})()


def _give_start(solver: Any, variables: list[Any], start: np.ndarray) -> None:
    solution = solver.createSol()
    for variable, value in zip(variables, start.tolist(), strict=True):
        solver.setSolVal(solution, variable, value)
    solver.addSol(solution)


def _point(solver: Any, variables: list[Any]) -> np.ndarray:
    best = solver.getBestSol()
    return np.array([solver.getSolVal(best, variable) for variable in variables])


def _outcome(solver: Any, variables: list[Any]) -> Outcome:
    status = str(solver.getStatus())
    ending = ending_of("SCIP", status, _ENDINGS)
    has_point = solver.getNSols() > 0 and ending is not Ending.UNDECIDED
    return Outcome(ending, _point(solver, variables) if has_point else None, solver.getDualbound(), status)
