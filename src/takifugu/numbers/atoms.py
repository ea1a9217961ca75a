"""Numbers as NumPy arrays: exact when given as integers and Fractions, float64 otherwise."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from takifugu.core.errors import InputError
from takifugu.core.rules import members_of
from takifugu.numbers.rationals import in_common_unit

Atom = int | Fraction | float
Array = NDArray[Any]
Floats = NDArray[np.float64]

#: Integers up to this size are stored as int64: their sums and differences cannot overflow.
LARGEST_SMALL = 2**61
_FRACTIONS = np.frompyfunc(Fraction, 1, 1)
_FLOATS = np.frompyfunc(float, 1, 1)


def as_numbers(numbers: Iterable[Atom] | Array, name: str) -> Array:
    """Return a new row of numbers: int64 for integers, objects for Fractions and huge integers, else float64."""
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind in "iuf":
        array = _from_machine_numbers(numbers)
    else:
        array = _from_objects(members_of(numbers, name, name, "[0.5, 0.5]"), name)
    if array.ndim != 1:
        raise InputError(
            f"{name} have shape {array.shape}", rule="they must be one row of numbers", fix="flatten them first"
        ).at(name)
    if array.dtype == np.float64 and not np.isfinite(array).all():
        raise InputError(
            f"{name} contain {array[~np.isfinite(array)][0]}", rule="every number must be finite", fix="remove it"
        ).at(name)
    return array


def masses_at(law: Mapping[Hashable, Atom], values: Iterable[Hashable]) -> Floats:
    """Return the masses of a law at some values, as floats."""
    return np.array([float(law.get(x, 0)) for x in values])


def tabulated(function: Callable[[Any, Any], SupportsFloat], rows: Sequence[Any], columns: Sequence[Any]) -> Floats:
    """Return the numbers of a function of two arguments, shape (rows, columns)."""
    table = []
    for x in rows:
        table.append([float(function(x, y)) for y in columns])
    return np.array(table)


def _from_machine_numbers(numbers: Array) -> Array:
    if numbers.dtype.kind == "f":
        return numbers.astype(np.float64) + 0.0
    if numbers.size and (int(numbers.max()) > LARGEST_SMALL or int(numbers.min()) < -LARGEST_SMALL):
        return fractions(numbers.astype(object))
    return numbers.astype(np.int64)


def _from_objects(numbers: list[Any], name: str) -> Array:
    kinds = set(map(type, numbers))
    for kind in kinds:
        if kind is bool or not issubclass(kind, int | Fraction | float | np.integer | np.floating):
            example = next(x for x in numbers if type(x) is kind)
            raise InputError(
                f"{name} contain {example!r}", fix="write integers, Fractions or floats, one row of them"
            ).at(name)
    if any(issubclass(kind, float | np.floating) for kind in kinds):
        try:
            return np.array(list(map(float, numbers)), dtype=np.float64) + 0.0
        except OverflowError:
            fix = "write all of them as integers or Fractions"
            raise InputError(f"{name} contain a number that no float holds", fix=fix).at(name) from None
    if Fraction in kinds:
        rationals = []
        for x in numbers:
            rationals.append(x if isinstance(x, Fraction) else Fraction(int(x)))
        return compact(object_array(rationals))
    return compact(object_array(list(map(int, numbers))))


def object_array(items: Sequence[object]) -> Array:
    """Return objects in a row, such as integers beyond 64 bits."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def compact(array: Array) -> Array:
    """Return int64 for integers of moderate size, else Fractions."""
    if all(x.denominator == 1 and -LARGEST_SMALL <= x <= LARGEST_SMALL for x in array):
        return np.array(list(map(int, array)), dtype=np.int64)
    return fractions(array)


def fractions(array: Array) -> Array:
    """Return the array as Fractions, each exactly equal to its number."""
    result: Array = _FRACTIONS(array.astype(object))
    return result if result.size else result.astype(object)


def floats(array: Array) -> Floats:
    """Return the nearest float64 numbers."""
    return np.asarray(_FLOATS(array) if array.dtype == object else array, dtype=np.float64)


