"""What releases about pieces of one recording cost together where it is not declared where each of them starts.

Theorem 2 of docs/theory/composition.md. Let W(n) be the most that n steps in a row lose together, wherever the releases
start, W(infinity) what all steps lose. At every step and for every placement the likelihood of all that lies to one
side varies by c + R <= W(infinity), and, where rho bounds the c + R of every step, R <= W(d - 1) + S(P^d; rho) for each
d. So rho falls, step by step, from W(infinity), and may be taken at any time. For nodes a steps before and b steps
after a secret step the loss is at most

    W(a + b - 1) + S(P^b(s, .), P^b(s', .); rho) + S(B^a(s, .), B^a(s', .); rho).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import permutations

import numpy as np

from takifugu.analysis.bounds import Witness
from takifugu.analysis.questions.influence import Pairs
from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.influence.chains.chains import backward_side, usual_jumps
from takifugu.influence.chains.class_chains import SIDES, ClassSide, class_sweep
from takifugu.influence.chains.kernels import LONGEST_JUMP, jumps
from takifugu.influence.chains.sides import Forward, Side
from takifugu.influence.chains.sweeps import Track, sweep
from takifugu.influence.profiles.patience import STEADY, most_steps
from takifugu.influence.profiles.profile import Profile
from takifugu.model.beliefs.chains.chain import BinaryChainInterval
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.one_sequence import OneSequence
from takifugu.numbers.outward_rounding import up
from takifugu.numbers.rationals import decimal_up, float_above

#: Steps of a recording that is longer than any.
ENDLESS = 2**40
#: How often, times the square of the number of states; what is reached by then is a bound.
MOST_TURNS = 10_000


@dataclass(frozen=True, eq=False)
class Pieces:
    """The largest loss of n steps in a row, wherever releases start.

    The loss is `steps(n)` times `unit`. `runs` are running sums of what each step loses, one for each sequence that may
    lie in the recording.
    """

    runs: tuple[IntArray, ...]
    unit: Fraction

    def steps(self, length: int) -> int:
        """Return the largest loss of `length` entries in a row."""
        most = 0
        for sums in self.runs:
            moved = sums[-1:] if length >= len(sums) - 1 else sums[length:] - sums[:-length]
            most = max(most, int(moved.max()))
        return most

    @property
    def total(self) -> int:
        return max(int(sums[-1]) for sums in self.runs)


@dataclass(frozen=True, eq=False)
class Unplaced:
    """The pieces of releases, and the least known total loss."""

    pieces: tuple[Pieces, ...]
    total: Fraction
    _known: dict[int, float] = field(default_factory=dict, repr=False)

    def exact(self, length: int) -> Fraction:
        """Return W(length)."""
        return min(sum((piece.steps(length) * piece.unit for piece in self.pieces), Fraction(0)), self.total)

    def loss(self, length: int) -> float:
        """Return the same, rounded up."""
        if length not in self._known:
            self._known[length] = float_above(self.exact(length))
        return self._known[length]


@dataclass(frozen=True, eq=False)
class Direction:
    """One side of a step far inside a recording.

    `sign` says which side, `positions` where it lies, by its phase. `supremum` is S of a position, at a distance, where
    rho is what lies there; `endless` follows one profile for ever.
    """

    supremum: Callable[[int, int, FloatArray], FloatArray]
    endless: Callable[[Profile], Sequence[Track]]
    positions: tuple[int, ...]
    sign: int
    distances: tuple[int, ...]
    states: int

    def after(self, distance: int, ratio: FloatArray) -> FloatArray:
        """Return S (period, k, k) from bounds on c + R."""
        period = len(self.positions)
        rows = [
            self.supremum(position, distance, ratio[(phase + self.sign * distance) % period])
            for phase, position in enumerate(self.positions)
        ]
        return np.array(rows)

    def for_ever(self, change: float) -> FloatArray:
        """Return R of each phase under equal changes at every step."""
        off_diagonal = 1 - np.eye(self.states)
        try:
            tracks = self.endless(Profile.of(change * off_diagonal, ENDLESS))
        except Unsupported:
            return np.full((len(self.positions), self.states, self.states), np.inf)
        return np.array(list(map(tracks[-1].at, self.positions)))


def unplaced_loss(chain: OneSequence, pairs: Pairs, unplaced: Unplaced) -> tuple[Fraction, Witness]:
    """Return the joint cost of releases at any place, rounded up.

    The recording has the law of `chain`. `pairs` are the values that every step must hide from each other. The start of
    a recording is stationary or may be anywhere and anyhow; a chain with a given start, and a belief without curves,
    cost everything.

    >>> from takifugu import MarkovChain
    >>> week = Pieces((np.arange(169),), Fraction(1, 24))
    >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=168)
    >>> round(float(unplaced_loss(chain, None, Unplaced((week,), Fraction(7)))[0]), 6)
    0.127087
    """
    make = DIRECTIONS.of(chain)
    everything = unplaced.total, Witness("one step of the recording", "the near set is everything")
    if make is None or chain.has_given_start:
        return everything
    ahead, behind = cached(chain, "directions of a recording", lambda: make(chain))
    allowed = _allowed(chain, pairs, len(ahead.positions))
    total = float_above(unplaced.total)
    best = np.where(allowed, total, 0.0)
    right, left = _Sums(ahead, unplaced), _Sums(behind, unplaced)
    for length, nodes in _quilts(ahead.distances, behind.distances):
        near = unplaced.loss(length)
        if near >= best.max():
            break
        for a, b in nodes:
            sums = up(up(right.of(b) + left.of(a)) + near)
            best = np.where(allowed, np.minimum(best, sums), 0.0)
    worst = float(best.max())
    if worst >= total:
        return everything
    words = "the steps around it, where each release moves most"
    return decimal_up(Fraction(worst)), Witness("one step of the recording", words, (("loss", worst),))


class _Sums:
    """S of a direction by distance, for a bounded loss behind."""

    def __init__(self, direction: Direction, unplaced: Unplaced) -> None:
        self._direction, self._ratio = direction, _settled(direction, unplaced)
        self._known: dict[int, FloatArray] = {}

    def of(self, distance: int) -> FloatArray:
        if distance not in self._known:
            self._known[distance] = self._direction.after(distance, self._ratio)
        return self._known[distance]


def _settled(direction: Direction, unplaced: Unplaced) -> FloatArray:
    """Return rho >= c + R of every step, for any start."""
    off_diagonal, total, one_step = 1 - np.eye(direction.states), float_above(unplaced.total), unplaced.loss(1)
    with np.errstate(invalid="ignore"):
        ratio = np.fmin(up(direction.for_ever(one_step) + one_step), total) * off_diagonal
    for turn in range(max(100, MOST_TURNS // direction.states**2)):
        loss = direction.after(1, ratio)
        jumps = direction.distances[1:] if turn % 16 == 0 else ()
        for distance in jumps:
            between = unplaced.loss(distance - 1)
            if between >= ratio.max():
                break
            loss = np.minimum(loss, up(direction.after(distance, ratio) + between))
        lower = np.minimum(ratio, up(loss + one_step) * off_diagonal)
        fell = float((ratio - lower).max())
        ratio = lower
        if turn % 16 and fell <= STEADY * float(ratio.max()):
            break
    return np.asarray(ratio)


def _allowed(chain: OneSequence, pairs: Pairs, period: int) -> BoolArray:
    """Return the pairs to hide at a step of each phase."""
    states = len(chain.states)
    allowed = np.zeros((period, states, states), dtype=bool)
    repeated = chain.with_length(period)
    compared = tuple(permutations(range(states), 2)) if pairs is None else pairs
    for phase, table in enumerate(allowed):
        possible = (True,) * states if chain.starts_anyhow else repeated.possible(phase)
        for a, b in compared:
            table[a, b] = possible[a] and possible[b]
    return allowed


@lru_cache(maxsize=4)
def _quilts(after: tuple[int, ...], before: tuple[int, ...]) -> tuple[tuple[int, list[tuple[int, int]]], ...]:
    """Return the distances (a, b) of two nodes, by steps between."""
    quilts: dict[int, list[tuple[int, int]]] = {}
    for a in before:
        for b in after:
            quilts.setdefault(a + b - 1, []).append((a, b))
    return tuple(sorted(quilts.items()))


def directions_of_chain(chain: PeriodicChain) -> tuple[Direction, Direction]:
    """Return both directions of a chain far from both ends."""
    period, states = len(chain.step_matrices), len(chain.states)
    middle = ENDLESS * period
    length, entries = 2 * middle, range(middle, middle + period)
    ahead, behind = Forward(chain.step_matrices, length), backward_side(chain)
    after = [length - 1 - entry for entry in entries]
    return _of_chain(ahead, after, 1, states), _of_chain(behind, entries, -1, states)


def _of_chain(side: Side, positions: Sequence[int], sign: int, states: int) -> Direction:
    def endless(profile: Profile) -> Sequence[Track]:
        return sweep(side, profile, usual_jumps(side, states), most_steps(states))

    return Direction(side.step, endless, tuple(positions), sign, tuple(jumps(LONGEST_JUMP).tolist()), states)


def directions_of_interval(belief: BinaryChainInterval) -> tuple[Direction, Direction]:
    """Return the directions of a class's worst binary chain."""
    return directions_of_chain(belief.worst)


