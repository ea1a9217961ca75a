"""Finite randomised maps with exact integer masses: apply to a law, follow one by another, measure, repair."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from operator import mul

import numpy as np

from takifugu.core.errors import InputError
from takifugu.core.nearest import did_you_mean
from takifugu.numbers.atoms import Array, Atom, as_numbers, fractions
from takifugu.numbers.distributions.exact_ratio import BITS
from takifugu.numbers.rationals import as_mpf, in_common_unit

#: Masses of a repaired row: rounding changes no probability by more than 2**-90.
REPAIR_TOTAL = 2**90
#: Rows are divided by their sums in integers over this, far finer than the masses.
_FINE = 2**170
#: An output that no input gives with more than this is solver noise.
_NOISE = 2.0**-30


@dataclass(frozen=True)
class Channel:
    """Each input's law on the outputs, as integer masses with sum `total`."""

    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    masses: tuple[tuple[int, ...], ...]
    total: int

    @staticmethod
    def of(
        inputs: Sequence[Hashable], outputs: Sequence[Hashable], probabilities: Sequence[Sequence[Fraction | int]]
    ) -> Channel:
        """Return the channel with exact probabilities, one row for each input."""
        numbers = [as_numbers(row, "probabilities") for row in probabilities]
        rows = [fractions(row) for row in numbers if row.dtype != np.float64]
        if len(rows) < len(probabilities):
            raise InputError(
                "a channel has exact probabilities", fix="write Fractions, or repair a float matrix"
            ).at("probabilities")
        _check_shape(inputs, outputs, rows)
        for label, row in zip(inputs, rows, strict=True):
            if (row < 0).any() or sum(row) != 1:
                raise InputError(
                    f"the row of {label!r} is not a distribution", rule="probabilities are >= 0 and sum to 1"
                ).at("probabilities")
        masses, total = in_common_unit(chain.from_iterable(rows))
        table = np.array(masses, dtype=object).reshape(len(inputs), len(outputs))
        return Channel(tuple(inputs), tuple(outputs), tuple(map(tuple, table.tolist())), total)

    def row(self, label: Hashable) -> dict[Hashable, Fraction]:
        """Return one input's output law, without massless outputs."""
        masses = self.masses[self._place(label)]
        return {y: Fraction(mass, self.total) for y, mass in zip(self.outputs, masses, strict=True) if mass}

    def lift(self, law: Mapping[Hashable, Atom]) -> dict[Hashable, Atom]:
        """Return the outputs' distribution for a distribution of inputs, exactly if possible."""
        places = {x: number for number, x in enumerate(self.inputs)}
        rows = []
        for x in law:
            rows.append(self.masses[places[x] if x in places else self._place(x)])
        weights: Sequence[Atom]
        share: Atom = 1
        if all(isinstance(p, int | Fraction) for p in law.values()):
            weights, unit = in_common_unit(law.values())
            share = Fraction(1, unit * self.total)
        else:
            weights = [p / self.total for p in law.values()]
        lifted: dict[Hashable, Atom] = {}
        for y, *column in zip(self.outputs, *rows, strict=True):
            mass = sum(map(mul, weights, column))
            if mass:
                lifted[y] = mass * share
        return lifted

    def compose(self, second: Channel) -> Channel:
        """Return this channel followed by `second`, which is defined on all its outputs."""
        then = np.array([second.masses[second._place(y)] for y in self.outputs], dtype=object)
        rows = np.array(self.masses, dtype=object).dot(then).tolist()
        return Channel(self.inputs, second.outputs, tuple(map(tuple, rows)), self.total * second.total)

    def measure(self, pairs: Iterable[tuple[Hashable, Hashable]] | None = None) -> float:
        """Return the largest log-ratio of two inputs' outputs, for ordered `pairs` or all, rounded up."""
        if pairs is None:
            return _largest_log((max(column), min(column)) for column in zip(*self.masses, strict=True))
        rows = (zip(self.masses[self._place(a)], self.masses[self._place(b)], strict=True) for a, b in pairs)
        return _largest_log(chain.from_iterable(rows))

    def _place(self, label: Hashable) -> int:
        if label not in self.inputs:
            raise InputError(f"the channel has no input {label!r}{did_you_mean(label, self.inputs)}")
        return self.inputs.index(label)


def largest_log_ratio(p: Mapping[Hashable, Atom], q: Mapping[Hashable, Atom]) -> float:
    """Return max over y of log p(y)/q(y), rounded up, maybe infinite."""
    return _largest_log((mass, q.get(y, 0)) for y, mass in p.items())


