"""For composition and the ledger: calibrations without the registry, and the true joint loss by listing everything."""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.support.joint_losses import Law, largest_loss, log_densities, log_ratio

from takifugu.accounting.composition import Charge, charge_of
from takifugu.accounting.composition.views import View
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.accounting.ledger.disk import sqlite
from takifugu.accounting.ledger.format.seals import write
from takifugu.accounting.ledger.format.tables import sealed
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Covers, Guarantee
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace, Randomiser, RoundedNormal
from takifugu.core.errors import BudgetExceeded
from takifugu.mechanisms import group
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.beliefs.table import JointTable
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Count, Query
from takifugu.model.secrets.of_entries import attribute, every_entry
from takifugu.numbers.noise import InsecureSeededEntropyForTests


@dataclass(frozen=True, eq=False)
class Promised:
    """What `compose` and the ledger need of a calibration."""

    framework: Framework
    query: Query
    randomiser: Randomiser
    guarantee: Guarantee


def promised(framework: Framework, query: Query, mechanism: Any, epsilon: Any = 1) -> Promised:
    """Return what a mechanism promises, without the registry's rules about too little noise."""
    bound = mechanism.bound(Problem(framework, query, Fraction(epsilon)))
    assert isinstance(bound, Bound), bound
    return made(framework, query, bound.randomiser, bound.covers, bound.epsilon, bound.delta)


def made(
    framework: Framework, query: Query, noise: Randomiser, kind: Covers, epsilon: Any = 1, delta: Any = 0
) -> Promised:
    """Return a promise as a test needs it."""
    promise = Guarantee(
        Fraction(epsilon), Fraction(delta), kind, framework.definition, framework.fingerprint(),
        framework.assumptions(), hides_facts=framework.hides_facts,
    )  # fmt: skip
    return Promised(framework, query, noise, promise)


def with_delta(framework: Framework, epsilon: Any) -> Charge:
    """Return a charge of normal noise: of everything, with delta 1/1000."""
    noise = RoundedNormal(Fraction(30), Fraction(1))
    return charge_of(made(framework, Count(1), noise, Covers.EVERYTHING, epsilon, "1/1000"))


def laplace(framework: Framework, query: Query, units: Any, kind: Covers, epsilon: Any = 1) -> Promised:
    """Return a promise of a given kind with discrete Laplace noise of scale `units` in grid units."""
    answer = query.resolve(framework.beliefs[0])
    return made(framework, query, DiscreteLaplace(Fraction(units), answer.grid, answer.cells), kind, epsilon)


def group_debit(framework: Framework, epsilon: Any, unit: str = "", name: str = "release", **changes: Any) -> Debit:
    """Return the debit of a group release of a count."""
    charge = charge_of(promised(framework, Count(1), group.MECHANISM, epsilon))
    return Debit(framework, replace(charge, **changes) if changes else charge, unit, name)


FAIR = [[0.5, 0.5], [0.5, 0.5]]


def users(count: int = 3, secrets: Any = None, names: Any = None) -> Framework:
    return Pufferfish(secrets or every_entry(), IndependentUsers([{0: 0.5, 1: 0.5}] * count, names=names))


def steps(
    length: int, secrets: Any = None, initial: Any = "stationary", states: Any = None, rows: Any = FAIR
) -> Framework:
    return Pufferfish(secrets or every_entry(), MarkovChain(rows, length, initial, states))


def pieces(
    *lengths: int, secrets: Any = None, initial: Any = "stationary", states: Any = None, rows: Any = FAIR
) -> Framework:
    chain = MarkovChain(rows, 1, initial, states)
    return Pufferfish(secrets or every_entry(), IndependentPieces(chain, lengths))


def view(framework: Framework) -> View:
    return View(framework, framework.fingerprint())


def chain(length: int = 10, stay: float = 0.8, **options: Any) -> MarkovChain:
    return MarkovChain([[stay, 1 - stay], [1 - stay, stay]], length, **options)


def chain_framework(length: int = 10, stay: float = 0.8) -> Framework:
    return Pufferfish(every_entry(), chain(length, stay))


def one_thing(length: int = 7) -> Framework:
    """Return entries that all have one value: a change of one is a change of all, and epsilons add up exactly."""
    return Pufferfish(every_entry(), JointTable([(0,) * length, (1,) * length], [Fraction(1, 2)] * 2))


def table_framework(rows: Sequence[Sequence[int]], names: Sequence[str], secret: str) -> Framework:
    """Return a uniform table whose column `secret` is hidden."""
    table = JointTable(rows, [Fraction(1, len(rows))] * len(rows), names)
    values = sorted({row[names.index(secret)] for row in rows})
    return Pufferfish([attribute(secret, a, b) for i, a in enumerate(values) for b in values[:i]], table)


#: What each value of each entry adds, a number or a tuple of numbers, and the scale of the noise (none for 0).
Release = tuple[Sequence[Sequence[Any]], Any]

#: errata E12: each of two answers hides s, both together give it away.
TWO_BITS = ([(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)], ["s", "u", "v"])
TWO_NUMBERS = ([(0, 0, 0), (0, 10, 10), (1, 1, 11), (1, 11, 1)], ["s", "u", "v"])


def joint_loss(law: Law, releases: Sequence[Release], entry: int, a: int, b: int) -> float:
    """Return sup over transcripts of log P(transcript | X_entry = a) / P(transcript | X_entry = b)."""
    densities = log_densities(law, *_answers(law, releases), entry)
    return log_ratio(densities[a], densities[b])


def worst_joint_loss(law: Law, releases: Sequence[Release], size: int) -> float:
    """Return the largest joint loss over all entries and ordered pairs of their possible values."""
    return largest_loss(law, *_answers(law, releases), range(size))


