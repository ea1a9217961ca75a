"""Reports that nobody reads: tests of payments publish again and again, and drawing a report is an eighth of that.

By night each draws its own. Pages are what tests/releasing/report, tests/printed, tests/pages and the tests of leaks
are about.
"""

from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "tests"
#: Folders and files whose tests look at ledgers, tables and certificates.
PAYING = tuple(ROOT / name for name in (
    "accounting/ledger", "cli/test_cli_ledger_stops.py", "cli/test_entries.py", "cli/test_ledgers.py",
    "releasing/advice/test_over_budget.py", "releasing/advice/test_printed_remedies.py",
    "releasing/file/test_contact_files.py", "releasing/file/test_density_files.py",
    "releasing/file/test_fitted_parameters.py", "releasing/file/test_fitting.py", "releasing/file/test_metric_files.py",
    "releasing/planning", "releasing/publishing/test_adopting.py", "releasing/publishing/test_never_twice.py",
    "releasing/publishing/test_new_ledger.py", "releasing/publishing/test_restored_copies.py",
    "releasing/publishing/test_states.py", "releasing/publishing/test_table_of_states.py",
    "releasing/test_clocks_that_change.py", "releasing/test_entries.py", "releasing/test_matrices_by_cells.py",
    "releasing/test_readings.py", "releasing/test_records.py", "releasing/test_rows_of_records.py",
    "releasing/test_scans.py", "releasing/test_users_by.py", "releasing/test_windows.py",
))  # fmt: skip


@cache
def are_left_out(path: Path) -> bool:
    """Return whether no test of a file reads a report."""
    return any(path == one or one in path.parents for one in PAYING)


def leave_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what the tests of a file publish have a report that holds its name alone."""
    if are_left_out(path):
        from takifugu.releasing.publishing import sheets

        monkeypatch.setattr(sheets, "report_html", lambda published: published.name)
