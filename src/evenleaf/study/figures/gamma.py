"""How differently people are treated for their group, person by person: the distribution of γ(x)."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenleaf.study.figures.style import SERIES, TITLES, canvas, percent
from evenleaf.study.results import Results
from evenleaf.study.views import gamma_centres, gaps


def draw_gamma(results: Results, data: str) -> Any:
    """Figure 2(d) of the paper, one panel a tree; the axis is logarithmic because most people have γ = 0."""
    entries, centres = gaps(results, data), gamma_centres()
    with canvas(1, max(1, len(entries)), (3.1 * max(1, len(entries)), 2.9)) as (figure, axes):
        for panel, entry, look in zip(axes.ravel(), entries, SERIES, strict=False):
            shares = 100 * np.array(entry.counts) / sum(entry.counts)
            panel.bar(centres, shares, width=centres[1] - centres[0], color=look.colour, edgecolor="white", lw=0.3)
            panel.set_yscale("log")
            panel.set_ylim(0.01, 150)
            panel.set_xlim(-1, 1)
            panel.set_title(
                f"λ = {entry.weight:g}\nDTDI {percent(entry.dtdi)}, γ = 0 for {percent(entry.alike)}",
                loc="left",
                fontsize=9,
            )
            panel.set_xlabel("γ(x)")
        axes[0, 0].set_ylabel(f"test people of {TITLES.get(data, data)}, %")
        return figure
