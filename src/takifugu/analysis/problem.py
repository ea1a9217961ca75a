"""What every mechanism is given: a framework, a query, a budget, and the parts that these fall into."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from takifugu.core.cache import cached
from takifugu.core.errors import InputError, TakifuguError, Unsupported
from takifugu.model import queries, secrets
from takifugu.model.beliefs import Belief, Separate, separate
from takifugu.model.beliefs.alike import alike
from takifugu.model.beliefs.pair import LawPair
from takifugu.model.frameworks import Framework
from takifugu.model.queries import FINEST_IMPLIED_GRID, Additive, Query, is_chosen_from, resolved
from takifugu.model.queries.coding import common_step, integer_row, integer_table
from takifugu.model.secrets.families import Family
from takifugu.numbers.runs import Runs

if TYPE_CHECKING:
    from takifugu.numbers.transport.metrics import Declared

#: An undeclared grid is at most this share of the distance between the lowest and the highest atom.
FINE = Fraction(1, 10**6)

#: What a problem has in common with itself at other epsilons, and where it keeps the first of them.
_OF_ANY_EPSILON, _LIKE = ("answers", "grid", "parts", "law_parts"), "_like"

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Part:
    """One independent component of one belief, with what it adds to the answer and what is secret in it."""

    #: Of a secret about whole columns its view: one entry, whose values are the hypotheses (`secrets.view`).
    belief: Belief
    #: Its share alone, or of a view the whole answer. What other components add is independent of the secret, so that
    #: adding it is post-processing. Components that look the same (length, weights, secrets) appear once.
    answer: Additive
    family: Family
    #: Its first entry; entries inside are counted from 0.
    start: int = 0
    #: That of the problem's belief.
    number: int = 0
    #: Whether the belief has other components.
    is_one_of_several: bool = False


@dataclass(frozen=True, eq=False)
class Problem:
    """A framework, a query and a budget: everything that calibration may look at (never the data)."""

    framework: Framework
    query: Query
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    work_limit: float = field(default=3e9, compare=False)  # operations: about ten seconds
    metric: Declared | None = None  # of mechanisms that choose by distance, instead of |x - y|
    #: All epsilons that are asked about: what `at` each of them is needed may be found for all at once.
    epsilons: tuple[Fraction, ...] = field(default=(), compare=False)

    def cached(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return a value kept for all mechanisms, made at the first question."""
        return cached(self, key, make)

    def kept(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return a value that depends on no epsilon, kept for all problems that were made by `at`, too."""
        return cached(vars(self).get(_LIKE, self), key, make)

    def at_each(self, name: str, make: Callable[[tuple[Fraction, ...]], Mapping[Fraction, Value]]) -> Value:
        """Return what is needed at this epsilon, found together with that at all others that are asked about."""
        found = self.kept((name, self.epsilons), partial(_at_all, self.epsilons, make))
        return found[self.epsilon] if self.epsilon in found else make((self.epsilon,))[self.epsilon]

    def at(self, epsilon: Fraction) -> Problem:
        """Return the problem at another epsilon: what depends on none is found once, for both."""
        other, first = replace(self, epsilon=epsilon), vars(self).get(_LIKE, self)
        vars(other)[_LIKE] = first
        for name in _OF_ANY_EPSILON:
            with suppress(TakifuguError):  # which whoever asks for it is told
                vars(other)[name] = getattr(first, name)
        return other

    @property
    def is_pair(self) -> bool:
        """Return whether laws of the answer are compared, without entries."""
        return self.framework.is_pair

    @cached_property
    def answers(self) -> tuple[Additive, ...]:
        """Return the query resolved against each belief, with equal grid and cells.

        Raises InputError for two laws of the answer (`is_pair`), which have no entries to add up.
        """
        if self.is_pair:
            raise InputError(
                "two distributions of an answer have no values that add up to it", fix="use them directly"
            ).at("query")
        answers = _alike(tuple(resolved(self.query, b) for b in self.framework.beliefs or (self.framework.domain,)))
        if len({(a.grid, a.labels) for a in answers}) != 1:
            raise InputError(
                "the query has different cells or grids under different beliefs", fix="declare the states or the grid"
            ).at("query")
        return answers

    @cached_property
    def grid(self) -> Fraction:
        """Return the answer's grid, declared or fit for every value."""
        if not self.is_pair:
            return self.answers[0].grid
        if not isinstance(self.query, queries.Identity) or self.query.attribute is not None:
            raise InputError(
                f"two distributions are compared, not {self.query.describe()}", fix="publish Identity()"
            ).at("query")
        return pair_grid(self)[0]

    @property
    def unit(self) -> Fraction:
        """Return the unit of laws and moves: grid, or 1 for `distribution_pair`."""
        if self.is_pair:
            return Fraction(1)
        return self.grid

    @cached_property
    def on_grid(self) -> bool:
        """Return whether every possible answer is a multiple of the grid.

        Given laws and real-valued answers may be off it.
        """
        if self.is_pair:
            return pair_grid(self)[1]
        return all(answer.on_grid for answer in self.answers)

    @property
    def labels(self) -> tuple[str, ...]:
        return ("value",) if self.is_pair else self.answers[0].labels

    @property
    def cells(self) -> int:
        return len(self.labels)

    @property
    def published(self) -> tuple[str, ...]:
        """Return the names of the published values: cells, or choices."""
        if self.candidates is None:
            return self.labels
        return self.candidates.published

    @cached_property
    def candidates(self) -> queries.Candidates | None:
        """Return the candidates of a choice; None for a number with noise."""
        if self.is_pair or not is_chosen_from(self.answers[0]):
            return None
        return self.answers[0]

    def check_adds(self) -> None:
        """Raise Unsupported for a published choice.

        The law of the counts says nothing of it.
        """
        if self.candidates is not None:
            raise Unsupported(
                "one of declared values is chosen, and this mechanism adds noise to a number: use "
                'mechanism="influence" or "group-dp"'
            )

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Return all beliefs' different components with a secret, none for `distribution_pair`."""
        return () if self.is_pair else tuple(self._parts())

    def check_single(self) -> None:
        """Raise Unsupported where runs of entries are hidden together.

        What is proved of secrets of single values says nothing of them.
        """
        for belief, secret in product(self.framework.beliefs, self.framework.secrets):
            if secrets.view(secret, belief) is None and secret.family(belief).run > 1:
                raise Unsupported(
                    "it is proved for secrets of single values, and runs of them are hidden together: use "
                    'mechanism="influence" or "group-dp"'
                )

    @cached_property
    def law_parts(self) -> tuple[Part, ...]:
        """Return `parts` for mechanisms about the law of the answer.

        Each pair of given laws is a part. Separate entries (users) stay together in one: what the others add smooths
        the law of the answer given one user's secret. Of users with the same law, the same contribution to the answer
        and the same secrets only one is looked at. Raises Unsupported where a choice is published, and where runs of
        entries are secret.
        """
        self.check_adds()
        if self.is_pair:
            return tuple(_given(self, pair, number) for number, pair in enumerate(self.framework.pairs))
        self.check_single()
        if not any(map(separate, self.framework.beliefs)):
            return self.parts
        return tuple(self._parts(together=True))

    def _parts(self, together: bool = False) -> Iterator[Part]:
        if not self.framework.beliefs:
            raise Unsupported("the framework has no belief, so nothing says which values are independent")
        for place, (belief, answer) in enumerate(zip(self.framework.beliefs, self.answers, strict=True)):
            several = len(belief.components()) > 1
            pieces: dict[Hashable, Belief] = {}  # keeps the pieces alive, so that an id stays theirs
            for secret in self.framework.secrets:
                if (view := secrets.view(secret, belief)) is not None:
                    family = secret.family(view)
                    if family.has_pairs(view, 0):
                        yield Part(view, answer, family, number=place)
                    continue
                family = secret.family(belief)
                if users := separate(belief):
                    yield from _separate_parts(users, answer, family, together, place)
                    continue
                for group in alike(belief, answer, _indicator(family.entries, belief.size)):
                    secret_entries, run = inside(family.entries, group.run), group.run
                    if len(secret_entries) == 0:
                        continue
                    piece, share = belief.component(group.number), answer.restrict(slice(run.start, run.stop))
                    if not any(family.has_pairs(piece, entry) for entry in secret_entries):
                        continue
                    key = (id(piece), share.key, secret_entries, family.pairs, family.run)
                    if key in pieces:
                        continue
                    pieces[key] = piece
                    yield Part(piece, share, replace(family, entries=secret_entries), run.start, place, several)


def _at_all(
    epsilons: tuple[Fraction, ...], make: Callable[[tuple[Fraction, ...]], Mapping[Fraction, Value]]
) -> Mapping[Fraction, Value]:
    """Return what is found for several epsilons together; nothing where that fails at one of them."""
    if len(epsilons) > 1:
        with suppress(Unsupported, ArithmeticError, np.linalg.LinAlgError):
            return make(epsilons)
    return {}


def _alike(answers: tuple[Additive, ...]) -> tuple[Additive, ...]:
    """Return real-valued answers on the finest of the beliefs' grids."""
    if all(answer.on_grid for answer in answers):
        return answers
    finest = min(answer.grid for answer in answers)
    alike = []
    for answer in answers:
        alike.append(answer if answer.on_grid or answer.grid == finest else replace(answer, grid=finest))
    return tuple(alike)


def _separate_parts(
    users: Separate, answer: Additive, family: Family, together: bool, place: int
) -> Iterator[Part]:
    """Yield a part per sort of secret user, or one `together`: of all users, with one secret user per law."""
    first = users.representatives(family.entries, (answer.weights, answer.table_of), by_law=together)
    secret = tuple(filter(partial(family.has_pairs, users), first))
    if together and secret:
        yield Part(users, answer, replace(family, entries=secret), number=place)
    for user in () if together else secret:
        alone = replace(family, entries=range(1))
        yield Part(users.component(user), answer.restrict(slice(user, user + 1)), alone, user, place, users.size > 1)


def inside(entries: range | tuple[int, ...], run: range) -> range | tuple[int, ...]:
    """Return a run's chosen entries, counted from its start."""
    if isinstance(entries, range):
        return range(max(entries.start, run.start) - run.start, min(entries.stop, run.stop) - run.start)
    return tuple(e - run.start for e in entries if e in run)


def _indicator(entries: range | tuple[int, ...], size: int) -> Runs:
    """Return 1 for each of some entries, and 0 for others."""
    if isinstance(entries, range) and entries.step == 1:
        starts, stops = np.array([entries.start]), np.array([max(entries.start, entries.stop)])
    else:
        starts = np.array(sorted(entries), dtype=np.int64)
        stops = starts + 1
    return Runs.indicator(starts, stops, size)


def _given(problem: Problem, pair: LawPair, number: int) -> Part:
    """Return two given laws as a part with their span as change."""
    grid = pair_grid(problem)[0]
    steps = min(math.ceil(pair.span / grid), 2**60)  # nothing is calibrated to it: mechanisms ask for the laws
    answer = Additive(grid, ("value",), (integer_table([[0], [steps]]),), integer_row([1]))
    return Part(pair, answer, problem.framework.secrets[0].family(pair), number=number)


def pair_grid(problem: Problem) -> tuple[Fraction, bool]:
    """Return the grid for two laws, and whether it holds all atoms."""
    query = problem.query
    if not isinstance(query, queries.Identity) or query.attribute is not None:
        raise Unsupported(
            "between(p, q) compares two distributions of the published number itself", fix="publish Identity()"
        ).at("query")
    values = set[Fraction]()
    for pair in problem.framework.pairs:
        values.update(map(Fraction, [*pair.left.values.tolist(), *pair.right.values.tolist()]))
    atoms = sorted(values)
    if query.grid is not None:
        return query.grid, all((atom / query.grid).denominator == 1 for atom in atoms)
    step = common_step(atoms)
    if step.denominator <= FINEST_IMPLIED_GRID:
        return step, True
    return _power_of_ten((atoms[-1] - atoms[0] or abs(atoms[0])) * FINE), False


def _power_of_ten(largest: Fraction) -> Fraction:
    """Return the largest power of ten up to `largest`."""
    exponent = math.floor(math.log10(largest.numerator) - math.log10(largest.denominator))
    while Fraction(10) ** exponent > largest:
        exponent -= 1
    while Fraction(10) ** (exponent + 1) <= largest:
        exponent += 1
    return Fraction(10) ** exponent
