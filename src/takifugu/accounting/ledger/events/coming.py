"""A ledger that is not there yet: it is made with what is first written, and whatever is refused before makes none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress

from takifugu.accounting.ledger.events.memory import Memory
from takifugu.accounting.ledger.events.stores import MissingLedger, Store


class Coming:
    """The store at a place, once there is one, and until then one in memory.

    `opens` opens it, and makes it where it gets a first event; `announce` is called before that.
    """

    def __init__(
        self, name: str, opens: Callable[[tuple[str, str] | None], Store], announce: Callable[[], None]
    ) -> None:
        self.name, self.is_new = name, True
        self._opens, self._announce = opens, announce
        self._rehearsed = Memory(name)
        self._made: Store | None = None

    @property
    def _store(self) -> Store:
        if self._made is None:
            with suppress(MissingLedger):
                self._made = self._opens(None)
                self.is_new = False
        return self._made or self._rehearsed

    def after(self, number: int) -> list[tuple[str, str]]:
        return self._store.after(number)

    def content(self, digest: str) -> bytes | None:
        return self._store.content(digest)

    def append(
        self, number: int, head: str, events: Sequence[tuple[str, str]], contents: Mapping[str, bytes],
        waiting: Mapping[tuple[str, int], bytes], done: str,
    ) -> bool:  # fmt: skip
        store = self._store
        if store is self._rehearsed:
            self._announce()
            self._made = store = self._opens(self._rehearsed.after(0)[0])
            self.is_new = store.is_new  # where another process was faster, its first event is another one
        return store.append(number, head, events, contents, waiting, done)

    def waiting(self, group: str) -> list[bytes]:
        return self._store.waiting(group)

    def alone(self) -> AbstractContextManager[None]:
        return self._store.alone()

    def close(self) -> None:
        if self._made is not None:
            self._made.close()
