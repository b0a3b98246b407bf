"""The page in a real browser: every figure it shows, every control, by mouse and by keyboard, narrow and wide."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import WIDTHS, Watched, chromium, watched
from evenleaf.case import Case, Question, make_case
from evenleaf.report import summarise, write_page
from evenleaf.solve import Budget, frontier, solve
from evenleaf.solve.preference import Choice, Preference
from evenleaf.table import Table
from evenleaf.tree import Branch, Leaf, Tree
from report_cases import hostile_columns, loan_case, loan_columns, loan_frontier, loan_summary, pay_columns

pytestmark = pytest.mark.needs("chromium")

BOTH = pytest.mark.parametrize("width", list(WIDTHS))
# The contrast of every visible text with what lies behind it, by the formula of WCAG 2; large text may have less.
CONTRAST = """() => {
  const channel = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const parse = (text) => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.5) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const box = element.getBoundingClientRect();
    if (!own || !box.width || !box.height || element.closest("svg, script, :disabled, .skip")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(parse(style.color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 600);
    const words = `${element.className} ${element.textContent.slice(0, 40)}`;
    if (ratio < (large ? 3 : 4.5)) found.push(`${ratio.toFixed(2)} ${words}`);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(loan_summary(), tmp_path_factory.mktemp("page") / "loans.html")


def percent(value: float) -> str:
    """As a browser rounds: an exact half goes up."""
    return f"{Decimal(100 * value).quantize(Decimal('0.1'), ROUND_HALF_UP)}%"


def figures(page: Any) -> str:
    return page.inner_text("#figures")


def accuracy(case: Case, tree: Tree) -> float:
    return float(case.people.share @ (tree.decide(case.people.features) == case.people.outcome.values))


def move_to(page: Any, place: int) -> None:
    """As a hand on the handle does."""
    page.eval_on_selector(
        "#slider",
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        str(place + 1),
    )


@BOTH
def test_it_opens_quietly_and_fits(browser: Any, loans: Path, width: str) -> None:
    with watched(browser, width) as seen:
        page = seen.open(loans)
        assert page.title() == "How to decide granted – Evenleaf report"
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        for section in ("asked", "explore", "prefer", "groups", "gaps", "different", "ask", "read", "limits", "again"):
            assert page.is_visible(f"#{section} h2")
        page.wait_for_selector("#explore svg.chart circle")
        seen.picture(f"loans-{width}")


@BOTH
def test_the_handle_changes_tree_and_figures(browser: Any, loans: Path, width: str) -> None:
    case = loan_case()
    with watched(browser, width) as seen:
        page = seen.open(loans)
        for place, point in enumerate(loan_frontier()):
            move_to(page, place)
            shown = figures(page)
            assert percent(accuracy(case, point.tree)) in shown
            index = f"{point.discrimination:.4f}" if point.discrimination > 1e-12 else "0"
            assert index in shown.split()
            assert f"{point.leaves} {'leaf' if point.leaves == 1 else 'leaves'}" in shown
            assert page.locator("#tree li.leaf").count() == point.leaves
            assert page.locator("#tree li.test").count() == point.leaves - 1
            people = np.bincount(point.tree.apply(case.people.features), minlength=len(point.tree.nodes))
            counts = [int(n) for n, node in zip(people, point.tree.nodes, strict=True) if isinstance(node, Leaf)]
            cards = page.locator("#tree li.leaf summary").all_inner_texts()
            assert sorted(int(text.split()[0]) for text in cards) == sorted(counts)
            assert f"Tree {place + 1} of" in page.get_attribute("#slider", "aria-valuetext")
            assert "proven optimal" in page.inner_text("#proof")


def test_dots_on_the_curve_choose_too(browser: Any, loans: Path) -> None:
    with watched(browser) as seen:
        page = seen.open(loans)
        page.wait_for_selector("#explore g.point")
        for place in range(len(loan_frontier())):
            page.locator("#explore g.point").nth(place).locator("circle.mark").click(force=True)
            assert page.input_value("#slider") == str(place + 1)
            assert page.locator("#explore g.point.chosen title").text_content().startswith(f"Tree {place + 1}:")


def test_questions_lead_where_the_library_leads(browser: Any, loans: Path) -> None:
    """Every series of answers ends at the tree that `Preference` finds for it."""
    points = list(loan_frontier())
    ends = set()
    with watched(browser) as seen:
        page = seen.open(loans)
        for answers in itertools.product("ab", repeat=4):
            preference = Preference.over(loan_frontier())
            for choice in answers:
                question = preference.question()
                if question is None:
                    break
                heads = page.locator("#prefer-stage .offer h4").all_inner_texts()
                assert heads == [f"Tree {points.index(point) + 1}" for point in (question.a, question.b)]
                answer(page, choice)
                preference = preference.answer(choice)  # type: ignore[arg-type]
            assert preference.done
            end = points.index(preference.result)
            ends.add(end)
            assert page.inner_text("#preferred") == f"You would defend tree {end + 1}"
            assert page.input_value("#slider") == str(end + 1)
            page.get_by_role("button", name="Start again").click()
        assert ends == set(range(len(points)))
        answer(page, "either")
        equal = Preference.over(loan_frontier()).answer("either").result
        assert page.inner_text("#preferred") == f"You would defend tree {points.index(equal) + 1}"


def answer(page: Any, choice: Choice | str) -> None:
    if choice == "either":
        page.get_by_role("button", name="Both are worth the same to me").click()
    else:
        page.locator("#prefer-stage .offer button.button").nth("ab".index(choice)).click()


@BOTH
def test_the_tree_answers_as_predict_does(browser: Any, loans: Path, width: str) -> None:
    case = loan_case()
    rng = np.random.default_rng(0)
    rows: dict[str, list[Any]] = {
        "age": [*rng.integers(15, 75, 11).astype(float).tolist(), np.nan],
        "hours": [*np.where(rng.random(11) < 0.2, np.nan, rng.integers(5, 65, 11)).tolist(), np.nan],
        "job": [*[("clerk", "driver", "nurse", None)[code] for code in rng.integers(0, 4, 11)], None],
    }
    table = Table.of(rows, schema=case.people.features.schema)
    with watched(browser, width) as seen:
        page = seen.open(loans)
        columns = loan_summary().columns
        for row in range(table.n_rows):
            for position, column in columns.items():
                enter(page, position, column, rows[column["name"]][row])
            for place, point in enumerate(loan_frontier()):
                move_to(page, place)
                expected = point.tree.predict({name: values[row : row + 1] for name, values in rows.items()})[0]
                assert page.inner_text("#decided") == expected
                steps = page.locator("#answer ol.path li").count()
                assert steps == len(path(point.tree, table, row)) - 1
        seen.picture(f"asked-{width}")


def enter(page: Any, position: str, column: dict[str, Any], value: Any) -> None:
    place = f'#ask [data-column="{position}"]'
    if column["kind"] == "categorical":
        page.select_option(place, "" if value is None else str(column["levels"].index(value)))
    else:
        page.fill(place, "" if np.isnan(value) else repr(float(value)))


def path(tree: Tree, table: Table, row: int) -> list[int]:
    passed = [0]
    while isinstance(node := tree.nodes[passed[-1]], Branch):
        left = bool(node.test.goes_left(table, np.array([row]))[0])
        passed.append(node.left if left else node.right)
    return passed


@BOTH
def test_the_keyboard_is_enough(browser: Any, loans: Path, width: str) -> None:
    with watched(browser, width) as seen:
        page = seen.open(loans)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        tab_to(page, "document.activeElement.id === 'slider'")
        page.keyboard.press("Home")
        assert page.inner_text("#now").startswith("Tree 1 of")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#now").startswith("Tree 2 of")
        tab_to(page, "document.activeElement.tagName === 'SUMMARY' && !!document.activeElement.closest('#tree')")
        page.keyboard.press("Enter")
        assert page.locator("#tree details[open] li").first.is_visible()
        tab_to(page, "document.activeElement.textContent === 'All trees as a table'")
        page.keyboard.press("Enter")
        tab_to(page, "document.activeElement.textContent === 'Tree 3'")
        page.keyboard.press("Enter")
        assert page.inner_text("#now").startswith("Tree 3 of")
        assert page.evaluate("document.activeElement.textContent") == "Tree 3"  # one stays where one was
        for _ in range(5):
            tab_to(page, "document.activeElement.matches('#prefer-stage .offer button.button, #preferred ~ p .button')")
            if page.locator("#preferred").count():
                break
            page.keyboard.press("Enter")
        assert page.inner_text("#preferred").startswith("You would defend tree")
        tab_to(page, "document.activeElement.name === 'measure'")
        before = page.inner_text("#rates")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#rates") != before
        tab_to(page, "document.activeElement.tagName === 'SELECT' && !!document.activeElement.closest('#ask')")
        page.keyboard.press("ArrowDown")
        assert page.inner_text("#decided") in ("yes", "no")


def tab_to(page: Any, condition: str, most: int = 80) -> None:
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(condition):
            return
    pytest.fail(f"the keyboard never reaches: {condition}")


def test_rates_and_counts_are_those_of_the_summary(browser: Any, loans: Path) -> None:
    data = loan_summary().to_json()
    with watched(browser) as seen:
        page = seen.open(loans)
        move_to(page, 1)
        tree = data["trees"][1]
        page.wait_for_selector("#rates li")
        shown = page.inner_text("#rates")
        for row in tree["rates"][0]:
            if row["measure"] == "rate":
                assert percent(row["value"]) in shown
        cells = page.locator("#different-table tbody tr").all_inner_texts()
        sizes = sorted(tree["different"], key=lambda row: -row["n"])
        assert [line.split("\t")[1:3] for line in cells] == [[str(row["n"]), str(row["differ"])] for row in sizes]
        assert f"changes the decision of {sum(row['differ'] for row in tree['changed'])} " in page.inner_text(
            "#different"
        )
        assert f"no gap for {percent(tree['gaps'][0]['none'])} of people" in page.inner_text("#gap-words")


def test_the_figures_are_in_the_file_as_json(browser: Any, loans: Path, tmp_path: Path) -> None:
    with watched(browser, accept_downloads=True) as seen:
        page = seen.open(loans)
        inside = json.loads(page.text_content("#evenleaf-data"))
        assert inside == json.loads(json.dumps(loan_summary().to_json()))
        with page.expect_download() as download:
            page.get_by_role("button", name="Save all figures as JSON").click()
        download.value.save_as(tmp_path / "saved.json")
        assert json.loads((tmp_path / "saved.json").read_text("utf-8")) == inside


@BOTH
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast(browser: Any, loans: Path, width: str, scheme: str) -> None:
    with watched(browser, width, color_scheme=scheme) as seen:
        page = seen.open(loans)
        move_to(page, 1)
        assert page.evaluate(CONTRAST) == []
        if scheme == "dark":
            seen.picture(f"dark-{width}")


def test_every_control_has_a_name(browser: Any, loans: Path) -> None:
    with watched(browser) as seen:
        page = seen.open(loans)
        nameless = page.evaluate("""() => [...document.querySelectorAll("button, input, select, a, svg[role=img]")]
          .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length))
          .map((one) => one.outerHTML.slice(0, 80))""")
        assert nameless == []
        order = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map((head) => Number(head.tagName[1]))")
        assert order[0] == 1
        assert all(after - before <= 1 for before, after in itertools.pairwise(order))


def test_it_prints(browser: Any, loans: Path, tmp_path: Path) -> None:
    with watched(browser) as seen:
        page = seen.open(loans)
        page.emulate_media(media="print")
        assert not page.is_visible("#handle")
        assert page.is_visible("#tree li.leaf")
        page.pdf(path=str(tmp_path / "page.pdf"), format="A4")
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


@BOTH
def test_hostile_names_are_only_text(browser: Any, tmp_path: Path, width: str) -> None:
    columns = hostile_columns()
    age, hours, job, group, target = columns
    case = make_case(columns, Question(target, (group,), n_neighbors=5), source="<b>file</b>.csv")
    found = frontier(case.problem, Budget(60))
    summary = summarise(case, found, include_rows=True, command="evenleaf '<script>'", n_resamples=20)
    place = write_page(summary, tmp_path / "hostile.html")
    with watched(browser, width) as seen:
        page = seen.open(place)
        for tree in range(len(found)):
            move_to(page, tree)
        move_to(page, 0)
        assert page.evaluate("window.broken") is None
        assert page.locator("script").count() == 2
        assert page.locator("img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert page.title() == f"How to decide {target} – Evenleaf report"
        assert page.inner_text("h1") == f"How to decide {target}"
        text = page.evaluate("document.body.textContent")
        for name in (age, hours, job, group, target, *set(columns[group]), *(set(columns[job]) - {None})):
            assert name in text
        page.eval_on_selector_all("details", "(all) => all.forEach((one) => { one.open = true; })")
        seen.picture(f"hostile-{width}")


@pytest.mark.parametrize("kind", ["numbers", "classes", "plain", "unproven", "linear"])
def test_every_kind_of_report_opens(browser: Any, tmp_path: Path, kind: str) -> None:
    place = write_page(other_summary(kind), tmp_path / f"{kind}.html")
    for width in WIDTHS:
        with watched(browser, width) as seen:
            page = seen.open(place)
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
            assert page.locator("#tree li.leaf").count() >= 1
            assert ("among 40 new people" in page.inner_text("#figures")) is (kind == "numbers")
            assert "NaN" not in page.inner_text("body")
            assert "undefined" not in page.inner_text("body")
            assert "null" not in page.inner_text("body")
            seen.picture(f"{kind}-{width}")


def other_summary(kind: str) -> Any:
    rng = np.random.default_rng(2)
    columns = loan_columns()
    if kind == "numbers":
        case = make_case(pay_columns(), Question("pay", ("group",), max_depth=2, fairness=("didi",), n_neighbors=5))
        fresh = make_case(pay_columns(40, seed=3), case.question, schema=case.people.features.schema)
        return summarise(case, frontier(case.problem, Budget(20), solver="local"), fresh=fresh, n_resamples=20)
    if kind == "linear":
        case = make_case(pay_columns(), Question("pay", ("group",), max_depth=1, leaves="linear", n_neighbors=5))
        return summarise(case, asked=solve(case.problem, Budget(20), solver="local"), n_resamples=20)
    if kind == "classes":
        columns["granted"] = rng.choice(["a", "b", "c"], len(columns["age"])).tolist()
        columns["sex"] = rng.choice(["f", "m"], len(columns["age"])).tolist()
        question = Question("granted", ("group", "sex"), groups="each", max_depth=1, fairness=("didi",), n_neighbors=5)
        case = make_case(columns, question)
        return summarise(case, asked=solve(case.problem), include_rows=True, n_resamples=20)
    if kind == "plain":
        del columns["group"]
        case = make_case(columns, Question("granted", fairness=("none",)))
        return summarise(case, asked=solve(case.problem))
    case = make_case(columns, Question("granted", ("group",), max_discrimination=0.15, n_neighbors=5, max_depth=4))
    return summarise(case, asked=solve(case.problem, solver="greedy"), n_resamples=20)


def test_without_scripts_the_tree_is_still_there(browser: Any, loans: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    try:
        page = Watched(context.new_page())
        page.page.goto(loans.as_uri())
        plain = page.page.inner_text("body")
        assert str(loan_frontier().at(1.0).tree).splitlines()[0] in plain
        assert "proven" in plain
    finally:
        context.close()
