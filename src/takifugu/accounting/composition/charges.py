"""From a calibration to its charge: what must be kept of a release so that any framework can be charged for it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from takifugu.analysis.calibrated import Calibrated
from takifugu.analysis.guarantee import Charge
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Randomiser, RoundedNormal
from takifugu.analysis.randomisers.one_sided import OneSided
from takifugu.analysis.sensitivity import component_change
from takifugu.core import entries
from takifugu.core.cache import cached
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.plugins import package_of
from takifugu.model import queries
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.domain import Data
from takifugu.model.beliefs.one_sequence import is_recording
from takifugu.model.frameworks import Framework
from takifugu.model.policies.places import Visits
from takifugu.model.queries import Additive, Query
from takifugu.model.queries.answer import whole_change
from takifugu.model.queries.forms import QueryReader
from takifugu.model.queries.resolving.summing import is_all_written
from takifugu.numbers.runs import Runs

#: How many integers are written out at once: half a megabyte.
HASHED_AT_ONCE = 2**16


def charge_of(
    calibration: Calibrated, framework: Framework | None = None, scope: str = "unit", reading: str = "",
    at: int | None = None, share: tuple[Query, Fraction] | None = None, begins_series: bool = False,
) -> Charge:  # fmt: skip
    """Return a calibration's charge: promise, query and noise, but never data."""
    # of a pooled answer `framework` says what its own says about one unit, cut to the unit's entries
    of_unit = calibration.framework if framework is None else framework
    # a unit's `share` of a pooled table: a query about it that moves as much, and how much wider its noise is
    query, factor = _query_of_unit(of_unit, calibration.framework, *(share or (calibration.query, Fraction(1))))
    phases = () if at is None else _phases(of_unit, at)
    noise, promise = calibration.randomiser, calibration.guarantee
    read = cached(of_unit, (_read, queries.key_of(query)), lambda: _read(of_unit, query))
    return Charge(
        framework=of_unit.fingerprint(), definition=promise.definition, covers=promise.covers, epsilon=promise.epsilon,
        delta=promise.delta, query=query.to_dict(), randomiser=_times(factor, noise).to_dict(),
        scale=_scale_times(factor, noise), change=read.whole, entry_change=read.single, entries=_size(of_unit),
        answers=read.answers, scope=scope, names=_names(of_unit), lengths=_lengths(of_unit), reading=reading, at=at,
        phases=phases, begins_series=begins_series,
    )  # fmt: skip


def _query_of_unit(of_unit: Framework, origin: Framework, query: Query, factor: Fraction) -> tuple[Query, Fraction]:
    """Return the query about one unit, and the factor of its noise."""
    if _size(of_unit) != _size(origin) and query.numbers_entries:
        raise InputError(
            f"the pooled query ({query.describe()}) numbers the rows of all people together",
            fix="publish a count, sum, mean or histogram over all rows, or give each person its own query",
        ).at("query")
    query, factor = _as_sum(query, origin) or (query, factor)
    if isinstance(query, queries.GroupBy):
        return query.unnamed(), _share_of_cells(query, origin, of_unit)
    return query, factor


def _phases(framework: Framework, at: int) -> tuple[tuple[int, int], ...]:
    """Return the period of each chain, and its phase at a step."""
    if isinstance(at, bool) or not isinstance(at, int) or len(_lengths(framework)) != 1:
        raise InputError(
            f"at is {at!r}", rule="it is the step where one sequence starts in the person's one recording"
        ).at("at")
    phases = set()
    for belief in framework.beliefs:
        if is_recording(belief) and belief.chain.period > 1:
            phases.add((belief.chain.period, belief.chain.phase(at)))
    return tuple(sorted(phases))


def _scale_times(factor: Fraction, noise: Randomiser) -> Fraction | None:
    """Return a multiple of the scale of our Laplace noise, None for other noise, and for that of another package."""
    if noise.laplace_scale is None or package_of(noise):
        return None
    return noise.laplace_scale * factor


def _times(factor: Fraction, noise: Randomiser) -> Randomiser:
    """Return the noise of the answer times a factor; Laplace noise is charged by its scale, which has it."""
    if isinstance(noise, RoundedNormal):
        return replace(noise, scale=noise.scale * factor, grid=noise.grid * factor)
    if isinstance(noise, OneSided):  # its scale is in steps of the grid
        return replace(noise, grid=noise.grid * factor)  # type: ignore[type-var]
    return noise


def moved_by(calibration: Calibrated) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """Return the scale, and the changes by all and one entry; None where not Laplace's, or unbounded."""
    framework = calibration.framework
    query, factor = _as_sum(calibration.query, framework) or (calibration.query, Fraction(1))
    return _scale_times(factor, calibration.randomiser), *_changes(Problem(framework, query, Fraction(1)))


def _as_sum(query: Query, framework: Framework) -> tuple[Query, Fraction] | None:
    """Return a mean's sum and its factor; None for another query."""
    if not query.is_mean or isinstance(framework.domain, QueryReader):  # records are never cut to units
        return None
    total = query.undivided()
    return total, total.resolve(framework.domain).grid / queries.resolved(query, framework.domain).grid


