"""What the solver knows while one waits: on standard error, on a terminal only, after a moment's patience."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenleaf.cli.progress import late_progress
from evenleaf.fairness import Progress
from evenleaf.problem import Score
from evenleaf.solve import TracePoint
from evenleaf.solve.result import relative_gap


@dataclass
class Knowledge:
    """The latest news; a solver tells it, the display reads it."""

    index: str = "index"
    classes: bool = True
    started: float = field(default_factory=time.perf_counter)
    bound: float = -np.inf
    objective: float = np.inf
    score: Score | None = None
    solved: tuple[int, int] | None = None

    def on_progress(self, point: TracePoint) -> None:
        """The bound and the best objective so far."""
        self.bound, self.objective = point.bound, point.objective

    def on_score(self, score: Score) -> None:
        """A better tree was found."""
        self.score = score

    def on_solved(self, done: int, waiting: int) -> None:
        """One more λ of a frontier is solved."""
        self.solved = (done, waiting)

    def words(self) -> list[tuple[str, str]]:
        """What is known, name by name; what is not known yet is left out."""
        lines = [("time", f"{time.perf_counter() - self.started:.0f} s")]
        if self.solved is not None:
            lines.append(("λ solved", f"{self.solved[0]}, {self.solved[1]} waiting"))
        if np.isfinite(self.objective):
            lines.append(("incumbent", f"{self.objective:.5f}"))
        if np.isfinite(self.bound):
            lines.append(("bound", f"{self.bound:.5f}"))
            lines.append(("gap", f"{relative_gap(self.objective, self.bound):.2%}"))
        if self.score is not None:
            loss = f"{1 - self.score.loss:.2%}" if self.classes else f"{self.score.loss:.5g}"
            lines.append(("accuracy" if self.classes else "error", loss))
            lines.append((self.index, f"{self.score.discrimination:.4f}"))
        return lines


@contextmanager
def display(knowledge: Knowledge) -> Iterator[tuple[Progress | None, Callable[[], None]]]:
    """A bar while the table is read, and what the solver knows from the moment the second function is called.

    It is refreshed four times a second and cleared away in the end; nothing is shown where nobody would see it.
    """
    with ExitStack() as solving, ExitStack() as reading:
        progress = reading.enter_context(late_progress("looking for similar people"))

        def begin() -> None:
            reading.close()
            knowledge.started = time.perf_counter()
            if sys.stderr.isatty():
                solving.enter_context(_live(knowledge))

        yield progress, begin


@contextmanager
def solved_display() -> Iterator[Callable[[int, int], None]]:
    """How many λ are solved, while one waits for a whole frontier."""
    knowledge = Knowledge()
    with display(knowledge) as (_, begin):
        begin()
        yield knowledge.on_solved


def _live(knowledge: Knowledge) -> Any:
    from rich.console import Console
    from rich.live import Live

    return Live(_Screen(knowledge), console=Console(stderr=True), refresh_per_second=4, transient=True)


class _Screen:
    """Rendered anew by rich whenever it refreshes."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge

    def __rich__(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        line = Table.grid(padding=(0, 2))
        words = self.knowledge.words()
        line.add_row(*(Text.assemble((f"{name} ", "dim"), (value, "bold")) for name, value in words))
        rows = Table.grid()
        rows.add_row(line)
        rows.add_row(Text("Ctrl-C once stops and keeps the best so far", style="dim"))
        return rows
