"""Chains as a release file declares them: by a matrix, by how long states last, or fitted to a public file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Literal, Protocol

from annotated_types import Ge, Gt, Lt, MinLen

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import InputError, SpecError, within
from takifugu.core.rules import check_as_many
from takifugu.core.sections import FilePath, Finite, Key, Number, PublicFile, State, Text, written
from takifugu.data.times.calendar import Calendar
from takifugu.model.beliefs.chains import stays
from takifugu.model.beliefs.chains.chain import MarkovChain, ReversibleChains
from takifugu.model.beliefs.chains.interval_chain import IntervalMarkovChain
from takifugu.model.beliefs.chains.matrices_by import CALENDAR, CELLS, cells_of, period_of, shared_out
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.estimate import checked_source, point_estimate, smoothed_rows
from takifugu.model.beliefs.one_sequence import OneSequence
from takifugu.model.beliefs.sections import Origin, Private, Public
from takifugu.model.beliefs.stochastic import stochastic_matrix
from takifugu.numbers.number_files import numbers_in

States = Annotated[
    tuple[State, ...], MinLen(2),
    Key("every state that can occur, known without looking at the data", ["still", "walking"]),
]  # fmt: skip
Matrix = tuple[tuple[int | float, ...], ...]
Rows = Sequence[Sequence[float]] | FloatArray
#: The keys that say what a chain is: there is to be one.
WAYS = ("matrix", "matrices", "mean_duration", "mean_durations", "fit")


class PublicSequences(Public, Protocol):
    """What a belief about sequences may be made from: how long a step is, the calendar, and files of sequences."""

    @property
    def step(self) -> int | timedelta | None: ...

    @property
    def calendar(self) -> Calendar | None: ...

    def transitions(self, fit: object) -> IntArray:
        """Count the transitions in a file, per cell under matrix_by."""
        ...


@dataclass(frozen=True, kw_only=True)
class ChainFit(PublicFile):
    """A chain estimated from the transitions in another file."""

    file: Annotated[FilePath, Key("a public file of sequences, or a SELECT", "public.csv")]
    value: Annotated[Text | None, Key("its states, a column or an expression; default: the source's")] = None
    unit: Annotated[Text | None, Key("whose a row of it is; default: the source's")] = None
    recording: Annotated[Text | None, Key("its unbroken recordings; default: the source's")] = None
    order: Annotated[Text | None, Key("when a row of it is; default: the source's")] = None
    where: Annotated[Text | None, Key("which of its rows count; default: the source's", "kind <> 'total'")] = None
    smoothing: Annotated[int | float, Ge(0), Finite(), Key("added to each count of transitions")] = 1
    confidence: Annotated[
        Annotated[float, Gt(0), Lt(1)] | None,
        Key("believe every chain in a confidence region around the estimate, of this level", 0.99),
    ] = None
    private: Private = False


@dataclass(frozen=True, kw_only=True)
class ChainSection:
    """One Markov chain: its matrix is written here, read from a CSV file, or fitted to a public file."""

    kind: Annotated[Literal["markov-chain"], Key("one Markov chain")]
    states: States
    source: Origin = "assumed"
    matrix: Annotated[
        Matrix | FilePath | None,
        Key("k rows of k probabilities, or a CSV file that holds them", [[0.9, 0.1], [0.4, 0.6]]),
    ] = None
    matrix_by: Annotated[
        Literal["hour", "weekday"] | None,
        Key("each hour of the day, or each weekday, of the declared calendar has its own matrix"),
    ] = None
    matrices: Annotated[
        dict[str, Matrix] | None,
        Key(
            "with matrix_by: the matrix of each hour or weekday, or of runs of them, both ends included",
            {"22-06": [[0.99, 0.01], [0.6, 0.4]], "07-21": [[0.9, 0.1], [0.4, 0.6]]},
        ),
    ] = None
    mean_duration: Annotated[
        dict[str, Number] | None,
        Key(
            "instead of a matrix: how long each state lasts at a time on average, a time or a number of steps",
            {"still": "100 min", "walking": "6 min"},
        ),
    ] = None
    mean_durations: Annotated[
        dict[str, dict[str, Number]] | None,
        Key(
            "with matrix_by, instead of matrices: how long each state lasts in each hour or weekday",
            {"22-06": {"still": "3 h", "walking": "5 min"}, "07-21": {"still": "1 h", "walking": "20 min"}},
        ),
    ] = None
    next_state: Annotated[
        dict[str, Number | dict[str, Number]] | None,
        Key(
            "with mean_duration or mean_durations: how often each state comes when another ends, or for each state the "
            "shares of those that follow it; two states need none",
            {"still": 0.5, "walking": 0.4, "running": 0.1},
        ),
    ] = None
    fit: Annotated[ChainFit | None, Key("estimate the matrix from a public file")] = None
    initial: Annotated[
        Literal["stationary", "any"] | tuple[int | float, ...], Key("the distribution of the first state")
    ] = "stationary"

    @property
    def ways(self) -> list[str]:
        """Return the keys of the chain's law: one is due."""
        return written(self, WAYS)

    def faults(self) -> Iterator[InputError]:
        keys = self.ways
        if len(keys) != 1:
            message = f"is given beside {keys[1]}" if keys else "is missing"
            fix = "write one of matrix = [[...], ...], mean_duration = {...} with next_state = {...}, or [belief.fit]"
            if self.matrix_by is not None or self.matrices is not None or self.mean_durations is not None:
                fix = "write one of matrices = {...}, mean_durations = {...} or [belief.fit]"
            missing = "matrix" if self.matrix_by is None else "matrices"
            yield InputError(message, fix=fix).at(keys[0] if keys else missing)
        elif self.matrix_by is None and keys[0] in ("matrices", "mean_durations"):
            fix = 'write matrix_by = "hour" or "weekday", or one matrix = [[...], ...]'
            yield InputError("is missing, and there are several matrices", fix=fix).at("matrix_by")
        elif self.matrix_by is not None and keys[0] in ("matrix", "mean_duration"):
            fix = f"write matrices = {{...}}, one for each {self.matrix_by}, or leave matrix_by out"
            message = f"is one for all steps, and matrix_by says that each {self.matrix_by} has its own"
            yield InputError(message, fix=fix).at(keys[0])
        elif self.matrix_by is not None and self.fit is not None and self.fit.confidence is not None:
            message = "is that of one matrix, and matrix_by says that there are several"
            yield InputError(message, fix="leave confidence out, or matrix_by").at("fit", "confidence")
        if self.next_state is not None and self.mean_duration is None and self.mean_durations is None:
            message = "says what follows states that nothing says the length of"
            yield InputError(message, fix="write mean_duration").at("next_state")

    def belief(self, public: PublicSequences) -> OneSequence:
        """Return the chain of length 1, or raise SpecError with every fault of how long states last."""
        following, durations = self.next_state or {}, self.mean_durations
        if self.mean_duration is None:
            odd = []
        else:
            odd = list(stays.faults(self.states, self.mean_duration, following, public.step))
        odd += [] if durations is None else stays.faults_by(self.states, durations, following, public.step)
        if odd:
            raise SpecError(odd)
        counts = None if self.fit is None else public.transitions(self.fit)
        try:
            if self.fit is None or counts is None:
                return self._chain(public)
            return self._fitted(self.fit, counts, public)
        except InputError as error:
            by_cells = error.where[:1] in (("matrices",), ("mean_durations",), ("matrix_by",))
            initial = error.where[:1] == ("initial",)
            if by_cells:
                error.where = error.where[:2]
            else:
                error.where = error.where[:1] if initial else tuple(self.ways)
            raise

    def _chain(self, public: PublicSequences) -> OneSequence:
        following = self.next_state or {}
        if self.matrix_by is not None:
            matrices = dict[str, Rows](self.matrices or {})
            for name, lasting in (self.mean_durations or {}).items():
                matrices[name] = stays.matrix_of(self.states, lasting, following, public.step)
            return self._periodic(matrices, self._calendar(public), self.source)
        matrix: Sequence[Sequence[float]]
        if self.mean_duration is not None:
            matrix = stays.matrix_of(self.states, self.mean_duration, following, public.step)
        elif isinstance(self.matrix, str):
            rows = numbers_in(public.folder / self.matrix, "k lines of k probabilities", len(self.states) ** 2)
            matrix = [list(map(float, row)) for row in rows]
        else:
            matrix = self.matrix or ()
        return MarkovChain(matrix, 1, self.initial, self.states, self.source)

    def _fitted(self, fit: ChainFit, counts: IntArray, public: PublicSequences) -> OneSequence:
        """Return the fitted chain, or with a confidence a region of chains."""
        said = "" if self.source == "assumed" else f"{self.source}; "
        if fit.confidence is not None:
            origin = checked_source(f"{said}estimated from {fit.file}", fit.private)
            return IntervalMarkovChain.covering(counts, 1, self.states, fit.confidence, origin)
        origin_text = f"{said}estimated from {fit.file} with smoothing {fit.smoothing}"
        origin, smoothing = point_estimate(checked_source(origin_text, fit.private)), float(fit.smoothing)
        if self.matrix_by is not None:
            return self._fitted_by_cells(counts, smoothing, self._calendar(public), origin)
        return MarkovChain(smoothed_rows(counts, self.states, smoothing), 1, self.initial, self.states, origin)

    def _calendar(self, public: PublicSequences) -> Calendar:
        if public.calendar is None:
            raise InputError("needs a declared calendar", fix=CALENDAR).at("matrix_by")
        return public.calendar

    def _periodic(self, matrices: Mapping[str, Rows], calendar: Calendar, source: str) -> PeriodicChain:
        """Return the chain of the cells' matrices from the calendar's start."""
        by, key = str(self.matrix_by), "matrices" if self.mean_durations is None else "mean_durations"
        with within(key):
            key_of = shared_out([*matrices], by)
        period = period_of(by, calendar)
        names_of_cells = [key_of[cell] for cell in period.cells]
        used = sorted(set(names_of_cells), key=list(matrices).index)
        numbers = list(map(used.index, names_of_cells))
        tables = []
        for name in used:
            with within(key, name):
                tables.append(stochastic_matrix(matrices[name]))
                check_as_many(tables[-1], "rows of the matrix", self.states, "states")
        return PeriodicChain(tables, 1, numbers, period.start, self.initial, self.states, source)

    def _fitted_by_cells(self, counts: IntArray, smoothing: float, calendar: Calendar, source: str) -> PeriodicChain:
        """Fit a chain to counts[cell, x, y], smoothing each cell by itself."""
        by = str(self.matrix_by)
        matrices: dict[str, Rows] = dict.fromkeys(CELLS[by], ())
        for cell in sorted(set(period_of(by, calendar).cells)):
            unseen = [state for state, row in zip(self.states, counts[cell], strict=True) if not row.any()]
            if unseen and not smoothing:
                raise InputError(
                    f"in the {by} {CELLS[by][cell]} no transition out of state {unseen[0]!r} was seen, so without "
                    "smoothing its row is unknown",
                    fix="write smoothing = 1.0, or leave matrix_by out",
                ).at("fit", "smoothing")
            matrices[CELLS[by][cell]] = smoothed_rows(counts[cell], self.states, smoothing)
        return self._periodic(matrices, calendar, source)

    def matrices_in(self, chain: PeriodicChain, calendar: Calendar) -> Iterator[tuple[str, FloatArray]]:
        """Yield each matrix of a chain after its release file's key."""
        by = str(self.matrix_by)
        key_of: dict[int, str] = {}
        for name in self.matrices or self.mean_durations or CELLS[by]:
            key_of |= dict.fromkeys(cells_of(name, by), name)
        cells = period_of(by, calendar).cells
        for number, matrix in enumerate(chain.matrices):
            place = chain.matrix_of.index(number)
            yield key_of[cells[place]], matrix


@dataclass(frozen=True, kw_only=True)
class ChainClassSection:
    """Every reversible chain with stationary masses of at least pi and an eigengap of at least g."""

    kind: Annotated[Literal["markov-chain-class"], Key("a class of Markov chains")]
    states: States
    source: Origin = "assumed"
    pi: Annotated[int | float, Gt(0), Key("the smallest stationary mass", 0.1)]
    g: Annotated[int | float, Gt(0), Key("the smallest eigengap", 0.05)]

    def belief(self, public: Public) -> ReversibleChains:
        return ReversibleChains(self.pi, self.g, 1, self.states, self.source)
