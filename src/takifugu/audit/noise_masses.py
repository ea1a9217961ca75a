"""The law of one cell's output around an answer, in many digits, from the definition of each randomiser."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Protocol, runtime_checkable

import numpy as np
from mpmath import mp, mpf

from takifugu.analysis.randomisers import DiscreteLaplace, Exact, Randomiser, RoundedLaplace, RoundedNormal
from takifugu.analysis.randomisers.base import Direction
from takifugu.analysis.randomisers.one_sided import OneSided, OneSidedTruncated
from takifugu.analysis.randomisers.one_sided_real import OneSidedExponential
from takifugu.audit.sparse_masses import choice_mass, is_choice, is_sparse, sparse_mass, sparse_outputs
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.numbers.rationals import as_mpf

#: Decimal digits of every number of the audit.
DIGITS = 60
#: The mass that may lie outside the outputs that are looked at.
LOST = 1e-25


def cell_mass(randomiser: Randomiser) -> Callable[[int, Fraction], mpf]:
    """Return P(output | answer) as a function, in grid units; call it with `mp.dps` at DIGITS."""
    if is_choice(randomiser):
        return cache(choice_mass(randomiser))
    if isinstance(randomiser, Finite):
        mass = randomiser.mass
        return lambda y, x: as_mpf(mass(x, y))
    if is_sparse(randomiser):
        return cache(sparse_mass(randomiser))
    if isinstance(randomiser, OneSided):
        plain = _two_sided(randomiser)
        if plain is None:
            return cache(_one_sided_mass(randomiser))
        randomiser = plain
    function = cache(mass_function(randomiser))
    return lambda y, x: function(y - x)


def mass_function(randomiser: Randomiser) -> Callable[[Fraction], mpf]:
    """Return P(output - answer = d) as a function, in grid units; call it with `mp.dps` at DIGITS."""
    tail = cache(_tail(randomiser))
    return lambda d: tail(abs(d)) - tail(abs(d) + 1)


def _tail(randomiser: Randomiser) -> Callable[[Fraction], mpf]:
    """Return P(output - answer >= d) as a function, in grid units, with all digits for d > 0."""
    if isinstance(randomiser, Exact):
        return lambda d: mp.mpf(d <= 0)
    if isinstance(randomiser, DiscreteLaplace):
        steps, both = randomiser.units, 1 + _exp(-1 / randomiser.units)
        return lambda d: _exp(-d / steps) / both if d > 0 else 1 - _exp((d - 1) / steps) / both
    if isinstance(randomiser, RoundedLaplace):
        scale = randomiser.scale / randomiser.grid
        return lambda d: _rounded(d, lambda x: _exp(-x / scale) / 2)
    if isinstance(randomiser, RoundedNormal):
        sigma = randomiser.scale / randomiser.grid
        return lambda d: _rounded(d, lambda x: mp.erfc(as_mpf(x / sigma) / mp.sqrt(2)) / 2)
    raise Unsupported(f"the audit does not know the distribution of {type(randomiser).__name__} noise")


def _rounded(d: Fraction, upper: Callable[[Fraction], mpf]) -> mpf:
    """Return P(Z >= d - 1/2) of symmetric noise, by its tail upper(x) for x >= 0."""
    return upper(d - Fraction(1, 2)) if d >= Fraction(1, 2) else 1 - upper(Fraction(1, 2) - d)


def likelihood(noise: Randomiser, grid: Fraction, value: Fraction, totals: IntArray) -> FloatArray:
    """Return P(published value | total) over its largest, for totals in steps of a grid."""
    with mp.workdps(DIGITS):
        mass = mass_function(noise)
        masses = [mass((value - total * grid) / noise.grid) for total in totals.tolist()]
        largest = max(masses)
        return np.array([float(each / largest) for each in masses])


@runtime_checkable
class Finite(Protocol):
    """A randomiser with finitely many outputs."""

    @property
    def outputs(self) -> Sequence[Hashable]: ...

    def mass(self, answer: int | Fraction, output: Hashable) -> Fraction: ...


def outputs_of(randomiser: Randomiser) -> Sequence[Hashable] | None:
    """Return all outputs of a finite randomiser."""
    if is_choice(randomiser):
        return list(randomiser.possible())
    return randomiser.outputs if isinstance(randomiser, Finite) else None


def is_joint(randomiser: Randomiser) -> bool:
    """Whether all cells are read together, as tuples."""
    return is_sparse(randomiser) or is_choice(randomiser)


def parts_of(noise: Randomiser) -> list[Randomiser]:
    """Return the noise of each cell, or the whole if drawn together."""
    if is_joint(noise):
        return [noise]
    if isinstance(noise, OneSided):
        return list(map(noise.cell, range(noise.cells)))
    return [noise] * noise.cells


def cell_tail(randomiser: Randomiser) -> Callable[[int, Fraction], mpf]:
    """Return P(output >= y | answer) of noise in numbers as a function, in grid units."""
    if isinstance(randomiser, OneSided):
        plain = _two_sided(randomiser)
        if plain is None:
            return _one_sided_tail(randomiser)
        randomiser = plain
    tail_of = _tail(randomiser)
    return lambda y, x: tail_of(y - x)


def places(randomiser: Randomiser, atoms: Sequence[Any]) -> Sequence[Any]:
    """Return outputs enough for every log-ratio, in grid units: all of them where they are finitely many."""
    outputs = outputs_of(randomiser)
    if outputs is not None:
        return outputs
    if is_sparse(randomiser):
        return sparse_outputs(randomiser, atoms)
    if isinstance(randomiser, RoundedNormal):
        raise Unsupported("the log-ratio of normal noise has no bound, so it has no pure loss", fix="ask for its delta")
    # Beyond all atoms every mass of Laplace noise falls by one factor a step; no noise puts no mass there.
    return range(math.floor(min(atoms)) - 1, math.ceil(max(atoms)) + 2)


def places_near(randomiser: Randomiser, atoms: Sequence[Any]) -> Sequence[Any]:
    """Return the atoms and their neighbours: ratios are monotone between."""
    if outputs_of(randomiser) is not None or is_sparse(randomiser):
        return places(randomiser, atoms)
    near: set[int] = set()
    for x in atoms:
        near.update(range(math.floor(x) - 1, math.floor(x) + 3))
    return sorted(near & set(places(randomiser, atoms)))


def places_of_mass(randomiser: Randomiser, atoms: Sequence[Any]) -> Sequence[Any]:
    """Return outputs with all but LOST of each atom's mass."""
    outputs = outputs_of(randomiser)
    if outputs is not None:
        return outputs
    if is_sparse(randomiser):
        enough = math.ceil(float(randomiser.scale / randomiser.grid) * -math.log(LOST / randomiser.cells)) + 1
        return sparse_outputs(randomiser, atoms, enough)
    if isinstance(randomiser, Exact):
        reach = 0
    elif isinstance(randomiser, RoundedNormal):
        reach = math.ceil(float(randomiser.scale / randomiser.grid) * math.sqrt(-2 * math.log(LOST))) + 1
    else:
        reach = math.ceil(float(randomiser.scale / randomiser.grid) * -math.log(LOST)) + 1
    return range(math.floor(min(atoms)) - reach, math.ceil(max(atoms)) + reach + 1)


