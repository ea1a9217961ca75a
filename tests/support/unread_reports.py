"""Reports that nobody reads: tests of payments publish again and again, and drawing a report is an eighth of that.

By night each draws its own. Pages are what tests/releasing/report, tests/printed, tests/pages and the tests of leaks
are about.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "tests"
#: Files whose tests look at ledgers, tables and certificates.
PAYING = frozenset(ROOT / name for name in (
    "accounting/ledger/test_ledger.py", "accounting/ledger/test_second_draws.py", "cli/test_entries.py",
    "releasing/publishing/test_adopting.py", "releasing/publishing/test_never_twice.py",
    "releasing/publishing/test_restored_copies.py", "releasing/publishing/test_table_of_states.py",
    "releasing/test_entries.py", "releasing/test_readings.py", "releasing/test_records.py", "releasing/test_scans.py",
    "releasing/test_users_by.py", "releasing/test_windows.py",
))  # fmt: skip


def leave_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what the tests of a file publish have a report that holds its name alone."""
    if path in PAYING:
        from takifugu.releasing.publishing import sheets

        monkeypatch.setattr(sheets, "report_html", lambda published: published.name)
