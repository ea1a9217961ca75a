"""The app in a real browser: from a table to a release by mouse and by keyboard, with nothing asked elsewhere."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser.looking import SCHEMES, faults_of, watched

ROOT = Path(__file__).resolve().parents[2]
#: What the owner of the table answers by choosing, and by typing.
CHOSEN = {"rows": "samples", "unit": "household", "step": "1"}
TYPED = {"states": "off, on", "mean_duration-0": "20", "mean_duration-1": "20"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Return what starts an app about a made-up log of boilers, and the address that it prints."""
    draw, lines = random.Random(1), ["household,t,state"]
    for household in range(12):
        state = 0
        for step in range(2016):
            state ^= draw.random() < 0.05
            lines.append(f"h{household},{step},{('off', 'on')[state]}")
    (tmp_path / "boilers.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "BROWSER": "true"}
    running = list[subprocess.Popen[str]]()

    def start() -> str:
        app = subprocess.Popen([sys.executable, "-m", "takifugu", "app", "boilers.csv"], cwd=tmp_path, env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        running.append(app)
        assert app.stdout is not None
        return app.stdout.readline().strip()

    yield start
    for app in running:
        app.send_signal(signal.SIGINT)
        assert app.wait(60) == 0


@pytest.fixture
def page(served: Callable[[], str], browser: Any) -> Iterator[Any]:
    address = served()
    with watched(browser, address, address.partition("/enter")[0]) as page:
        page.locator("#q-rows").wait_for()
        yield page


def answer(page: Any) -> None:
    for name, word in CHOSEN.items():
        page.locator(f"#q-{name}").select_option(word)
    for name, word in TYPED.items():
        page.locator(f"#q-{name}").fill(word)
        page.keyboard.press("Tab")
    page.locator("#q-units_independent").select_option("true")
    page.locator("#verdict.good").wait_for()


def test_it_opens_by_a_page_that_is_private(browser: Any, tmp_path: Path) -> None:
    """The cookie is set, and sent, where a browser comes from the file that the app starts it with."""
    (tmp_path / "d.csv").write_text("who,state\na,on\nb,off\n", encoding="utf-8")
    started = tmp_path / "started.txt"
    (tmp_path / "browser.sh").write_text(f"#!/bin/sh\necho $1 > {started}.new && mv {started}.new {started}\n")
    (tmp_path / "browser.sh").chmod(0o700)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "BROWSER": str(tmp_path / "browser.sh")}
    run = [sys.executable, "-m", "takifugu", "app", "d.csv"]
    with subprocess.Popen(run, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as app:
        page = browser.new_page()
        for _ in range(600):
            if started.exists():
                break
            page.wait_for_timeout(100)
        assert started.read_text().startswith("file:///")
        page.goto(started.read_text().strip())
        page.locator("#q-rows").wait_for()
        assert page.url.endswith("/")
        assert "/enter" not in page.url
        page.close()
        app.send_signal(signal.SIGINT)
        assert app.wait(60) == 0


def test_from_a_table_to_a_release(page: Any, tmp_path: Path) -> None:
    answer(page)
    assert "time-in-states: good" in page.inner_text("#verdict")
    assert "12,096 ±" in page.locator("#cells svg").get_attribute("aria-label")
    page.click("#release")
    page.locator("#confirm[open]").wait_for()
    assert "for 12 households, for ever" in page.inner_text("#confirm-says")
    assert not (tmp_path / "release.toml").exists()
    page.locator("#yes").dblclick()
    page.locator("body[data-released]").wait_for()
    assert "Released" in page.inner_text("#verdict")
    assert (tmp_path / "release-published" / "time-in-states.csv").exists()
    assert page.locator("#release").is_hidden()


def test_another_answer_is_typed(page: Any) -> None:
    page.locator("#q-rows").select_option("samples")
    page.locator("#q-unit").select_option(label="another answer …")
    page.locator("input#q-unit").fill("household")
    page.keyboard.press("Tab")
    page.locator("[data-question=unit]:not(.open, .wrong)").wait_for()


def test_a_slider_is_followed_by_the_engine_and_then_by_the_library(page: Any) -> None:
    answer(page)
    before = page.locator("#cells svg").get_attribute("aria-label")
    page.locator("#epsilon").focus()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    displayed = page.locator("#cells svg").get_attribute("aria-label")  # at once
    assert displayed != before
    page.wait_for_timeout(1500)
    afterwards = page.locator("#cells svg").get_attribute("aria-label")
    halves = [float(text.rpartition("± ")[2].replace(",", "")) for text in (displayed, afterwards)]
    assert halves[0] == pytest.approx(halves[1], rel=0.05)
    assert "epsilon = 0.398" in page.inner_text("#file")


def test_a_remedy_is_taken_and_taken_back(page: Any) -> None:
    answer(page)
    for name in ("mean_duration-0", "mean_duration-1"):
        page.locator(f"#q-{name}").fill("900")
        page.keyboard.press("Tab")
    page.locator("#verdict.rough, #verdict.useless").wait_for()
    before = page.inner_text("#verdict")
    page.get_by_text("Looking for what would help").wait_for()
    page.locator("#remedies button").first.click(timeout=120_000)  # a search takes some seconds of an idle machine
    page.locator("#undo").wait_for()
    page.wait_for_timeout(500)
    assert page.inner_text("#verdict") != before
    page.click("#undo")
    page.wait_for_timeout(1000)
    assert page.inner_text("#verdict") == before


def test_enter_through_all_drafts_nothing_and_the_keyboard_reaches_everything(page: Any) -> None:
    reached = list[str]()
    page.keyboard.press("Tab")  # the link that skips
    assert page.evaluate("() => document.activeElement.className") == "skip"
    for _ in range(8):
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")  # a list that it opens
        reached.append(page.evaluate("() => document.activeElement.id"))
    assert {"q-rows", "q-unit", "epsilon"} <= {*reached}
    assert page.locator("#draft").is_hidden()
    assert page.locator("#release").is_disabled()
    assert page.locator(".question.open").count() == 2


def test_it_releases_by_keyboard_alone_on_a_phone_without_webassembly(
    served: Callable[[], str], browser: Any, tmp_path: Path
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    context.add_init_script("delete globalThis.WebAssembly")
    page = context.new_page()
    page.goto(served())
    page.locator("#q-rows").wait_for()

    def reach(name: str) -> None:
        for _ in range(60):
            if page.evaluate("document.activeElement.id") == name:
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {name}")

    for name, word in {**CHOSEN, **TYPED}.items():
        page.locator(f"#q-{name}").wait_for()
        reach(f"q-{name}")
        page.keyboard.type(word)
        while name in CHOSEN and page.input_value(f"#q-{name}") != word:  # a list forgets letters that come late
            page.wait_for_timeout(1500)
            page.keyboard.type(word)
        page.keyboard.press("Tab")
    page.locator("#q-units_independent").wait_for()
    reach("q-units_independent")
    page.keyboard.press("ArrowDown")
    page.locator("#verdict.good").wait_for()
    reach("release")
    page.keyboard.press("Enter")
    page.locator("#confirm[open]").wait_for()
    reach("yes")
    page.keyboard.press("Enter")
    page.locator("body[data-released]").wait_for()
    assert page.evaluate("document.activeElement.id") == "result"
    assert (tmp_path / "release-published" / "time-in-states.csv").exists()
    context.close()


def test_a_second_browser_is_refused(served: Callable[[], str], browser: Any) -> None:
    address = served()
    owner, thief = browser.new_context().new_page(), browser.new_context().new_page()
    assert owner.goto(address).status == 200
    assert thief.goto(address).status == 403
    assert "was opened before" in thief.inner_text("body")
    assert owner.reload().status == 200


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [1280, 390])
def test_no_accessibility_finding(served: Callable[[], str], browser: Any, width: int, scheme: str) -> None:
    """At the start, with a wrong answer, with a verdict, before and after a release."""
    # axe is a script of nobody's, so that this browser does not read the policy
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(served())
    page.locator("#q-rows").wait_for()
    assert not faults_of(page, "start", width)
    answer(page)
    assert not faults_of(page, "verdict", width)
    page.locator("#q-states").fill("off")
    page.keyboard.press("Tab")
    page.locator(".question.wrong").wait_for()
    assert not faults_of(page, "wrong", width)
    page.locator("#q-states").fill("off, on")
    page.keyboard.press("Tab")
    page.locator("#verdict.good").wait_for()
    page.click("#release")
    page.locator("#confirm[open]").wait_for()
    assert not faults_of(page, "asked", width)
    page.click("#yes")
    page.locator("body[data-released]").wait_for()
    assert not faults_of(page, "released", width)
    context.close()
