"""A progress bar for whoever waits: on standard error, only on a terminal, only for what takes over two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

PATIENCE = 2.0


@contextmanager
def late_progress(what: str) -> Iterator[Callable[[float], None] | None]:
    """A function to be told the part that is done (0 to 1), or None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    started = time.perf_counter()
    with ExitStack() as stack:
        shown: list[Callable[[float], None]] = []

        def tell(done: float) -> None:
            expected = (time.perf_counter() - started) / max(done, 1e-9)
            if not shown and expected > PATIENCE and done < 1:
                shown.append(stack.enter_context(_bar(what)))
            if shown:
                shown[0](done)

        yield tell


@contextmanager
def _bar(what: str) -> Iterator[Callable[[float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda done: progress.update(task, completed=done)
