"""The demo's results for a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evenleaf.demo import Demo, Learned


def show_demo(demo: Demo, console: Console) -> None:
    """The indices of the data, the two trees side by side in figures, then in words, then the files."""
    console.print()
    view = demo.report.views[0]
    for note in view.indices:
        by = escape(" × ".join(view.columns))
        console.print(f"[bold]{note.index.upper()}[/] of the decisions in the data, by {by}: {note.value:.4f}")
    console.print()
    console.print(_figures(demo))
    for learned in demo.trees:
        console.print(f"\n[bold]{_title(learned)}[/]")
        console.print(escape(learned.words))
    console.print(
        "\nDTDI: among similar people, how far a group's rate is from everybody's, on average; 0 is no difference."
    )
    console.print("It describes these decisions on this table; it is not a verdict, and the test is new people.")
    console.print("\n[bold]Files[/]")
    for path in demo.files:
        console.print(f"  {escape(str(path))}")


def _figures(demo: Demo) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("tree", "wrong decisions", "DTDI", "objective", "status", "seconds"):
        table.add_column(heading, justify="left" if heading in ("tree", "status") else "right")
    for learned in demo.trees:
        solution = learned.solution
        loss = "–" if solution.score is None else f"{solution.score.loss:.2%}"
        discrimination = "–" if solution.score is None else f"{solution.score.discrimination:.4f}"
        status = "proven optimal" if solution.proven else f"{solution.status}, gap {solution.gap:.1%}"
        table.add_row(
            _title(learned), loss, discrimination, f"{solution.objective:.4f}", status, f"{solution.seconds:.1f}"
        )
    return table


def _title(learned: Learned) -> str:
    return f"{learned.name} (λ = {learned.problem.fairness_weight:g})"
