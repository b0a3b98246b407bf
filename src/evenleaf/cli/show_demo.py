"""The demo's results for a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from evenleaf.case import Answered
from evenleaf.cli.run import readable
from evenleaf.cli.show_fit import readable_lines, show_answered, tree_words
from evenleaf.demo import Demo

_TITLES = {"plain": "without fairness (λ = 0)", "fair": "with fairness (λ = 1)"}


def show_demo(demo: Demo, console: Console) -> None:
    """The indices of the data, all trees in figures, two of them in words, the files, and which one to open."""
    console.print()
    view = demo.report.views[0]
    by = readable(" × ".join(view.columns))
    for note in view.indices:
        words = f" of the decisions in the data, by {by}: {note.value:.4f}"
        console.print(Text.assemble((note.index.upper(), "bold"), words))
    show_answered(Answered(demo.case, None, demo.frontier))
    for name, point in demo.trees.items():
        console.print()
        console.print(Text(f"The best tree {_TITLES[name]}", style="bold"))
        console.print(Text(readable_lines(tree_words(point.tree, demo.case))))
    console.print(
        "\nDTDI: among similar people, how far a group's rate is from everybody's, on average; 0 is no difference."
    )
    console.print("It describes these decisions on this table; it is not a verdict, and the test is new people.")
    console.print("\n[bold]Files[/]")
    for path in demo.files:
        console.print(Text(f"  {readable(str(path))}"), soft_wrap=True)
    model, table = (readable(str(path)) for path in (demo.model, demo.table))
    console.print(Text(f"\nCheck the proof again: evenleaf verify {model} {table}"), soft_wrap=True)
    page = Text(f"Open {readable(str(demo.page))}", style="bold").append(" in a browser.", style="not bold")
    console.print(page, soft_wrap=True)