def _largest_log(pairs: Iterable[tuple[Atom, Atom]]) -> float:
    """Return the largest log(a / b), rounded up."""
    ratios = set()
    for a, b in pairs:
        if a and not b:
            return math.inf
        if a:
            ratios.add(Fraction(a) / Fraction(b))
    worst = max(ratios, default=Fraction(1))
    if worst == 1:
        return 0.0
    from mpmath import mp

    with mp.workprec(BITS):
        return math.nextafter(float(mp.log(as_mpf(worst))), math.inf)


def repair(
    inputs: Sequence[Hashable], outputs: Sequence[Hashable], matrix: Array, blend: Fraction = Fraction(1, 2**30)
) -> Channel:
    """Return a channel with exact masses near a float matrix, such as the solution of a linear program."""
    # The promise is the `measure` of the result; a blend of 0 keeps zeros.
    table = np.asarray(matrix, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise InputError(f"the matrix has shape {table.shape}", rule="it must be rows of finite numbers").at("matrix")
    _check_shape(inputs, outputs, list(table))
    if (np.abs(table.sum(axis=1) - 1) > 1e-6).any() or (table < -1e-6).any():
        raise InputError(
            "a row is far from a distribution", rule="entries must be at least 0 and sum to 1, up to 1e-6"
        ).at("matrix")
    if not 0 <= blend <= 1:
        raise InputError(f"blend is {blend!r}", rule="it must be between 0 and 1").at("blend")
    table = np.where(table.max(axis=0) > _NOISE, np.maximum(table, 0.0), 0.0)
    laws = list(map(_fine, table.tolist()))
    sums = list(map(sum, zip(*laws, strict=True)))
    # Mixing one row into all never raises a log-ratio, and gives all one support where a solver left 1e-17 beside 0.
    share, denominator = Fraction(blend).as_integer_ratio()
    weight = (denominator - share) * len(laws)
    total = denominator * len(laws) * _FINE
    masses = []
    for law in laws:
        mixed = [weight * p + share * m for p, m in zip(law, sums, strict=True)]
        masses.append(_rounded(mixed, total))
    return Channel(tuple(inputs), tuple(outputs), tuple(masses), REPAIR_TOTAL)


def from_weights(inputs: Sequence[Hashable], outputs: Sequence[Hashable], weights: Array) -> Channel:
    """Return the channel with rows proportional to weights, in masses that are multiples of 2**-90."""
    table = np.asarray(weights, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all() or (table < 0).any() or (table.max(axis=1) <= 0).any():
        raise InputError("the weights must be rows of finite numbers, not negative and not all 0").at("weights")
    _check_shape(inputs, outputs, list(table))
    return Channel(tuple(inputs), tuple(outputs), tuple(map(_proportional, table.tolist())), REPAIR_TOTAL)


def _proportional(row: list[float]) -> tuple[int, ...]:
    law = _fine(row)
    # A positive weight keeps a positive mass, so that rounding rules no output out.
    masses = [max(mass * REPAIR_TOTAL // _FINE, int(weight > 0)) for mass, weight in zip(law, row, strict=True)]
    masses[max(range(len(row)), key=row.__getitem__)] += REPAIR_TOTAL - sum(masses)
    return tuple(masses)


def _fine(row: list[float]) -> list[int]:
    """Return a normalised row as integers over _FINE."""
    weights, _ = in_common_unit(row)
    total = sum(weights)
    law = [weight * _FINE // total for weight in weights]
    law[max(range(len(law)), key=law.__getitem__)] += _FINE - sum(law)
    return law


def _rounded(law: list[int], total: int) -> tuple[int, ...]:
    """Round masses to multiples of 1/REPAIR_TOTAL with sum one."""
    masses, rests = [], []
    for mass in law:
        down, rest = divmod(mass * REPAIR_TOTAL, total)
        masses.append(down)
        rests.append(-rest)
    order = sorted(range(len(law)), key=rests.__getitem__)
    for k in order[: REPAIR_TOTAL - sum(masses)]:
        masses[k] += 1
    return tuple(masses)


def _check_shape(inputs: Sequence[Hashable], outputs: Sequence[Hashable], rows: Sequence[Array]) -> None:
    if not len(inputs) or not len(outputs):
        raise InputError("a channel needs at least one input and one output").at("inputs")
    if len(rows) != len(inputs) or any(len(row) != len(outputs) for row in rows):
        raise InputError(
            f"give one row for each of {len(inputs)} inputs, with {len(outputs)} probabilities each"
        ).at("probabilities")
    for labels, side in ((inputs, "inputs"), (outputs, "outputs")):
        if len(set(labels)) < len(labels):
            raise InputError(f"the {side} repeat a label", fix="list each once").at(side)
