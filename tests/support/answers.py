"""The exact answer that a release would add noise to."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import takifugu as tf
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.calibration import Calibration
from takifugu.model.frameworks import Framework
from takifugu.releasing.planning.truth import answer_of, read


def true_answer(calibration: Calibration, data: Any) -> tuple[int | Fraction, ...]:
    """Return the exact answer in grid units; raises DataError for data that the belief does not know."""
    return answer_of(calibration, read(calibration, data))


def stand_in(belief: Any, query: Any, covers: Covers = Covers.ENTRIES) -> Any:
    """Return what a calibration knows of its problem, without the mechanism."""
    framework = belief if isinstance(belief, Framework) else tf.Pufferfish(tf.every_entry(), belief)
    guarantee = SimpleNamespace(covers=covers, epsilon=Fraction(1))
    problem = Problem(framework, query, Fraction(1), Fraction(0))
    return SimpleNamespace(framework=framework, query=query, guarantee=guarantee, mechanism="it", problem=problem)
