"""What can be asked of a randomiser, and what comes out of one; a question may have a reason instead of an answer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from takifugu.core.columns import value_of
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.plain import Json, Plain, PlainForm
from takifugu.numbers.atoms import Array
from takifugu.numbers.noise_quantiles import BITS, laplace_survival
from takifugu.numbers.rationals import to_text

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy

T = TypeVar("T")
Answer = Sequence[int | Fraction]
#: The answers of many cells, in units of the grid.
Column = Answer | Array
#: A loss is exact, or infinite.
Loss = Fraction | float
#: From where to where an answer lies, in answer units.
Ends = tuple[Fraction, Fraction]


class Moments(NamedTuple):
    """The expected absolute value and square of a cell's noise, in answer units."""

    absolute: float
    square: float


class Direction(StrEnum):
    """Which way an answer moves from the left hypothesis of a comparison to the right one."""

    EITHER = "either"
    UP = "up"
    DOWN = "down"


Moves = tuple[Direction, ...]


@dataclass(frozen=True)
class Output:
    """What one cell publishes: how it is written as text and read back, and whether it is a number with noise."""

    name: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]
    is_number: bool = False
    #: Whether rows are published one by one: the table has them, and not the certificate.
    is_column: bool = False


#: A number, or several that belong together, nested as they are; and how they are written.
Parts = Fraction | int | tuple["Parts", ...]
Written = str | list["Written"]


def _written(parts: Parts) -> Written:
    if isinstance(parts, tuple):
        return list(map(_written, parts))
    return to_text(parts)


def _read(parts: Written) -> Parts:
    return tuple(map(_read, parts)) if isinstance(parts, list) else Fraction(parts)


NOT_ANSWERED = "not answered"

NUMBER = Output("number", to_text, Fraction, is_number=True)
LABEL = Output("label", str, str)
#: Numbers that belong together, nested as they are: a point of the plane, an index and a value, a tuple of points.
PARTS = Output("parts", lambda value: json.dumps(_written(value)), lambda text: _read(json.loads(text)))
#: A number that errs on one side only, or None where the question was not answered.
ONE_SIDED = Output(
    "one-sided answer", lambda value: NOT_ANSWERED if value is None else to_text(value),
    lambda text: None if text == NOT_ANSWERED else Fraction(text),
)  # fmt: skip
#: "safe", "not answered", or a number that errs on one side only.
MARKS = Output(
    "mark", lambda value: value if isinstance(value, str) else to_text(value),
    lambda text: text if text in ("safe", NOT_ANSWERED) else Fraction(text),
)  # fmt: skip


