"""The commands and what they have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from evenleaf import __version__
from evenleaf.cli.audit import audit_command
from evenleaf.cli.demo import demo_command
from evenleaf.cli.fit import fit_command
from evenleaf.cli.frontier import frontier_command
from evenleaf.cli.predict import predict_command
from evenleaf.cli.study import study_command
from evenleaf.cli.verify import verify_command

_EPILOG = """
Examples:

evenleaf demo

evenleaf audit people.csv --target granted --protected sex

evenleaf fit people.csv --target granted --protected sex --out model.json --report page.html

evenleaf predict model.json new.csv --out decided.csv
"""

app = typer.Typer(
    name="evenleaf",
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("audit")(audit_command)
app.command("fit")(fit_command)
app.command("frontier")(frontier_command)
app.command("predict")(predict_command)
app.command("verify")(verify_command)
app.command("study")(study_command)
app.command("demo")(demo_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"evenleaf {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def evenleaf(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 (its callback has shown it already)
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Optimal, fair and readable decision trees, each with a proof.

    Exit codes: 0 done or proven, 3 a tree without proof, 4 no tree keeps the limits, 1 a claim is false,
    2 bad input, 130 interrupted.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
