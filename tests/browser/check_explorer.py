"""The explorer in a real browser: what it draws, by keyboard and slider, offline, and what axe finds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser.looking import SCHEMES, WIDTHS, faults_of, watched

from takifugu.pages.explorer import explorer


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    page = tmp_path_factory.mktemp("explorer") / "explorer.html"
    page.write_text(explorer(), encoding="utf-8")
    return page.as_uri()


@pytest.fixture
def page(address: str, browser: Any) -> Iterator[Any]:
    with watched(browser, address, ("file:", "blob:"), offline=True) as page:
        page.wait_for_function("document.documentElement.dataset.ready")
        yield page


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [*WIDTHS, 390])
def test_no_accessibility_finding(address: str, browser: Any, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(address)
    page.wait_for_function("document.documentElement.dataset.ready")
    assert not faults_of(page, "explorer", width)
    context.close()


def test_every_example_is_drawn(page: Any) -> None:
    for name in page.locator("#example option").all_inner_texts()[:-1]:
        page.select_option("#example", name)
        page.wait_for_timeout(150)
        assert page.locator("#verdict .word").inner_text() in ("Good", "Rough", "Useless")
        assert page.locator("#table svg").count() == 1
        assert page.locator("#reader svg").count() == 3
        assert "NaN" not in page.inner_text("body")
        assert "undefined" not in page.inner_text("body")


def test_the_three_ways_to_set_the_guarantee_agree(page: Any) -> None:
    page.locator("#epsilon").focus()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    epsilon = float(page.inner_text("#epsilon-says"))
    assert epsilon > 1.2
    assert page.inner_text("#sure-says") == f"{100 / (1 + 2.718281828459045 ** -epsilon):.0f} % sure"
    error = page.inner_text("#error-says")
    assert error in page.inner_text("#verdict")
    page.locator("#error").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    assert float(page.inner_text("#epsilon-says")) < epsilon


def test_a_link_opens_the_same_case(page: Any, address: str) -> None:
    page.select_option("#example", "Sleep: awake, light, deep")
    page.wait_for_timeout(200)
    scale, link = page.get_attribute("html", "data-scale"), page.url
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_function("document.documentElement.dataset.ready")
    assert page.get_attribute("html", "data-scale") == scale
    assert page.locator("#example").input_value() == ""


def test_a_hostile_name_stays_text(page: Any, address: str) -> None:
    name = "%3Cimg%20src=x%20onerror=alert(1)%3E"
    page.goto("about:blank")
    page.goto(f"{address}#s={name}~9~b~30&step=1min&span=1440&people=30&hide=1&q=histogram&e=1&prior=50")
    page.wait_for_function("document.documentElement.dataset.ready")
    assert page.locator("img").count() == 0
    assert "<img src=x onerror=alert" in page.inner_text("#query") + page.inner_text("#table")


def test_what_is_saved(page: Any, tmp_path: Path) -> None:
    for kind, name in (("file", "explored.toml"), ("table", "explored.csv"), ("picture", "explored.svg")):
        with page.expect_download() as download:
            page.click(f"#save-{kind}")
        assert download.value.suggested_filename == name
        download.value.save_as(tmp_path / name)
    assert (tmp_path / "explored.svg").read_text("utf-8").startswith("<svg")
    assert 'states = ["walking"]' in (tmp_path / "explored.toml").read_text("utf-8")
