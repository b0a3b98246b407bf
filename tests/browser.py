"""A page in headless Chromium: whatever it logs, throws or asks the network for is kept, and must be nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

WIDTHS = {"phone": (375, 760), "desktop": (1280, 860)}
# Pictures to look at; the folder is not under version control.
ARTEFACTS = Path(os.environ.get("EVENLEAF_ARTEFACTS", Path(__file__).parents[1] / "out" / "screenshots"))


class Watched:
    """A page, and what it did that it should not."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.trouble: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.trouble.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path) -> Any:
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready=yes]")
        return self.page

    def picture(self, name: str) -> None:
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(ARTEFACTS / f"{name}.png"), full_page=True)


@contextmanager
def chromium() -> Iterator[Any]:
    """The distribution's own browser; root may not use its sandbox."""
    from playwright.sync_api import sync_playwright

    program = next(path for name in ("chromium", "chromium-browser") if (path := which(name)))
    unboxed = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=unboxed)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def watched(browser: Any, width: str = "desktop", **options: Any) -> Iterator[Watched]:
    """A fresh page of a width; at the end nothing may have gone wrong and only the file itself been asked for."""
    across, down = WIDTHS[width]
    context = browser.new_context(viewport={"width": across, "height": down}, **options)
    page = Watched(context.new_page())
    try:
        yield page
        assert page.trouble == []
        assert [url for url in page.requests if not url.startswith(("file:", "blob:"))] == []
        assert len({url.partition("#")[0] for url in page.requests if url.startswith("file:")}) <= 1
    finally:
        context.close()
