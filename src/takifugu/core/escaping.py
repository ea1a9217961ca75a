"""What is safe and plain to show: texts whose control characters are escaped, and numbers, written alike everywhere."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TypeVar

#: Controls but the line end, controls of the writing direction, separators of lines, and halves of characters.
_COMMANDS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return a text with escapes for control characters except line ends.

    Everything printed goes through this function.

    >>> print(visible("a\x1b[2Jb\u202ec"))
    a\x1b[2Jb\u202ec
    """
    return _COMMANDS.sub(lambda match: _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


Real = TypeVar("Real", int, float, Fraction)


def as_exact_as(value: Real, half: float | Fraction) -> Real:
    """Return a value with no more digits than its ± has.

    >>> as_exact_as(1374.55, 52), as_exact_as(1374.55, 5.5), as_exact_as(1374.55, 0)
    (1375.0, 1374.5, 1374.55)
    """
    digits = number(half)
    if not half or "e" in digits:
        return value
    return round(value, len(digits.partition(".")[2]))


def number(value: float | Fraction | None, missing: str = "-", digits: int = 6) -> str:
    """Write a number for people to six digits, `missing` for None.

    Thousands are apart; powers of ten stand where the number is far from 1.

    >>> number(5.0), number(1 / 3), number(None), number(12345678), number(1234.5678, digits=4), number(1e-6)
    ('5', '0.333333', '-', '12,345,678', '1,235', '1e-6')
    """
    if value is None:
        return missing
    if isinstance(value, int):
        return f"{value:,}"
    exact = float(value)
    if not math.isfinite(exact):
        return f"{exact:g}"
    if exact == round(exact) and abs(exact) < 1e7:
        return f"{round(exact):,}"
    if 1e-4 <= abs(exact) < 1e7:
        return f"{float(f'{exact:.{digits}g}'):,.10g}"
    mantissa, exponent = f"{exact:.{digits - 1}e}".split("e")
    return f"{float(mantissa):.{digits}g}e{int(exponent)}"