def _answers(law: Law, releases: Sequence[Release]) -> tuple[npt.NDArray[np.float64], list[Any]]:
    """Return what each state of a law answers, number by number, and the scale of each number."""
    columns, scales = [], []
    for contributions, scale in releases:
        sums = [np.sum([np.atleast_1d(contributions[i][x]) for i, x in enumerate(path)], axis=0) for path in law]
        columns.append(np.array(sums, dtype=float))
        scales += [scale] * columns[-1].shape[1]
    return np.hstack(columns), scales


def contributions_of(framework: Framework, query: Query) -> list[list[Any]]:
    """Return what each value of each entry adds to a query's answer, in grid units, as the oracle needs it."""
    belief = framework.beliefs[0]
    answer = query.resolve(belief)
    rows = []
    for i in range(answer.size):
        table = np.resize(answer.contribution(i), (len(belief.alphabet(i)), answer.cells))  # unread: one row of zeros
        rows.append([int(r[0]) if len(r) == 1 else tuple(int(v) for v in r) for r in table])
    return rows


def charge(framework: Framework, query: Query, units: Any, kind: Covers, **options: Any) -> Charge:
    return charge_of(laplace(framework, query, units, kind), **{"reading": "the same entries", **options})


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
    raw = ledger.store.path.read_bytes()
    with unchanged(ledger.store.path), pytest.raises(error, match=words) as caught:
        ledger.reserve(*args, **options)
    assert ledger.store.path.read_bytes() == raw
    return str(caught.value)


def epsilon_of(ledger: Ledger, source: str = "data") -> Fraction:
    return ledger.spent(source).spent.epsilon


def epsilons_of(ledger: Ledger, source: str = "data") -> dict[str, Fraction]:
    """Return what every unit of a source has spent, by its tag."""
    return {unit.unit: unit.spent.epsilon for unit in ledger.spent(source).units}


def edit(path: Path, *statements: str) -> None:
    """Edit a ledger as anybody can who may write its file, without its key."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def limit_pages(patch: pytest.MonkeyPatch, pages: int) -> None:
    """Let no ledger grow beyond some pages, as on a disk that is full."""
    connect = sqlite.connect

    def limited(*where: Any) -> Any:
        connection = connect(*where)
        connection.execute(f"PRAGMA max_page_count={pages}")
        return connection

    patch.setattr(sqlite, "connect", limited)


def forge(ledger: Ledger, *statements: str) -> None:
    """Edit a ledger as one who has its key can: everything is sealed again, and the chain of events is left alone."""
    with ledger.store.writing() as connection:
        for statement in statements:
            connection.execute(statement)
        connection.execute("update sources set units_seal = null")
        for table in sealed():
            connection.execute(f"update {table} set seal = null")
        write(connection)


def release_in_a_loop(path: str, epsilon: str, unit: str, count: int) -> int:
    """Reserve, draw and publish until it is refused or `count` times; return how many were published."""
    ledger = Ledger.open(path)
    framework = one_thing()
    for done in range(count):
        try:
            reservation = ledger.reserve("data", [group_debit(framework, Fraction(epsilon), unit)])
        except BudgetExceeded:
            return done
        ledger.drawn(reservation, b"noisy")
        ledger.publish(reservation)
    return count


def ask_in_a_race(path: str, group: str, questions: int) -> list[str]:
    """Ask a session's questions, each with this process's own answer; return the answers that were kept."""
    ledger = Ledger.open(path)
    (paid,) = (one for one in ledger.pending() if one.group == group)
    noise, entropy = DiscreteLaplace(Fraction(100), Fraction(1)), InsecureSeededEntropyForTests(os.getpid())
    answers = []
    for number in range(questions):
        while len(known := ledger.session_of(paid)) <= number:
            ledger.answer(paid, len(known), (f"question {len(known)}", str(noise.draw((0,), entropy)[0])))
        answers.append(known[number][1])
    return answers


def release_forever(path: str, log: str, epsilon: str) -> None:
    """Release without end; note in `log` every release that was published, as soon as it was."""
    while release_in_a_loop(path, epsilon, "", 1):
        with open(log, "ab", buffering=0) as file:
            file.write(b".")


def release_apart_forever(path: str, log: str, epsilon: str, name: str) -> None:
    """Without end: release in a copy of the ledger beside it, note it in `log`, and merge the copy."""
    copy = Path(path).with_name(f"{name}.db")
    while True:
        copied(Path(path), copy)
        release_in_a_loop(str(copy), epsilon, "", 1)
        with open(log, "ab", buffering=0) as file:
            file.write(b".")
        Ledger.open(path).merge(copy)


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
    """Copy the ledger of a release before it pays and at each state, with the values that wait beside it."""
    copies: dict[str, Path] = {}

    def keep(book: Ledger, state: str) -> None:
        copies[state] = copied(book.store.place, folder / f"{state}.db")
        for values in book.store.place.parent.glob("*.values"):
            shutil.copy(values, folder)

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
        for method, state in {"reserve": "paid", "drawn": "drawn", "publish": "published"}.items():
            patched.setattr(Ledger, method, keeping(getattr(Ledger, method), state))
        yield copies


def check_forever(path: str, log: str) -> None:
    """Check the ledger without end; note in `log` what `check` names."""
    while True:
        for difference in Ledger.open(path).check():
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"{difference}\n")


def die_after(path: str, step: str) -> None:
    """Reserve (and draw), then kill this very process as `kill -9` does."""
    ledger = Ledger.open(path)
    reservation = ledger.reserve("data", [group_debit(one_thing(), Fraction(1, 4))], budget=1)
    if step == "drawn":
        ledger.drawn(reservation, b"noisy")
    os.kill(os.getpid(), signal.SIGKILL)
