"""Where random bytes come from."""

from __future__ import annotations

import hashlib
import os
from typing import Protocol, runtime_checkable


@runtime_checkable
class Entropy(Protocol):
    """A source of independent uniform bytes, `private` if nobody else knows them."""

    @property
    def private(self) -> bool: ...

    def bytes(self, n: int) -> bytes:
        """Return the next n bytes; no byte is ever returned twice."""
        ...


class SystemEntropy:
    """Bytes from the operating system's cryptographic generator."""

    @property
    def private(self) -> bool:
        return True

    def bytes(self, n: int) -> bytes:
        # Nothing is kept between calls, so threads, forks, copies and pickles can never share a byte.
        return os.urandom(n)


def is_private(entropy: Entropy) -> bool:
    """Return whether noise from a source is private."""
    return type(entropy) is SystemEntropy and entropy.private


class InsecureSeededEntropyForTests:
    """A reproducible stream, SHAKE-256 of the seed and a block counter, for one thread."""

    _BLOCK = 1 << 16

    def __init__(self, seed: int) -> None:
        self._seed = f"takifugu test seed {int(seed)}".encode()
        self._blocks = 0
        self._ready, self._used = b"", 0

    @property
    def private(self) -> bool:
        # Whoever knows the seed can remove the noise: a release that used it must be marked "not private".
        return False

    def bytes(self, n: int) -> bytes:
        while len(self._ready) - self._used < n:
            block = hashlib.shake_256(self._seed + b" block %d" % self._blocks).digest(self._BLOCK)
            self._ready, self._used = self._ready[self._used :] + block, 0
            self._blocks += 1
        start, self._used = self._used, self._used + n
        return self._ready[start : self._used]
