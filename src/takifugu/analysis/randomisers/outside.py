"""The noise of a release that was made elsewhere: what its maker declares it to lose, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.analysis.randomisers.base import Answer, Base, Column, Kind, Randomiser
from takifugu.core.errors import Unsupported
from takifugu.core.escaping import promised
from takifugu.core.plain import form
from takifugu.numbers.atoms import Array
from takifugu.numbers.rationals import as_delta, as_epsilon

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy

ELSEWHERE = "it was made elsewhere: nothing is drawn here"


@dataclass(frozen=True)
class Outside(Base, kind="outside"):
    """A mechanism of another library: (`epsilon`, `delta`) where the value of one entry is replaced, as declared."""

    epsilon: Fraction = field(metadata=form(read=as_epsilon))
    delta: Fraction = field(metadata=form(read=as_delta))
    made_by: str = field(metadata=form(read=str))
    grid: Fraction = field(default=Fraction(1, 2), metadata=form(is_private=True))
    cells: int = field(default=0, metadata=form(is_private=True))

    @property
    def laplace_scale(self) -> Fraction | None:
        # of an answer that each entry moves by 1
        return None if self.delta else 1 / self.epsilon

    def draw(self, answer: Answer, entropy: Entropy) -> tuple[Fraction, ...]:
        raise Unsupported(ELSEWHERE)

    def draw_column(self, answers: Column, entropy: Entropy) -> Array:
        raise Unsupported(ELSEWHERE)

    def log_density(self, answer: Answer, output: Sequence[object]) -> float:
        raise Unsupported(ELSEWHERE)


def _words(noise: Randomiser) -> str:
    assert isinstance(noise, Outside)
    lost = promised(noise.epsilon, noise.delta)
    return f"made by {noise.made_by}, which loses {lost} where one entry's value is replaced, as declared"


OUTSIDE = Kind(
    Outside.from_dict, "a mechanism of another library", "made elsewhere, as declared", has_scale=False, words=_words,
    is_drawn_here=False,
)  # fmt: skip
