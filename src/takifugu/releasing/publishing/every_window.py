"""The page and the tables of all windows: made of the certificates in the folder, whenever a window is published.

They hold nothing that these do not hold, so they cost nothing. What kills a release before it is written harms
nothing: a window is not recorded as published before, and whoever completes it writes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from takifugu.core.files import replace_synced
from takifugu.releasing.certificates.cells import UPPER, table_text
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.files import WINDOWS, WINDOWS_TABLE, content_of
from takifugu.releasing.publishing.folder import paid_for
from takifugu.releasing.report.outcomes import published_of
from takifugu.releasing.report.page import shown
from takifugu.releasing.report.windows import MADE, rows_in, windows_html

#: The table of all windows, and what is at its beginning.
_LINKS = {WINDOWS_TABLE: "all windows (CSV)"}
_MADE_TABLES = (
    b"window,cell,value,low,high", b"window,unit,cell,value,low,high", f"window,cell,{UPPER}".encode(),
)  # fmt: skip


def index_windows(folder: Path, published: Iterable[Certificate]) -> None:
    """Write all-window pages and tables of newly published tables. Other programs' files are left alone."""
    in_series: dict[str, Certificate] = {}
    for certificate in published:
        if certificate.window is not None and certificate.window.series:
            in_series[series_of(certificate)] = certificate
    for name, certificate in in_series.items():
        for end, content in shown(name, WINDOWS, partial(_files, folder, name, certificate), MADE).items():
            path = folder / f"{name}{end}"
            if _may_write(path) and content != content_of(path):
                replace_synced(path, content)


def _files(folder: Path, name: str, certificate: Certificate) -> dict[str, bytes]:
    """Return the table and the page of all windows of one table; the page links to no other program's files."""
    assert certificate.window is not None
    by_period = list[tuple[str, Certificate]]()  # the folder's certificates of all windows of this table
    for paid in paid_for(certificate.source, folder):
        if not paid.name.startswith(f"{certificate.window.series}-"):
            continue
        other = paid.certificate
        if other is None or other.window is None or other.window.series != certificate.window.series:
            continue
        if series_of(other) == name:
            by_period.append((other.window.period, other))
    windows = [published_of(other) for _, other in sorted(by_period, key=lambda pair: pair[0])]
    rows, tables = rows_in(windows), dict[str, bytes]()
    if rows:
        tables = {WINDOWS_TABLE: table_text(rows).encode()}
    links = [(_LINKS[end], f"{name}{end}") for end in tables if _may_write(folder / f"{name}{end}")]
    return {**tables, WINDOWS: windows_html(name, windows, links).encode()}


def windows_files(folder: Path, certificate: Certificate) -> list[Path]:
    """Return a folder's files about all windows of a certificate's table."""
    if certificate.window is None or not certificate.window.series:
        return []
    paths = (folder / f"{series_of(certificate)}{end}" for end in (WINDOWS, *_LINKS))
    return list(filter(_is_ours, paths))


def _may_write(path: Path) -> bool:
    """Return whether nothing of another program is there."""
    return not path.is_dir() and (content_of(path) is None or _is_ours(path))


def _is_ours(path: Path) -> bool:
    content = content_of(path)
    return content is not None and any(mark in content[:400] for mark in (MADE.encode(), *_MADE_TABLES))


def series_of(certificate: Certificate) -> str:
    """Return the common name of a table's windows."""
    window = certificate.window
    assert window is not None
    return f"{window.series}{certificate.release.removeprefix(f'{window.series}-{window.period}')}"
