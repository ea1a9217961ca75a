"""The folder that tables are published in: one release at a time, files complete or absent, leftovers swept.

Files are written under temporary names, synced, and renamed one by one, certificates before their tables; an old table
that is replaced is deleted first, so that none lies beside the certificate of another.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from takifugu.core.errors import InputError, ReleaseError, reason
from takifugu.core.files import draft_of, make_folder, read_file, sync, write_synced
from takifugu.core.names import normalised
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.checksum import MISSING, read_certificate, table_state
from takifugu.releasing.certificates.files import CERTIFICATE, SIGNATURE, TABLE, VALUES, content_of, digest_at

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

#: Seconds to wait for another release into the same folder.
PATIENCE = 300.0

_LOCK = ".takifugu.lock"
_DRAFT = re.compile(r"\.takifugu-[0-9a-f]{16}\.unfinished")
_CLAIM = re.compile(r"\.takifugu-([0-9a-f]{8})-([0-9]+)-[0-9a-f]{16}\.claim")
#: The errors of a file system without locks.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


@contextmanager
def alone_in(folder: Path, patience: float = PATIENCE, fix: str = "choose another one") -> Iterator[None]:
    """Lock the folder for one release, creating it if needed; ReleaseError where it stays locked or unwritable."""
    is_new = not folder.exists()
    try:
        unlock = _locked(folder, time.monotonic() + patience)
        for entry in os.scandir(folder):  # it is locked, so unfinished files are all of killed processes
            if _DRAFT.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                Path(entry.path).unlink(missing_ok=True)
    except OSError as error:
        raise ReleaseError(
            f"the output folder {str(folder)!r} cannot be written to ({reason(error)})", fix=fix
        ).at("output") from None
    try:
        yield
    finally:
        unlock()
        if is_new:
            with suppress(OSError):
                # it was made and stayed empty
                folder.rmdir()


def in_the_way(folder: Path, files: Mapping[str, bytes], replaced: Mapping[str, str]) -> list[str]:
    """Return existing files of these names, except those of a content whose digest is `replaced`."""
    strange = []
    for name in _different(folder, files):
        if (folder / name).exists() and (digest_at(folder / name) or "") != replaced.get(name):
            strange.append(name)
    return strange


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Tell a failure of the disk inside as one of the release."""
    try:
        yield
    except OSError as error:
        fault = f"the files could not all be written to {str(folder)!r} ({reason(error)})"
        raise ReleaseError(fault, fix="make room or fix it").at("output") from None


def _different(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """Return the names under which the folder holds something else, or nothing."""
    return [name for name, content in files.items() if content_of(folder / name) != content]


def place(folder: Path, files: Mapping[str, bytes], replaced: Mapping[str, str]) -> None:
    """Place the files in the folder, in their order, skipping identical ones; OSError where the disk fails."""
    waiting = _different(folder, files)
    drafts: dict[str, Path] = {}
    try:
        for name in waiting:
            drafts[name] = draft_of(folder / name)
            write_synced(drafts[name], files[name])
        outdated = [n for n in waiting if n.endswith((*VALUES, SIGNATURE)) and (folder / n).exists()]
        # files that are not written anew, and are those that were to be replaced
        outdated += [n for n, digest in replaced.items() if n not in files and digest_at(folder / n) == digest]
        for name in outdated:
            (folder / name).unlink()
        if outdated:
            sync(folder)  # they are gone before their certificates are
        for name in waiting:
            if name.endswith(TABLE):
                sync(folder)  # its certificate is there, whatever happens to the machine
            os.replace(drafts[name], folder / name)
        sync(folder)
    finally:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def _locked(folder: Path, until: float) -> Callable[[], None]:
    """Lock a folder; return the function for releasing it. The system releases the lock of a process that is killed."""
    path = folder / _LOCK
    while True:
        make_folder(folder)  # whoever was here before may have removed it
        if fcntl is None:
            return _claimed(folder, until)
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            if error.errno in _NO_LOCKS:
                path.unlink(missing_ok=True)
                return _claimed(folder, until)
            if not isinstance(error, BlockingIOError):
                raise
            _wait(folder, until, path)
            continue
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), path.stat()):
                return lambda: _unlocked(handle, path)
        os.close(handle)  # its file was deleted while we waited


