"""The operating system's noise, the same in every run of a test: no test fails one time in twenty."""

import hashlib
import os
from threading import Lock

from takifugu.numbers.noise import InsecureSeededEntropyForTests


class Chance:
    """A stream of bytes for each test, seeded by its name; a forked process reads the system's own.

    >>> chance = Chance()
    >>> chance.begin("a test"), chance.bytes(2) == InsecureSeededEntropyForTests(seed_of("a test")).bytes(2)
    (None, True)
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self.begin("before the first test")

    def begin(self, test: str) -> None:
        """Start the stream of a test."""
        self._stream, self._process = InsecureSeededEntropyForTests(seed_of(test)), os.getpid()

    def bytes(self, n: int) -> bytes:
        if os.getpid() != self._process:
            return os.urandom(n)
        with self._lock:
            return self._stream.bytes(n)


def seed_of(test: str) -> int:
    """Return a number for the name of a test."""
    return int.from_bytes(hashlib.sha256(test.encode()).digest(), "big")
