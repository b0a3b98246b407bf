"""A tree as a drawing: one self-contained SVG, readable without colour and by a screen reader."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from evenleaf.tree.text import leaf_text, missing_text, question_text, tree_text
from evenleaf.tree.tree import Branch, Leaf, Tree

Note = Callable[[int], str]
_WIDTH, _GAP, _ROW, _LINE, _PAD = 190, 18, 56, 16, 10
_LETTERS = 27  # so many letters fit into a box at this size
# Light fills that differ in lightness too, so that they can be told apart in print.
_FILLS = ("#dce9f5", "#fbe3c8", "#d9ead3", "#ead1dc", "#fff2cc", "#d0e0e3", "#e6e0f0", "#f4cccc")


@dataclass(frozen=True)
class _Box:
    """Where a node is drawn, and its lines."""

    x: float
    y: float
    height: float
    lines: tuple[str, ...]
    fill: str

    @property
    def middle(self) -> float:
        return self.x + _WIDTH / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


def tree_svg(tree: Tree, note: Note | None = None) -> str:
    """The drawing; `note` may add a line (say, head counts) to each node."""
    boxes = _layout(tree, note or (lambda _: ""))
    width = max(box.x for box in boxes) + _WIDTH + _PAD
    height = max(box.bottom for box in boxes) + _PAD
    name = escape(_visible(f"decision tree for {tree.target.name}"))
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    font = 'font-family="system-ui, sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{name}" {size} {font}>',
        f"<desc>{_clean(tree_text(tree))}</desc>",
        *(edge for position, node in enumerate(tree.nodes) for edge in _edges(boxes, position, node)),
        *(_drawn(box) for box in boxes),
        "</svg>",
    ]
    return "\n".join(parts)


def _layout(tree: Tree, note: Note) -> list[_Box]:
    """Leaves side by side, each test above the middle of its two sides, each row as high as its tallest box."""
    lines = [_lines(tree, position, note) for position in range(len(tree.nodes))]
    depth = [0] * len(tree.nodes)
    for position, node in enumerate(tree.nodes):
        if isinstance(node, Branch):
            depth[node.left] = depth[node.right] = depth[position] + 1
    heights = [_LINE * len(text) + _PAD for text in lines]
    rows = [max(h for h, d in zip(heights, depth, strict=True) if d == level) for level in range(max(depth) + 1)]
    tops = [_PAD + sum(rows[:level]) + _ROW * level for level in range(len(rows))]
    place = _places(tree)
    return [
        _Box(place[n], tops[depth[n]], heights[n], lines[n], _fill(tree, tree.nodes[n])) for n in range(len(tree.nodes))
    ]


def _places(tree: Tree) -> list[float]:
    """The left edge of each box; the leaves are met in the order in which a reader reads them."""
    place = [0.0] * len(tree.nodes)
    leaves: list[int] = []
    stack = [0]
    while stack:
        position = stack.pop()
        node = tree.nodes[position]
        if isinstance(node, Branch):
            stack += [node.right, node.left]
        else:
            leaves.append(position)
    for number, position in enumerate(leaves):
        place[position] = _PAD + number * (_WIDTH + _GAP)
    for position in reversed(range(len(tree.nodes))):  # children come after their parents
        node = tree.nodes[position]
        if isinstance(node, Branch):
            place[position] = (place[node.left] + place[node.right]) / 2
    return place


def _lines(tree: Tree, position: int, note: Note) -> tuple[str, ...]:
    node = tree.nodes[position]
    if isinstance(node, Branch):
        text = question_text(node.test, tree.schema) + missing_text(node.test, tree.schema) + "?"
    else:
        text = leaf_text(node, tree.target, tree.schema)
    remark = note(position)
    return (*textwrap.wrap(text, _LETTERS), *(textwrap.wrap(remark, _LETTERS) if remark else ()))


def _fill(tree: Tree, node: Branch | Leaf) -> str:
    if isinstance(node, Branch):
        return "#ffffff"
    return _FILLS[int(node.value) % len(_FILLS)] if tree.target.classes is not None else _FILLS[0]


def _edges(boxes: list[_Box], position: int, node: Branch | Leaf) -> list[str]:
    if not isinstance(node, Branch):
        return []
    return [_edge(boxes[position], boxes[node.left], "yes"), _edge(boxes[position], boxes[node.right], "no")]


def _edge(above: _Box, below: _Box, word: str) -> str:
    x, y = (above.middle + below.middle) / 2, (above.bottom + below.y) / 2
    return (
        f'<line x1="{above.middle:g}" y1="{above.bottom:g}" x2="{below.middle:g}" y2="{below.y:g}" stroke="#666"/>'
        f'<text x="{x:g}" y="{y:g}" text-anchor="middle" fill="#222" stroke="#fff" stroke-width="4" '
        f'paint-order="stroke">{word}</text>'
    )


def _clean(text: str) -> str:
    return escape(_visible(text), quote=False)


def _visible(text: str) -> str:
    """XML has no place for control characters, which a level may hold."""
    return re.sub("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ufffe\\uffff]", "\N{REPLACEMENT CHARACTER}", text)


def _drawn(box: _Box) -> str:
    rect = (
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{_WIDTH}" height="{box.height:g}" rx="6" '
        f'fill="{box.fill}" stroke="#444"/>'
    )
    spans = "".join(
        f'<tspan x="{box.middle:g}" y="{box.y + _LINE * (number + 1):g}">{_clean(line)}</tspan>'
        for number, line in enumerate(box.lines)
    )
    return f'{rect}<text text-anchor="middle" fill="#111">{spans}</text>'
