"""What only shows published values fails before anything is paid, or stops nothing: a page says that it failed."""

from pathlib import Path
from typing import Any

import pytest
from tests.releasing.publishing.test_crashes import small
from tests.releasing.publishing.test_states import counting
from tests.releasing.test_windows import written
from tests.support.commands import ended, succeed
from tests.support.failing import failing, raising

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.cli import releasing
from takifugu.cli.group import FAULT as FAULTY
from takifugu.core.errors import InputError, LedgerError, ReleaseState
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.publishing import certifying, every_window, orders
from takifugu.releasing.publishing.rehearsing import rehearse
from takifugu.releasing.report import document, published
from takifugu.releasing.report.published import Published

#: A message that would show a value of the data.
FAULT = KeyError("still at 17")
FAILED = "This page could not be made: a fault of Takifugu itself (KeyError at failing.py:"


def check_published(folder: Path, *names: str) -> None:
    """Tables and certificates are there, whole, and nothing waits."""
    assert not Ledger.open(folder / "ledger.db").pending()
    for name in names:
        assert read_certificate(folder / "out" / f"{name}.certificate.json").table is not None
        assert (folder / "out" / f"{name}.csv").is_file()


@pytest.mark.parametrize(("room", "part", "says"), [
    (document, "beside", FAILED), (document, "if_off", FAILED), (document, "_suspicion_picture", FAILED),
    (Published, "drawing", None),
])  # fmt: skip
def test_a_report_that_fails_stops_no_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: Any, part: str, says: str | None
) -> None:
    """A picture that fails is left out."""
    toml = small(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(room, part, raising(FAULT) if says else property(raising(FAULT)))
        assert [table.name for table in tf.release_file(toml).new] == ["both", "walking"]
    check_published(tmp_path, "both", "walking")
    page = (tmp_path / "out" / "both.report.html").read_text()
    assert (says or "") in page
    assert "still at 17" not in page
    assert says or not (tmp_path / "out" / "both.svg").exists()
    assert [table.since is None for table in tf.release_file(toml).tables] == [False, False]


@pytest.mark.parametrize("part", ["rows_in", "windows_html"])
def test_a_page_of_all_windows_that_fails_stops_no_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    ward, page = written(tmp_path), tmp_path / "out" / "busy.windows.html"
    with failing(monkeypatch, every_window, part, FAULT):
        tf.release_file(ward, window="2026-W02")
    check_published(tmp_path, "busy-2026-W02")
    assert FAILED in page.read_text()
    tf.release_file(ward, window="2026-W03")  # it is made again with the next window
    assert FAILED not in page.read_text()


@pytest.mark.parametrize("error", [FAULT, InputError("one"), LedgerError("two")])
@pytest.mark.parametrize("is_paid", [False, True])
def test_a_verdict_that_fails_after_publishing_fails_no_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, is_paid: bool
) -> None:
    """Not one that publishes, and not one that completes what an earlier one has paid for."""
    toml = small(tmp_path)
    if is_paid:
        with failing(monkeypatch, orders, "handed_out", KeyError()):
            ended(FAULTY, "release", toml)
    with failing(monkeypatch, published, "verdict_of", error):
        outcome = succeed("release", toml)
    check_published(tmp_path, "both", "walking")
    words = "takifugu: both is published, and cannot be shown here: a fault of Takifugu itself"
    assert f"{words} ({type(error).__name__} at failing.py:" in outcome.stderr
    assert "still at 17" not in outcome.output
    assert "Budget" in outcome.stdout


def test_what_is_shown_of_a_completed_release_fails_no_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = small(tmp_path)
    with failing(monkeypatch, orders, "handed_out", KeyError()):
        ended(FAULTY, "release", toml)
    with failing(monkeypatch, releasing, "print_outcome", KeyError()):
        assert "State of the release: done." in succeed("release", toml).stderr


@pytest.mark.mutants
def test_a_rehearsal_fails_with_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with failing(monkeypatch, document, "beside", FAULT), pytest.raises(KeyError):
        rehearse(small(tmp_path), 1)


def test_a_witness_is_found_before_payment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate needs it: a release without one is none."""
    account: dict[str, Any] = {"ledger": Ledger.open(tmp_path / "book.db"), "budget": 2, "entries": "steps"}
    with failing(monkeypatch, certifying, "witness_of", FAULT):
        for release in (
            lambda: tf.release_file(small(tmp_path)), lambda: tf.release(counting(), [0, 1, 1, 0], **account),
        ):  # fmt: skip
            with pytest.raises(tf.errors.Fault) as caught:
                release()
            assert caught.value.state is ReleaseState.NOTHING  # type: ignore[attr-defined]
    assert not account["ledger"].pending()
    assert not (tmp_path / "ledger.db").exists()
