"""From a calibration to its charge, and how a framework reads a charge that was calibrated for another one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from takifugu import queries
from takifugu.beliefs import Belief
from takifugu.beliefs.pair import LawPair
from takifugu.errors import InputError, TakifuguError
from takifugu.frameworks import Framework
from takifugu.guarantee import Charge, Guarantee
from takifugu.mechanisms.base import Problem
from takifugu.mechanisms.group import component_change
from takifugu.queries import Additive, Mean, Query, Sum
from takifugu.randomisers import Randomiser

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
    scale = noise.scale * factor if noise.kind in (*LAPLACE, "none") else None
    return Charge(
        framework=about.fingerprint(), definition=promise.definition, composition=promise.composition,
        epsilon=promise.epsilon, delta=promise.delta, query=query.to_dict(), randomiser=noise.to_dict(), scale=scale,
        change=_whole_change(about, query), entries=_size(about), answers=_answer_hashes(about, query), scope=scope,
        fixed_in_advance=fixed_in_advance, release=release,
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

    def same_answers(self, charge: Charge) -> bool:
        """Whether this framework reads the query exactly as the one that it was calibrated for."""
        if self.is_native(charge):
            return True
        if any(answer is None for answer in self.answers(charge)):
            return False
        return set(_answer_hashes(self.framework, queries.from_dict(charge.query))) <= set(charge.answers)

    def answers(self, charge: Charge) -> tuple[Additive | None, ...]:
        """Return the charge's query read under each belief; None where it says nothing about single entries there."""
        return tuple(self._read(belief, charge) for belief in self.framework.beliefs)

    def _read(self, belief: Belief, charge: Charge) -> Additive | None:
        if isinstance(belief, LawPair) or (belief.size != charge.entries and not self.is_native(charge)):
            return None
        try:
            return queries.from_dict(charge.query).resolve(belief)
        except TakifuguError:
            return None

    @cached_property
    def components(self) -> tuple[tuple[range, ...], ...]:
        """Return, for each belief, the runs of entries of the components that hold a secret."""
        return tuple(tuple(self._secret_runs(belief)) for belief in self.framework.beliefs)

    def _secret_runs(self, belief: Belief) -> Iterator[range]:
        entries = [secret.family(belief).entries for secret in self.framework.secrets]
        for run in belief.components():
            if any(_meets(chosen, run) for chosen in entries):
                yield run


def _meets(entries: range | tuple[int, ...], run: range) -> bool:
    if isinstance(entries, range):
        return max(entries.start, run.start) < min(entries.stop, run.stop)
    return any(e in run for e in entries)


def _size(framework: Framework) -> int:
    """Return the number of entries that all beliefs share; 0 for two laws of an answer, or where they disagree."""
    sizes = {0 if isinstance(b, LawPair) else b.size for b in framework.beliefs}
    return sizes.pop() if len(sizes) == 1 else 0


def _whole_change(framework: Framework, query: Query) -> Fraction:
    problem = Problem(framework, query, Fraction(1))
    if problem.is_pair:
        return component_change(problem).size * problem.grid
    return max(int(a.entry_changes().sum()) * a.grid for a in problem.answers)


def _answer_hashes(framework: Framework, query: Query) -> tuple[str, ...]:
    """Return short hashes of what the query adds up under each belief: tables, weights, grid and components."""
    return tuple(sorted({_answer_hash(b, query) for b in framework.beliefs if not isinstance(b, LawPair)}))


def _answer_hash(belief: Belief, query: Query) -> str:
    answer = query.resolve(belief)
    told = hashlib.sha256(repr((answer.grid, answer.labels, [len(r) for r in belief.components()])).encode())
    for array in (answer.weights, *answer.tables, *(() if answer.table_of is None else (answer.table_of,))):
        told.update(repr(array.shape).encode())
        told.update(array.tobytes())
    return told.hexdigest()[:16]
