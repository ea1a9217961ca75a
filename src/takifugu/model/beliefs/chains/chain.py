"""Markov chains: one with a stationary, given or any initial distribution, and classes of (pi, g) or of stays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Unpack, overload

from takifugu.core.arrays import FloatArray
from takifugu.core.assumptions import Assumption, world
from takifugu.core.errors import InputError
from takifugu.core.escaping import number
from takifugu.core.plain import VALUES, Json, Plain, PlainForm, set_fields
from takifugu.core.text.parts import html_table
from takifugu.model.beliefs.chains.interval_chain import IntervalMarkovChain
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.estimate import Columns, checked_source, count_transitions, point_estimate, smoothed_rows
from takifugu.model.beliefs.one_sequence import LENGTH_IS_PUBLIC, OneChain, checked_length, checked_states, is_recording
from takifugu.model.beliefs.states import State, checked_alphabet
from takifugu.model.beliefs.stochastic import Start, stochastic_matrix
from takifugu.numbers.rationals import Number, as_fraction, to_text

if TYPE_CHECKING:
    from takifugu.core.text.plot import Plot


@dataclass(frozen=True, eq=False)
class MarkovChain(PeriodicChain):
    """Model a sequence X_0, ..., X_{length-1} with P(X_{t+1} = y | X_t = x) = matrix[x][y] (Song17 §4.1).

    Args:
        matrix: Transition probabilities, k by k; each row sums to 1.
        length: Number of steps.
        initial: Distribution of X_0: "stationary", "any" (unknown: a class of chains), or k probabilities.
        states: Names of the k rows; None for 0 .. k - 1.
        source: Where the numbers come from, in words; certificates print it.

    Raises:
        InputError: For a row that does not sum to 1, a wrong shape, repeated states, and "stationary" where that
            distribution is not unique.

    Examples:
        >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100, states=["still", "walking"])
        >>> [round(float(p), 3) for p in chain.stationary]
        [0.8, 0.2]
    """

    answers: ClassVar = {
        "the mean of an answer": "analysis.expectations.means:OfChain",
        "what is known of quilts": "influence.quilts.of_chains:CHAIN",
    }

    def __init__(
        self,
        matrix: Sequence[Sequence[float]] | FloatArray,
        length: int,
        initial: Start = "stationary",
        states: Iterable[State] | None = None,
        source: str = "assumed",
    ) -> None:
        super().__init__([stochastic_matrix(matrix)], length, None, 0, initial, states, source)

    def __repr__(self) -> str:
        return f"<MarkovChain: {len(self.states)} states, {self.length:,} steps>"

    def _repr_html_(self) -> str:
        header = ("from", *map(str, self.states))
        rows = [[str(state), *map(number, row)] for state, row in zip(self.states, self.matrix.tolist(), strict=True)]
        return html_table(header, rows, f"{self.describe()}. A row says where the next step goes.")

    def plot(self, width: int = 640) -> Plot:
        """Return a picture of the mean length of stays, in steps.

        A state that never ends has none.

        Args:
            width: Width of the picture, in pixels.

        Returns:
            The picture; a notebook displays it.

        Raises:
            InputError: Where no state ever ends.
        """
        from takifugu.core.text.pictures import Bar, bar_chart
        from takifugu.core.text.plot import Plot
        from takifugu.core.text.scales import Axis

        bars = []
        for state, staying in zip(self.states, self.matrix.diagonal().tolist(), strict=True):
            if staying < 1:
                bars.append(Bar(str(state), float(f"{1 / (1 - staying):.4g}")))
        if not bars:
            raise InputError("no state of the chain ever ends", fix="there is nothing to draw")
        return Plot("How long states last", bar_chart(bars, Axis("steps"), "How long states last", width=width))

    @overload
    @staticmethod
    def fit(
        sequences: Iterable[Iterable[State]] | object, length: int, states: Iterable[State] | None = None,
        smoothing: float | None = None, initial: Start | None = None, *, source: str, private: bool = False,
        confidence: None = None, **columns: Unpack[Columns],
    ) -> MarkovChain: ...  # fmt: skip

    @overload
    @staticmethod
    def fit(
        sequences: Iterable[Iterable[State]] | object, length: int, states: Iterable[State] | None = None, *,
        source: str, private: bool = False, confidence: float, **columns: Unpack[Columns],
    ) -> IntervalMarkovChain: ...  # fmt: skip

    @staticmethod
    def fit(
        sequences: Iterable[Iterable[State]] | object,
        length: int,
        states: Iterable[State] | None = None,
        smoothing: float | None = None,
        initial: Start | None = None,
        *,
        source: str,
        private: bool = False,
        confidence: float | None = None,
        **columns: Unpack[Columns],
    ) -> MarkovChain | IntervalMarkovChain:
        """Return the chain with the transition frequencies of some sequences.

        Transitions are counted in each sequence. The chain is a point estimate, and the certificate says so; with a
        confidence the result is a class of chains instead, from any start and without smoothing.

        Args:
            sequences: A list of sequences of states; or a frame of pandas, Polars, PyArrow or DuckDB, the path of a
                file, or a SELECT, whose columns are named below.
            length: Number of steps of the belief.
            states: The states in order; None for those that occur. A table requires it.
            smoothing: Added to every count; 1 if None.
            initial: Distribution of X_0, as in `MarkovChain`; None for "stationary".
            source: Where the sequences come from, in words.
            private: Whether they are the data to protect; `calibrate` then refuses the belief by default.
            confidence: Probability that the class of chains covers the true matrix, between 0 and 1.
            columns: Columns of a table: value (the states) and order (sorts rows); where they exist, unit, recording
                (an unbroken run of a unit) and step (rows farther apart are no transition).

        Returns:
            The chain, or with a confidence an `IntervalMarkovChain`.

        Raises:
            InputError: For no list of sequences, an empty source, an unknown state, negative smoothing, a row without
                transitions where smoothing is 0, a confidence outside (0, 1), and smoothing or `initial` beside a
                confidence.

        Examples:
            >>> chain = MarkovChain.fit([[0, 0, 1], [1, 0]], length=10, source="estimated from two public sequences")
            >>> chain.matrix.round(3).tolist()
            [[0.5, 0.5], [0.667, 0.333]]
            >>> region = MarkovChain.fit([[0, 0, 1] * 90], length=10, source="estimated, public", confidence=0.99)
            >>> region.lower.round(3).tolist()
            [[0.353, 0.353], [0.913, 0.0]]
        """
        text = checked_source(source, private)
        names, counts = count_transitions(sequences, states, **columns)
        if confidence is not None:
            _check_unsmoothed(confidence, smoothing=smoothing, initial=initial)
            return IntervalMarkovChain.covering(counts, length, names, confidence, text)
        added = 1.0 if smoothing is None else smoothing
        start = "stationary" if initial is None else initial
        return MarkovChain(smoothed_rows(counts, names, added), length, start, names, point_estimate(text))

    @property
    def matrix(self) -> FloatArray:
        """The matrix of every step."""
        return self.matrices[0]

    @property
    def stationary(self) -> FloatArray:
        """Return the stationary law in floats; masses below 5e-324 become 0."""
        return self.stationary_laws[0].floats()

    def assumptions(self) -> tuple[Assumption, ...]:
        starts: dict[object, str] = {"stationary": "the stationary one", "any": "unknown"}
        how = f"Its initial distribution is {starts.get(self.initial, 'given')}."
        chain = world(f"The sequence is a Markov chain with the stated transition matrix. {how}")
        return chain, LENGTH_IS_PUBLIC

    def to_dict(self) -> Json:
        of_periods = super().to_dict()
        shared = {key: of_periods[key] for key in ("length", "initial", "states", "source")}
        return {"kind": "markov-chain", "matrix": self.matrix.tolist(), **shared}

    @classmethod
    def from_dict(cls, data: Plain) -> MarkovChain:
        options = {key: data[key] for key in ("initial", "states", "source") if key in data}
        return cls(data["matrix"], data["length"], **options)

    def _described(self, length: str) -> str:
        return f"a Markov chain over {len(self.states)} states, {length}{self._start_and_source()}"


def steady_chain(belief: object) -> MarkovChain | None:
    """Return the chain of recordings with one matrix for all steps that began long before; None of any other."""
    chain = belief.chain if is_recording(belief) else None
    if not isinstance(chain, MarkovChain) or not isinstance(chain.initial, str) or chain.initial != "stationary":
        return None
    return chain


@dataclass(frozen=True)
class ReversibleChains(PlainForm, OneChain, kind="markov-chain-class"):
    """Model all reversible chains whose stationary masses and eigengap have a lower bound, from any start.

    The chains are irreducible and aperiodic: the class of Song17 §4.1.

    Args:
        pi: The least stationary mass (pi_Theta), above 0 and at most 1/k for k states.
        g: The least eigengap (g_Theta), above 0 and at most 1.
        length: Number of steps.
        states: Names of the states, two or more.
        source: Where the bounds come from, in words; certificates print it.

    Raises:
        InputError: For `pi` or `g` outside these ranges, and for states that are repeated or fewer than two.

    Examples:
        >>> ReversibleChains(pi=0.2, g=0.5, length=100).size
        100
    """

    pi: float
    g: float
    length: int
    states: tuple[State, ...] = field(default=(0, 1), metadata=VALUES)
    source: str = "assumed"

    answers: ClassVar = {
        "the distribution of the answer": "analysis.questions.answer_law:FOR_CLASSES",
        "the mean of an answer": "analysis.expectations.reversible_chains:OfReversible",
        "what is known of quilts": "influence.quilts.of_chains:CLASS",
        "the list of joint states": "audit.states:ReversibleClass",
        "the moments of a count": "analysis.expectations.moments_of_chains:of_one_piece",
        "the moments of a count over pieces": "analysis.expectations.reversible_chains:moments",
        "steps until a class of chains forgets": "influence.chains.class_chains:settled_of_class",
        "sweeps over all chains of a class": "influence.chains.class_chains:sides_of_class",
        "what a profile costs its secrets": "influence.curves:CLASS",
    }

    def __init__(
        self, pi: float, g: float, length: int, states: Iterable[State] = (0, 1), source: str = "assumed"
    ) -> None:
        names = checked_alphabet(states, "the class")
        if len(names) < 2:
            raise InputError(
                f"the class's states are {list(names)}", fix="give at least two different names"
            ).at("states")
        mass, gap = float(as_fraction(pi, "pi", "pi")), float(as_fraction(g, "g", "g"))
        if not 0 < mass <= 1 / len(names):
            raise InputError(
                f"pi is {pi!r}",
                rule=f"the smallest stationary mass of {len(names)} states lies above 0 and is at most 1/{len(names)}",
                fix="lower it",
            ).at("pi")
        if not 0 < gap <= 1:
            raise InputError(f"g is {g!r}", rule="an eigengap lies above 0 and is at most 1").at("g")
        set_fields(self, pi=mass, g=gap, length=checked_length(length), states=names, source=source)

    def assumptions(self) -> tuple[Assumption, ...]:
        return (
            world(
                "The sequence is a reversible Markov chain whose stationary masses are at least "
                f"{_exactly(self.pi)} and whose eigengap is at least {_exactly(self.g)}. Its initial distribution is "
                "unknown."
            ),
            LENGTH_IS_PUBLIC,
        )

    def _described(self, length: str) -> str:
        return (
            f"every reversible Markov chain over {len(self.states)} states with stationary masses >= "
            f"{_exactly(self.pi)} and eigengap >= {_exactly(self.g)}, {length}unknown initial distribution "
            f"({self.source})"
        )


@dataclass(frozen=True, init=False)
class BinaryChains(PlainForm, OneChain, kind="binary-chain-interval"):
    """Model all two-state chains with both probabilities to stay in [low, 1 - low], from any start (Song17 §5).

    Of these chains `worst` reveals the most (proved in docs/theory/chain-classes.md), so the loss is that of one chain.

    Args:
        low: The least probability to stay, from 0 to 1/2.
        length: Number of steps.
        states: Names of the two states.
        source: Where the interval comes from, in words; certificates print it.

    Raises:
        InputError: For a `low` outside [0, 1/2], and for other than two states.

    Examples:
        >>> BinaryChains(0.2, length=100).worst.matrix.tolist()
        [[0.8, 0.2], [0.2, 0.8]]
    """

    low: float
    length: int
    states: tuple[State, ...] = field(default=(0, 1), metadata=VALUES)
    source: str = "assumed"

    answers: ClassVar = {
        "the distribution of the answer": "analysis.questions.answer_law:FOR_INTERVALS",
        "the mean of an answer": "analysis.expectations.regions:of_interval",
        "what is known of quilts": "influence.quilts.of_chains:INTERVAL",
        "the list of joint states": "audit.states:ChainClass",
        "the moments of a count": "analysis.expectations.moments_of_chains:of_one_piece",
        "the moments of a count over pieces": "analysis.expectations.moments_of_chains:of_class",
        "what a profile costs its secrets": "influence.curves:INTERVAL",
    }

    def __init__(self, low: float, length: int, states: Iterable[State] = (0, 1), source: str = "assumed") -> None:
        if not 0 <= as_fraction(low, "low", "low") <= Fraction(1, 2):
            raise InputError(
                f"low is {low!r}", rule="the interval is [low, 1 - low]", fix="write a number from 0 to 1/2"
            ).at("low")
        set_fields(
            self, low=float(low), length=checked_length(length),
            states=checked_states(states, 2, "a chain of two states"), source=source,
        )  # fmt: skip

    @property
    def worst(self) -> MarkovChain:
        """Return the longest-staying chain, from any initial distribution."""
        stay, leave = 1 - self.low, self.low
        return MarkovChain([[stay, leave], [leave, stay]], self.length, "any", self.states, self.source)

    @property
    def region(self) -> IntervalMarkovChain:
        """Return the region of these chains, in which each step may have its own matrix."""
        ends = [[end, end] for end in (self.low, 1 - self.low)]
        return IntervalMarkovChain(ends[:1] * 2, ends[1:] * 2, self.length, self.states, source=self.source)

    def contains(self, chain: MarkovChain) -> bool:
        """Return whether a chain lies in the class, up to 1e-9.

        Args:
            chain: The chain.

        Returns:
            True if it does.
        """
        return self.region.contains(chain)

    def assumptions(self) -> tuple[Assumption, ...]:
        high = _exactly(1 - as_fraction(self.low, "low"))
        return (
            world(
                "The sequence is a Markov chain that stays in either state with a probability from "
                f"{_exactly(self.low)} to {high}. Its initial distribution is unknown."
            ),
            LENGTH_IS_PUBLIC,
        )

    def _described(self, length: str) -> str:
        high = _exactly(1 - as_fraction(self.low, "low"))
        return (
            f"every Markov chain over 2 states that stays with probabilities in [{_exactly(self.low)}, {high}], "
            f"{length}unknown initial distribution ({self.source})"
        )


def _exactly(end: Number) -> str:
    """Write an end of a class: a rounded one may hold what is not covered."""
    return to_text(as_fraction(end, "an end of the class"))


def _check_unsmoothed(confidence: float, **options: object) -> None:
    """Raise InputError for an option of one chain beside a confidence."""
    for name, option in options.items():
        if option is not None:
            raise InputError(
                f"{name} is {option!r} beside confidence={confidence!r}",
                rule="a region is estimated unsmoothed, for every initial distribution",
                fix=f"leave {name} out, or confidence out for one chain",
            ).at(name)
