"""`takifugu app`: what it says before it serves, without its packages, and when Ctrl-C ends it."""

import http.cookiejar
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.releasing.test_proposal import table
from tests.support.commands import ended, succeed, words_of
from tests.support.terminals import PLACE

from takifugu.pages.app import serving


def test_without_its_packages_it_names_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "takifugu.pages.app.serving")
    assert "pip install 'takifugu[app]'" in words_of(ended(2, "app", table(tmp_path), "-o", tmp_path / "r.toml"))


@pytest.mark.parametrize(("name", "words"), [("none.csv", "is not there"), (".", "is a folder")])
def test_a_table_that_is_none_is_refused_before_anything_is_served(tmp_path: Path, name: str, words: str) -> None:
    assert words in words_of(ended(2, "app", tmp_path / name, "-o", tmp_path / "r.toml"))


def test_a_kind_is_answered_by_its_name(tmp_path: Path) -> None:
    with patch("takifugu.releasing.proposal.Proposal") as proposed, patch.object(serving, "serve"):
        succeed("app", table(tmp_path), "-o", tmp_path / "r.toml", "kind=joint-table")
    assert proposed.call_args.args[3] == {"kind": "joint-table"}
    assert "there is no kind 'recrods'" in words_of(ended(2, "app", table(tmp_path), "kind=recrods"))


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text("mine")
    assert "--force" in words_of(ended(2, "app", table(tmp_path), "-o", tmp_path / "r.toml"))


def test_where_no_port_is_free_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bind(*_: object) -> None:
        raise OSError(98, "Address already in use")

    with serving.listening_here() as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
    monkeypatch.setattr(socket.socket, "bind", bind, raising=False)
    refused = ended(2, "app", table(tmp_path), "-o", tmp_path / "r.toml")
    assert "no port of this machine can be used" in words_of(refused)


@pytest.mark.mutants
def test_its_page_waits_for_nothing_that_only_an_audit_needs() -> None:
    """Together they are a fifth of a second before the first page."""
    program = "import sys, takifugu.cli.starting, takifugu.pages.app.serving, takifugu.releasing.proposal as _"
    run = [sys.executable, "-c", f"{program}; print(*sys.modules)"]
    loaded = subprocess.run(run, env=PLACE, capture_output=True, text=True, check=True).stdout.split()
    assert not {"mpmath", "scipy", "duckdb", "matplotlib", "takifugu.audit"} & {*loaded}


def wait_until(happens: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.mutants
def test_ctrl_c_ends_it_and_nothing_is_left_behind(tmp_path: Path) -> None:
    """A browser is started with no secret: everybody on a machine can read the words that a program is started with."""
    folder, private, started = tmp_path / "mine", tmp_path / "tmp", tmp_path / "started.txt"
    folder.mkdir()
    private.mkdir()
    table(folder)
    browser = tmp_path / "browser.sh"
    browser.write_text(f"#!/bin/sh\necho \"$@\" > {started}.new && mv {started}.new {started}\n")
    browser.chmod(0o700)
    run = [sys.executable, "-m", "takifugu", "app", "d.csv", "rows=samples"]
    place = {**PLACE, "BROWSER": str(browser), "TMPDIR": str(private)}
    with subprocess.Popen(
        run, cwd=folder, env=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as app:
        assert app.stdout is not None
        address = app.stdout.readline().strip()
        wait_until(started.exists)
        shown = Path(urllib.request.url2pathname(urllib.parse.urlsplit(started.read_text().strip()).path))
        assert address.rpartition("/")[2] not in started.read_text()
        assert address in shown.read_text()
        assert shown.parent.stat().st_mode & 0o777 == 0o700
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        opener = urllib.request.build_opener(cookies)
        opener.addheaders = [("Sec-Fetch-Site", "cross-site")]  # a browser says so where it comes from a file
        entered = opener.open(address, timeout=30).read().decode()
        assert 'url=/"' in entered
        opener.addheaders = [("Sec-Fetch-Site", "same-origin")]
        page = opener.open(address.partition("/enter")[0], timeout=30).read().decode()
        assert "<h1>d.csv</h1>" in page
        app.send_signal(signal.SIGINT)
        _, said = app.communicate(timeout=60)
    assert (app.returncode, said.split("\n")[-2]) == (0, "The app has ended.")
    assert "Traceback" not in said
    assert [path.name for path in folder.iterdir()] == ["d.csv"]
    assert [*private.iterdir()] == []
