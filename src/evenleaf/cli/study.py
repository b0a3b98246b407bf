"""`evenleaf study`: the paper's experiments again, with figures and findings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evenleaf.study import Progress

_INTERRUPTED = 130


def study_command(
    config: Annotated[
        Path | None, typer.Argument(metavar="[STUDY.toml]", help="Your own settings; the paper's study if left out.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The same study in minutes, with fewer people.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where results, figures and findings go.")] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="Runs at a time; -1 is one a core.")] = -1,
    redraw: Annotated[
        bool, typer.Option("--redraw", help="Run nothing: figures and findings from the results that are there.")
    ] = False,
) -> None:
    """Repeat the paper's numerical results: all methods, all data sets, tables, figures and findings.

    Stopped at any moment, the same command goes on where it was. The data come from EVENLEAF_DATA_DIR, or are
    fetched once.

    Example: evenleaf study --quick --out out/study
    """
    from evenleaf.errors import InputError
    from evenleaf.study import built_in, make_study, read_config, write_findings

    if config is not None and quick:
        raise InputError("--quick is a study of its own; leave it out, or leave out the file")
    if jobs == 0:
        raise InputError("--jobs must not be 0: give the number of runs at a time, or -1 for one a core")
    folder = out or Path("out/study-quick" if quick else "out/study")
    if redraw:
        files = write_findings(folder).files
    else:
        chosen = read_config(config) if config is not None else built_in("quick" if quick else "full")
        try:
            files = make_study(chosen, folder, jobs=jobs, tell=_tell).files
        except KeyboardInterrupt:
            sys.stderr.write(f"\nstopped; what is finished is kept in {folder}, and the same command goes on\n")
            raise SystemExit(_INTERRUPTED) from None
    for path in files:
        typer.echo(str(path))


def _tell(progress: Progress) -> None:
    """One line a chain on standard error, rewritten in place where there is a terminal."""
    line = f"{progress.part:4.0%}  {progress.chains_done} of {progress.chains}"
    if progress.left is not None and progress.part < 1:
        line += f", about {_words(progress.left)} left"
    line += f"  {progress.last}"
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line[:110]}" + ("\n" if progress.part >= 1 else ""))
    else:
        sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
