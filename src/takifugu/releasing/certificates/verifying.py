"""What is published, verified: certificates that nobody changed, each with the very table that it was written for.

A checksum shows accidents and edits. A signature beside the certificate shows who wrote it, to those who know the key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from takifugu.core.errors import InputError
from takifugu.releasing.certificates.archives import MOST_MEMBERS, read_archive
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.checksum import MISSING, TABLES, fields_of, from_dict, state_of
from takifugu.releasing.certificates.files import (
    CERTIFICATE,
    DATA,
    PAGE,
    REPORT,
    SIGNATURE,
    TABLE,
    digest_of,
    reason,
    required_bytes,
)
from takifugu.releasing.certificates.signing import signed_by

#: The files that say the same in other forms, as the version that wrote them words it.
_UNVERIFIED = (PAGE, DATA, REPORT)


@dataclass(frozen=True)
class Verified:
    """A certificate that was not changed, the state of its table, and the files of it that nothing vouches for.

    `signed_by` is the public key that signed it, in hexadecimal digits; None without a signature.
    """

    name: str
    certificate: Certificate
    table: str
    unverified: tuple[str, ...]
    signed_by: str | None = None

    @property
    def is_whole(self) -> bool:
        """Return whether the certified table is there, if any was certified."""
        return self.table != MISSING

    @property
    def words(self) -> str:
        """Say what was verified, and what was not."""
        rehearsal = "a rehearsal, no guarantee: " if self.certificate.rehearsal is not None else ""
        words = f"{self.name}: {rehearsal}the certificate is unchanged, and {TABLES[self.table]}"
        if self.signed_by is not None:
            words = f"{words}; signed with the key {self.signed_by}"
        if self.unverified:
            words = f"{words}; nothing vouches for {', '.join(self.unverified)}"
        return words


def verified(path: str | Path) -> tuple[Verified, ...]:
    """Verify all certificates at a place: a folder, a ZIP of a published table, or one certificate beside its table.

    Args:
        path: The folder, the `.zip`, or the `.certificate.json`.

    Returns:
        One `Verified` for each certificate, by name. A table that is missing is said, and is no error.

    Raises:
        InputError: for a certificate or a table that was changed, for a signature of something else, for a place
            without a certificate, and for a ZIP that no release has written: members with paths, links, or too many or
            too large ones.
    """
    place = Path(path)
    if place.is_dir():
        files = _in_folder(place)
    elif place.name.casefold().endswith(".zip"):
        files = read_archive(place)
    else:
        files = _single(place)
    names = sorted(name.removesuffix(CERTIFICATE) for name in files if name.endswith(CERTIFICATE))
    if not names:
        fix = "give the folder or ZIP of a published table"
        raise InputError(f"{place.name or path} holds no certificate", fix=fix)
    return tuple(_verified(name, files) for name in names)


def _verified(name: str, files: Mapping[str, bytes]) -> Verified:
    file = f"{name}{CERTIFICATE}"
    certificate = from_dict(fields_of(files[file], file), file)
    content = files.get(f"{name}{TABLE}")
    state = state_of(certificate, None if content is None else digest_of(content), f"{name}{TABLE}")
    unverified = tuple(f"{name}{end}" for end in _UNVERIFIED if f"{name}{end}" in files)
    signature, key = files.get(f"{name}{SIGNATURE}"), None
    if signature is not None:
        key = signed_by(files[file], signature, f"{name}{SIGNATURE}")
    return Verified(name, certificate, state, unverified, key)


def _in_folder(folder: Path) -> dict[str, bytes]:
    """Return what certificates of a folder are compared with; other files are not read."""
    ends, files = (CERTIFICATE, SIGNATURE, TABLE, *_UNVERIFIED), dict[str, bytes]()
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(f"{str(folder)!r} cannot be read ({reason(error)})", fix="give another folder") from None
    certified = {name.removesuffix(CERTIFICATE) for name in names if name.endswith(CERTIFICATE)}
    if len(certified) > MOST_MEMBERS * MOST_MEMBERS:
        raise InputError(f"{str(folder)!r} has too many certificates", fix="verify them folder by folder")
    for name in names:
        end = next((end for end in ends if name.endswith(end)), None)
        if end is not None and name.removesuffix(end) in certified:
            files[name] = b"" if end in _UNVERIFIED else _read(folder / name)
    return files


def _single(path: Path) -> dict[str, bytes]:
    """Return one certificate, and its table and its signature if they are beside it."""
    if not path.name.endswith(CERTIFICATE):
        fields_of(_read(path), path.name)  # which says what it is instead
        raise InputError(f"{path.name} is not called as a certificate is", fix=f"its name ends in {CERTIFICATE}")
    files, name = {path.name: _read(path)}, path.name.removesuffix(CERTIFICATE)
    for end in (TABLE, SIGNATURE):
        adjacent = path.with_name(f"{name}{end}")
        if adjacent.exists():
            files[adjacent.name] = _read(adjacent)
    return files


def _read(path: Path) -> bytes:
    return required_bytes(path, "give a folder, a .zip or a certificate" if path.exists() else "check the path")

