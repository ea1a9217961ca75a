"""Exact numbers at the border: what a user types becomes a Fraction, and scales are rounded to the safe side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any, TypeGuard

from takifugu.core.columns import no_list, value_of
from takifugu.core.errors import InputError, Step
from takifugu.core.plain import form
from takifugu.core.plain import read_fraction as read_fraction
from takifugu.core.plain import to_text as to_text
from takifugu.core.rules import wrong_type

if TYPE_CHECKING:
    from mpmath import mpf

Number = int | float | str | Decimal | Fraction

#: Bits of a rounded scale: the relative excess is at most 2**-35 < 1e-10, and integer samplers stay within 64 bits.
SCALE_BITS = 36
#: All floats in a certificate lie below it.
LARGEST_NUMBER = 2**1000


def _number_text(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Decimal):
        return str(value)
    return repr(float(value)) if hasattr(value, "__float__") else ""


def in_common_unit(numbers: Iterable[int | float | Fraction]) -> tuple[list[int], int]:
    """Write numbers as whole multiples of 1/unit, their least common denominator."""
    ratios = [number.as_integer_ratio() for number in numbers]
    unit = math.lcm(*{denominator for _, denominator in ratios})
    return [int(numerator) * (unit // int(denominator)) for numerator, denominator in ratios], unit


def both_in_common_unit(
    left: Sequence[int | float | Fraction], right: Sequence[int | float | Fraction]
) -> tuple[list[int], list[int], int]:
    """Write two rows of numbers as whole multiples of one unit."""
    numbers, unit = in_common_unit([*left, *right])
    return numbers[: len(left)], numbers[len(left) :], unit


def is_whole(value: object, least: int = 0) -> TypeGuard[int]:
    """Return whether a value is a whole number of at least `least`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def as_fraction(value: object, name: str, *where: Step) -> Fraction:
    """Read a finite number, called `name` in messages, by its shortest decimal (0.1 is 1/10)."""
    try:
        if type(value) is Fraction and type(value.numerator) is type(value.denominator) is int:
            number = value  # of plain integers, not NumPy's; charges are read often
        elif isinstance(value, Rational) and not isinstance(value, bool):
            number = Fraction(int(value.numerator), int(value.denominator))
        else:
            number = read_fraction(_number_text(value))
        float(number)  # raises OverflowError where no float is as large
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise InputError(
            f"{name} is {_text(value)}", rule="it must be a finite number", fix="write for example 0.5 or '1/3'"
        ).at(*where) from None
    if isinstance(value, bool):
        raise InputError(f"{name} is {value!r}", rule="it must be a number, not true or false").at(*where)
    return number


def as_fractions(values: Iterable[object], name: str, *where: Step) -> tuple[Fraction, ...]:
    """Read finite numbers, each as `as_fraction` does."""
    return tuple(as_fraction(value, name, *where) for value in values)


def common_denominator(numbers: Iterable[Fraction]) -> int:
    """Return the least number of which all multiples are whole."""
    return math.lcm(*(number.denominator for number in numbers))


def _text(value: object) -> str:
    text = repr(value[:60]) if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def exact(name: str, is_left_out: bool = False) -> Mapping[str, Any]:
    """Return the metadata of a field written as an exact number."""
    return form(read=lambda value: as_fraction(value, name), is_left_out=is_left_out)


def plain_number(value: int | float | Fraction) -> str | float:
    """Return a number for JSON that reads back exactly (`exact_or_float`): a text for what is no float."""
    return to_text(Fraction(value)) if isinstance(value, int | Fraction) else float(value)


def exact_or_float(value: str | float) -> Fraction | float:
    """Return a number of plain data, a text as its fraction."""
    if isinstance(value, str):
        return as_fraction(value, "a number of a distribution")
    return value


def as_whole(value: object, name: str, *where: Step, least: int = 0) -> int:
    """Read a whole number of at least `least` that 64 bits hold."""
    if not is_whole(value, least):
        raise InputError(f"{name} is {_text(value)}", rule=f"it must be a whole number from {least}").at(*where)
    if value >= 2**63:
        raise InputError(f"{name} is {_text(value)}", rule="it must be below 2^63").at(*where)
    return value


def as_truth(value: object, name: str) -> bool:
    """Read a switch: True or False, or 1 or 0."""
    truth = value_of(value)
    if not isinstance(truth, int) or truth not in (0, 1):
        raise wrong_type(value, "True or False", f"write {name}=True, or leave it out").at(name)
    return bool(truth)


def as_positive(value: object, name: str, *where: Step) -> Fraction:
    """Read a finite number above 0, as `as_fraction` does."""
    number = as_fraction(value, name, *where)
    if number <= 0:
        raise InputError(f"{name} is {_text(value)}", rule="it must be above 0").at(*where)
    return number


