"""The model as a file, for any other solver: MPS or LP, chosen by the suffix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from evenleaf.errors import InputError
from evenleaf.files import write_whole
from evenleaf.solve.mip.export_lp import lp_lines
from evenleaf.solve.mip.export_mps import mps_lines
from evenleaf.solve.mip.export_rows import Side, legal_names, one_sided
from evenleaf.solve.mip.model import LinearModel

__all__ = ["WRITERS", "legal_names", "write_model"]

Writer = Callable[[LinearModel, tuple[str, ...], list[Side]], Iterator[str]]
WRITERS: dict[str, Writer] = {".mps": mps_lines, ".lp": lp_lines}


def write_model(model: LinearModel, path: str | os.PathLike[str]) -> Path:
    """Write the model to `path`, whole or not at all; the suffix, .mps or .lp, chooses the format.

    Variables keep their order and their names, made legal by `legal_names`. Numbers are written so that they read
    back to the last bit.
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
    lines = writer(model, legal_names(model.variable_names), one_sided(model))
    write_whole(target, (f"{line}\n".encode("ascii") for line in lines))
    return target
