"""From arguments to an exit code. A user's mistake is one sentence on standard error, never a traceback."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Any, TextIO, cast

import typer

from evenleaf.cli.app import app
from evenleaf.errors import InputError, MissingExtraError

DONE, BAD_INPUT, INTERRUPTED = 0, 2, 130

# What the library calls its settings, and what they are called here.
_OPTIONS = {
    "n_neighbors=": "--neighbors ",
    "n_neighbors": "--neighbors",
    "drop_incomplete=True": "--drop-incomplete",
    "fairness_weight (λ)": "--fairness-weight",
    "max_discrimination (ε)": "--max-discrimination",
    "solver='auto' or 'mip'": "--solver auto or mip",
    "n_jobs": "--jobs",
    "with the fairness 'none'": "with --fairness none",
}


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and say how it ended."""
    _print_anything(sys.stdout)
    _print_anything(sys.stderr)
    try:
        command = typer.main.get_command(app)
        args = None if arguments is None else list(arguments)
        code = command.main(args=args, prog_name="evenleaf", standalone_mode=False)
    except (InputError, MissingExtraError) as error:
        return complain(str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return complain(_usage(error))
    if code == INTERRUPTED:
        complain("interrupted; nothing was written")
    return code if isinstance(code, int) else DONE


def complain(message: str) -> int:
    """One line on standard error, in the words of the command line."""
    for name, option in _OPTIONS.items():
        message = message.replace(name, option)
    line = " ".join(message.split())
    sys.stderr.write(f"error: {readable(line)}\n")
    return BAD_INPUT


def readable(text: str) -> str:
    """The text without characters that would command the terminal instead of being shown."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def _usage(error: Exception) -> str:
    """What was wrong with the arguments, and where help is."""
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "evenleaf")
    message = str(error.format_message()).rstrip(" .").replace("Value error, ", "")  # type: ignore[attr-defined]
    return f"{message[:1].lower()}{message[1:]}; see {command} --help"


def _print_anything(stream: TextIO) -> None:
    """A terminal that cannot show a character gets a substitute instead of a crash."""
    with contextlib.suppress(AttributeError, ValueError):
        cast(Any, stream).reconfigure(errors="replace")
