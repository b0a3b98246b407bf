"""What `fit` and `frontier` do with their options: solve with a live display, show, write the files, leave."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from typing import Any

from evenleaf.case import Answered, Case, answer_point, fit_file, frontier_file
from evenleaf.cli.codes import leave
from evenleaf.cli.live import Knowledge, display
from evenleaf.cli.outputs import check_place, draw_frontier, draw_tree, frontier_to_json, write_frontier
from evenleaf.cli.progress import late_progress
from evenleaf.cli.question import make_question
from evenleaf.cli.show_fit import show_answered, show_case, show_files
from evenleaf.solve import Budget, FrontierPoint

Options = Mapping[str, Any]


def fit_and_show(table: str, options: Options) -> None:
    """Learn one tree; the files are checked before and written after."""
    places = [options["out"], options["report"], options["draw"]]
    for place in places:
        check_place(place)
    knowledge = Knowledge()
    with display(knowledge) as (progress, begin):
        answered = fit_file(
            table,
            make_question(options),
            _budget(options, knowledge),
            solver=options["solver"].value,
            with_frontier=options["report"] is not None,
            test=options["test"],
            progress=progress,
            on_opened=_shows(knowledge, options, begin),
            on_score=knowledge.on_score,
            on_solved=knowledge.on_solved,
        )
    has_tree = answered.solution is not None and answered.solution.tree is not None
    written = [path for path in places if path is not None] if has_tree else []
    if has_tree:
        _write_fit(answered, options)
    if options["as_json"]:
        _print_json(answered.answer.to_json() if has_tree else {"status": str(answered.status)})
    else:
        show_answered(answered)
        show_files(written)
    leave(answered.status)


def frontier_and_show(table: str, options: Options) -> None:
    """Learn the whole trade-off."""
    places = [options["out"], options["report"], options["plot"], options["model"]]
    for place in places:
        check_place(place)
    knowledge = Knowledge()
    with display(knowledge) as (progress, begin):
        answered = frontier_file(
            table,
            make_question(options),
            _budget(options, knowledge),
            solver=options["solver"].value,
            n_jobs=options["jobs"],
            test=options["test"],
            progress=progress,
            on_opened=_shows(knowledge, options, begin),
            on_solved=knowledge.on_solved,
        )
    if not options["as_json"]:
        show_answered(answered)
    chosen = _preferred(answered) if options["prefer"] else None
    _write_frontier(answered, options, chosen)
    if options["as_json"]:
        _print_json(frontier_to_json(answered))
    else:
        show_files([path for path in places if path is not None and path.exists()])
    leave(answered.status)


def _budget(options: Options, knowledge: Knowledge) -> Budget:
    return Budget(
        options["time_limit"], options["gap"], options["jobs"], options["seed"], on_progress=knowledge.on_progress
    )


def _shows(knowledge: Knowledge, options: Options, begin: Callable[[], None]) -> Callable[[Case], None]:
    """Once the table is read, its columns are shown as they were taken, and the clock of the display starts."""

    def opened(case: Case) -> None:
        knowledge.index = case.question.index
        knowledge.classes = case.people.outcome.classes is not None
        if not options["as_json"]:
            show_case(case)
        begin()

    return opened


def _write_fit(answered: Answered, options: Options) -> None:
    if options["out"] is not None:
        answered.answer.write(options["out"])
    if options["draw"] is not None:
        draw_tree(answered, options["draw"])
    if options["report"] is not None:
        _write_report(answered, options)


def _write_frontier(answered: Answered, options: Options, chosen: FrontierPoint | None) -> None:
    if options["out"] is not None:
        write_frontier(answered, options["out"])
    if options["plot"] is not None:
        draw_frontier(answered, options["plot"])
    if options["report"] is not None:
        _write_report(answered, options)
    if options["model"] is not None and chosen is not None:
        answer_point(answered.case, chosen, solver=options["solver"].value).write(options["model"])


def _write_report(answered: Answered, options: Options) -> None:
    from evenleaf.report import summarise, write_page

    with late_progress("preparing the page") as progress:
        summary = summarise(
            answered.case,
            answered.frontier or (),
            asked=answered.solution,
            include_rows=options["include_rows"],
            seed=options["seed"],
            command=command_line(),
            solver=options["solver"].value,
            fresh=answered.fresh,
            progress=progress,
        )
    write_page(summary, options["report"])


def command_line() -> str:
    """The command as it was typed, for the page to say how to make it again."""
    return shlex.join(["evenleaf", *sys.argv[1:]])


def _preferred(answered: Answered) -> FrontierPoint | None:
    from evenleaf.cli.prefer import ask_preference

    return None if answered.frontier is None else ask_preference(answered.frontier, answered.case)


def _print_json(data: Any) -> None:
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
