"""The page of all windows of a table: made of the certificates in the folder, anew whenever a window is published.

It holds nothing that they do not hold, so it costs nothing. What kills a release before it is written harms nothing: a
window is not recorded as published before, and whoever completes it writes the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from takifugu.core.errors import InputError
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.certificates.files import CERTIFICATE, WINDOWS, content_of
from takifugu.releasing.publishing.folder import replace_synced
from takifugu.releasing.report.windows import MADE, windows_html


def index_windows(folder: Path, published: Iterable[Certificate]) -> None:
    """Write the page of each table of which a window was published now; another file of its name is left alone."""
    for name, one in {series_of(one): one for one in published if one.window is not None and one.window.series}.items():
        path = folder / f"{name}{WINDOWS}"
        there = content_of(path)
        if path.is_dir() or (there is not None and MADE.encode() not in there[:400]):
            continue
        content = windows_html(name, sorted(_alike(folder, one), key=lambda c: c.window.period if c.window else ""))
        if content.encode() != there:
            replace_synced(path, content.encode())


def series_of(certificate: Certificate) -> str:
    """Return what the tables of all windows are called: the table's name without its window."""
    window = certificate.window
    assert window is not None
    return f"{window.series}{certificate.release.removeprefix(f'{window.series}-{window.period}')}"


def _alike(folder: Path, one: Certificate) -> Iterator[Certificate]:
    """Yield the certificates of the same table, of all its windows, that lie in the folder."""
    assert one.window is not None
    for path in sorted(folder.iterdir()):
        if not (path.name.startswith(f"{one.window.series}-") and path.name.endswith(CERTIFICATE)):
            continue
        try:
            other = read_certificate(path)
        except InputError:
            continue  # somebody else's file, or a damaged one
        is_window = other.window is not None and other.window.series == one.window.series
        if is_window and other.source == one.source and series_of(other) == series_of(one):
            yield other