def _share_of_cells(query: queries.GroupBy, origin: Framework, unit_framework: Framework) -> Fraction:
    """Return the factor of noise for a unit's own table by cells, as which a pooled table is charged."""
    if _size(unit_framework) == _size(origin):
        return Fraction(1)
    every = query.every
    assert every is not None, "a table that does not repeat numbers its entries"
    lengths = (*_lengths(origin), *_lengths(unit_framework))
    if not lengths or math.gcd(*lengths) % every:
        raise InputError(
            f"the cells repeat every {every} values, and some sequence of the pool is no multiple of that long",
            fix="give each person its own table",
        ).at("query")
    if not query.query.is_mean:
        return Fraction(1)
    # a mean over a pool's entries of a cell is a unit's own mean, divided by how many times more the pool has
    cells = zip(query.held(origin.domain), query.held(unit_framework.domain), strict=True)
    weights = {Fraction(len(of_pool), len(of_unit)) for of_pool, of_unit in cells}
    if len(weights) > 1:
        raise InputError("a person has another share of each cell", fix="give each person its own table").at("query")
    return weights.pop()


def _size(framework: Framework) -> int:
    """Count the entries: 0 for two laws."""
    return 0 if framework.is_pair else framework.domain.size


def _names(framework: Framework) -> tuple[Hashable, ...]:
    """Return the entries' names in the framework's order."""
    for holder in framework.beliefs or [framework.domain]:
        names = entries.listed(holder)
        if names is not None:
            return names
    return ()


def _lengths(framework: Framework) -> tuple[int, ...]:
    """Return the lengths of the framework's sequences, or () without definite ones."""
    if isinstance(framework.given_domain, Visits):
        # the visits in a window of a calendar
        steps = framework.given_domain.steps
        return () if steps is None else (steps,)
    lengths = set[tuple[int, ...]]()
    for belief in framework.beliefs:
        if not is_recording(belief):
            return ()
        lengths.add(tuple(map(len, belief.components())))
    return lengths.pop() if len(lengths) == 1 else ()


@dataclass(frozen=True)
class _Read:
    """A query's largest changes, by all entries and one; None: unbounded."""

    whole: Fraction | None
    single: Fraction | None
    answers: tuple[str, ...] = ()


def _read(framework: Framework, query: Query) -> _Read:
    problem = Problem(framework, query, Fraction(1))
    if problem.is_pair:
        reach = component_change(problem).size
        return _Read(reach, reach)
    tabled = framework.beliefs or (framework.domain,)
    answers = tuple(sorted({answer_hash(a, b) for a, b in zip(problem.answers, tabled, strict=True)}))
    if not is_all_written(query):
        read_back = queries.from_dict(query.to_dict())
        if {answer_hash(queries.resolved(read_back, belief), belief) for belief in tabled} != {*answers}:
            raise InputError(
                f"the query ({query.describe()}) reads back from its to_dict as one that adds up something else",
                rule="a ledger charges for what it reads back", fix="write all of it in to_dict",
            ).at("query")  # fmt: skip
    return _Read(*_changes(problem), answers)


def _changes(problem: Problem) -> tuple[Fraction | None, Fraction | None]:
    """Return the answer's largest changes by all and one entry, or None."""
    whole_moves, moves = [], []
    for answer in problem.answers:
        try:
            whole_moves.append(whole_change(answer) * answer.grid)
            moves.append(int(answer.entry_changes().max(initial=0)) * answer.grid)
        except Unsupported:  # real numbers without a range
            return None, None
    return max(whole_moves), max(moves)


def answer_hash(answer: Additive, belief: Belief | Data) -> str:
    """Hash the answer's terms in the belief's order of entries, or the `key` of what is no sum over entries."""
    if not isinstance(answer, Additive):
        return hashlib.sha256(repr((answer.grid, answer.labels, answer.key)).encode()).hexdigest()[:32]
    order = entries.order(belief)
    if order is not None:
        answer = _reordered(answer, list(order))
    digest = hashlib.sha256(repr((answer.grid, answer.labels)).encode())
    weights, table_of = answer.in_runs
    _hash_runs(digest, weights)
    for table in answer.tables:
        digest.update(repr(table.shape).encode())
        digest.update(table.tobytes())
    if table_of is not None:
        _hash_runs(digest, table_of)
    return digest.hexdigest()[:32]


def _hash_runs(digest: hashlib._Hash, runs: Runs) -> None:
    """Hash runs as their array, never made whole."""
    digest.update(repr((runs.size,)).encode())
    for start in range(0, runs.size, HASHED_AT_ONCE):
        part = runs.between(start, min(start + HASHED_AT_ONCE, runs.size))
        digest.update(part.numbers.tobytes())


def _reordered(answer: Additive, order: list[int]) -> Additive:
    if answer.table_of is None:
        return replace(answer, weights=answer.weights[order])
    numbers = answer.table_of[order]
    used, place = np.unique(numbers, return_index=True)
    first = used[np.argsort(place)]  # tables in the order in which they are met
    table_of = np.argsort(first)[np.searchsorted(np.sort(first), numbers)]
    tables = tuple(answer.tables[place] for place in first)
    return replace(answer, weights=answer.weights[order], tables=tables, table_of=table_of)