def as_non_negative(value: object, name: str, *where: Step) -> Fraction:
    """Read a finite number of at least 0, as `as_fraction` does."""
    number = as_fraction(value, name, *where)
    if number < 0:
        raise InputError(f"{name} is {_text(value)}", rule="it must not be negative").at(*where)
    return number


def as_interval(ends: Any, name: str, *where: Step) -> tuple[Fraction, Fraction]:
    """Read two ends, the lower one first."""
    if no_list(ends) is not None or len(pair := tuple(ends)) != 2:
        raise InputError(f"{name} is {_text(ends)}", fix="write (low, high)").at(*where)
    low, high = (as_fraction(end, f"an end of {name}", *where) for end in pair)
    if low >= high:
        what = f"{name} goes from {to_text(low)} to {to_text(high)}"
        raise InputError(what, rule="it must have an inside", fix="write (low, high)").at(*where)
    return low, high


def as_epsilon(value: Number, name: str = "epsilon") -> Fraction:
    """Read a privacy budget: a finite rational above zero, or InputError."""
    epsilon = as_fraction(value, name, "epsilon")
    if epsilon <= 0:
        raise InputError(f"{name} is {value!r}", rule="it must be above 0", fix="write for example 1.0").at("epsilon")
    return epsilon


def as_delta(value: Number, name: str = "delta") -> Fraction:
    """Read a failure mass: a rational in [0, 1), or InputError."""
    delta = as_fraction(value, name, "delta")
    if not 0 <= delta < 1:
        raise InputError(
            f"{name} is {value!r}", rule="it must be at least 0 and below 1", fix="write 0 for a pure promise"
        ).at("delta")
    return delta


def round_up(value: Fraction | float) -> Fraction:
    """Return a short rational from `value` to 1e-10 relative above.

    Values that are already short (such as 1/epsilon) come back unchanged.

    >>> round_up(Fraction(10, 3))
    Fraction(10, 3)
    >>> 0 <= round_up(2**0.5) / Fraction(2**0.5) - 1 < 1e-10
    True
    """
    exact = Fraction(value)
    if exact < 0:
        raise InputError(f"a scale is {value!r}", rule="it must not be negative").at("scale")
    if exact.numerator.bit_length() <= SCALE_BITS and exact.denominator.bit_length() <= SCALE_BITS:
        return exact
    shift = SCALE_BITS - (exact.numerator.bit_length() - exact.denominator.bit_length())
    unit = Fraction(2) ** -shift
    return math.ceil(exact / unit) * unit


def short_above(value: Fraction | float) -> float:
    """Return the least float above `value` that `round_up` leaves as it is."""
    part, exponent = math.frexp(math.nextafter(float(value), math.inf))
    return math.ldexp(math.ceil(math.ldexp(part, SCALE_BITS + 1)), exponent - SCALE_BITS - 1)


def short_below(value: Fraction | float) -> float:
    """Return the largest float below `value` that `round_up` leaves as it is."""
    part, exponent = math.frexp(math.nextafter(float(value), 0.0))
    return math.ldexp(math.floor(math.ldexp(part, SCALE_BITS + 1)), exponent - SCALE_BITS - 1)


def decimal_up(value: Fraction) -> Fraction:
    """Return the least twelve-digit decimal at least `value`."""
    unit = _twelfth_digit(value)
    return math.ceil(value / unit) * unit


def decimal_down(value: Fraction) -> Fraction:
    """Return the largest twelve-digit decimal at most `value`: up to it `decimal_up` is at most `value`, too."""
    unit = _twelfth_digit(value)
    return math.floor(value / unit) * unit


def _twelfth_digit(value: Fraction) -> Fraction:
    return Fraction(10) ** (math.floor(math.log10(value)) - 11) if value else Fraction(1)


def root_up(square: int) -> Fraction:
    """Return the square root of a whole number, exactly or rounded up by 2^-40."""
    root = math.isqrt(square)
    if root * root == square:
        return Fraction(root)
    return Fraction(math.isqrt(square << 80) + 1, 2**40)


def as_mpf(value: Fraction | int) -> mpf:
    """Return a rational in the digits of mpmath's context."""
    from mpmath import mp

    return mp.mpf(value.numerator) / value.denominator


def float_above(value: Fraction) -> float:
    """Return the least float not below a rational."""
    nearest = float(value)
    if Fraction(nearest) >= value:
        return nearest
    return math.nextafter(nearest, math.inf)


def float_below(value: Fraction) -> float:
    """Return the largest float not above a rational."""
    nearest = float(value)
    if Fraction(nearest) <= value:
        return nearest
    return math.nextafter(nearest, -math.inf)
