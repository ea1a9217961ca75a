"""For tests of what pays: debits, ledgers that stay as they are, and copies of them at each state of a release."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_tools import promised

from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.mechanisms import group_dp
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Count


def group_debit(
    framework: Framework, epsilon: Any, *units: str, name: str = "release", **changes: Any
) -> Debit:
    """Return the debit of a group release of a count, about some units, or without any about a source of none."""
    charge = charge_of(promised(framework, Count(1), group_dp.MECHANISM, epsilon))
    return Debit(framework, replace(charge, **changes) if changes else charge, units or None, name)


def dump(path: Path) -> dict[str, list[Any]]:
    """Return every row of every table of a ledger file, independently of the ledger's own code."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        return {name: connection.execute(f"select * from {name}").fetchall() for name in names}


@contextmanager
def unchanged(ledger: Path) -> Iterator[None]:
    """Check that no row of a ledger changes."""
    before = dump(ledger)
    yield
    assert dump(ledger) == before


def refused_unchanged(ledger: Ledger, error: Any, words: str | None, *args: Any, **options: Any) -> str:
    """Check that a reservation is refused in these words and that no byte of the ledger changes; return the message."""
    path = Path(ledger.store.name)
    raw = path.read_bytes()
    with unchanged(path), pytest.raises(error, match=words) as caught:
        ledger.reserve(*args, **{"entries": "these", **options})
    assert path.read_bytes() == raw
    return str(caught.value)


def epsilon_of(ledger: Ledger, source: str = "data") -> Fraction:
    return ledger.spent(source).epsilon


def edit(path: Path, *statements: str) -> None:
    """Edit a ledger as anybody can who may write its file, without its key."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def copied(path: Path, copy: Path) -> Path:
    """Write a copy of a ledger, whole or not at all, in place of an earlier one; return its path."""
    draft = copy.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(draft)) as target:
        source.backup(target)
    return draft.replace(copy)


def restored(path: Path, copy: Path) -> None:
    """Put a copy of a ledger in its place, as from a backup."""
    for leftover in path.parent.glob(f"{path.name}*"):
        leftover.unlink()
    shutil.copy(copy, path)


@contextmanager
def copies_of_each_state(folder: Path) -> Iterator[dict[str, Path]]:
    """Copy the ledger of a release before it pays, and at each state."""
    copies: dict[str, Path] = {}

    def keep(book: Ledger, state: str) -> None:
        Ledger.open(book.store.name)  # it is made with the first payment
        copies[state] = copied(Path(book.store.name), folder / f"{state}.db")

    def keeping(real: Callable[..., Any], state: str) -> Callable[..., Any]:
        def call(book: Ledger, *args: Any, **more: Any) -> Any:
            if not copies:
                keep(book, "nothing")
            answer = real(book, *args, **more)
            keep(book, state)
            return answer

        return call

    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patched:
        for method, state in {"pay": "paid", "keep": "drawn", "publish": "published"}.items():
            patched.setattr(Ledger, method, keeping(getattr(Ledger, method), state))
        yield copies
