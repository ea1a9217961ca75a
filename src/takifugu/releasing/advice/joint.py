"""The ± of a table before its release: the one that the release prints, within which all its values lie at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.randomisers import Noise
from takifugu.calibration import Calibration
from takifugu.core.escaping import number
from takifugu.core.plain import Json
from takifugu.numbers.rationals import to_text
from takifugu.releasing.advice.bands import coverage
from takifugu.releasing.advice.worth import measured
from takifugu.releasing.planning.expected import LEVEL, half_width, values_of
from takifugu.releasing.planning.plan import Table


@dataclass(frozen=True)
class Joint:
    """All values of a table lie within their ± at once with probability `coverage`: the level, or more on a grid.

    `half_width` is that ± of the answers that the advice is about; where it `is_adjusted`, it is that of the noisy
    values, before they are adjusted.
    """

    half_width: Fraction
    values: int
    coverage: float
    is_adjusted: bool = False

    def sentence(self, unit: str) -> str:
        """Explain the ± of values measured in `unit`.

        >>> Joint(Fraction(7), 3, 0.951).sentence("rows")
        'all values lie within ± 7 rows at once with probability 95 %'
        """
        within = f"within ± {measured(float(self.half_width), unit)}"
        said = f"the value lies {within}" if self.values == 1 else f"all values lie {within} at once"
        if self.is_adjusted:
            said = f"before adjusting, {said}"
        return f"{said} with probability 95 %"

    def __str__(self) -> str:
        return number(float(self.half_width))


def json_of(joint: Joint | None) -> Json:
    """Return the ± and its probability for a dry run's JSON."""
    if joint is None:
        return {"half_width": None, "coverage": None}
    return {"half_width": to_text(joint.half_width), "coverage": joint.coverage}


def joint_of(table: Table, people: int | None = 1, of: Calibration | None = None) -> Joint | None:
    """Return the ± of one calibration's answers, by default the noisiest's.

    None where any has none. `people` is how many there are, where the plan has one that stands for each; None where
    nobody knows.
    """
    if people is None:
        return None
    answers = Counter(map(id, table.calibrations))
    noises = {id(calibration): calibration.randomiser for calibration in table.calibrations}
    values = values_of(table) * people
    widths = {key: half_width(noise, values) for key, noise in noises.items()}
    half_widths = {key: width for key, width in widths.items() if width is not None}
    if len(half_widths) < len(widths):
        return None
    widest = max(half_widths.values()) if of is None else half_widths[id(of)]
    chance_inside = 1.0
    for key, noise in noises.items():
        count = noise.cells * answers[key] * people
        if isinstance(noise, Noise):
            chance_inside *= coverage(noise, half_widths[key], count)
        else:
            chance_inside *= LEVEL ** (count / values)
    return Joint(widest, values, chance_inside, table.totals is not None)
