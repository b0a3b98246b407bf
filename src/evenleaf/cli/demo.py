"""`evenleaf demo`: the main job on the embedded data, and where its files are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo_command(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write the files.")] = Path("out/demo"),
) -> None:
    """Audit the embedded Adult data, learn the whole trade-off with proofs, and make the page to read.

    Example: evenleaf demo --out /tmp/demo
    """
    from rich.console import Console

    from evenleaf.cli.live import solved_display
    from evenleaf.cli.show_demo import show_demo
    from evenleaf.demo import run_demo

    console = Console(highlight=False)
    show_demo(run_demo(out, lambda line: console.print(f"• {line} …"), learning=solved_display), console)
