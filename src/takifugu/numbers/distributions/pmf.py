"""Finite laws on the line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain
from takifugu.core.rules import check_type, list_of
from takifugu.core.typed import as_written
from takifugu.numbers.atoms import (
    LARGEST_SMALL,
    Array,
    Atom,
    Floats,
    as_masses,
    as_numbers,
    check_lengths,
    compact,
    dense_masses,
    exact_sum,
    floats,
    fractions,
    integers,
    is_dense,
    joined_arrays,
    merged,
    over_common_total,
    same_type,
    sorted_atoms,
    to_python,
    with_small_atoms,
)
from takifugu.numbers.rationals import as_fraction, exact_or_float, plain_number

#: Float probabilities may miss a sum of one by this much; they are then divided by their sum.
SUM_TOLERANCE = 1e-9
_SUM_IS_ONE = 2.0**-50
_UNSEEN = 2.0**-110


class Pmf:
    """Hold a finite distribution: sorted values with positive masses. It is immutable.

    With ints or Fractions as probabilities it is `exact`: `masses` are integers that sum to `total`. Otherwise `masses`
    are float64 and `total` is None. Values without mass are dropped.

    Args:
        values: Numbers, each once: int64, float64 or Fraction.
        probabilities: One for each value. They sum to 1: exactly if exact, else within 1e-9, and are then divided by
            their sum.

    Raises:
        InputError: For lists that differ in length or are empty, a repeated value, a number that is not finite, and
            what are no probabilities.

    Examples:
        >>> from fractions import Fraction
        >>> law = Pmf([3, 1], [Fraction(1, 4), Fraction(3, 4)])
        >>> list(law.items()), law.mean()
        ([(1, Fraction(3, 4)), (3, Fraction(1, 4))], Fraction(3, 2))
    """

    __slots__ = ("masses", "total", "values")
    values: Array
    masses: Array
    total: int | None

    def __init__(self, values: Iterable[Atom] | Array, probabilities: Iterable[Atom] | Array) -> None:
        atoms, weights = as_numbers(values, "values"), as_numbers(probabilities, "probabilities")
        check_lengths(atoms, weights, "probabilities")
        total: int | None
        if weights.dtype == np.float64:
            masses, total = _renormalised(weights), None
        else:
            masses, total = over_common_total(weights)
            if exact_sum(masses) != total:
                divisor = Fraction(exact_sum(masses), total)
                raise InputError(
                    f"probabilities sum to {divisor}", rule="they must sum to 1", fix=f"divide each by {divisor}"
                ).at("probabilities")
        _fill(self, *sorted_atoms(atoms, masses), total)

    @staticmethod
    def from_counts(values: Iterable[Atom] | Array, counts: Iterable[int] | Array) -> Pmf:
        """Return the distribution with integer counts as masses.

        Args:
            values: Numbers, each once.
            counts: Whole numbers, one for each value.

        Returns:
            The exact distribution.

        Raises:
            InputError: For a count that is not a whole number or is negative, and where all are zero.

        Examples:
            >>> Pmf.from_counts([0, 1], [2, 6]).total
            8
        """
        atoms, weights = as_numbers(values, "values"), as_numbers(counts, "counts")
        check_lengths(atoms, weights, "counts")
        if weights.dtype == np.float64 or (weights.dtype == object and any(x.denominator != 1 for x in weights)):
            raise InputError(
                "counts must be whole numbers given as integers", fix="for probabilities write Pmf(values, ...)"
            ).at("counts")
        total = exact_sum(weights)
        masses = weights if total <= LARGEST_SMALL else as_masses(integers(weights))[0]
        if total == 0:
            raise InputError("counts sum to 0", rule="a distribution needs at least one positive count").at("counts")
        return _law(*sorted_atoms(atoms, masses), total)

    @staticmethod
    def mix(weights: Iterable[Atom] | Array, laws: Sequence[Pmf]) -> Pmf:
        """Return the mixture of distributions, exact if weights and distributions are.

        Args:
            weights: Their probabilities.
            laws: The distributions, as many as weights.

        Returns:
            The mixture.

        Raises:
            InputError: For other numbers of weights and distributions, and for weights that are no probabilities.

        Examples:
            >>> list(Pmf.mix([Fraction(1, 2)] * 2, [Pmf([0], [1]), Pmf([0, 1], [Fraction(1, 2)] * 2)]).items())
            [(0, Fraction(3, 4)), (1, Fraction(1, 4))]
        """
        every = list_of(laws, "the distributions", "laws", "[Pmf([0], [1]), Pmf([1], [1])]")
        for law in every:
            check_type(law, Pmf, "a distribution", "write Pmf(values, probabilities)", "laws")
        choice = Pmf(range(len(every)), weights)
        parts = [(every[int(index)], weight) for index, weight in choice.items()]
        atoms = joined_arrays([law.values for law, _ in parts])
        if choice.exact and all(law.exact for law, _ in parts):
            common = math.lcm(*(Fraction(weight).denominator * (law.total or 1) for law, weight in parts))
            factors = [int(Fraction(weight) * common / (law.total or 1)) for law, weight in parts]
            masses = []
            for (law, _), factor in zip(parts, factors, strict=True):
                masses += [mass * factor for mass in integers(law.masses)]
            return _law(*merged(atoms, as_masses(masses)[0]), common)
        return _law(*merged(atoms, np.concatenate([law.probabilities * float(w) for law, w in parts])), None)

    def to_dict(self) -> Json:
        """Return plain data for `from_dict`: each value with its probability, exact numbers as texts."""
        return {"atoms": [list(map(plain_number, atom)) for atom in self.items()]}

    @staticmethod
    def from_dict(data: Plain) -> Pmf:
        """Read a distribution back.

        Args:
            data: What `to_dict` returned.

        Returns:
            The distribution.

        Raises:
            InputError: For anything else.

        Examples:
            >>> Pmf.from_dict({"atoms": [["0", "1/3"], ["1", "2/3"]]})
            Pmf(0: 1/3, 1: 2/3)
        """
        with as_written():
            values, masses = ([exact_or_float(atom[part]) for atom in data["atoms"]] for part in (0, 1))
            law = Pmf(values, masses)
        if law.exact:
            return law
        # floats are those that were written: they are not divided by their sum once more
        return _law(*sorted_atoms(as_numbers(values, "values"), as_numbers(masses, "probabilities")), None)

    @property
    def exact(self) -> bool:
        """Whether the masses are integers over `total`."""
        return self.total is not None

    @property
    def probabilities(self) -> Floats:
        """Return the masses as float64 probabilities."""
        if self.total is None:
            return self.masses
        if self.masses.dtype == object:
            return np.array([mass / self.total for mass in self.masses], dtype=np.float64)
        return self.masses / float(self.total)

    @property
    def support_range(self) -> tuple[Atom, Atom]:
        """The least and the largest atom."""
        return to_python(self.values[0]), to_python(self.values[-1])

    def items(self) -> Iterator[tuple[Atom, Fraction | float]]:
        """Yield (atom, probability) in order, Fractions for an exact law."""
        for value, mass in zip(self.values.tolist(), self.masses.tolist(), strict=True):
            yield to_python(value), mass if self.total is None else Fraction(mass, self.total)

    def mean(self) -> Fraction | float:
        """Return the mean.

        Returns:
            A Fraction where values and masses are exact, else a float.

        Examples:
            >>> Pmf([0, 4], [0.5, 0.5]).mean()
            2.0
        """
        if self.total is not None and self.values.dtype != np.float64:
            weighted = zip(self.values.tolist(), self.masses.tolist(), strict=True)
            return Fraction(sum(value * mass for value, mass in weighted)) / self.total
        return math.fsum((floats(self.values) * self.probabilities).tolist())

    def shift(self, change: Atom) -> Pmf:
        """Return the distribution of the answer plus a constant.

        Args:
            change: The constant, in answer units.

        Returns:
            The shifted distribution.

        Examples:
            >>> Pmf([0, 1], [0.5, 0.5]).shift(2).values
            array([2, 3])
        """
        constant = as_numbers([change], "the shift")
        if self.values.dtype == np.float64 or constant.dtype == np.float64:
            return _law(*merged(floats(self.values) + floats(constant), self.masses), self.total)
        atoms, step = same_type(self.values, constant)
        shifted = atoms + step
        shifted = compact(shifted) if atoms.dtype == object else with_small_atoms(shifted)
        return _law(shifted, self.masses, self.total)

    def scale(self, factor: Atom) -> Pmf:
        """Return the distribution of the answer times a constant.

        Args:
            factor: The constant, of any sign.

        Returns:
            The scaled distribution.

        Examples:
            >>> Pmf([0, 1], [0.25, 0.75]).scale(-2).values
            array([-2,  0])
        """
        constant = as_numbers([factor], "the factor")
        if self.values.dtype == np.float64 or constant.dtype == np.float64:
            return _law(*merged(floats(self.values) * floats(constant) + 0.0, self.masses), self.total)
        return _law(*merged(compact(fractions(self.values) * fractions(constant)), self.masses), self.total)

    def convolve(self, other: Pmf) -> Pmf:
        """Return the distribution of the sum of two independent answers, exact if both are.

        Only positive terms are added, so every mass keeps its relative accuracy. A float mass below 1e-308 loses digits
        and one below 5e-324 vanishes; use exact masses for such tails.

        Args:
            other: The second answer's distribution.

        Returns:
            The sum's distribution.

        Examples:
            >>> coin = Pmf([0, 1], [Fraction(1, 2)] * 2)
            >>> [str(p) for _, p in coin.convolve(coin).items()]
            ['1/4', '1/2', '1/4']
        """
        if self.total is not None and other.total is not None:
            total: int | None = self.total * other.total
            kind: npt.DTypeLike = np.int64 if self.total * other.total <= LARGEST_SMALL else object
            left, right = self.masses.astype(kind), other.masses.astype(kind)
        else:
            total, left, right = None, self.probabilities, other.probabilities
        if self.values.dtype == other.values.dtype == np.int64 and is_dense(self.values, other.values):
            sums = np.convolve(dense_masses(self.values, left), dense_masses(other.values, right))
            possible = np.flatnonzero(sums)
            return _law(with_small_atoms(possible + int(self.values[0]) + int(other.values[0])), sums[possible], total)
        first, second = same_type(self.values, other.values)
        atoms = np.add.outer(first, second).ravel()
        return _law(*merged(with_small_atoms(atoms), np.multiply.outer(left, right).ravel()), total)

    def round_to(self, grid: Fraction | int) -> Pmf:
        """Return the distribution of the answer rounded to the nearest grid multiple, ties to the even one.

        Args:
            grid: The grid's step, a positive int or Fraction, in answer units.

        Returns:
            The rounded distribution.

        Raises:
            InputError: Unless the grid is a positive int or Fraction.

        Examples:
            >>> list(Pmf([Fraction(1, 2), Fraction(3, 2)], [Fraction(1, 4), Fraction(3, 4)]).round_to(1).items())
            [(0, Fraction(1, 4)), (2, Fraction(3, 4))]
        """
        if isinstance(grid, bool) or not isinstance(grid, int | Fraction) or grid <= 0:
            raise InputError(
                f"grid is {grid!r}", rule="it must be a positive integer or Fraction, such as Fraction(1, 10)"
            ).at("grid")
        if grid == 1 and self.values.dtype == np.int64:
            return self
        steps = [round(Fraction(value) / grid) for value in self.values.tolist()]
        return _law(*merged(as_numbers([grid * step for step in steps], "values"), self.masses), self.total)

    def in_decimals(self) -> Pmf:
        """Return the distribution with each float value as the Fraction of its shortest decimal.

        Returns:
            The distribution with exact values.

        Examples:
            >>> Pmf([0.1, 2.0], [0.5, 0.5]).in_decimals().values
            array([Fraction(1, 10), Fraction(2, 1)], dtype=object)
        """
        if self.values.dtype != np.float64:
            return self
        atoms = as_numbers([as_fraction(value, "a value") for value in self.values.tolist()], "values")
        return _law(atoms, self.masses, self.total)

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pmf):
            return NotImplemented
        if self.exact != other.exact or not np.array_equal(self.values, other.values):
            return False
        return np.array_equal(_reduced(self), _reduced(other))

    def __hash__(self) -> int:
        return hash((len(self), self.support_range, self.exact))

    def __repr__(self) -> str:
        atoms = [f"{value}: {mass}" for (value, mass), _ in zip(self.items(), range(8), strict=False)]
        if len(self) > 8:
            atoms.append(f"... {len(self)} atoms")
        return f"Pmf({', '.join(atoms)})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Pmf is immutable: {name} cannot be changed; build a new Pmf")

    def __reduce__(self) -> tuple[object, ...]:
        return _law, (self.values, self.masses, self.total)


def _law(values: Array, masses: Array, total: int | None) -> Pmf:
    """Build a law from sorted distinct atoms, without zero masses."""
    law = object.__new__(Pmf)
    _fill(law, values, masses, total)
    return law


def _fill(law: Pmf, values: Array, masses: Array, total: int | None) -> None:
    is_possible = masses != 0
    if not is_possible.all():
        values, masses = values[is_possible], masses[is_possible]
    for name, array in (("values", values), ("masses", masses)):
        frozen = array.view()
        frozen.flags.writeable = False
        object.__setattr__(law, name, frozen)
    object.__setattr__(law, "total", total)


def _renormalised(weights: Floats) -> Floats:
    if (weights < 0).any():
        raise InputError(
            f"probabilities contain {weights[weights < 0][0]}", rule="none may be negative"
        ).at("probabilities")
    # Smaller numbers cannot be seen in the sum, and fsum would spend most of its time on them.
    total = math.fsum(weights[weights > _UNSEEN].tolist())
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise InputError(
            f"probabilities sum to {total}", rule="they must sum to 1 within 1e-9", fix="divide each by their sum"
        ).at("probabilities")
    return weights / total if abs(total - 1.0) > _SUM_IS_ONE else weights.copy()


def _reduced(law: Pmf) -> Array:
    if law.total is None:
        return law.masses
    if law.masses.dtype == np.int64:
        divided: Array = law.masses // np.gcd.reduce(law.masses)
        return divided
    masses = integers(law.masses)
    divisor = math.gcd(*masses)
    return as_masses([mass // divisor for mass in masses])[0]
