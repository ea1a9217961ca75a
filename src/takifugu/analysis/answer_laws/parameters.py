"""The law of an answer about whole columns given one parameter: a mixture over the others (Zhang22 Section 5).

Given all parameters the records are independent and equally distributed, and columns that share no term of the answer
are independent of each other. So the law of the answer given phi is a convolution over groups of columns of the n-fold
convolution of what one record adds in that group, and its law given phi_i = a the mixture of these with the weights
P(phi_A | phi_i = a), A the parameters of the columns that are read. Only positive terms are added. Masses are exact
where the prior is, and few; else they are `Wide` numbers with a bound on their relative error.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from takifugu.analysis.answer_laws.dense import DenseFamily, places_of_laws
from takifugu.analysis.answer_laws.listed import FEW_ATOMS, FEW_DIGITS, ListedFamily
from takifugu.analysis.questions.answer_law import AnswerLaw
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.records.parameters import Parameters
from takifugu.model.queries.answer import Additive
from takifugu.model.queries.resolving.columns import ColumnAnswer
from takifugu.model.secrets.families import Family, compared_values
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import UNIT, Wide
from takifugu.numbers.extended.leave_one_out import NOTHING, Law, Sums, Weights

#: Rows of values of one group of columns that are listed.
MOST_ROWS = 1_000_000


@dataclass(frozen=True, eq=False)
class Group:
    """Columns that terms of the answer tie together, with the entries that govern them (each once, in order)."""

    columns: tuple[int, ...]
    entries: tuple[int, ...]


#: The probability of each combination of values of some parameters.
Chances = dict[tuple[int, ...], float | Fraction]
#: The number of a group of columns, and the values of its parameters.
Key = tuple[int, tuple[int, ...]]
Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class ColumnLaws:
    """What the columns of a belief add to an answer, given values of their parameters."""

    belief: Parameters
    answer: ColumnAnswer

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Return the columns in groups without a common term."""
        groups: list[set[int]] = []
        for term in self.answer.terms:
            met = [group for group in groups if group & {*term.columns}]
            groups = [*[group for group in groups if group not in met], set(term.columns).union(*met)]
        with_entries = []
        for group in groups:
            entries = {self.belief.described[column].entry for column in group}
            with_entries.append(Group(tuple(sorted(group)), tuple(sorted(entries))))
        return tuple(with_entries)

    @cached_property
    def entries(self) -> tuple[int, ...]:
        """Return the parameters of all columns in the answer."""
        return tuple(sorted(set().union(*(group.entries for group in self.groups))))

    @cached_property
    def rows(self) -> Mapping[tuple[int, tuple[int, ...]], Pmf]:
        """Return a record's law by group and possible values of its parameters."""
        laws = {}
        for number, group in enumerate(self.groups):
            possible_values = [np.flatnonzero(self.belief.possible(entry)).tolist() for entry in group.entries]
            for values in itertools.product(*possible_values):
                laws[number, values] = self._row(group, dict(zip(group.entries, values, strict=True)))
        return laws

    def _row(self, group: Group, value_of: Mapping[int, int]) -> Pmf:
        columns = [self.belief.described[column] for column in group.columns]
        sizes = [len(column.states) for column in columns]
        if math.prod(sizes) > MOST_ROWS:
            raise Unsupported(
                f"what a record adds depends on {math.prod(sizes):.1e} combinations of values",
                fix='use mechanism="attribute-quilt" or "group-dp"',
            )
        place = {column: place for place, column in enumerate(group.columns)}
        terms = [term for term in self.answer.terms if term.columns[0] in place]
        masses: dict[int, Fraction] = {}
        for values in itertools.product(*map(range, sizes)):
            mass = math.prod(
                (c.laws[value_of[c.entry]][v] for c, v in zip(columns, values, strict=True)), start=Fraction(1)
            )
            if mass:
                at = 0
                for term in terms:
                    at += int(term.table[tuple(values[place[c]] for c in term.columns)][0])
                masses[at] = masses.get(at, Fraction(0)) + mass
        return Pmf(list(masses), list(masses.values()))

    @cached_property
    def _laws(self) -> tuple[list[Pmf], ...]:
        """The laws of each group's rows."""
        laws: tuple[list[Pmf], ...] = tuple([] for _ in self.groups)
        for (number, _), law in self.rows.items():
            laws[number].append(law)
        return laws

    @cached_property
    def step(self) -> int:
        """The distance of two neighbouring answers."""
        step = 0
        for laws in self._laws:
            first = int(laws[0].values[0])
            for law in laws:
                step = math.gcd(step, *map(int, np.diff(law.values).tolist()), int(law.values[0]) - first)
        return step or 1

    @cached_property
    def width(self) -> float:
        """The number of places between the least answer and the largest."""
        spans = 0.0
        for laws in self._laws:
            lows, highs = zip(*(law.support_range for law in laws), strict=True)
            spans += float(max(highs)) - float(min(lows))
        return 1.0 + self.belief.records * spans / self.step

    @cached_property
    def exact(self) -> bool:
        """Whether exact masses are kept."""
        table = self.belief.table
        if table is None or table.total is None or self.width > FEW_ATOMS:
            return False
        digits = 0.0
        for laws in self._laws:
            digits += max(math.log2(law.total or 1) for law in laws)
        return digits * self.belief.records <= FEW_DIGITS

    @property
    def combinations(self) -> float:
        return math.prod(float(sum(self.belief.possible(entry))) for entry in self.entries)

    def chances(self, entry: int) -> tuple[dict[int, Chances], float]:
        """Return P(phi_entry = a, phi_A = v) where positive, by a and v, and a bound on the relative error."""
        prior = self.belief.table
        scope = (entry, *(e for e in self.entries if e != entry))
        place = list(map(scope.index, self.entries))
        tables: dict[int, Chances] = {}
        cells: Iterator[tuple[tuple[int, ...], float | Fraction]]
        if prior is not None:
            error = 0.0 if prior.total is not None else 2 * len(prior.rows) * UNIT
            rows = prior.indices[:, list(scope)].tolist()
            prior_masses = prior.masses
            shares = prior_masses if prior.total is None else [Fraction(int(m), prior.total) for m in prior_masses]
            cells = zip(map(tuple, rows), shares, strict=True)
        else:
            network = self.belief.network
            table, error = network.law(scope)
            if (network.support(scope) & ~(table > 0)).any():
                raise Unsupported("a combination of the parameters has a probability below 1e-300")
            cells = ((at, float(table[at])) for at in np.ndindex(*table.shape))
        for at, mass in cells:
            if mass > 0:
                mass_by_values = tables.setdefault(at[0], {})
                key = tuple(at[index] for index in place)
                mass_by_values[key] = mass_by_values.get(key, 0) + mass
        return tables, error


