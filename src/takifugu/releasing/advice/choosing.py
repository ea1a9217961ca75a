"""What a choice is worth: how far a median, a mode or the k most frequent values may lie from the best ones.

Where the belief says how often each value is expected, those are told apart from the best one which it leads by more
rows than the choice can miss, whatever the data. Of a quantile the band of the error is how far the others lie from the
best one. Of the most frequent values it is how much less often than the best one they occur, in the worst case: which
of those that are near each other occurs most is for the data to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.core.errors import InputError
from takifugu.model.queries.choices.candidates import AtRank, Candidates
from takifugu.numbers.permute_and_flip import chances
from takifugu.releasing.advice.bands import Band
from takifugu.releasing.advice.contradicting import refuse_more_often, rows_read, share_of_rows
from takifugu.releasing.advice.expecting import declared, first_belief, means_of, numbers_for, undecided
from takifugu.releasing.advice.worth import Expectation, Worth
from takifugu.releasing.postprocess.intervals import LEVEL

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.releasing.file.sections import ExpectSpec

_LESS_OFTEN = "what is named occurs less often than the best one, by"
_BEST = "what is named is the best one"


def worth_of_choice(calibration: Calibration, expect: ExpectSpec | None, people: int) -> Worth:
    """Return the worth of a choice among declared values, by expected counts; Unsupported without any."""
    noise = calibration.randomiser
    assert isinstance(noise, PermuteAndFlip)
    is_rank = isinstance(noise.goal, AtRank)
    with undecided("a quantile", expect) if is_rank else nullcontext():
        counts, source = _counts(calibration, expect, people)  # which refuses what contradicts the choice
    worths = []
    for expected in counts:
        cells = None if is_rank else expected
        matters = declared(expect, cells)
        for band in _bands(noise, list(map(round, expected))):
            if is_rank:
                worths.append(Worth(band, None, matters or 0.0, Expectation(None, matters, source)))
            else:
                expectation = Expectation(expected, matters, source)
                worths.append(Worth(band, None, expectation.what_matters, expectation, _LESS_OFTEN, hit=_BEST))
    return max(worths, key=lambda worth: worth.ratio)


def _counts(
    calibration: Calibration, expect: ExpectSpec | None, people: int
) -> tuple[list[tuple[float, ...]], str]:
    """Return the expected counts of candidates by group, and their source."""
    answer = calibration.problem.answers[0]
    assert isinstance(answer, Candidates)
    size = len(answer.outcomes)
    belief = first_belief(calibration)
    times = 1.0 if expect is None else share_of_rows(expect, calibration.query, belief, people)
    key = "shares" if expect is None or expect.values is None else "values"
    numbers = getattr(expect, key, None)
    if expect is not None and numbers is not None:
        if answer.groups > 1 or not isinstance(numbers, dict):
            raise InputError("is not a number for each value", fix="leave it out").at("expect", key)
        frequencies = numbers_for(list(map(str, answer.outcomes)), numbers, key)
        unit = rows_read(calibration.query, belief) * times if key == "shares" else 1
        counts = tuple(x * unit for x in frequencies)
        refuse_more_often(answer, counts, key, times)
        return [counts], expect.source
    cells, source = means_of(calibration, expect, times)
    means = tuple(mean / float(answer.grid) for mean in cells)
    return [means[first : first + size] for first in range(0, len(means), size + 1)], source


def _bands(noise: PermuteAndFlip, counts: Sequence[int]) -> Iterator[Band]:
    """Yield the band of each draw, after the best values before it."""
    drawn: list[int] = []
    numbers = list[Fraction]()
    for place, outcome in enumerate(noise.outcomes):
        numbers.append(outcome if isinstance(outcome, Fraction) else Fraction(place))
    missed = noise.shortfall(LEVEL)
    for _ in range(noise.goal.draws):
        deficits = noise.goal.deficits(counts, drawn)
        places = list(deficits)
        law = chances(np.array([math.exp(-float(deficits[place] * noise.rate)) for place in places]))
        best = min(places, key=lambda place: deficits[place])
        near = [place for place in places if place != best and deficits[place] <= missed]
        if isinstance(noise.goal, AtRank):
            errors = [abs(numbers[place] - numbers[best]) for place in places]
            width = max((abs(numbers[place] - numbers[best]) for place in near), default=Fraction(0))
        else:  # among values that are near each other the data decide which one is the best, and by how much
            errors = list(deficits.values())
            width = missed if near else Fraction(0)
        chance_inside = math.fsum(chance for error, chance in zip(errors, law.tolist(), strict=True) if error <= width)
        yield Band(float(width), min(chance_inside, 1.0))
        drawn.append(best)
