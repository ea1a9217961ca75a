"""A published table in one file: its table, certificate and report as a ZIP, and such files read from anybody.

An archive is written uncompressed, with the earliest date that a ZIP has, so that equal files make equal bytes. One
that somebody sends is read in memory and never unpacked: its members are plain files of plain names, few and small.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Mapping

from takifugu.core.errors import InputError
from takifugu.core.escaping import is_printable, on_one_line
from takifugu.core.files import LARGEST
from takifugu.releasing.certificates.files import CERTIFICATE, REPORT, SIGNATURE, TABLE

#: What an archive of a table holds.
MEMBERS = (TABLE, CERTIFICATE, SIGNATURE, REPORT)
#: More members, or more bytes of all of them together, are of no table.
MOST_MEMBERS, MOST_BYTES = 100, 4 * LARGEST
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return the archive of some files, in their order."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name, member in files.items():
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, member)
    return content.getvalue()


def members_of(content: bytes, name: str) -> dict[str, bytes]:
    """Return the members of an archive that anybody may have written; InputError for an unsafe or damaged one."""
    members, left = dict[str, bytes](), MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_MEMBERS:
                raise _refused(name, f"it has more than {MOST_MEMBERS} members")
            for entry in entries:
                _check(entry, name)
                if entry.filename.casefold() in {other.casefold() for other in members}:
                    raise _refused(name, "two members have one name")
                with archive.open(entry) as file:
                    # whatever the headers say
                    member = file.read(left + 1)
                left -= len(member)
                if left < 0:
                    raise _refused(name, f"it holds more than {MOST_BYTES // 1_000_000} MB")
                members[entry.filename] = member
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise _refused(name, "it is no ZIP, or damaged") from None
    return members


def _check(entry: zipfile.ZipInfo, name: str) -> None:
    """Raise InputError for a member that is no plain file with a plain name."""
    called, mode = entry.filename, entry.external_attr >> 16
    if any(mark in called for mark in "/\\:"):
        raise _refused(name, f"the member {on_one_line(called)[:60]!r} has a path")
    if called != entry.orig_filename or not is_printable(called) or called != called.strip(". ") or not called:
        raise _refused(name, "a member has an odd name")
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise _refused(name, f"the member {on_one_line(called)[:60]!r} is a link, and no file")
    if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
        raise _refused(name, "a member is encrypted, or packed in another way than ZIP usually does")


def _refused(name: str, why: str) -> InputError:
    return InputError(f"{name} is no archive of a published table: {why}", fix="get it from whoever published it")
