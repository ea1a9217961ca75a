"""Every page that a release writes, in a real browser, and every data package: `make browser` installs what this needs.

At three widths, by day and by night: axe finds nothing, nothing is wider than the screen, and what can be chosen is
reached and opened by keyboard alone.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.browser.looking import SCHEMES, WIDTHS, faults_of
from tests.conformance.test_release_files import EXAMPLES
from tests.releasing.test_windows import written
from tests.support.commands import succeed

from takifugu.cli.samples import write_demo
from takifugu.releasing.publishing.run import release_file

ROOT = Path(__file__).resolve().parents[2]
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
        outcome = release_file(file, allow_useless=True, new_ledger=True)
        succeed("report", outcome.tables[0].files[0].parent, "--as", "datapackage", "--force")
    return sorted(root.rglob("*.html"))


def test_every_data_package_is_valid(pages: list[Path]) -> None:
    """The validator of Frictionless Data, which the other tests do without."""
    from frictionless import validate

    packages = sorted({file for page in pages for file in page.parent.glob("*.datapackage.json")})
    assert len(packages) >= 12
    for package in packages:
        report = validate(str(package), type="package")
        assert report.valid, (package.name, report.flatten(["title", "message"]))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_accessibility_finding(pages: list[Path], browser: Any, width: int, scheme: str) -> None:
    assert len(pages) >= 12
    # Pages allow no script; axe is one, so that this browser does not read their policy.
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page, faults = context.new_page(), list[tuple[str, ...]]()
    for file in pages:
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        faults += faults_of(page, file.name, width)
    context.close()
    assert not faults


@pytest.mark.parametrize("width", WIDTHS)
def test_a_long_word_of_a_unit_widens_no_page(pages: list[Path], browser: Any, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(next(file for file in pages if file.name.endswith(".report.html")).as_uri())
    page.evaluate("document.querySelectorAll('.column p').forEach(one => one.textContent = 'W'.repeat(200))")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()


@pytest.mark.parametrize(("scheme", "ground"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 28)")])
def test_a_picture_by_itself_follows_day_and_night(pages: list[Path], browser: Any, scheme: str, ground: str) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    pictures = sorted({file for one in pages for file in one.parent.glob("*.svg")})
    assert len(pictures) >= 8
    for file in pictures:
        page.goto(file.as_uri())
        assert page.evaluate("getComputedStyle(document.querySelector('rect')).fill") == ground, file.name
    context.close()


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
