"""Several releases as one vector of cells: the answers that occur, the outputs that matter, and their masses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from mpmath import mp

from takifugu.analysis.questions.joint_states import States, all_states, check_count
from takifugu.analysis.randomisers import DiscreteLaplace, Exact, Randomiser
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric, OneSidedTruncated
from takifugu.audit.any_start import Side
from takifugu.audit.compared_pairs import is_allowed, is_of_runs, of_entries, of_view, paths, runs_of
from takifugu.audit.noise_masses import cell_mass, is_joint, parts_of, places, places_near, places_of_mass
from takifugu.core.arrays import IntArray
from takifugu.core.errors import InputError, Unsupported
from takifugu.model import secrets
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.domain import Data
from takifugu.model.beliefs.pair import LawPair
from takifugu.model.frameworks import Framework
from takifugu.model.policies.places import Visits
from takifugu.model.policies.policy import Policy
from takifugu.model.queries import Query, resolved
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import View, WithAbsence, absent_index
from takifugu.model.secrets.hypotheses import (
    Comparison,
    EntryIs,
    Hypothesis,
    LawIs,
    PropertyIs,
    entry_is,
    run_is,
)
from takifugu.model.secrets.of_populations import WhichPopulation
from takifugu.numbers.rationals import as_mpf

Release = tuple[Query, Randomiser]
Masses = npt.NDArray[np.object_]

#: Most pairs (output, answer) whose mass is computed, and the number up to which no output is left out.
MOST_MASSES, FEW_MASSES = 4_000_000, 100_000
#: Of how many people data sets are listed, where a domain does not say how many there are: one who moves, and others.
PEOPLE = 2


@dataclass(frozen=True, eq=False)
class Channel:
    """The possible answers in grid units, and the noise of every cell."""

    #: A tuple of cells each; cells that are drawn together count as one, with a tuple as its value.
    answers: list[tuple[Any, ...]]
    noises: list[Randomiser]

    @cached_property
    def bounded(self) -> tuple[list[tuple[int, ...]], Masses]:
        """Return the outputs of large log-ratios, and P(output | answer)."""
        every = list(itertools.starmap(places, self._columns))
        if math.prod(map(len, every)) * len(self.answers) <= FEW_MASSES:
            return self._masses(every)
        return self._masses(list(itertools.starmap(places_near, self._columns)))

    @cached_property
    def spread(self) -> tuple[list[tuple[int, ...]], Masses]:
        """Return nearly all outputs, and P(output | answer)."""
        return self._masses(list(itertools.starmap(places_of_mass, self._columns)))

    @cached_property
    def _columns(self) -> list[tuple[Randomiser, list[Any]]]:
        cells = zip(*self.answers, strict=True)
        return [(noise, sorted(set(column))) for noise, column in zip(self.noises, cells, strict=True)]

    def _masses(self, columns: Sequence[Sequence[int]]) -> tuple[list[tuple[int, ...]], Masses]:
        count = math.prod(map(len, columns)) * len(self.answers)
        if count > MOST_MASSES:
            raise Unsupported(
                f"the audit would have to compute {count:.3g} masses of outputs, and computes at most {MOST_MASSES:,}",
                fix="audit a shorter sequence or fewer cells",
            )
        masses_of = {noise: cell_mass(noise) for noise in self.noises}
        functions = list(map(masses_of.__getitem__, self.noises))  # one for cells with the same noise
        outputs = list(itertools.product(*columns))
        masses = np.empty((len(outputs), len(self.answers)), dtype=object)
        for row, output in enumerate(outputs):
            for column, answer in enumerate(self.answers):
                mass = mp.mpf(1)
                for function, y, x in zip(functions, output, answer, strict=True):
                    mass *= function(y, x)
                masses[row, column] = mass
        return outputs, masses


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """One secret entry: for each value the weight of every answer, one row for each start; and the pairs to compare."""

    belief: Belief | Data
    entry: int
    weights: dict[int, list[Masses]]
    pairs: tuple[tuple[int, int], ...]
    channel: Channel
    relative_error: float
    are_laws: bool = False
    secret: Secret | None = None
    paths: tuple[tuple[int, ...], ...] = ()

    def weight(self, a: int, b: int) -> Fraction:
        """Return what epsilon is multiplied by for two hypotheses."""
        if not isinstance(self.secret, WhichPopulation):
            return Fraction(1)
        which: Any = self.belief  # as the secret reads it
        names = which.alphabet(0)
        distance = self.secret.distance(which.whole, names[a], names[b])
        if distance is None:
            raise Unsupported("W-infinity of counted populations is not known", fix="audit known ones")
        return distance

    def sides(self, masses: Masses) -> dict[int, Side]:
        """Return each hypothesis at all outputs of P(output | answer)."""
        sides = {}
        for value, rows in self.weights.items():
            totals = [sum(weights.tolist()) for weights in rows]
            sides[value] = Side(list(map(masses.dot, rows)), totals)
        return sides

    def describe(self, a: int, b: int) -> str:
        return Comparison(self.belief, self._is(a), self._is(b)).label

    def _is(self, value: int) -> Hypothesis:
        if self.paths:
            return run_is(self.belief, self.entry, self.paths[value])
        if self.are_laws:
            return LawIs(str(self.belief.alphabet(0)[value]))
        if isinstance(self.belief, View):
            return PropertyIs(self.belief.describe_hypothesis(value))
        absent = value == absent_index(self.belief, self.entry)
        mode = ""
        if absent and isinstance(self.belief, WithAbsence):
            mode = f" ({self.belief.absence})"
        return entry_is(self.belief, self.entry, value, note=mode)


def hypotheses(framework: Framework, releases: Sequence[Release], beliefs: Iterable[Belief]) -> Iterator[Hypotheses]:
    """Yield every secret entry under each of these beliefs and point starts."""
    noises = list(itertools.chain.from_iterable(parts_of(noise) for _, noise in releases))
    if not framework.beliefs:
        yield from _of_domain(framework, releases, noises)
    for pair in framework.pairs:
        yield _of_pair(pair, noises)
    if framework.is_pair:
        return
    for belief in beliefs:
        yield from _of_belief(belief, framework, releases, noises)


def _of_belief(
    belief: Belief, framework: Framework, releases: Sequence[Release], noises: list[Randomiser]
) -> Iterator[Hypotheses]:
    states = all_states(belief)
    channel, groups = _answers(belief, states.values, releases, noises)
    for secret in framework.secrets:
        viewed = secrets.view(secret, belief)
        if viewed is not None:
            yield from _of_view(viewed, belief, secret, releases, noises)
            continue
        if is_of_runs(secret):
            yield from _of_runs(secret, belief, states, channel, groups)
            continue
        for entry, pairs in of_entries(secret, belief, states.occurring):
            weights = {}
            for value in sorted({*itertools.chain(*pairs)}):
                weights[value] = states.given(entry, value, groups, len(channel.answers))
            for rows_alike in states.classes(entry):
                rows_of = {}
                for value, all_rows in weights.items():
                    rows_of[value] = [all_rows[place] for place in rows_alike]
                yield Hypotheses(belief, entry, rows_of, pairs, channel, states.relative_error)


def _of_runs(
    secret: Secret, belief: Belief, states: States, channel: Channel, groups: IntArray
) -> Iterator[Hypotheses]:
    """Yield each secret run's hypotheses, its paths that some joint state has."""
    for first, length in runs_of(secret, belief):
        values, all_weights, known = states.values[:, first : first + length], {}, list[tuple[int, ...]]()
        for path in paths(len(belief.alphabet(first)), length):
            rows = np.flatnonzero((values == path).all(axis=1))
            if len(rows):
                all_weights[len(known)] = states.of_rows(rows, groups, len(channel.answers))
                known.append(tuple(path.tolist()))
        pairs = tuple(itertools.permutations(range(len(known)), 2))
        for rows_alike in states.classes(first):
            weights = {number: [rows[place] for place in rows_alike] for number, rows in all_weights.items()}
            error = states.relative_error
            yield Hypotheses(belief, first, weights, pairs, channel, error, paths=tuple(known))


