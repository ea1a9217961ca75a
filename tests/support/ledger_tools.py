"""For composition and the ledger: calibrations without the registry, and the true joint loss by listing everything."""

import shutil
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
from takifugu.accounting.log import Debit, Ledger
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Covers, Guarantee
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace, Randomiser, RoundedNormal
from takifugu.mechanisms import group
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.beliefs.table import JointTable
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Count, Query
from takifugu.model.secrets.of_entries import attribute, every_entry


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


def group_debit(
    framework: Framework, epsilon: Any, *units: str, name: str = "release", **changes: Any
) -> Debit:
    """Return the debit of a group release of a count, about some units, or without any about a source of none."""
    charge = charge_of(promised(framework, Count(1), group.MECHANISM, epsilon))
    return Debit(framework, replace(charge, **changes) if changes else charge, units or None, name)


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
        for method, state in {"reserve": "paid", "keep": "drawn", "publish": "published"}.items():
            patched.setattr(Ledger, method, keeping(getattr(Ledger, method), state))
        yield copies
