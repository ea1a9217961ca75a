"""A ledger that is nowhere but in memory: for rehearsals where there is none yet, so that a dry run makes no file."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from takifugu.accounting.ledger.events import first_row


class Memory:
    """The rows of a ledger; `name` is what it is called in words, the path where it will be."""

    def __init__(self, name: str) -> None:
        self.name, self.is_new = name, True
        self._guard = threading.RLock()
        self._events = [first_row()]
        self._contents = dict[str, bytes]()
        self._waiting = dict[tuple[str, int], bytes]()

    def after(self, number: int) -> list[tuple[str, str]]:
        with self._guard:
            return self._events[number:]

    def content(self, digest: str) -> bytes | None:
        return self._contents.get(digest)

    def append(
        self, number: int, head: str, events: Sequence[tuple[str, str]], contents: Mapping[str, bytes],
        waiting: Mapping[tuple[str, int], bytes], done: str,
    ) -> bool:  # fmt: skip
        with self._guard:
            if len(self._events) != number or (number and self._events[-1][1] != head):
                return False
            self._events += events
            self._contents |= contents
            values = {**self._waiting, **waiting}
            self._waiting = {key: body for key, body in values.items() if key[0] != done}
            return True

    def waiting(self, group: str) -> list[bytes]:
        with self._guard:
            values = sorted((number, body) for (name, number), body in self._waiting.items() if name == group)
            return [body for _, body in values]

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._guard:
            yield

    def close(self) -> None:
        """Nothing is open."""
