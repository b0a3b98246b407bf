"""The whole way: run, read back, draw, write the findings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evenleaf.files import write_whole
from evenleaf.study.config import StudyConfig
from evenleaf.study.figures import draw_all, require_matplotlib
from evenleaf.study.findings import findings_page, rows_csv
from evenleaf.study.results import Results
from evenleaf.study.runner import Tell, run_study


@dataclass(frozen=True, eq=False)
class Study:
    """A finished study: its results, and the files that were written."""

    results: Results
    files: tuple[Path, ...]


def make_study(config: StudyConfig, folder: Path, *, jobs: int = 1, tell: Tell = lambda _: None) -> Study:
    """Run what is left to run in the folder, then draw and write; figures need the extra `study`."""
    require_matplotlib()
    run_study(config, folder, jobs=jobs, tell=tell)
    return write_findings(folder)


def write_findings(folder: Path) -> Study:
    """Figures, table and findings from results that are there already."""
    results = Results.read(folder)
    figures = draw_all(results, folder / "figures")
    page, lines = folder / "findings.md", folder / "fairest.csv"
    write_whole(page, [findings_page(results, figures).encode()])
    write_whole(lines, [rows_csv(results).encode()])
    return Study(results, (folder / "results.jsonl", folder / "timings.jsonl", lines, page, *figures))