def of_columns(belief: Parameters, answer: Additive, family: Family) -> AnswerLaw[Parameters]:
    """Return the law of an answer over whole columns, if additive."""
    adds_up = isinstance(answer, ColumnAnswer)
    if adds_up:
        return ParametersLaw(belief, answer, family)
    return AnswerLaw(belief, answer, family, (
        "the statistic is no sum over records, and only its largest change is declared: "
        'use mechanism="attribute-quilt" or "group-dp"'
    ))  # fmt: skip


class ParametersLaw(AnswerLaw[Parameters]):
    """The laws given each value of each sensitive parameter."""

    @cached_property
    def laws(self) -> ColumnLaws:
        assert isinstance(self.answer, ColumnAnswer)
        belief, answer = self.belief, self.answer
        return cached(answer, ColumnLaws, lambda: ColumnLaws(belief, answer))

    def families(self) -> Iterator[ListedFamily | DenseFamily]:
        for entry in self.family.entries:
            pairs = self.family.value_pairs(self.belief, entry)
            if pairs:
                chances, error = self.laws.chances(entry)
                make = self._listed if self.laws.exact else self._dense
                yield make(entry, pairs, chances, error)

    def _listed(self, entry: int, pairs: Pairs, chances: dict[int, Chances], error: float) -> ListedFamily:
        laws = {}
        for a in compared_values(pairs):
            total = sum(chances[a].values())
            sums = [self._sum(values, lambda row: row, Pmf([0], [1])) for values in chances[a]]
            laws[a] = (Pmf.mix([mass / total for mass in chances[a].values()], sums),)
        return ListedFamily(entry, pairs, laws)

    def _sum(self, values: tuple[int, ...], row: Callable[[Pmf], Law], nothing: Law) -> Law:
        """Return what all records add, given the values of the parameters."""
        powers: dict[Key, Law] = cached(self.laws, type(nothing).__name__, dict)
        law, value_of = nothing, dict(zip(self.laws.entries, values, strict=True))
        for number, group in enumerate(self.laws.groups):
            key = number, tuple(value_of[entry] for entry in group.entries)
            if key not in powers:
                powers[key] = Sums([row(self.laws.rows[key])], [self.belief.records], nothing).inside(0, 1)
            law = law.convolve(powers[key])
        return law

    def _dense(self, entry: int, pairs: Pairs, chances: dict[int, Chances], error: float) -> DenseFamily:
        step, laws = self.laws.step, dict[tuple[int, ...], Weights]()

        def of_row(row: Pmf) -> Weights:
            return Weights.of(row, step)

        mixtures = {}
        for a in compared_values(pairs):
            for at in chances[a].keys() - laws.keys():
                laws[at] = self._sum(at, of_row, NOTHING)
            mixtures[a] = _mixture(chances[a], laws, step, error)
        return DenseFamily.of(entry, pairs, mixtures, step)

    def work(self, laplace: bool = False) -> tuple[float, float]:
        laws = self.laws
        powers, combined = float(len(laws.rows)), laws.combinations * max(len(laws.groups) - 1, 0)
        of_a_product = 20.0 if laws.exact else 1.0
        operations = laws.width**2 * of_a_product
        mixed = laws.combinations * laws.width * 10 * len(self.family.entries)
        return (powers + combined) * operations + mixed + 1e3, 24.0 * laws.width * (powers + laws.combinations) + 1e3

    def atoms(self) -> float:
        return self.laws.width

    def describe(self, entry: int, value: int, number: int, start: int = 0) -> str:
        return f"{self.belief.names[entry]!r} = {self.belief.alphabet(entry)[value]!r}"


def _mixture(chances: Chances, laws: Mapping[tuple[int, ...], Weights], step: int, error: float) -> Weights:
    """Return the mixture of laws with chances that are right up to a factor 1 +- `error`."""
    mixed = [laws[at] for at in chances]
    start, size = places_of_laws(mixed, step)
    total = Wide.zeros(size)
    for law, mass in zip(mixed, chances.values(), strict=True):
        total += law.on(start, step, size) * Wide.of(float(mass))
    return Weights(start, total, error + max(law.error for law in mixed) + (len(mixed) + 8) * UNIT)