def _two_sided(noise: OneSided) -> DiscreteLaplace | RoundedLaplace | None:
    """Return a cell's noise if two-sided."""
    if noise.moves != (Direction.EITHER,):
        return None
    if isinstance(noise, OneSidedExponential):
        return RoundedLaplace(noise.scale, noise.grid, 1, noise.on_grid)
    return DiscreteLaplace(noise.units, noise.grid)


def _one_sided_mass(noise: OneSided) -> Callable[[int, Fraction], mpf]:
    """Return a cell's P(output | answer) as a function, in grid units."""
    tail = _added_tail(noise)
    if noise.moves == (Direction.DOWN,):
        return lambda y, x: tail(y, x) - tail(y + 1, x)
    turned = _turned(noise)
    return lambda y, x: tail(turned - y, turned - x) - tail(turned - y + 1, turned - x)


def _one_sided_tail(noise: OneSided) -> Callable[[int, Fraction], mpf]:
    tail = _added_tail(noise)
    if noise.moves == (Direction.DOWN,):
        return tail
    turned = _turned(noise)
    return lambda y, x: 1 - tail(turned - y + 1, turned - x)


def _turned(noise: OneSided) -> int:
    """Mirror subtracted noise into added noise."""
    return noise.most or 0 if isinstance(noise, OneSidedTruncated) else 0


def _added_tail(noise: OneSided) -> Callable[[int, Fraction], mpf]:
    """Return P(output >= y | answer) of added noise."""
    most = noise.most if isinstance(noise, OneSidedTruncated) else None
    missing = 1 if isinstance(noise, OneSidedExponential) else 0  # ceil(x + E) >= y means x + E > y - 1

    def tail(y: int, x: Fraction) -> mpf:
        if most is not None and y > most:
            return mp.mpf(0)
        beyond = Fraction(y - missing - x) / noise.units
        if beyond > 0:
            return mp.exp(-as_mpf(beyond))
        return mp.mpf(1)

    return tail


def _exp(exponent: Fraction) -> mpf:
    return mp.exp(as_mpf(exponent))
