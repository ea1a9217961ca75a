"""The site in a real browser: accessibility at three widths, day and night as the system has it, search, and copying.

`make browser` builds the site, and runs this.
"""

import functools
import http.server
import os
import re
import threading
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from tests.browser.looking import SCHEMES, WIDTHS, faults_of

SITE = Path(__file__).resolve().parents[2] / "site"
#: Pictures, tables, blocks of commands, a form and formulas; all pages are made alike.
PAGES = ("index.html", "gallery.html", "by-itself.html", "with-opendp.html", "theory/influence.html")


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    assert (SITE / "index.html").exists(), "build the site first: make docs"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(SITE)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_accessibility_finding(address: str, browser: Any, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, faults = context.new_page(), list[tuple[str, ...]]()
    for name in PAGES:
        page.goto(f"{address}/{name}")
        page.wait_for_load_state("networkidle")
        faults += faults_of(page, name, width, context={"include": [["article"]]})
    context.close()
    assert not faults


@pytest.mark.parametrize("scheme", SCHEMES)
def test_day_and_night_follow_the_system(address: str, browser: Any, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{address}/index.html")
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
    lightness = sum(int(part) for part in shade[shade.index("(") + 1 : -1].split(",")[:3])
    assert (lightness < 200) == (scheme == "dark"), shade
    context.close()


def test_a_form_says_what_an_event_loses(address: str, browser: Any) -> None:
    page = browser.new_page()
    page.goto(f"{address}/with-opendp.html")
    output = page.locator("form.event-level output")
    assert "ε = 6.89" in output.inner_text()
    page.get_by_label("probability of the same").fill("0.99")
    assert "ε = 11.69. Somebody who is 50 % sure of it can become more than 99.99 % sure" in output.inner_text()
    page.close()


def test_what_is_copied_are_commands_without_their_prompt(address: str, browser: Any) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{address}/index.html")
    block = page.locator(".highlight").first
    block.hover()
    block.locator("button").first.click()
    page.wait_for_function("navigator.clipboard.readText().then(text => text !== '')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[0].split("#")[0].strip() == "pip install ."
    assert "$" not in copied
    context.close()


def test_no_link_of_a_page_is_dead() -> None:
    """Every link inside the site leads to a page, and to a place in it, that there is."""
    pages = {str(file.relative_to(SITE)): file.read_text(encoding="utf-8") for file in SITE.rglob("*.html")}
    places = {name: {*map(unescape, re.findall(r'\bid="?([^" >]+)', text))} for name, text in pages.items()}
    assert len(pages) > 40
    for name, text in pages.items():
        for link in map(unescape, re.findall(r'\b(?:href|src)="?([^" >]+)', text)):
            target, _, place = link.partition("#")
            if re.match(r"[a-z]+:|/", target):
                continue
            file = (Path(name).parent / unquote(target.partition("?")[0])) if target else Path(name)
            where = os.path.normpath(file)
            assert (SITE / where).exists(), (name, link)
            held = places.get(where)
            assert held is None or not place or place.startswith("__") or unquote(place) in held, (name, link)


def test_the_search_finds_a_page_by_its_words(address: str, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{address}/index.html")
    page.get_by_role("button", name="Search").first.click()
    page.get_by_role("combobox").or_(page.get_by_placeholder("Search")).first.fill("crontab")
    page.locator("a[href*='by-itself.html?h=crontab']").first.wait_for()
    context.close()