def directions_of_class(belief: OneSequence) -> tuple[Direction, Direction]:
    """Return both directions of all chains of a class."""
    ahead, behind = SIDES.of(belief)(belief)
    return _of_class(ahead, 1), _of_class(behind, -1)


def _of_class(side: ClassSide, sign: int) -> Direction:
    number = {distance: count for count, distance in enumerate(side.distances.tolist(), start=1)}

    def supremum(position: int, distance: int, ratio: FloatArray) -> FloatArray:
        sizes = np.full(number[distance], float(ratio.max()))
        return np.asarray(side.after(sizes)[-1])

    return Direction(supremum, lambda p: class_sweep(side, p), (ENDLESS,), sign, tuple(number), side.states)

#: Both directions of a recording, by the type of its law.
DIRECTIONS: Question[Callable[[OneSequence], tuple[Direction, Direction]] | None] = Question(
    "what releases at unknown places cost",
    {
        "model.beliefs.chains.periodic_chain:PeriodicChain": "influence.chains.unplaced:directions_of_chain",
        "model.beliefs.chains.chain:BinaryChainInterval": "influence.chains.unplaced:directions_of_interval",
        "model.beliefs.chains.chain:MarkovChainClass": "influence.chains.unplaced:directions_of_class",
        "model.beliefs.chains.chain_region:ChainRegion": "influence.chains.unplaced:directions_of_class",
    },
    default=None,
)