def _of_view(
    view: View, belief: Belief, secret: Secret, releases: Sequence[Release], noises: list[Randomiser]
) -> Iterator[Hypotheses]:
    """Yield a column secret's hypotheses: each joint state's last value."""
    states = all_states(view)
    channel, groups = _answers(belief, states.values[:, :-1], releases, noises)
    last, hypotheses = states.values.shape[1] - 1, states.values[:, -1]
    pairs = of_view(secret, view, hypotheses[hypotheses >= 0].tolist())
    weights = {}
    for value in {*itertools.chain(*pairs)}:
        weights[value] = list(states.given(last, value, groups, len(channel.answers)))
    yield Hypotheses(view, 0, weights, pairs, channel, states.relative_error, secret=secret)


def _answers(
    belief: Belief | Data, values: IntArray, releases: Sequence[Release], noises: list[Randomiser]
) -> tuple[Channel, IntArray]:
    """Return the channel of possible answers, and each row's answer number."""
    answers, columns = [resolved(query, belief) for query, _ in releases], []
    for answer, (_, noise) in zip(answers, releases, strict=True):
        if answer.cells != noise.cells:
            raise InputError(
                f"the query has {answer.cells} cells and the noise {noise.cells}", rule="both must be equal"
            )
        columns.append(answer.totals(values))
    rows, groups = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    vectors = []
    for row in rows.tolist():
        cells, vector = iter(row), list[Any]()
        for answer, (_, noise) in zip(answers, releases, strict=True):
            units = tuple(_units(cell * answer.grid, noise) for cell in itertools.islice(cells, answer.cells))
            if is_joint(noise):
                vector.append(units)
            else:
                vector += units
        vectors.append(tuple(vector))
    return Channel(vectors, noises), groups.ravel()