def _unlocked(handle: int, path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)  # still locked: whoever waits for it checks whether it is still there
    os.close(handle)


def _claimed(folder: Path, until: float) -> Callable[[], None]:
    """Claim a folder without locks, by a file of one's own, withdrawn where another claim is live."""
    host = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
    while True:
        make_folder(folder)
        # the name tells the process, so that no claim of a killed one is mistaken for another
        claim = folder / f".takifugu-{host}-{os.getpid()}-{token_hex(8)}.claim"
        write_synced(claim, b"")
        # of two that claim at once at least one sees the other, so both never proceed
        rivals = list[Path]()
        for entry in os.scandir(folder):
            match, path = _CLAIM.fullmatch(entry.name), Path(entry.path)
            if match is None or path == claim:
                continue
            if match[1] == host and not _lives(int(match[2])):
                path.unlink(missing_ok=True)  # of a process of this machine that was killed
            else:
                rivals.append(path)
        if not rivals:
            return lambda: claim.unlink(missing_ok=True)
        claim.unlink(missing_ok=True)
        _wait(folder, until, rivals[0])


def _lives(process: int) -> bool:
    try:
        if os.name == "posix":
            os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True


def _wait(folder: Path, until: float, lock: Path) -> None:
    if time.monotonic() > until:
        raise ReleaseError(
            f"another release writes into {str(folder)!r} and has not ended",
            fix=f"wait for it, or choose another folder; if there is none, delete {lock.name} there",
        ).at("output")
    time.sleep(0.02 + int(token_hex(1), 16) / 2560)  # not in step with another that waits


@dataclass(frozen=True)
class Certified:
    """A published certificate: its file, its source, and the ids of its ledger and of its release."""

    path: Path
    source: str
    ledger: str
    release_id: str

    @property
    def name(self) -> str:
        """Return the name of its table."""
        return self.path.name.removesuffix(CERTIFICATE)

    @property
    def certificate(self) -> Certificate | None:
        """Return the certificate, or None if changed or unreadable."""
        try:
            return read_certificate(self.path)
        except InputError:
            return None

    @property
    def is_whole(self) -> bool:
        """Return whether the certificate is unchanged, with its table beside it."""
        try:
            return table_state(self.path, read_certificate(self.path)) != MISSING
        except InputError:
            return False


def certificates_of(folder: Path, names: Iterable[str]) -> tuple[Certified, ...]:
    """Return the certificates of tables of these names, skipping other files."""
    certified = []
    for name in names:
        path = folder / f"{name}{CERTIFICATE}"
        try:
            fields = json.loads(read_file(path).decode("utf-8"))
            source, said = fields["source"], fields["ledger"]
            ledger, release = said["ledger"], said["ids"][fields["release"]]
        except (OSError, ValueError, AttributeError, LookupError, TypeError, RecursionError):
            continue
        if all(isinstance(text, str) for text in (source, ledger, release)):
            certified.append(Certified(path, source, ledger, release))
    return tuple(certified)


def called_certificates(folder: Path) -> list[Path]:
    """Return the files of a folder that are named certificates. What they hold does not count."""
    return sorted(folder.glob(f"*{CERTIFICATE}"))


def paid_for(source: str | None, folder: Path) -> tuple[Certified, ...]:
    """Return a folder's certificates of a source, or of all (None)."""
    names = [path.name.removesuffix(CERTIFICATE) for path in called_certificates(folder)]
    certified = certificates_of(folder, names)
    if source is None:
        return certified
    return tuple(certificate for certificate in certified if normalised(certificate.source) == normalised(source))
