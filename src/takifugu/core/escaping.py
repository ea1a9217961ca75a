"""What is safe and plain to show: texts without control characters, numbers, and commands to be pasted."""

from __future__ import annotations

import math
import re
import shlex
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from numbers import Real
from typing import TypeVar

#: Controls but the line end, controls of the writing direction, separators of lines, and halves of characters.
_COMMANDS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)

#: What no HTML or SVG may hold.
_NOT_IN_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # its compilation takes 10 ms, at the first use


def visible(text: str) -> str:
    """Return a text with escapes for control characters except line ends; all that is printed goes through it."""
    return _COMMANDS.sub(lambda match: _escape(ord(match[0])), text)


def in_markup(words: object) -> str:
    """Return what HTML and SVG show of words, yet to be escaped: as `visible`, without what XML forbids."""
    return re.sub(_NOT_IN_XML, "\ufffd", visible(str(words)))


def is_printable(name: str) -> bool:
    """Return whether a name is one line without a control character."""
    return "\n" not in name and not _COMMANDS.search(name)


def is_plain(name: str) -> bool:
    """Return whether a name, perhaps of several lines, is without control characters."""
    return not _COMMANDS.search(re.sub(r"[\t\r]", " ", name))


def on_one_line(name: str) -> str:
    """Return a name on one line, of a long one the part about its first control character, with escapes."""
    first = _COMMANDS.search(name)
    start = max(0, (first.start() if first else name.find("\n")) - 30)
    return visible(name[start : start + 60]).replace("\n", "\\x0a")


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


#: Far more digits than are written; exp is the nearest, so that the next number is above it.
_FINE = Context(prec=50, rounding=ROUND_CEILING)

Number = TypeVar("Number", int, float, Fraction)


def as_exact_as(value: Number, half: float | Fraction) -> Number:
    """Return a value with no more digits than its ± has."""
    digits = plus_minus(half)
    if not half or "e" in digits:
        return value
    return round(value, len(digits.partition(".")[2]))


def plus_minus(half: float | Fraction) -> str:
    """Write a ± to three digits, or all whole ones, and never less."""
    size = abs(float(half))
    whole = len(str(int(size))) if math.isfinite(size) else 0
    return at_most(half, digits=max(3, whole))


def number(value: object, missing: str = "-", digits: int = 6) -> str:
    """Write a number for people: `digits` digits, thousands apart, powers of ten where it is far from 1."""
    if value is None:
        return missing
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, Real):
        return str(value)
    exact = float(value)
    if not math.isfinite(exact):
        return f"{exact:g}"
    return _decimal(Fraction(exact), digits, ROUND_HALF_EVEN)


def at_most(value: float | Fraction, digits: int = 6) -> str:
    """Write a loss or a cost like `number`, and never less; a float is what its shortest decimal says."""
    return _bound(value, digits, ROUND_CEILING)


def at_least(value: float | Fraction, digits: int = 6) -> str:
    """Write what is left, or fits, like `number`, and never more."""
    return _bound(value, digits, ROUND_FLOOR)


def promised(epsilon: float | Fraction, delta: float | Fraction) -> str:
    """Write a promise, or a loss, never less; a delta of 0 is not said."""
    words = f"epsilon {at_most(epsilon)}"
    return f"{words}, delta {at_most(delta)}" if delta else words


def float_at_most(value: Fraction) -> float:
    """Return an upper bound as a float, rounded up; a float is what its shortest decimal says, as in files."""
    nearest = float(value)
    return nearest if Fraction(str(nearest)) >= value else math.nextafter(nearest, math.inf)


def float_at_least(value: Fraction) -> float:
    """Return a lower bound as a float, rounded down."""
    return -float_at_most(-value)


def power_at_most(exponent: float | Fraction, digits: int = 4) -> str:
    """Write e to a power, and a number above it unless that is vast."""
    written = at_most(exponent)
    power = Fraction(written.replace(",", ""))
    if power == 0:
        return f"e^{written} = 1"
    if power >= 100:
        return f"e^{written}"
    above = _FINE.exp(_FINE.divide(Decimal(power.numerator), Decimal(power.denominator))).next_plus(_FINE)
    return f"e^{written} < {at_most(Fraction(above), digits)}"


def _bound(value: float | Fraction, digits: int, rounding: str) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value:g}"
    exact = value if isinstance(value, Fraction) else Fraction(str(value))
    return _decimal(exact, digits, rounding)


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    if value.denominator == 1 and abs(value) < 10**7:
        return f"{value.numerator:,}"
    context = Context(prec=digits, rounding=rounding)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    if Fraction(1, 10**4) <= abs(value) < 10**7:
        return f"{rounded.normalize(context):,f}"
    mantissa, _, exponent = f"{rounded:.{digits - 1}e}".partition("e")
    return f"{Decimal(mantissa).normalize(context):f}e{int(exponent)}"


def command(*words: object) -> str:
    """Return a command between backticks, its words quoted for a shell."""
    return f"`{shlex.join(['takifugu', *map(str, words)])}`"


def option(name: str, word: str) -> str:
    """Return an option of the command line, its word quoted for a shell."""
    return f"--{name} {shlex.quote(word)}"


#: An option as it is written above.
_OPTION = re.compile(r"""(?<!\S)--([a-z]+) ('[^']*'(?:"'"'[^']*')*|[\w@%+=:./-]+)""")


def as_arguments(text: str) -> str:
    """Return a text with its options as arguments of Python."""
    return _OPTION.sub(lambda match: f"{match[1]}={''.join(shlex.split(match[2]))!r}", text)
