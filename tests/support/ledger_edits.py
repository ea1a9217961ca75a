"""For tests of the ledger of events: one simple release, processes that pay from one budget, and edits of its file."""

import os
import random
import signal
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.ledger_tools import one_thing, promised
from tests.support.processes import bytes_of_a_fork

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of
from takifugu.accounting.ledger import RESERVED, Debit, Ledger, Payment
from takifugu.accounting.ledger.certificates import certificate_of, entered, lacking_in
from takifugu.core.errors import BudgetExceeded, LedgerError
from takifugu.mechanisms import group_dp
from takifugu.model.frameworks import Framework

#: All entries have one value, so that epsilons add up exactly.
FRAMEWORK = one_thing(6)


@cache
def charge(epsilon: str = "1/10") -> Charge:
    return charge_of(promised(FRAMEWORK, tf.Count(1), group_dp.MECHANISM, Fraction(epsilon)))


def debit(
    units: Sequence[str] | None = ("ann", "bob"), epsilon: str = "1/10", name: str = "count", **changes: Any
) -> Debit:
    return Debit(FRAMEWORK, replace(charge(epsilon), **changes), units, name)


def pay(ledger: Ledger, *debits: Debit, source: str = "data", budget: Any = None, **options: Any) -> Payment:
    return ledger.reserve(source, debits or [debit()], budget, **{"entries": "these", **options})


def published(ledger: Ledger, *debits: Debit, **options: Any) -> dict[str, Any]:
    """Pay for a release, keep and publish its values; return what its certificate says of the ledger."""
    done = pay(ledger, *debits, **options)
    ledger.keep(done.group, b"noisy")
    ledger.publish(done.group, [b"certificate"])
    return certificate(ledger, done.group)


def certificate(ledger: Ledger, group: str) -> dict[str, Any]:
    """Return what a certificate says of the ledger."""
    return certificate_of(ledger.view(), group)


def missing(ledger: Ledger, certificates: Iterable[Any], bodies: Iterable[bytes] = ()) -> tuple[str, ...]:
    """Name what a ledger lacks of published certificates."""
    return tuple(one.words for one in lacking_in(ledger.view(), certificates, bodies))


def prices(ledger: Ledger, certificates: Iterable[Any], bodies: Iterable[bytes] = ()) -> list[Any]:
    """Return what entering certificates comes to."""
    return entered(ledger.view(), certificates, bodies)[1]


def release_in_a_loop(where: str, log: str, seed: int) -> int:
    """Pay, keep and publish until it is refused; finish what others left; note each value that was published."""
    ledger, r, done = Ledger.open(where), random.Random(seed), 0
    with open(log, "a", buffering=1) as file:
        while True:
            try:
                paid = pay(ledger, debit((*r.sample("abcdef", 3), "all")), budget=4)
            except BudgetExceeded:
                return done
            with suppress(LedgerError):  # another process has finished it meanwhile
                values = ledger.keep(paid.group, os.urandom(8))
                file.write(f"{paid.group} {values.hex()}\n")
                ledger.publish(paid.group)
            done += 1
            if r.random() < 0.2:
                finish_all(ledger, file)


def finish_all(ledger: Ledger, file: Any = None) -> None:
    """Publish what waits; who draws anew gets the values that were kept first, if there are any."""
    for payment in ledger.pending():
        try:
            values = ledger.keep(payment.group, os.urandom(8))
            if file is not None:
                file.write(f"{payment.group} {values.hex()}\n")
            ledger.publish(payment.group)
        except LedgerError:  # another process was faster
            continue


def one_step_and_die(where: str, log: str, seed: int) -> None:
    """Pay, keep and publish without end, and be killed at a random moment: by a timer that the process sets itself."""
    Ledger.open(where).preview("data", [debit()], None, entries="these")  # all is loaded when the time begins
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, random.Random(seed).uniform(0.001, 0.06))
    release_in_a_loop(where, log, seed)


def ask_in_a_race(where: str, group: str, questions: int) -> list[str]:
    """Ask a session's questions, each with this process's own answer; return the answers that were kept."""
    ledger, answers = Ledger.open(where), list[str]()
    for number in range(questions):
        answers.append(ledger.answer(group, number, (f"question {number}", os.urandom(8).hex())))
    return answers


def answer_and_die(where: str, group: str, is_answered: bool) -> None:
    """Ask one more question, and be killed before or after its answer is kept."""
    ledger = Ledger.open(where)
    number = len(ledger.answers(group))
    if is_answered:
        ledger.answer(group, number, ("second", "drawn by the first process"))
    os.kill(os.getpid(), signal.SIGKILL)


def kinds(ledger: Ledger) -> list[str]:
    return [text.partition('"kind":"')[2].partition('"')[0] for text, _ in ledger.store.after(0)]


def edited(path: Path, copy: Path, *statements: str) -> Path:
    """Return a copy of a ledger that was edited, as anybody can who may write its file."""
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        for statement in statements:
            target.execute(statement)
        target.commit()
    return copy


def framework_of(ledger: Ledger) -> Framework:
    return next(iter(ledger.view().frameworks.values()))


def pay_around_a_fork(where: str) -> None:
    """Pay before a fork, in it with the same ledger, and after it."""
    ledger = Ledger.open(where)
    pay(ledger, budget=9)
    assert bytes_of_a_fork(lambda: pay(ledger).group.encode())
    pay(ledger)


def in_state(ledger: Ledger, state: str = RESERVED) -> list[str]:
    return [group.paid.group for group in ledger.view().groups.values() if group.state == state]
