"""The exact loss of a vector answer under discrete Laplace noise, every data set and every output enumerated."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import mpmath


def vector_loss(p: Mapping[tuple[int, ...], Any], q: Mapping[tuple[int, ...], Any], units: Any) -> Any:
    """Return sup_y log[(p * noise)(y) / (q * noise)(y)] for integer vectors and noise of scale `units` in each cell.

    Beyond the box of all answers moving y outwards multiplies both masses by the same factor, so the box is enough.
    """
    answers = [*p, *q]
    box = [range(min(a[i] for a in answers), max(a[i] for a in answers) + 1) for i in range(len(answers[0]))]
    return max(mpmath.log(_mass(p, y, units) / _mass(q, y, units)) for y in product(*box))


def _mass(law: Mapping[tuple[int, ...], Any], output: Sequence[int], units: Any) -> Any:
    total = mpmath.mpf(0)
    for answer, mass in law.items():
        distance = sum(abs(a - y) for a, y in zip(answer, output, strict=True))
        total += mpmath.mpf(mass.numerator) / mass.denominator * mpmath.exp(-distance / units)
    return total
