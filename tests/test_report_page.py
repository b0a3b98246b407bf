"""The page as a file: one piece, a strict policy, nothing of the data as markup, a size one can hand around."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenleaf.case import Question, make_case
from evenleaf.errors import InputError
from evenleaf.report import page_html, summarise, write_page
from evenleaf.report.page import LARGEST_PAGE, _filled, _safe_json
from evenleaf.solve import solve
from report_cases import HOSTILE, hostile_columns, loan_summary

ASSETS = files("evenleaf.report") / "assets"


def assets(ending: str) -> list[str]:
    return [entry.read_text("utf-8") for entry in ASSETS.iterdir() if entry.name.endswith(ending)]


def test_the_policy_names_the_hashes_of_what_is_there() -> None:
    page = page_html(loan_summary())
    policy = html.unescape(re.search(r'Content-Security-Policy" content="(.*?)"', page).group(1))  # type: ignore[union-attr]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, name in (("style", "style-src"), ("script", "script-src")):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL).group(1)  # type: ignore[union-attr]
        digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        assert f"{name} 'sha256-{digest}'" in policy


def test_scripts_make_no_markup_and_load_nothing() -> None:
    scripts = assets(".js")
    assert len(scripts) > 5
    forbidden = (
        "innerHTML|outerHTML|insertAdjacentHTML|document.write|eval\\(|new Function|fetch\\(|XMLHttp|import\\(|https?:"
    )
    for script in scripts:
        text = script.replace("http://www.w3.org/2000/svg", "")  # the name of SVG, not an address
        assert re.findall(forbidden, text) == []
        assert "</" not in text  # would end the element it is put into
    for style in assets(".css"):
        assert re.findall(r"url\(|@import|expression", style) == []


def test_the_page_is_small_and_whole(tmp_path: Path) -> None:
    place = write_page(loan_summary(), tmp_path / "page.html")
    page = place.read_text("utf-8")
    assert len(page) < LARGEST_PAGE / 10
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert "{{" not in page.partition('id="evenleaf-data"')[0]
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_the_figures_are_inside_as_json() -> None:
    page = page_html(loan_summary())
    inside = re.search(r'<script type="application/json" id="evenleaf-data">(.*?)</script>', page, re.DOTALL)
    assert inside is not None
    assert json.loads(inside.group(1)) == json.loads(json.dumps(loan_summary().to_json()))


def test_names_never_become_markup() -> None:
    columns = hostile_columns()
    _, _, _, group, target = columns
    case = make_case(columns, Question(target, (group,), n_neighbors=5, max_depth=1), source=HOSTILE[1])
    page = page_html(summarise(case, asked=solve(case.problem), include_rows=True, command=HOSTILE[2], n_resamples=20))
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    assert "window.broken = 1</script>" not in page.replace("</script>\n</body>", "")


@given(st.recursive(st.text() | st.floats(allow_nan=False, allow_infinity=False) | st.none(), st.lists))
def test_json_inside_html_reads_back(value: object) -> None:
    text = _safe_json({"value": value})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"value": value}


def test_what_is_filled_in_is_not_filled_again() -> None:
    assert _filled("a{{x}}b{{y}}", {"x": "{{y}}", "y": "}}{{x"}) == "a{{y}}b}}{{x"


def test_a_page_too_large_is_refused(tmp_path: Path) -> None:
    summary = loan_summary()
    grown = replace(summary, provenance={**summary.provenance, "command": "x" * LARGEST_PAGE})
    with pytest.raises(InputError, match="too much to hand around"):
        write_page(grown, tmp_path / "page.html")
    with pytest.raises(InputError, match="leave out --include-rows"):
        write_page(replace(grown, includes_rows=True), tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        write_page(loan_summary(), tmp_path / "nowhere" / "page.html")


def test_wording_of_the_house() -> None:
    """We mitigate a named harm; nothing is debiased, and an index is not a verdict."""
    words = " ".join([*assets(".js"), *assets(".html")]).lower()
    for forbidden in ("debias", "unbiased", "bias-free", "solve bias", "guarantees fair"):
        assert forbidden not in words
    for needed in ("not a verdict", "mitigates", "new people", "labels may be unfair", "not named were not looked at"):
        assert needed in words