def _of_domain(framework: Framework, releases: Sequence[Release], noises: list[Randomiser]) -> Iterator[Hypotheses]:
    """Yield every two data sets differing by one comparison, without beliefs."""
    domain = framework.domain
    if isinstance(domain, Visits):  # people whose records are too many to be an alphabet, unless they are few
        domain = domain.as_records(PEOPLE)
    alphabets = list(map(domain.alphabet, range(domain.size)))
    check_count(math.prod(map(len, alphabets)))
    rows = list(itertools.product(*map(range, map(len, alphabets))))
    channel, groups = _answers(domain, np.array(rows), releases, noises)
    place = dict(zip(rows, groups.tolist(), strict=True))
    points = np.array([mp.mpf(0)] * len(channel.answers) ** 2).reshape(len(channel.answers), -1)
    np.fill_diagonal(points, mp.mpf(1))
    for i, a, b in _moves(framework, alphabets):
        neighbours = set()
        for row in rows:
            if row[i] == a:
                neighbours.add((place[row], place[(*row[:i], b, *row[i + 1 :])]))
        for left, right in sorted(neighbours):
            yield Hypotheses(domain, i, {a: [points[left]], b: [points[right]]}, ((a, b),), channel, 0.0)


def _moves(framework: Framework, alphabets: Sequence[Sequence[Hashable]]) -> Iterator[tuple[int, int, int]]:
    """Yield each record with the numbers of two hidden values."""
    policies = [secret for secret in framework.secrets if isinstance(secret, Policy)]
    if not policies:
        # A definition from elsewhere has no other meaning than its comparisons.
        for comparison in framework.comparisons():
            left, right = comparison.left, comparison.right
            if not (isinstance(left, EntryIs) and isinstance(right, EntryIs) and left.entry == right.entry):
                raise Unsupported(f"the audit lists no data sets for the comparison {comparison.label}")
            values = alphabets[left.entry]
            yield left.entry, values.index(left.value), values.index(right.value)
    for policy in policies:
        for record, values in enumerate(alphabets):
            for a, b in itertools.permutations(range(len(values)), 2):
                if is_allowed(policy, values[a], values[b]):
                    yield record, a, b


def _of_pair(belief: LawPair, noises: list[Randomiser]) -> Hypotheses:
    laws = []
    for law in (belief.left, belief.right):
        laws.append({Fraction(value): Fraction(mass) for value, mass in law.items()})
    atoms = sorted({*laws[0], *laws[1]})
    weights: dict[int, list[Masses]] = {}
    for number, mass_of in enumerate(laws):
        masses = []
        for atom in atoms:
            masses.append(as_mpf(mass_of.get(atom, Fraction(0))))
        weights[number] = [np.array(masses, dtype=object)]
    answers = []
    for atom in atoms:
        answers.append(tuple(_units(atom, noise) for noise in noises))
    channel = Channel(answers, noises)
    rounded = 0.0 if belief.left.exact and belief.right.exact else 2.0**-52
    return Hypotheses(belief, 0, weights, ((0, 1), (1, 0)), channel, rounded, are_laws=True)


def _units(value: Fraction, noise: Randomiser) -> Fraction:
    """Return a value in grid units, rounded to the grid without noise."""
    units = Fraction(value) / noise.grid
    if isinstance(noise, DiscreteLaplace | OneSidedGeometric | OneSidedTruncated) and units.denominator != 1:
        raise InputError(f"an answer is not a multiple of the noise's grid {noise.grid}, as discrete noise needs")
    if isinstance(noise, Exact):
        return Fraction(round(units))
    return units
