"""The checker in a real browser: files chosen and dropped, signatures, hostile names, offline, and what axe finds."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser.looking import SCHEMES, WIDTHS, faults_of, watched
from tests.releasing import files
from tests.support.commands import json_of, succeed
from tests.support.forged import rewritten

from takifugu.pages.checker import checker

OUTSIDE = "What nobody can check from outside"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, and two signed tables in the folder beside it."""
    folder = tmp_path_factory.mktemp("checker")
    (folder / "check.html").write_text(checker(), encoding="utf-8")
    os.environ["TAKIFUGU_SIGNING_KEY"] = str(folder / "keys" / "signing.key")
    succeed("ledger", "key")
    succeed("release", files.write(folder / "study"))
    return folder


@pytest.fixture
def page(folder: Path, browser: Any) -> Iterator[Any]:
    with watched(browser, (folder / "check.html").as_uri(), "file:", offline=True) as page:
        page.wait_for_selector("html[data-ready]", state="attached")
        yield page


def tables(folder: Path, *names: str) -> list[Path]:
    """Return the certificate, the table and the signature of each name."""
    ends = (".certificate.json", ".csv", ".certificate.json.sig")
    return [folder / "study" / "out" / f"{name}{end}" for name in names for end in ends]


def given(page: Any, paths: list[Path]) -> str:
    """Give files to the page, and return what it says."""
    page.evaluate("delete document.documentElement.dataset.done")
    page.set_input_files("#choose", [str(path) for path in paths])
    page.wait_for_selector("html[data-done]", state="attached")
    said: str = page.inner_text("#said")
    assert OUTSIDE in said
    return said


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [*WIDTHS, 390])
def test_no_accessibility_finding(folder: Path, browser: Any, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto((folder / "check.html").as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    assert not faults_of(page, "checker", width)
    given(page, [*tables(folder, "time-use-pooled", "time-use-units"), folder / "check.html"])
    assert not faults_of(page, "checker", width)
    context.close()


def test_signed_tables_hold_alone_and_together(page: Any, folder: Path) -> None:
    key = json_of("ledger", "key")["key"]
    said = given(page, tables(folder, "time-use-pooled", "time-use-units"))
    assert "time-use-pooled: It holds" in said
    assert "time-use-units: It holds" in said
    assert "The 2 tables about “study” together lose at most ε = " in said
    assert f"signed with the key {key}" in said
    page.fill("#key", key)
    page.keyboard.press("Tab")
    page.wait_for_selector("text=signed with the publisher's key")
    page.fill("#key", "0" * 64)
    page.keyboard.press("Tab")
    page.wait_for_selector("text=by another key than the publisher's")


def test_a_forgery_with_a_checksum_that_fits_has_no_signature(page: Any, folder: Path, tmp_path: Path) -> None:
    certificate, table, signature = tables(folder, "time-use-pooled")
    forged = rewritten(json.loads(certificate.read_text("utf-8")), lambda c: c.update(publisher="another"))
    path = tmp_path / certificate.name
    path.write_text(json.dumps(forged), "utf-8")
    assert "The signature does not fit" in given(page, [path, table, signature])


def test_hostile_names_stay_text(page: Any, folder: Path, tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>"
    certificate = json.loads(tables(folder, "time-use-pooled")[0].read_text("utf-8"))
    path = tmp_path / f"{name}.certificate.json".replace("/", "")
    path.write_text(json.dumps(rewritten(certificate, lambda c: c.update(release=name, source=name))), "utf-8")
    assert name in given(page, [path])
    assert page.locator("img").count() == 0


def test_files_that_are_none_are_said(page: Any, folder: Path, tmp_path: Path) -> None:
    certificate, table, _ = tables(folder, "time-use-pooled")
    (tmp_path / "a.certificate.json").write_bytes(b"\xff\xfe")
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\x00")
    (tmp_path / "large.certificate.json").write_bytes(b"[" + b"1," * 25_000_000 + b"1]")
    long = rewritten(json.loads(certificate.read_text("utf-8")), lambda c: c.update(source="x" * 20_000_000))
    (tmp_path / "long.certificate.json").write_text(json.dumps(long), "utf-8")
    assert "not text in UTF-8" in given(page, [tmp_path / "a.certificate.json"])
    assert "Computed again" in given(page, [tmp_path / "long.certificate.json"])
    page.click("#clear")
    assert "larger than 24 MB" in given(page, [tmp_path / "large.certificate.json"])
    page.click("#clear")
    assert page.inner_text("#said") == ""
    assert "not even text" in given(page, [certificate, tmp_path / "picture.csv"])
    page.click("#clear")
    assert "Not everything could be computed again" in given(page, [certificate])
    assert "give the certificate of its name, too" in given(page, [tmp_path / "picture.csv", table])


def test_a_browser_without_ed25519_says_so(folder: Path, browser: Any) -> None:
    context = browser.new_context()
    context.add_init_script("crypto.subtle.importKey = () => Promise.reject(new Error('NotSupportedError'))")
    page = context.new_page()
    page.goto((folder / "check.html").as_uri())
    said = given(page, tables(folder, "time-use-pooled"))
    assert "The signature was not checked: this browser has no Ed25519." in said
    assert "time-use-pooled: Not everything could be computed again" in said
    context.close()


def test_without_scripts_it_says_that_nothing_is_checked(folder: Path, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "check.html").as_uri())
    assert "Without it nothing is checked" in page.inner_text("#said")
    context.close()


def test_it_works_by_drop_and_by_keyboard(page: Any, folder: Path) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "choose"
    text = tables(folder, "time-use-pooled")[0].read_text("utf-8")
    page.evaluate(
        """text => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([text], "time-use-pooled.certificate.json"));
          document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}));
        }""",
        text,
    )
    page.wait_for_selector("html[data-done]", state="attached")
    assert "Computed again" in page.inner_text("#said")
    page.focus("#clear")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "choose"
