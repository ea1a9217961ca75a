"""What is published, verified: certificates that nobody changed, each with the very table that it was written for.

A checksum shows accidents and edits. A signature beside the certificate shows who wrote it, to those who know the key.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from takifugu.core.errors import InputError, reason
from takifugu.releasing.certificates.archives import MOST_BYTES, MOST_MEMBERS, members_of
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.checksum import MISSING, TABLES, fields_of, from_dict, state_of
from takifugu.releasing.certificates.files import (
    CERTIFICATE,
    SIGNATURE,
    TABLE,
    digest_of,
    required_bytes,
)
from takifugu.releasing.certificates.signing import signed_by

#: What is read; other files say the same in other forms, as who wrote them words it, or are of nobody knows whom.
_READ = (CERTIFICATE, SIGNATURE, TABLE)


@dataclass(frozen=True)
class Verified:
    """A certificate that was not changed, the state of its table, and the files of it that nothing vouches for."""

    name: str
    certificate: Certificate
    table: str
    unverified: tuple[str, ...]
    #: The public key that signed it, in hexadecimal digits; None without a signature.
    signed_by: str | None = None
    #: Files at the same place, of no table that has a certificate there.
    others: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return whether the certified table is there, if any was certified."""
        return self.table != MISSING

    @property
    def words(self) -> str:
        """Say what was verified, and what was not."""
        rehearsal = "a rehearsal, no guarantee: " if self.certificate.rehearsal is not None else ""
        # whoever renames files gives a table another meaning
        release = "" if self.certificate.release == self.name else f" of {self.certificate.release!r}"
        words = f"{self.name}: {rehearsal}the certificate{release} is unchanged, and {TABLES[self.table]}"
        if self.signed_by is not None:
            words = f"{words}; signed with the key {self.signed_by}"
        if self.unverified:
            words = f"{words}; nothing vouches for {', '.join(self.unverified)}"
        return words


def verified(path: str | Path) -> tuple[Verified, ...]:
    """Verify all certificates at a place: a folder, a ZIP of a published table, or one certificate; InputError."""
    place = Path(path)
    content: Callable[[str], bytes] = partial(_read_in, place if place.is_dir() else place.parent)
    if place.is_dir():
        files = _in_folder(place)
    elif place.name.casefold().endswith(".zip"):
        members = members_of(required_bytes(place, "give a published .zip", MOST_BYTES), place.name)
        files, content = {*members}, members.__getitem__
    else:
        files = _single(place)
    names = sorted(name.removesuffix(CERTIFICATE) for name in files if name.endswith(CERTIFICATE))
    if not names:
        fix = "give the folder or ZIP of a published table"
        raise InputError(f"{place.name or path} holds no certificate", fix=fix)
    read, unverified = {f"{name}{end}" for name in names for end in _READ}, dict[str | None, list[str]]()
    for file in sorted(files - read):
        unverified.setdefault(_table_of(file, files), []).append(file)
    others = tuple(unverified.get(None, ()))
    # a table that is missing is said, and is no error
    return tuple(_verified(name, files, content, tuple(unverified.get(name, ())), others) for name in names)


def _table_of(file: str, files: Container[str]) -> str | None:
    """Return the table that a file is called after, None for a file of none."""
    name = file
    while "." in name:
        name = name.rpartition(".")[0]
        if f"{name}{CERTIFICATE}" in files:
            return name
    return None


def _verified(
    name: str, files: Container[str], content: Callable[[str], bytes], unverified: tuple[str, ...],
    others: tuple[str, ...],
) -> Verified:  # fmt: skip
    """Verify a certificate; what it is compared with is read now: a folder may hold more than a memory."""
    (file, table, signature), key = (f"{name}{end}" for end in (CERTIFICATE, TABLE, SIGNATURE)), None
    written = content(file)
    certificate = from_dict(fields_of(written, file), file)
    state = state_of(certificate, digest_of(content(table)) if table in files else None, table)
    if signature in files:
        key = signed_by(written, content(signature), signature)
    return Verified(name, certificate, state, unverified, key, others)


def _in_folder(folder: Path) -> set[str]:
    """Return what lies in a folder, and is not hidden, with certificates and what they are compared with."""
    files = set[str]()
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(f"{str(folder)!r} cannot be read ({reason(error)})", fix="give another folder") from None
    certified = {name.removesuffix(CERTIFICATE) for name in names if name.endswith(CERTIFICATE)}
    if len(certified) > MOST_MEMBERS * MOST_MEMBERS:
        raise InputError(f"{str(folder)!r} has too many certificates", fix="verify them folder by folder")
    for name in names:
        end = next((end for end in _READ if name.endswith(end)), None)
        if not name.startswith(".") or (end is not None and name.removesuffix(end) in certified):
            files.add(name)
    return files


def _single(path: Path) -> set[str]:
    """Return one certificate, and its table and its signature if they are beside it."""
    if not path.name.endswith(CERTIFICATE):
        fields_of(_read_in(path.parent, path.name), path.name)  # which says what it is instead
        raise InputError(f"{path.name} is not called as a certificate is", fix=f"its name ends in {CERTIFICATE}")
    adjacent = (f"{path.name.removesuffix(CERTIFICATE)}{end}" for end in (TABLE, SIGNATURE))
    return {path.name, *(name for name in adjacent if path.with_name(name).exists())}


def _read_in(folder: Path, name: str) -> bytes:
    path = folder / name
    return required_bytes(path, "give a folder, a .zip or a certificate" if path.exists() else "check the path")