class Randomiser(Protocol):
    """The questions to additive noise, a choice, or a channel; one without sense raises Unsupported."""

    @property
    def kind(self) -> str: ...

    @property
    def output(self) -> Output: ...

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Return the directions of hidden moves by cell, none for both."""
        ...

    @property
    def error_words(self) -> str:
        """Return the words of an error other than a distance."""
        ...

    @property
    def scale(self) -> Fraction: ...

    @property
    def laplace_scale(self) -> Fraction | None: ...

    @property
    def grid(self) -> Fraction: ...

    @property
    def cells(self) -> int: ...

    def draw(self, answer: Answer, entropy: Entropy) -> tuple[Hashable, ...]: ...

    def draw_column(self, answers: Column, entropy: Entropy) -> Any: ...

    def log_density(self, answer: Answer, output: Sequence[Any]) -> float: ...

    def loss(self, change: Fraction, direction: Direction = Direction.EITHER) -> Loss: ...

    def hides(self, change: Fraction, epsilon: Fraction, delta: Fraction) -> bool: ...

    @property
    def norm(self) -> int:
        """Return 2 where a change of several cells counts by its L2 length, else 1."""
        ...

    @property
    def is_table(self) -> bool:
        """Return whether outputs are chosen by a table that no form holds together, answer by answer."""
        ...

    def unseen(self, change: Fraction) -> Fraction: ...

    def of_scale(self, scale: Fraction) -> Randomiser | None: ...

    def log_reach(self, distance: Fraction) -> float: ...

    def expected_error(self) -> float: ...

    def variance(self) -> float: ...

    def half_width(self, level: float, cells: int | None = None) -> Fraction: ...

    def intervals(self, values: Sequence[Fraction], level: float, cells: int | None = None) -> list[Ends]: ...

    def to_dict(self) -> Json: ...


class Common(PlainForm):
    """What follows from a randomiser's loss and half-width."""

    output: Output = NUMBER
    directions: tuple[Direction, ...] = ()
    error_words: str = ""
    norm: int = 1
    is_table: bool = False

    @property
    def laplace_scale(self) -> Fraction | None:
        """Return the Laplace scale b, 0 without noise, None for others.

        A change D of the answer loses exactly D/b, both ways.
        """
        return None

    def loss(self, change: Fraction, direction: Direction = Direction.EITHER) -> Loss:
        """Return the largest log of P(y given x)/P(y given x').

        x and x' are any answers `change` apart in L1, in answer units: x' lies above x in every cell (UP), below it
        (DOWN), or anywhere (EITHER). The result may be infinite.
        """
        return Fraction(0) if change == 0 else math.inf

    def hides(self, change: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
        """Return whether noise keeps (epsilon, delta) for a change either way."""
        return self.loss(change) <= epsilon

    def unseen(self, change: Fraction) -> Fraction:
        """Return how often a change of the answer stays unseen, rounded down.

        For noise that is symmetric and unimodal on the answer's grid it is P(|noise| >= change/2), of the noise that is
        drawn; for a choice 1 less the total variation distance of two answers so far apart. `change` is a length by
        `norm`, in answer units. Where only the loss l is known the distance is at most tanh(l/2), and 1 if l is
        infinite, so that noise of an unknown form hides nothing.
        """
        loss = self.loss(change)
        if isinstance(loss, float) and math.isinf(loss):
            return Fraction(0)
        low, high = laplace_survival(Fraction(loss), BITS)
        return Fraction(2 * low, (1 << BITS) + high)

    def of_scale(self, scale: Fraction) -> Randomiser | None:
        """Return noise of the same form and this scale, in answer units; None where more of it may promise less.

        A larger scale has to keep each promise of a smaller one (docs/theory/zero-noise.md, Theorem 3).
        """
        return None

    def half_width(self, level: float, cells: int | None = None) -> Fraction:
        """Return the least w with P(abs(output - answer) <= w) >= level.

        w is in answer units.
        """
        raise Unsupported(f"{self.kind!r} has no interval around what is published")

    def intervals(self, values: Sequence[Fraction], level: float, cells: int | None = None) -> list[Ends]:
        """Return an interval for the answer of each cell, in answer units.

        Under every answer all intervals hold at once with probability `level` at least, of `cells` values published
        together.
        """
        return around(self.directions, values, self.half_width(level, cells))


class Base(Common):
    """The answers of a randomiser that knows nothing else about itself: derive from it and say more."""

    @property
    def scale(self) -> Fraction:
        """Return the noise's size in answer units, or raise Unsupported."""
        raise Unsupported(f"{self.kind!r} has no scale")

    def log_reach(self, distance: Fraction) -> float:
        """Return log P(abs noise >= distance) of one cell before rounding.

        Raises Unsupported except for unbounded two-sided noise.
        """
        raise Unsupported(f"{self.kind!r} is no unbounded two-sided noise")

    def expected_error(self) -> float:
        """Return the expected L1 error of all cells, in answer units."""
        raise Unsupported(f"{self.kind!r} has no expected distance from the answer")

    def variance(self) -> float:
        """Return the expected squared error of one cell, in squared answer units."""
        raise Unsupported(f"{self.kind!r} has no variance")


def answered(question: Callable[[], T]) -> T | None:
    """Return the answer to a question, None where it is unsupported."""
    try:
        return question()
    except (Unsupported, NotImplementedError):
        return None


def around(directions: Sequence[Direction], values: Sequence[Fraction], half: Fraction) -> list[Ends]:
    """Return intervals of half-width `half` around noisy values, on one side where the noise is."""
    # noise that only adds (its answers move DOWN) leaves an answer at or below what was published
    moves = directions or (Direction.EITHER,)
    return [_ends(value, half, moves[min(place, len(moves) - 1)]) for place, value in enumerate(values)]


def steps_of(output: Iterable[Fraction], grid: Fraction) -> list[Fraction]:
    """Return what was published in grid units."""
    return [Fraction(value) / grid for value in output]


def are_whole(numbers: Iterable[Any]) -> bool:
    """Return whether all numbers are whole."""
    return all(Fraction(number).denominator == 1 for number in numbers)


def check_level(level: float) -> None:
    """Raise InputError for a level outside (0, 1)."""
    is_between = False
    with suppress(TypeError, ValueError, ArithmeticError):  # it is no number
        is_between = bool(0 < level < 1)
    if not is_between:
        raise InputError(
            f"the level is {level!r}", rule="it must lie above 0 and below 1", fix="write for example 0.95"
        ).at("level")


def level_of_cell(level: float, cells: int) -> Fraction:
    """Return the level of one of some independent cells; raises InputError for one outside (0, 1)."""
    check_level(level)
    if cells < 2:
        return Fraction(value_of(level))
    return 1 - Fraction(-math.expm1(math.log(level) / cells)) * (1 - Fraction(1, 2**48))


def whole_steps(answers: Column) -> Array:
    """Return a column of answers as an array, or raise InputError."""
    steps = np.asarray(answers)
    if steps.ndim != 1 or (steps.dtype != object and steps.dtype.kind not in "iu"):
        raise InputError("a column of answers is no list of whole steps of the grid", fix="round it first")
    return steps


def check_cells(answer: Answer, cells: int) -> None:
    """Raise InputError for an answer of another number of cells."""
    if len(answer) != cells:
        raise InputError(f"the answer has {len(answer)} cells and the noise {cells}", rule="both must be equal")


def _ends(value: Fraction, half: Fraction, move: Direction) -> Ends:
    return value - half * (move is not Direction.UP), value + half * (move is not Direction.DOWN)


def scale_text(noise: Randomiser) -> str | None:
    """Return the exact scale as text, if any."""
    return answered(lambda: to_text(noise.scale))


@dataclass(frozen=True)
class Kind:
    """A kind of randomiser: how it is read back, its name in a comparison and its sentence on a certificate.

    `has_scale` says whether the certificate tells its scale; `words`, where there are any, say more of one than the
    sentence does; `is_drawn_here` says that its noise is ours, `is_choice` that it publishes no number with noise,
    though it has a scale and an error.
    """

    read: Callable[[Plain], Randomiser]
    name: str
    sentence: str
    has_scale: bool = True
    words: Callable[[Randomiser], str] | None = None
    is_drawn_here: bool = True
    is_choice: bool = False
