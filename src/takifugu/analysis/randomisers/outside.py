"""The noise of a release that was made elsewhere: what its maker declares it to lose, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.analysis.randomisers.base import Answer, Base, Column, Kind, Randomiser
from takifugu.core.errors import Unsupported
from takifugu.core.plain import Json, Plain
from takifugu.numbers.atoms import Array
from takifugu.numbers.rationals import as_delta, as_epsilon, to_text

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy

ELSEWHERE = "it was made elsewhere: nothing is drawn here"


@dataclass(frozen=True)
class Outside(Base):
    """A mechanism of another library: (`epsilon`, `delta`) where the value of one entry is replaced, as declared.

    Without delta it is charged as Laplace noise of scale 1/epsilon on an answer that each entry moves by 1.
    """

    epsilon: Fraction
    delta: Fraction
    made_by: str
    grid: Fraction = Fraction(1, 2)
    cells: int = 0

    @property
    def kind(self) -> str:
        return "outside"

    @property
    def laplace_scale(self) -> Fraction | None:
        return None if self.delta else 1 / self.epsilon

    def draw(self, answer: Answer, entropy: Entropy) -> tuple[Fraction, ...]:
        raise Unsupported(ELSEWHERE)

    def draw_column(self, answers: Column, entropy: Entropy) -> Array:
        raise Unsupported(ELSEWHERE)

    def log_density(self, answer: Answer, output: Sequence[object]) -> float:
        raise Unsupported(ELSEWHERE)

    def to_dict(self) -> Json:
        return {
            "kind": self.kind, "epsilon": to_text(self.epsilon), "delta": to_text(self.delta), "made_by": self.made_by,
        }  # fmt: skip


def from_dict(data: Plain) -> Randomiser:
    return Outside(as_epsilon(data["epsilon"]), as_delta(data["delta"]), str(data["made_by"]))


def _words(noise: Randomiser) -> str:
    assert isinstance(noise, Outside)
    lost = f"epsilon {to_text(noise.epsilon)}" + (f" and delta {to_text(noise.delta)}" if noise.delta else "")
    return f"made by {noise.made_by}, which loses {lost} where one entry's value is replaced, as declared"


OUTSIDE = Kind(
    from_dict, "a mechanism of another library", "made elsewhere, as declared", has_scale=False, words=_words,
    is_drawn_here=False,
)  # fmt: skip
