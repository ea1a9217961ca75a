"""A ledger that is not there yet: it is made with what is first written, and whatever is refused before makes none."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

from takifugu.accounting.ledger.events.memory import Memory
from takifugu.accounting.ledger.events.stores import Asking, MissingLedger, Store


class Coming(Store):
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

    def asking(self) -> AbstractContextManager[Asking]:
        return self._store.asking()

    def alone(self) -> AbstractContextManager[None]:
        return self._store.alone()

    def append(self, *written: Any, **others: Any) -> bool:
        store = self._store
        if store is self._rehearsed:
            self._announce()
            self._made = store = self._opens(self._rehearsed.after(0)[0])
            self.is_new = store.is_new  # where another process was faster, its first event is another one
        return store.append(*written, **others)

    def close(self) -> None:
        if self._made is not None:
            self._made.close()
