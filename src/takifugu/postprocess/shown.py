"""How noisy numbers are written: as people read them, in tables and frames, with what their intervals cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from takifugu.certificates.certificate import Certificate
from takifugu.postprocess.library import as_frame

T = TypeVar("T")
Shown = int | float

#: What an interval covers, wherever one is shown.
NOISE_ONLY = "noise only, not sampling error"
NOT_PRIVATE = "NOT PRIVATE: the noise came from a test seed."


def one_or_all(certificate: Certificate, labels: Sequence[str], things: Sequence[T]) -> T | dict[str, T]:
    """Return the one thing of a number, or the things by cell of a histogram."""
    if certificate.query["kind"] == "histogram":
        return dict(zip(labels, things, strict=True))
    return things[0]


def frame_of(rows: Sequence[Mapping[str, Any]], library: Any) -> Any:
    return as_frame({key: [row[key] for row in rows] for key in rows[0]}, library)


def made(certificate: Certificate) -> str:
    return f"{', '.join(certificate.mechanisms)}, epsilon {float(Fraction(certificate.epsilon)):.6g}"


def shown(value: Fraction) -> Shown:
    """Return a multiple of the grid as people read it: an int where it is whole, else the nearest float.

    >>> shown(Fraction(6, 2)), shown(Fraction(1, 4))
    (3, 0.25)
    """
    return value.numerator if value.denominator == 1 else float(value)


def number(value: Shown) -> str:
    """Write a number for a table.

    >>> number(12345), number(1 / 3)
    ('12,345', '0.333333')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