def integers(array: Array) -> list[int]:
    """Return an int64 or object array of integers as Python integers."""
    return list(map(int, array.tolist()))


def as_masses(masses: list[int]) -> tuple[Array, int]:
    """Return integer masses and their total, int64 if it fits."""
    total = sum(masses)
    return (np.array(masses, dtype=np.int64) if total <= LARGEST_SMALL else object_array(masses)), total


def exact_sum(masses: Array) -> int:
    """Return the sum of integers, however large."""
    small = masses.dtype == np.int64 and float(masses.sum(dtype=np.float64)) < LARGEST_SMALL
    return int(masses.sum()) if small else sum(integers(masses))


def over_common_total(probabilities: Array) -> tuple[Array, int]:
    """Write exact probabilities as integer masses over their least common denominator."""
    if probabilities.dtype == np.int64:
        return probabilities, 1
    masses, denominator = in_common_unit(probabilities)
    return as_masses(masses)[0], denominator


def to_python(number: Atom | np.integer | np.floating) -> Atom:
    """Return a plain int, Fraction or float; whole Fractions become ints."""
    if isinstance(number, Fraction):
        return number.numerator if number.denominator == 1 else number
    return int(number) if isinstance(number, int | np.integer) else float(number)


def same_type(first: Array, second: Array) -> tuple[Array, Array]:
    """Return both arrays in the narrowest common type."""
    if first.dtype == second.dtype:
        return first, second
    if np.float64 in (first.dtype, second.dtype):
        return floats(first), floats(second)
    return fractions(first), fractions(second)


def check_lengths(atoms: Array, weights: Array, name: str) -> None:
    if len(atoms) != len(weights):
        raise InputError(f"{len(atoms)} values but {len(weights)} {name}", fix="give one for each value").at(name)
    if not len(atoms):
        raise InputError("a distribution needs at least one atom", rule=f"values and {name} are empty").at("values")
    if (weights < 0).any():
        raise InputError(f"{name} contain {weights[weights < 0][0]}", rule="none may be negative").at(name)


def sorted_atoms(atoms: Array, masses: Array) -> tuple[Array, Array]:
    """Sort by atom and refuse repeated atoms."""
    if not (atoms[1:] > atoms[:-1]).all():
        order = np.argsort(atoms, kind="stable")
        atoms, masses = atoms[order], masses[order]
        repeated = atoms[1:] == atoms[:-1]
        if repeated.any():
            raise InputError(
                f"values repeat {to_python(atoms[1:][repeated][0])}", fix="list it once and add its masses"
            ).at("values")
    return atoms, masses


def merged(atoms: Array, masses: Array) -> tuple[Array, Array]:
    """Sort by atom and add the masses of equal atoms."""
    order = np.argsort(atoms, kind="stable")
    atoms, masses = atoms[order], masses[order]
    first = np.concatenate(([True], atoms[1:] != atoms[:-1]))
    return atoms[first], np.add.reduceat(masses, np.flatnonzero(first))


def with_small_atoms(atoms: Array) -> Array:
    """Keep integer atoms of a safe size; others become Fractions."""
    if atoms.dtype == np.int64 and atoms.size and max(int(atoms.max()), -int(atoms.min())) > LARGEST_SMALL:
        return fractions(atoms)
    return compact(atoms) if atoms.dtype == object else atoms


def joined_arrays(arrays: Sequence[Array]) -> Array:
    kinds = {array.dtype for array in arrays}
    if len(kinds) > 1:
        alike = floats if np.dtype(np.float64) in kinds else fractions
        arrays = list(map(alike, arrays))
    return np.concatenate(arrays)


def is_dense(first: Array, second: Array) -> bool:
    """Whether filling the gaps is cheaper than listing all pairs."""
    of_first, of_second = int(first[-1]) - int(first[0]) + 1, int(second[-1]) - int(second[0]) + 1
    return of_first * of_second <= 16 * len(first) * len(second)


def dense_masses(values: Array, masses: Array) -> Array:
    dense = np.zeros(int(values[-1]) - int(values[0]) + 1, dtype=masses.dtype)
    dense[values - values[0]] = masses
    return dense
