"""Paying for releases: many units, a long past, how long others wait; next to bare rows, and to one row per unit."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from takifugu.accounting.ledger.store import Store

import takifugu as tf
from measure import row, span, title
from takifugu.accounting.composition import charge_of
from takifugu.accounting.log import Debit, Ledger

LENGTHS = range(50, 80)
CHAIN = tf.MarkovChain([[0.7, 0.3], [0.3, 0.7]], length=1)
#: A count of the hours of a week.
WEEK = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN.with_length(168)), tf.Count(1), epsilon=0.01)


def debits(units: int) -> list[Debit]:
    """Return one debit for each unit; units of one length are charged alike, as in a release file."""
    frameworks = [tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(CHAIN, (n,))) for n in LENGTHS]
    made = [tf.calibrate(f, tf.Count(1), epsilon=0.01, mechanism="quilt-exact") for f in frameworks]
    charges = [charge_of(calibration) for calibration in made]
    which = [n % len(LENGTHS) for n in range(units)]
    return [Debit(frameworks[k], charges[k], f"participant {n}") for n, k in enumerate(which)]


@contextmanager
def locked() -> Iterator[list[float]]:
    """Note for how long each transaction holds the write lock."""
    held: list[float] = []
    before = Store.writing

    @contextmanager
    def writing(self: Store) -> Iterator[Any]:
        with before(self) as connection:
            started = time.perf_counter()
            yield connection
        held.append(time.perf_counter() - started)

    Store.writing = writing  # type: ignore[method-assign,assignment]
    yield held
    Store.writing = before  # type: ignore[method-assign]


def worked(work: Callable[[], Any]) -> float:
    """Return how long the processor worked: other programs on the machine do not count."""
    started = time.process_time()
    work()
    return time.process_time() - started


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def rows_alone(folder: Path, units: int, at_once: bool) -> float:
    """Return how long SQLite takes to write as many rows with a key, at once or by one look-up and row per unit."""
    path = folder / f"rows {units} {at_once}.db"
    rows = [(n.to_bytes(16, "big"), 1, 1) for n in range(units)]
    add = "insert into units values (?, ?, ?)"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript("pragma journal_mode=wal; pragma synchronous=full")
        connection.execute("create table units (tag, source, standing, primary key (tag, source)) without rowid")
        started = time.perf_counter()
        connection.execute("begin immediate")
        if at_once:
            connection.executemany(add, rows)
        else:
            for one in rows:
                connection.execute("select standing from units where tag = ? and source = ?", one[:2]).fetchone()
                connection.execute(add, one)
        connection.execute("commit")
        return time.perf_counter() - started


def many_units(folder: Path, units: int) -> None:
    title(f"{units:,} units, one release about each")
    requests = debits(units)
    book = Ledger.open(folder / f"{units}.db")
    plain, naive = rows_alone(folder, units, True), rows_alone(folder, units, False)
    for what in ("new units", "known units", "known units again"):
        with locked() as held:
            whole = timed(lambda: book.reserve("data", requests, budget=100))
        lock = max(held)
        ratios = f"{lock / plain:.2g} times the rows alone, {lock / naive:.2g} times one row per unit"
        row(f"write lock, {what}", span(lock), ratios)
        row(f"all of it, {what}", span(whole), f"{whole / units * 100_000:.2g} s per 100,000 units")


def long_past(folder: Path, releases: int, what: str, charge_at: Callable[[int], Any]) -> None:
    title(f"{releases:,} releases, {what} (time of the processor)")
    book = Ledger.open(folder / f"{what}.db")
    one = [Debit(WEEK.framework, charge_at(n)) for n in range(releases)]
    times = [worked(lambda: book.reserve("data", [debit], budget=10**6)) for debit in one]  # noqa: B023
    tenth = max(1, releases // 10)
    first, last = sorted(times[1 : tenth + 1])[tenth // 2], sorted(times[-tenth:])[tenth // 2]
    row("a release, the first tenth (median)", span(first))
    row("a release, the last tenth (median)", span(last), f"{last / first:.2g} times as long")


def distinct_past(folder: Path, most: int, what: str, charge_at: Callable[[int], Any]) -> None:
    title(f"{most:,} releases about one sequence, {what}")
    first = 0.0
    for past in (1, most // 8, most // 4, most // 2, most):
        book = Ledger.open(folder / f"{what} {past}.db")
        earlier = [Debit(WEEK.framework, charge_at(n), name=f"release {n}") for n in range(past)]
        book.reserve("data", earlier, budget=10**6)
        again = Debit(WEEK.framework, charge_at(most))
        taken = min(worked(lambda: book.reserve("data", [again])) for _ in range(3))  # noqa: B023
        first = first or taken
        row(f"the next reserve after {past:,}", span(taken), f"{taken / first:.3g} times that after one")


def of_scale(number: int) -> Any:
    charge = charge_of(WEEK)
    assert charge.scale is not None
    return replace(charge, scale=charge.scale * (1 + Fraction(number + 2, 10**4)))


def of_window(number: int) -> Any:
    """Return the count of a week, week after week, each with noise of its own."""
    return replace(of_scale(number * 7919 % 9973), at=168 * number, calendar="hours")


def of_query(number: int, **where: Any) -> Any:
    """Return a count over steps in a row, no two of them the same, with noise as for the week."""
    first, length = number % 168, 1 + number // 168 % 168
    query = tf.Count(1, entries=range(first, min(168, first + length)))
    return charge_of(replace(WEEK, query=query), **where)


def pasts(folder: Path, releases: int) -> None:
    window = charge_of(WEEK, at=0, calendar="hours")
    long_past(folder, releases, "all alike and of unknown places", lambda _: charge_of(WEEK))
    long_past(folder, releases, "all about one window", lambda _: window)
    long_past(folder, releases, "of one window each", lambda n: replace(window, at=168 * n))
    distinct_past(folder, releases, "no two with one scale", of_scale)
    distinct_past(folder, releases, "no two with one scale, in windows one after the other", of_window)
    distinct_past(folder, releases, "no two of one query, of unknown places", of_query)
    distinct_past(folder, releases, "no two of one query, in one window", lambda n: of_query(n, at=0, calendar="hours"))


def main(units: str = "10000,100000", releases: str = "2000") -> None:
    """Take numbers of units, as "10000,100000" (or "" for none), and how many releases are the past."""
    with tempfile.TemporaryDirectory() as folder:
        for count in map(int, filter(None, units.split(","))):
            many_units(Path(folder), count)
        pasts(Path(folder), int(releases))


if __name__ == "__main__":
    main(*sys.argv[1:])
