"""The exact answer that a release would add noise to."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from takifugu.calibration import Calibration
from takifugu.releasing.planning.truth import answer_of, read


def true_answer(calibration: Calibration, data: Any) -> tuple[int | Fraction, ...]:
    """Return the exact answer in grid units; raises DataError for data that the belief does not know."""
    return answer_of(calibration, read(calibration, data))
