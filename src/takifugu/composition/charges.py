"""From a calibration to its charge, and how a framework reads a charge that was calibrated for another one."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from takifugu import queries
from takifugu.beliefs import Belief
from takifugu.beliefs.pair import LawPair
from takifugu.beliefs.users import IndependentUsers
from takifugu.errors import InputError, TakifuguError
from takifugu.frameworks import Framework
from takifugu.guarantee import Charge, Guarantee
from takifugu.mechanisms.base import Problem
from takifugu.mechanisms.group import component_change
from takifugu.queries import Additive, Mean, Query, Sum
from takifugu.randomisers import Randomiser
from takifugu.secrets import Family

#: Kinds of noise whose loss is (change of the answer)/scale at every output.
LAPLACE = ("discrete-laplace", "rounded-laplace")


class Calibrated(Protocol):
    """What a charge needs of a calibration."""

    @property
    def framework(self) -> Framework: ...

    @property
    def query(self) -> Query: ...

    @property
    def randomiser(self) -> Randomiser: ...

    @property
    def guarantee(self) -> Guarantee: ...


def charge_of(
    calibration: Calibrated,
    framework: Framework | None = None,
    scope: str = "unit",
    fixed_in_advance: bool = False,
    release: str = "",
) -> Charge:
    """Return what a ledger must keep of a calibration: never data, only the promise, the query and the noise.

    For a pooled answer `framework` is what the calibration's framework says about one unit (the same secrets and
    beliefs, cut to the unit's entries); the charge is then the unit's. A mean is kept as the sum that it divides, with
    the scale to match, because a unit's share of it is divided by the pool's number of entries. Raises InputError when
    a pooled query names entries by their number: those numbers mean nothing inside a unit.

    >>> from takifugu import Count, MarkovChain, Pufferfish, calibrate, every_entry
    >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10))
    >>> charge = charge_of(calibrate(framework, Count(1), epsilon=1, mechanism="group"))
    >>> str(charge.composition), charge.scale, charge.change
    ('whole', Fraction(10, 1), Fraction(10, 1))
    """
    own, query, factor = calibration.framework, calibration.query, Fraction(1)
    about = own if framework is None else framework
    if _size(about) != _size(own) and names_entries(query):
        raise InputError(
            f"the pooled query ({query.describe()}) numbers the entries of all units together: publish a count, sum, "
            "mean or histogram over all entries, or give each unit its own query"
        )
    if isinstance(query, Mean):
        total = Sum(query.attribute, query.codes, query.entries, query.grid)
        factor, query = total.resolve(own.beliefs[0]).grid / query.resolve(own.beliefs[0]).grid, total
    noise, promise = calibration.randomiser, calibration.guarantee
    whole, single = _changes(about, query)
    tabled = [b for b in about.beliefs if not isinstance(b, LawPair)]
    return Charge(
        framework=about.fingerprint(), definition=promise.definition, composition=promise.composition,
        epsilon=promise.epsilon, delta=promise.delta, query=query.to_dict(), randomiser=noise.to_dict(),
        scale=noise.scale * factor if noise.kind in (*LAPLACE, "none") else None,
        change=whole, entry_change=single, entries=_size(about),
        answers=tuple(sorted({_answer_hash(query.resolve(b)) for b in tabled})),
        pieces=tuple(sorted({_pieces_hash(b) for b in tabled})),
        scope=scope, fixed_in_advance=fixed_in_advance, release=release,
    )  # fmt: skip


def names_entries(query: Query) -> bool:
    """Whether a query says which entries it reads by their number, so that it means one layout of the data only."""
    return isinstance(query, queries.Linear) or getattr(query, "entries", None) is not None


@dataclass(frozen=True, eq=False)
class View:
    """A framework that is charged: its fingerprint (as registered), and how it reads other releases' queries."""

    framework: Framework
    fingerprint: str

    def is_native(self, charge: Charge) -> bool:
        """Whether the charge was calibrated for this framework, so that its own epsilon is a promise here."""
        return charge.framework == self.fingerprint

    def reads_alike(self, charge: Charge) -> bool:
        """Whether this framework adds up the query exactly as the one that it was calibrated for."""
        read = self.answers(charge)
        hashes = {_answer_hash(a) for a in read if a is not None}
        return self.is_native(charge) or (None not in read and hashes <= set(charge.answers))

    def has_pieces_of(self, charge: Charge) -> bool:
        """Whether this framework has the components that the charge was calibrated for."""
        return self.is_native(charge) or {_pieces_hash(b) for b in self.framework.beliefs} <= set(charge.pieces)

    def answers(self, charge: Charge) -> tuple[Additive | None, ...]:
        """Return the charge's query read under each belief; None where it says nothing about single entries there.

        Where a belief reads other numbers than those that were published (its states may stand for other raw values),
        every entry that is read counts with the largest change of any.
        """
        return tuple(self._read(belief, charge) for belief in self.framework.beliefs)

    def _read(self, belief: Belief, charge: Charge) -> Additive | None:
        native = self.is_native(charge)
        if isinstance(belief, LawPair) or (belief.size != charge.entries and not native):
            return None
        try:
            answer = queries.from_dict(charge.query).resolve(belief)
        except TakifuguError:
            return None
        if native or _answer_hash(answer) in charge.answers:
            return answer
        largest = max(int(answer.entry_changes().max(initial=0)), math.ceil(charge.entry_change / answer.grid))
        table = np.array([[0], [largest]], dtype=np.int64)
        return Additive(answer.grid, ("largest change",), (table,), (answer.weights != 0).astype(np.int64))

    def secret_runs(self, belief: Belief, answers: Sequence[Additive | None]) -> Iterator[tuple[int, range, Family]]:
        """Yield the number, the entries and the secrets (entries counted from its start) of each component with any.

        Of independent users who are alike in alphabet and share of all `answers` one is enough.
        """
        for secret in self.framework.secrets:
            family = secret.family(belief)
            if isinstance(belief, IndependentUsers):
                columns = [column for a in answers if a is not None for column in (a.weights, a.table_of)]
                for user in belief.representatives(family.entries, columns):
                    if family.has_pairs(belief, user):
                        yield user, range(user, user + 1), replace(family, entries=range(1))
                continue
            for number, run in enumerate(belief.components()):
                local = replace(family, entries=_inside(family.entries, run))
                piece = belief.component(number)
                if any(local.has_pairs(piece, entry) for entry in local.entries):
                    yield number, run, local


