"""The density of a real-valued answer under each hypothesis, and the normal distribution that may stand for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import repeat
from typing import TYPE_CHECKING

from takifugu.analysis.problem import Part
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.queries import Additive

if TYPE_CHECKING:  # every mechanism asks, and few beliefs have densities
    from takifugu.model.beliefs.density_views import DensityView
    from takifugu.numbers.densities import Continuous
    from takifugu.numbers.densities.normal import Normal


@dataclass(frozen=True)
class Given:
    """A density of the answer given one value of what is hidden, in answer units, and its reference."""

    density: Continuous
    reference: Normal
    #: What is read lies this near to the number that has the density.
    rounding: Fraction = Fraction(0)


def answer_densities(share: Part) -> Sequence[Given] | None:
    """Return the densities by value of the entry's alphabet, None if unknown."""
    density_of = ANSWER_DENSITY.of(share.belief)
    return None if density_of is None else density_of(share.belief, share.answer)


def of_view(view: DensityView, answer: object) -> Sequence[Given]:
    """Return the stated densities of a belief."""
    whole = view.whole
    return tuple(map(Given, whole.curves, whole.references, repeat(whole.rounding)))


#: (view, answer) -> what is given each value, by type of view.
ANSWER_DENSITY: Question[Callable[[Belief, Additive], Sequence[Given]] | None] = Question(
    "the density of the answer", None
)
