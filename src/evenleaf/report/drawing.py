"""Static drawings for papers: a tree, and the trade-off, as SVG, PDF or PNG (with matplotlib, an extra).

Names are drawn as they are: matplotlib would read a dollar sign as the start of a formula.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from evenleaf.case import Case
from evenleaf.errors import InputError, MissingExtraError
from evenleaf.files import write_whole
from evenleaf.solve import Frontier
from evenleaf.table import People
from evenleaf.tree import Branch, Leaf, Tree
from evenleaf.tree.svg import tree_svg
from evenleaf.tree.text import leaf_text, question_text

FORMATS = ("svg", "pdf", "png")
_INK, _SOFT, _LEAF, _LINE = "#1f2b33", "#53616a", "#2c6548", "#a3abb0"
_ACROSS, _WIDE, _HIGH = 26, 2.35, 1.45  # characters a line, inches a leaf, inches a level
_LONGEST = 120


def save_tree(tree: Tree, path: str | Path, people: People | None = None) -> Path:
    """Draw a tree; with people, each node says how many pass through it. SVG needs no matplotlib."""
    place = Path(path)
    if place.suffix.lower() == ".svg":
        counts = None if people is None else _counts(tree, people)
        note = None if counts is None else (lambda position: f"{counts[position]:,} people")
        write_whole(place, [tree_svg(tree, note).encode("utf-8")])
        return place
    figure = _figure(max(3.2, _WIDE * tree.n_leaves), _HIGH * (tree.depth + 1))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    plot_tree(tree, axes, people)
    return _save(figure, path)


def save_frontier(frontier: Frontier, path: str | Path, case: Case) -> Path:
    """Draw the trade-off: one dot a tree, hollow where its optimality is not proven."""
    figure = _figure(5.6, 3.8)
    axes = figure.add_subplot()
    plot_frontier(frontier, axes, case)
    figure.tight_layout()
    return _save(figure, path)


def plot_frontier(frontier: Frontier, axes: Any, case: Case) -> None:
    """The trade-off into given axes: the index across, the loss upwards."""
    across = np.array([max(0.0, point.discrimination) for point in frontier])
    classes = case.people.outcome.classes is not None
    up = np.array([100 * (1 - point.loss) if classes else point.loss for point in frontier])
    proven = np.array([point.proven for point in frontier])
    axes.plot(across, up, color=_LEAF, linewidth=1.0, alpha=0.6, zorder=1)
    for chosen, face in ((proven, _LEAF), (~proven, "white")):
        axes.scatter(across[chosen], up[chosen], s=30, facecolor=face, edgecolor=_LEAF, linewidth=1.2, zorder=2)
    axes.set_xlabel(f"{case.question.index} (0: no difference between groups)", parse_math=False)
    axes.set_ylabel("decided as in the data (%)" if classes else "mean absolute error", parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=_LINE, linewidth=0.4, alpha=0.6)


def plot_tree(tree: Tree, axes: Any, people: People | None = None) -> None:
    """A tree into given axes: questions above, decisions below, "yes" to the left."""
    across, down = _places(tree)
    counts = None if people is None else _counts(tree, people)
    for position, node in enumerate(tree.nodes):
        if isinstance(node, Branch):
            for child, word in ((node.left, "yes"), (node.right, "no")):
                _edge(axes, (across[position], down[position]), (across[child], down[child]), word)
    for position, node in enumerate(tree.nodes):
        _box(axes, across[position], down[position], _words(tree, position, counts), isinstance(node, Leaf))
    axes.set_xlim(-0.6, max(0.6, tree.n_leaves - 0.4))
    axes.set_ylim(-tree.depth - 0.5, 0.5)
    axes.axis("off")


def _places(tree: Tree) -> tuple[list[float], list[float]]:
    """Leaves side by side in reading order, a question above the middle of its two answers."""
    across, down = [0.0] * len(tree.nodes), [0.0] * len(tree.nodes)
    for position, node in enumerate(tree.nodes):
        if isinstance(node, Branch):
            down[node.left] = down[node.right] = down[position] - 1
    order, stack = [], [0]
    while stack:
        node = tree.nodes[position := stack.pop()]
        if isinstance(node, Branch):
            stack += [node.right, node.left]
        else:
            order.append(position)
    for place, position in enumerate(order):
        across[position] = float(place)
    for position in reversed(range(len(tree.nodes))):
        node = tree.nodes[position]
        if isinstance(node, Branch):
            across[position] = (across[node.left] + across[node.right]) / 2
    return across, down


def _counts(tree: Tree, people: People) -> list[int]:
    counts = np.bincount(tree.apply(people.features), minlength=len(tree.nodes)).tolist()
    for position in reversed(range(len(tree.nodes))):
        node = tree.nodes[position]
        if isinstance(node, Branch):
            counts[position] = counts[node.left] + counts[node.right]
    return counts


def _words(tree: Tree, position: int, counts: list[int] | None) -> str:
    node = tree.nodes[position]
    text = (
        f"{question_text(node.test, tree.schema)}?"
        if isinstance(node, Branch)
        else leaf_text(node, tree.target, tree.schema)
    )
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    lines = textwrap.wrap(shown, _ACROSS, break_long_words=True) or [""]
    return "\n".join([*lines, *([] if counts is None else [f"{counts[position]:,} people"])])


def _edge(axes: Any, above: tuple[float, float], below: tuple[float, float], word: str) -> None:
    axes.plot([above[0], below[0]], [above[1], below[1]], color=_LINE, linewidth=1.0, zorder=1)
    middle = ((above[0] + below[0]) / 2, (above[1] + below[1]) / 2)
    patch = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    axes.text(*middle, word, ha="center", va="center", fontsize=8, color=_SOFT, bbox=patch, zorder=2)


def _box(axes: Any, across: float, down: float, words: str, leaf: bool) -> None:
    patch = {
        "boxstyle": "round,pad=0.5",
        "facecolor": "#e2eee6" if leaf else "white",
        "edgecolor": _LEAF if leaf else _INK,
        "linewidth": 1.0,
    }
    axes.text(
        across, down, words, ha="center", va="center", fontsize=9, color=_INK, bbox=patch, zorder=3, parse_math=False
    )


def _figure(width: float, height: float) -> Any:
    if not find_spec("matplotlib"):
        raise MissingExtraError("drawings need matplotlib: pip install 'evenleaf[plots]'")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def _save(figure: Any, path: str | Path) -> Path:
    """The file, whole or not at all, and the same bytes for the same drawing."""
    import matplotlib

    place = Path(path)
    kind = place.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InputError(f"{place.name}: drawings are written as .svg, .pdf or .png")
    dates: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "evenleaf", "pdf.fonttype": 42}
    drawn = io.BytesIO()
    # A font that lacks a character draws a box instead; that is no reason to fail.
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        figure.savefig(drawn, format=kind, dpi=200, metadata=dates[kind])
    write_whole(place, [drawn.getvalue()])
    return place
