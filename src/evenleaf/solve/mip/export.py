"""The model as a file, for any other solver: MPS or LP, chosen by the suffix."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from evenleaf.errors import InputError
from evenleaf.solve.mip.export_lp import lp_lines
from evenleaf.solve.mip.export_mps import mps_lines
from evenleaf.solve.mip.model import LinearModel

Writer = Callable[[LinearModel, tuple[str, ...], tuple[str, ...]], Iterator[str]]
WRITERS: dict[str, Writer] = {".mps": mps_lines, ".lp": lp_lines}

_LONGEST_NAME = 100
# Words that begin a section or stand for a number in the LP format.
_RESERVED = frozenset(
    "bin binaries binary bnd bound bounds end free gen general generals inf infinity int integer integers max maximise "
    "maximize maximum min minimise minimize minimum obj obj_ range ranges rhs rng sec semi semis semi_continuous sos sos1 "
    "sos2 st subject such to that".split()
)


def write_model(model: LinearModel, path: str | os.PathLike[str]) -> Path:
    """Write the model to `path`, whole or not at all; the suffix, .mps or .lp, chooses the format.

    Variables keep their names, made legal by `legal_names`.
    """
    target = Path(path)
    writer = WRITERS.get(target.suffix.lower())
    if writer is None:
        raise InputError(f"the suffix of {target.name!r} must be one of {', '.join(WRITERS)}")
    crossing = model.crossing_bounds()
    if crossing is not None:
        raise InputError(f"the bounds of {crossing!r} cross: the model is infeasible, and no format can say so")
    if model.n_variables == 0:
        raise InputError("the model has no variables: there is nothing to write")
    lines = writer(model, legal_names(model.variable_names), legal_names(model.row_names))
    _write_whole(target, lines)
    return target


def legal_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names as both formats allow them, in the same order, each one different."""
    taken: set[str] = set()
    result = []
    for name in names:
        legal = _distinct(_legal(name), taken)
        taken.add(legal)
        result.append(legal)
    return tuple(result)


def _legal(name: str) -> str:
    """Letters, digits and underscores; no section word, and nothing that reads as a number, such as 2x or e5."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:_LONGEST_NAME]
    if not plain or plain.lower() in _RESERVED or re.match(r"[0-9]|[eE]([0-9]|$)", plain):
        return f"n_{plain}"
    return plain


def _distinct(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}__{number}" in taken:
        number += 1
    return f"{name}__{number}"


def _write_whole(target: Path, lines: Iterable[str]) -> None:
    """Write beside the target and rename: a reader sees the old file or the new one, never a half."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="ascii", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
