"""How a fitted tree looks in a notebook: scikit-learn's box of parameters, and below it the tree and its claim."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from evenleaf.tree import Leaf, tree_svg


def html(estimator: Any, parameters: str) -> str:
    """The parameters as scikit-learn shows them; once fitted, also the drawn tree and what is known of it."""
    if not hasattr(estimator, "tree_"):
        return parameters
    drawing = tree_svg(estimator.tree_, lambda position: head_count(estimator, position))
    return (
        f"<div>{parameters}<div style='overflow-x: auto; background: #fff; color: #111; padding: 8px'>"
        f"{drawing}<pre>{escape(str(estimator.solution_))}</pre></div></div>"
    )


def frontier_html(estimator: Any, parameters: str) -> str:
    """The parameters as scikit-learn shows them; once fitted, also the trade-off as a table."""
    if not hasattr(estimator, "points_"):
        return parameters
    columns = estimator._rows()
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(_cell(value))}</td>' for value in row)}</tr>"
        for row in zip(*columns.values(), strict=True)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<div>{parameters}<div style='overflow-x: auto'>{table}</div></div>"


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def head_count(estimator: Any, position: int) -> str:
    """How many training people a leaf decides about."""
    if not isinstance(estimator.tree_.nodes[position], Leaf):
        return ""
    count = float(estimator._leaf_counts[position].sum())
    return f"{count:,.0f} people" if np.isclose(count, round(count)) else f"weight {count:,.4g}"
