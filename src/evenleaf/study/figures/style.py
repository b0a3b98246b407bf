"""How figures look: colours that the colour-blind can tell apart, and shapes and dashes that survive a photocopier."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evenleaf.errors import MissingExtraError


@dataclass(frozen=True)
class Look:
    """Colour (from the palette of Okabe and Ito), marker, dashes and hatching of one thing.

    Sizes differ so that points at the same place, as many are at zero discrimination, show as rings in each other.
    """

    colour: str
    marker: str
    dashes: Any
    hatch: str
    size: float
    words: str


LOOKS: dict[str, Look] = {
    "MIP-DT": Look("#0072B2", "o", "-", "//", 16, "MIP-DT"),
    "MIP-DT-A": Look("#56B4E9", "s", "--", "\\\\", 60, "MIP-DT-A"),
    "CART": Look("#000000", "D", ":", "xx", 34, "CART, greedy tree"),
    "DADT": Look("#D55E00", "^", "-.", "||", 120, "DADT"),
    "regression": Look("#E69F00", "v", (0, (5, 1)), "--", 150, "log, linear regression"),
    "reduction": Look("#CC79A7", "P", (0, (1, 1)), "..", 70, "reduction"),
}
# The same dashes and colours for series that are no families, in order.
SERIES = tuple(LOOKS.values())
TITLES = {"default": "Default", "adult": "Adult", "compas": "COMPAS", "crime": "Crime"}

_SETTINGS: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "evenleaf",  # the same picture is the same file
    "svg.fonttype": "none",
}


def require_matplotlib() -> None:
    """Say at the start that figures cannot be drawn, not at the end."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("figures need matplotlib: python -m pip install 'evenleaf[study]'")


@contextmanager
def canvas(rows: int, columns: int, size: tuple[float, float]) -> Iterator[tuple[Any, Any]]:
    """A figure and its axes in the house style, drawn without a screen."""
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context(_SETTINGS):
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        yield figure, figure.subplots(rows, columns, squeeze=False)


def save(figure: Any, folder: Path, name: str) -> list[Path]:
    """As PNG and SVG, without the date, so that drawing again changes nothing."""
    from matplotlib import rc_context

    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    with rc_context(_SETTINGS):
        figure.savefig(paths[0], dpi=150, metadata={"Software": None})
        figure.savefig(paths[1], metadata={"Date": None, "Creator": None})
    return paths


def percent(value: float) -> str:
    """A fraction for a reader."""
    return f"{100 * value:.1f} %"
