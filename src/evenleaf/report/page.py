"""The summary as one HTML file: style and script inlined, the data as JSON, a policy that lets nothing else run.

Every name from the table travels as JSON and becomes a text node in the browser, so that a column called
`<script>` is shown and never executed. The policy names the hashes of our own style and script and forbids
everything else, network included.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from evenleaf.errors import InputError
from evenleaf.files import write_whole
from evenleaf.report.summary import Summary

LARGEST_PAGE = 3_000_000


def write_page(summary: Summary, path: str | Path) -> Path:
    """Write the page, whole or not at all."""
    place = Path(path)
    page = page_html(summary).encode("utf-8")
    if len(page) > LARGEST_PAGE:
        rows = "leave out --include-rows, or " if summary.includes_rows else ""
        raise InputError(
            f"the page would take {len(page) / 1e6:.1f} MB, too much to hand around; {rows}put the levels of long "
            "columns into fewer groups, or ignore such columns"
        )
    try:
        write_whole(place, [page])
    except OSError as error:
        raise InputError(f"cannot write {place}: {error.strerror or error}") from error
    return place


def page_html(summary: Summary) -> str:
    """The whole page as text."""
    data = summary.to_json()
    style, script = _asset("style.css"), _script()
    parts = {
        "policy": _policy(style, script),
        "title": html.escape(f"How to decide {data['asked']['target']} – Evenleaf report"),
        "style": style,
        "plain": _plain(data),
        "data": _safe_json(data),
        "script": script,
    }
    return _filled(_asset("page.html"), parts)


def _filled(template: str, parts: dict[str, str]) -> str:
    """One pass over the template: what is filled in is never searched for further marks."""
    pieces = template.split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        filled += [parts[name], rest]
    return "".join(filled)


def _safe_json(data: dict[str, Any]) -> str:
    """JSON that cannot end its script element: <, > and & as escapes, and two line ends that old parsers trip on."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def _asset(name: str) -> str:
    return (files("evenleaf.report") / "assets" / name).read_text("utf-8")


@cache
def _script() -> str:
    """The scripts in the order of their numbers, in a scope of their own."""
    folder = files("evenleaf.report") / "assets"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".js"))
    return '(() => {\n"use strict";\n' + "\n".join(_asset(name) for name in names) + "\n})();"


def _plain(data: dict[str, Any]) -> str:
    """For a browser without scripts: the chosen tree in words and the figures of all trees."""
    chosen = data["trees"][data["chosen"]]
    rows = "".join(
        f"<tr><td>{number}</td><td>{tree['loss']:.4f}</td><td>{tree['discrimination']:.4f}</td>"
        f"<td>{tree['leaves']}</td><td>{'proven' if tree['proven'] else 'not proven'}</td></tr>"
        for number, tree in enumerate(data["trees"], 1)
    )
    return (
        f"<h2>Tree {data['chosen'] + 1}</h2><pre>{html.escape(chosen['text'])}</pre>"
        "<table><thead><tr><th>Tree</th><th>Loss</th><th>Discrimination</th><th>Leaves</th><th>Status</th></tr></thead>"
        f"<tbody>{rows}</tbody></table><p>Switch on JavaScript to explore the trade-off; this page loads nothing.</p>"
    )
