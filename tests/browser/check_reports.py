"""Every page that a release writes, in a real browser, and every data package: `make browser` installs what this needs.

At three widths, by day and by night: axe finds nothing, nothing is wider than the screen, and what can be chosen is
reached and opened by keyboard alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_release_files import EXAMPLES
from tests.releasing.test_windows import written

from takifugu.cli.samples import write_demo
from takifugu.releasing.publishing.run import release_file

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
WIDTHS, SCHEMES = (360, 768, 1280), ("light", "dark")
#: Kinds whose pages look unlike all others: one of each picture, map and table.
KINDS = {"markov-chain", "populations", "asymmetric", "normal"}
#: Pages and tables are shorter than this in steps of the tabulator key.
MOST_STEPS = 60


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Publish the examples, the demo, a calendar and some kinds of files; return all pages."""
    root = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "examples", root / "examples")
    files = [*sorted((root / "examples").glob("*.toml")), write_demo(root / "demo")]
    for example in EXAMPLES:
        if example.kind in KINDS:
            folder = root / example.kind
            folder.mkdir()
            for name, text in example.files.items():
                (folder / name).write_text(text, encoding="utf-8")
            (folder / "release.toml").write_text(example.text, encoding="utf-8")
            files.append(folder / "release.toml")
    (root / "weeks").mkdir()
    files.append(written(root / "weeks"))
    for file in files:
        release_file(file, anyway=True, new_ledger=True)
    return sorted(root.rglob("*.html"))


def test_every_data_package_is_valid(pages: list[Path]) -> None:
    """The validator of Frictionless Data, which the other tests do without."""
    from frictionless import validate

    packages = sorted({found for page in pages for found in page.parent.glob("*.datapackage.json")})
    assert len(packages) >= 12
    for package in packages:
        report = validate(str(package), type="package")
        assert report.valid, (package.name, report.flatten(["title", "message"]))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_accessibility_finding(pages: list[Path], browser: Any, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    assert len(pages) >= 12
    # Pages allow no script; axe is one, so that this browser does not read their policy.
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page, axe, faults = context.new_page(), Axe(), []
    for file in pages:
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        seen = page.evaluate("document.documentElement.scrollWidth")
        if seen > width:
            faults.append((file.name, f"is {seen} wide"))
        found = axe.run(page).response["violations"]
        faults += [(file.name, one["id"], one["nodes"][0]["html"][:200]) for one in found]
    context.close()
    assert not faults


@pytest.mark.parametrize("scheme", SCHEMES)
def test_everything_is_reached_and_opened_by_keyboard(pages: list[Path], browser: Any, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 768, "height": 900}, color_scheme=scheme, java_script_enabled=True)
    page = context.new_page()
    for file in pages:
        page.goto(file.as_uri())
        folds = page.locator("details").count()
        for _ in range(MOST_STEPS + 2 * folds):
            page.keyboard.press("Tab")
            here = page.evaluate(
                "(() => { const e = document.activeElement; const s = getComputedStyle(e);"
                " return [e.tagName, s.outlineStyle, e.getBoundingClientRect().width, e.closest('details') !== null "
                "&& e.tagName === 'SUMMARY' && !e.parentElement.open]; })()"
            )
            if here[0] == "BODY":
                break
            assert here[1] != "none", f"{file.name}: the focus on {here[0]} is not seen"
            assert here[2] > 0, f"{file.name}: the focus is on what is not shown"
            if here[3]:
                page.keyboard.press("Enter")
        assert page.locator("details[open]").count() == folds, file.name
    context.close()
