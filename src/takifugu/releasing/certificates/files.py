"""The files of a published table: their names, their bytes, and the digests of these."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterable
from itertools import product
from pathlib import Path

from takifugu.core.errors import InputError, reason
from takifugu.core.files import LARGEST, read_file

#: What each table's files are called, after its name.
CERTIFICATE, PAGE, TABLE, REPORT = ".certificate.json", ".certificate.txt", ".csv", ".report.html"
SIGNATURE = f"{CERTIFICATE}.sig"
DRAWING = ".svg"
#: All of them, in the order in which they appear.
ENDS = (CERTIFICATE, SIGNATURE, PAGE, TABLE, DRAWING, REPORT)
#: What a table is called in the forms that are made on demand.
DATA, PACKAGE, PLACES, ARCHIVE = ".table.json", ".datapackage.json", ".geojson", ".zip"
#: The page and the tables of all windows; they are made anew from the certificates in the folder when one appears.
WINDOWS, WINDOWS_TABLE = ".windows.html", ".windows.csv"
#: Those that hold values.
VALUES = (TABLE, DRAWING, REPORT)


def files_of(names: Iterable[str]) -> list[str]:
    """Return the names of all files of tables."""
    return [f"{name}{end}" for name, end in product(names, ENDS)]


def content_of(path: Path) -> bytes | None:
    """Return a file's bytes, or None if absent or unreadable."""
    try:
        # opening a pipe would wait for its writer
        return path.read_bytes() if path.is_file() else None
    except OSError:
        return None


def digest_of(content: bytes) -> str:
    """Return the digest of public bytes."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def digest_of_file(path: Path) -> str:
    """Return the digest of a file of any size. Raises OSError for an unreadable path and for what is not a file."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if path.exists() and not path.is_file():
        raise IsADirectoryError(errno.EISDIR, "it is not a file")
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def digest_at(path: Path) -> str | None:
    content = content_of(path)
    return None if content is None else digest_of(content)


def required_bytes(path: Path, fix: str, largest: int = LARGEST) -> bytes:
    """Return a file's bytes; InputError, with the fix, where it cannot be read."""
    try:
        return read_file(path, largest)
    except OSError as error:
        raise InputError(f"{path.name or path} cannot be read ({reason(error)})", fix=fix) from None