def _inside(entries: range | tuple[int, ...], run: range) -> range | tuple[int, ...]:
    if isinstance(entries, range):
        return range(max(entries.start, run.start) - run.start, min(entries.stop, run.stop) - run.start)
    return tuple(e - run.start for e in entries if e in run)


def _size(framework: Framework) -> int:
    """Return the number of entries that all beliefs share; 0 for two laws of an answer, or where they disagree."""
    sizes = {0 if isinstance(b, LawPair) else b.size for b in framework.beliefs}
    return sizes.pop() if len(sizes) == 1 else 0


def _changes(framework: Framework, query: Query) -> tuple[Fraction, Fraction]:
    """Return the largest change of the answer when all entries change and when one does, in its units."""
    problem = Problem(framework, query, Fraction(1))
    if problem.is_pair:
        reach = component_change(problem).size * problem.grid
        return reach, reach
    each = [(a.entry_changes(), a.grid) for a in problem.answers]
    whole = max(int(changes.sum()) * grid for changes, grid in each)
    return whole, max(int(changes.max(initial=0)) * grid for changes, grid in each)


def _pieces_hash(belief: Belief) -> str:
    users = isinstance(belief, IndependentUsers)
    lengths = f"{belief.size} users" if users else repr([len(run) for run in belief.components()])
    return hashlib.sha256(lengths.encode()).hexdigest()[:16]


def _answer_hash(answer: Additive) -> str:
    told = hashlib.sha256(repr((answer.grid, answer.labels)).encode())
    for array in (answer.weights, *answer.tables, *(() if answer.table_of is None else (answer.table_of,))):
        told.update(repr(array.shape).encode())
        told.update(array.tobytes())
    return told.hexdigest()[:16]
