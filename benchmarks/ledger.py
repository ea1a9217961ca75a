"""Paying for releases as cron does: after a long past, and about many people; every process reads the ledger anew."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import takifugu as tf
from measure import row, span, title
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.accounting.ledger.events import chained, to_text
from takifugu.accounting.ledger.people import set_of
from takifugu.accounting.ledger.trials import Change
from takifugu.analysis.guarantee import Charge

HOURS = 168
#: A count of the hours of a week.
FRAMEWORK = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.7, 0.3], [0.3, 0.7]], length=HOURS))
WEEK = charge_of(tf.calibrate(FRAMEWORK, tf.Count(1), epsilon=0.01))
NAMES = ("ann", "bob")
#: More than any of these pasts costs.
BUDGET = 10**6


def worked(work: Callable[[], Any]) -> float:
    """Return how long the processor worked: other programs on the machine do not count."""
    started = time.process_time()
    work()
    return time.process_time() - started


def window(number: int, is_alike: bool) -> Charge:
    """Return the count of a week; each has noise of its own, or all have the same."""
    scale = (WEEK.scale or Fraction(1)) * (1 + Fraction(0 if is_alike else number * 7919 % 9973 + 2, 10**4))
    return replace(WEEK, scale=scale, at=HOURS * number)


def with_past(where: Path, releases: int, is_alike: bool) -> None:
    """Make a ledger in which so many weeks are paid for: the first as any, the others written at once."""
    ledger = Ledger.open(where)
    ledger.reserve("data", [Debit(FRAMEWORK, window(0, is_alike), NAMES)], BUDGET, entries="hours")
    view, change = ledger.view(), Change()
    (group,), head = view.groups.values(), view.head
    units, rows = (group.paid.lines[0].units, len(NAMES)), list[tuple[str, str]]()
    for number in range(1, releases):
        charge = window(number, is_alike)
        line = change.line("release", replace(charge, at=None), FRAMEWORK, units, charge.at, "")
        ids = {"release": f"{number:016x}"}
        text = to_text(replace(group.paid, group=f"g{number:015x}", ids=ids, lines=(line,), spent={"data": ("1", "0")}))
        head = chained(view.key, head, text)
        rows.append((text, head))
    assert ledger.store.append(view.number, view.head, rows, change.contents, {}, "")


def in_a_new_process(where: Path, number: int, is_alike: bool) -> tuple[float, ...]:
    """Return how long a new process opens a ledger and pays, pays once more, and checks it all."""
    command = [sys.executable, __file__, "paid", str(where), str(number), str(int(is_alike))]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return tuple(map(float, said.split()))


def paid(where: str, number: str, is_alike: str) -> None:
    def pay(more: int) -> None:
        debit = Debit(FRAMEWORK, window(int(number) + more, bool(int(is_alike))), NAMES)
        ledger.reserve("data", [debit], entries="hours")

    def opened() -> None:
        nonlocal ledger
        ledger = Ledger.open(where)
        pay(0)

    ledger: Ledger = Ledger.blank()
    print(worked(opened), worked(lambda: pay(1)), worked(ledger.check))


def long_past(folder: Path, releases: int) -> None:
    for is_alike in (True, False):
        title(f"{releases:,} weeks, {'all of one charge' if is_alike else 'each with noise of its own'}")
        where = folder / f"{is_alike}.db"
        with_past(where, releases, is_alike)
        cold, warm, checked = in_a_new_process(where, releases, is_alike)
        row("the next release, in a new process", span(cold), "goal 2.5 s")
        row("one more, in the same process", span(warm), "goal 0.2 s")
        row("`check`", span(checked), "goal 5 s")
        row("the file", f"{where.stat().st_size / 10**6:.1f} MB")


def many_units(folder: Path, units: int, weeks: int) -> None:
    title(f"{units:,} units, {weeks} weekly releases")
    r, people = random.Random(1), [f"participant {number}" for number in range(units)]
    where = folder / f"{units}.db"
    ledger = Ledger.open(where)
    row("names to tags", span(worked(lambda: set_of(ledger.view().key, people))), "goal 3 s for a million")
    for joining in (0, 100):
        times = []
        for number, names in enumerate(_rosters(r, people, joining, weeks)):
            at = number + weeks * bool(joining)
            debits = [Debit(FRAMEWORK, window(at, True), names)]
            times.append(worked(lambda: ledger.reserve("data", debits, BUDGET, entries="hours")))  # noqa: B023
        who = f"{joining} joining and leaving each week" if joining else "of all of them"
        goal = "goal 0.3 s" if joining else "goal 60 ms, beside the tags"
        row(f"a release {who} (median)", span(sorted(times)[len(times) // 2]), goal)
        row("the file", f"{where.stat().st_size / 10**6:.1f} MB", "goal 10 MB")
    row("reading it", span(worked(Ledger.open(where).view)))


def _rosters(r: random.Random, people: list[str], joining: int, weeks: int) -> Iterator[list[str]]:
    for week in range(weeks):
        for number in range(joining):
            people[r.randrange(len(people))] = f"newcomer {week} {number}"
        yield people


def main(units: str = "10000,1000000", weeks: str = "52", releases: str = "10000") -> None:
    """Take numbers of units, as "10000,1000000" (or "" for none), of their weeks, and of releases in a long past."""
    with tempfile.TemporaryDirectory() as folder:
        for count in map(int, filter(None, units.split(","))):
            many_units(Path(folder), count, int(weeks))
        long_past(Path(folder), int(releases))


if __name__ == "__main__":
    paid(*sys.argv[2:]) if sys.argv[1:2] == ["paid"] else main(*sys.argv[1:])
