"""The command line: one file a command, each calls one public function. Heavy imports wait inside commands."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `evenleaf` and leave with its exit code: 0 done, 2 bad input, 130 interrupted."""
    try:
        from evenleaf.cli.run import run

        code = run(arguments)
    except KeyboardInterrupt:  # pressed while the program was still being loaded
        code = 130
    raise SystemExit(code)
