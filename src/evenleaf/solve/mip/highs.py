"""HiGHS, the solver that comes with the library: the model handed over whole, the start checked, the log kept quiet."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.solve.mip.backend import Backend
from evenleaf.solve.mip.model import LinearModel
from evenleaf.solve.mip.run import ROUNDING, Ending, Outcome, Run, SolverError, ending_of

# How far a row or a whole number may be off. Ten times tighter than HiGHS's own, and no tighter: it takes 1e-9 for
# nothing, and with a tolerance of that size it called worse trees optimal (4 of 73 problems of the shelf).
FEASIBILITY = 1e-7
# Numbers of highspy's enums, which are not imported up here.
_ROWWISE, _MINIMISE, _FEASIBLE = 2, 1, 2
_ENDINGS = {
    "kOptimal": Ending.OPTIMAL,
    "kInfeasible": Ending.INFEASIBLE,
    "kUnbounded": Ending.UNDECIDED,
    "kUnboundedOrInfeasible": Ending.UNDECIDED,
    "kTimeLimit": Ending.STOPPED,
    "kIterationLimit": Ending.STOPPED,
    "kSolutionLimit": Ending.STOPPED,
    "kMemoryLimit": Ending.STOPPED,
    "kObjectiveBound": Ending.STOPPED,
    "kObjectiveTarget": Ending.STOPPED,
    "kInterrupt": Ending.STOPPED,
    "kHighsInterrupt": Ending.STOPPED,
}


class Highs(Backend):
    """HiGHS by highspy."""

    name = "highs"
    package = "highspy"
    extra = ""
    parallel = True
    needs_licence = False

    def _solve(self, run: Run) -> Outcome:
        highspy = self.load()
        solver = highspy.Highs()
        words = _listen(solver, run)
        _set_options(solver, run)
        _must(solver.passModel(*_arrays(run.model)), words)
        if run.start is not None and run.model.integer.any():
            every = np.arange(run.model.n_variables, dtype=np.int32)
            _must(solver.setSolution(len(every), every, run.start), words)
        try:
            status = solver.run()
        finally:
            # The pool of threads belongs to this thread and dies with it, so that the next run may have another size.
            highspy.Highs.resetGlobalScheduler(False)
        if status == highspy.HighsStatus.kError:
            own_words = " ".join(words) or solver.modelStatusToString(solver.getModelStatus())
            raise SolverError(f"HiGHS failed: {own_words}")
        return _outcome(solver, run.model)


def _listen(solver: Any, run: Run) -> list[str]:
    """Subscribe to bounds, points and questions whether to stop; returns the list that its complaints go to."""
    words: list[str] = []

    def stop_if_asked(event: Any) -> None:
        if run.stopping:
            event.interrupt()

    def hear(event: Any) -> None:
        if event.message.startswith(("ERROR", "WARNING")):
            words.append(event.message.strip())

    solver.cbLogging.subscribe(hear)
    solver.cbMipImprovingSolution.subscribe(lambda event: run.find(np.array(event.data_out.mip_solution)))
    solver.cbMipInterrupt.subscribe(lambda event: run.prove(event.data_out.mip_dual_bound))
    for question in (solver.cbMipInterrupt, solver.cbSimplexInterrupt, solver.cbIpmInterrupt):
        question.subscribe(stop_if_asked)
    return words


def _set_options(solver: Any, run: Run) -> None:
    """Exact by default: HiGHS itself would stop at a gap of 1e-4 and take 1e-6 for whole."""
    ours: dict[str, Any] = {
        "log_to_console": False,
        "mip_abs_gap": ROUNDING,
        "mip_rel_gap": run.budget.gap,
        "mip_feasibility_tolerance": FEASIBILITY,
        "random_seed": run.seed,
        "threads": run.budget.threads,
        "time_limit": run.budget.remaining,
    }
    for option, value in (ours | run.options).items():
        if solver.setOptionValue(option, value).name != "kOk":
            raise InputError(_refused(solver, option, value))


def _refused(solver: Any, option: str, value: Any) -> str:
    known = [name for name in dir(solver.getOptions()) if not name.startswith("_")]
    if option in known:
        return f"HiGHS refuses the value {value!r} for its option {option!r}"
    near = get_close_matches(option, known, n=1)
    return f"HiGHS knows no option {option!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def _arrays(model: LinearModel) -> tuple[Any, ...]:
    """The arguments of `passModel`: rows compressed, minimise."""
    upper, row_upper = np.maximum(model.upper, model.lower), np.maximum(model.row_upper, model.row_lower)
    matrix, whole = model.matrix, model.integer.astype(np.int32)
    starts, columns = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    sizes = (model.n_variables, model.n_rows, matrix.nnz, _ROWWISE, _MINIMISE)
    bounds = (model.lower, upper, model.row_lower, row_upper)
    return (*sizes, model.offset, model.cost, *bounds, starts, columns, matrix.data, whole)


def _outcome(solver: Any, model: LinearModel) -> Outcome:
    status, info = solver.getModelStatus(), solver.getInfo()
    ending = ending_of("HiGHS", status.name, _ENDINGS)
    has_point = info.primal_solution_status == _FEASIBLE
    x = np.array(solver.getSolution().col_value) if has_point else None
    if model.integer.any():
        bound = info.mip_dual_bound
    else:
        bound = info.objective_function_value if ending is Ending.OPTIMAL else -np.inf
    return Outcome(ending, x, float(bound), solver.modelStatusToString(status))


def _must(status: Any, words: list[str]) -> None:
    """A warning counts as a failure here: HiGHS drops coefficients below 1e-9 with no more than that."""
    if status.name != "kOk":
        raise SolverError(f"HiGHS refuses the model: {' '.join(words)}")
