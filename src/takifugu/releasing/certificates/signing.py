"""Signatures beside certificates: Ed25519 over the bytes of a file, with a key of the publisher that no ledger holds.

Anybody can write a certificate with a checksum that fits. A signature shows that the holder of a key wrote these bytes.
The key is a file of the user's, outside of every ledger and release file: `~/.config/takifugu/signing.key`, or what
`TAKIFUGU_SIGNING_KEY` names. Where it is, every release signs.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import InputError, reason
from takifugu.core.escaping import command
from takifugu.core.files import read_file
from takifugu.core.plain import indented

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT = "takifugu-signature/1"
#: The variable that names another file of the key.
PLACE = "TAKIFUGU_SIGNING_KEY"
#: No file of a key or a signature is larger.
LARGEST_KEY = 10_000
_FOLDER_MODE, _KEY_MODE = 0o700, 0o600


@dataclass(frozen=True, repr=False)
class Signer:
    """A private key, and its public part in hexadecimal digits."""

    private: Ed25519PrivateKey
    public: str

    def signature(self, content: bytes) -> bytes:
        """Return the file of a signature of some bytes."""
        signed = {"format": FORMAT, "key": self.public, "signature": self.private.sign(content).hex()}
        return f"{indented(signed)}\n".encode()


def key_file() -> Path:
    """Return where the user's signing key is, if there is one."""
    return Path(os.environ.get(PLACE) or "~/.config/takifugu/signing.key").expanduser()


def configured(ledger: str = "", output: Path | None = None) -> Signer | None:
    """Return the user's signing key, None where there is none; InputError for one in an unsafe place."""
    path = key_file()
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return None
    if os.name == "posix" and stat.S_IMODE(mode) & ~_KEY_MODE:
        raise InputError(f"others can read the signing key {str(path)!r}", fix=f"chmod 600 {str(path)!r}")
    adjacent = [] if not ledger or "://" in ledger else [Path(ledger).parent]
    if any(path.parent.resolve() == folder.resolve() for folder in (*adjacent, *filter(None, [output]))):
        raise InputError(
            f"the signing key {str(path)!r} lies beside the ledger or the tables",
            rule="whoever copies them could sign",
            fix=f"move it, for example to {str(path.parent.parent / 'signing.key')!r}, and set {PLACE}",
        )
    try:
        content = read_file(path, LARGEST_KEY)
    except OSError as error:
        what = f"the signing key {str(path)!r} cannot be read ({reason(error)})"
        raise InputError(what, fix="move it away") from None
    return _signer(content, path)


def new_key() -> Signer:
    """Make a signing key in a file that only the user can read; InputError where there is one already."""
    ed25519, serialization = _library()
    path, private = key_file(), ed25519.Ed25519PrivateKey.generate()
    content = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        path.parent.mkdir(_FOLDER_MODE, parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _KEY_MODE), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(f"no signing key can be written to {str(path)!r} ({reason(error)})", fix="make room") from None
    return _signer(content, path)


def signed_by(content: bytes, signature: bytes, name: str) -> str:
    """Return the public key that signed some bytes; InputError for no signature, or one of other bytes."""
    try:
        said = json.loads(signature)
        key, sign = bytes.fromhex(said["key"]), bytes.fromhex(said["signature"])
        if said["format"] != FORMAT or len(key) != 32 or len(sign) != 64:
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{name} is no signature of Takifugu", fix="get it from whoever published it") from None
    ed25519, _ = _library()
    from cryptography.exceptions import InvalidSignature

    try:
        ed25519.Ed25519PublicKey.from_public_bytes(key).verify(sign, content)
    except (InvalidSignature, ValueError):
        raise InputError(
            f"{name} is not the signature of the certificate beside it", rule="one of the two was changed",
            fix="get both from whoever published them",
        ) from None  # fmt: skip
    return key.hex()


def _signer(content: bytes, path: Path) -> Signer:
    ed25519, serialization = _library()
    try:
        private = serialization.load_pem_private_key(content, None)
    except (ValueError, TypeError):
        private = None
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        fix = f"move it away, and run {command('ledger', 'key')}"
        raise InputError(f"{str(path)!r} is no signing key: an Ed25519 key in PEM, without a password", fix=fix)
    raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
    return Signer(private, private.public_key().public_bytes(*raw).hex())


def _library() -> tuple[Any, Any]:
    """Return the modules of keys and of their forms; InputError where they are not installed."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise InputError("signatures need the package cryptography", fix="pip install 'takifugu[sign]'") from None
    return ed25519, serialization
