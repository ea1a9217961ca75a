"""What goes into a ledger and what comes out of it, as plain values; the amounts are exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from takifugu.accounting.amounts import SMALLEST_SPEND, in_order, short
from takifugu.analysis.guarantee import Charge
from takifugu.core.errors import InputError
from takifugu.core.plain import Plain
from takifugu.model.frameworks import Framework
from takifugu.numbers.rationals import Number, as_delta, as_epsilon

#: What a release goes through; from the first on its epsilon counts as spent, whatever happens afterwards.
RESERVED, DRAWN, PUBLISHED = "reserved", "drawn", "published"
#: The scope of a release whose charge cannot be read: what it spent is known, and nothing more can be paid beside it.
UNREADABLE = "unreadable"

@dataclass(frozen=True, eq=False)
class Debit:
    """One unit's part of a release: the charge and the unit's framework.

    `unit` identifies whose data the answer reads ("" where a source is one unit); only a keyed hash of it is kept.
    Debits with the same `name` belong to one release; a pooled answer has one debit for every unit that it reads.
    """

    framework: Framework
    charge: Charge
    unit: str = ""
    name: str = "release"

    @property
    def kinds(self) -> tuple[Debit, ...]:
        return (self,)

    @property
    def units(self) -> Mapping[str, int]:
        return {self.unit: 0}


@dataclass(frozen=True, eq=False)
class Debits:
    """One release's debits of many units, by the number of their kind.

    Units go by name. The `kinds` say what is charged, and not of whom.
    """

    kinds: tuple[Debit, ...]
    units: Mapping[str, int]

    @property
    def name(self) -> str:
        return self.kinds[0].name


@dataclass(frozen=True)
class Amount:
    """An epsilon and a delta, exact.

    >>> str(Amount(Fraction(1, 3), Fraction(0)))
    'epsilon 1/3'
    """

    epsilon: Fraction
    delta: Fraction

    @property
    def pair(self) -> tuple[Fraction, Fraction]:
        return self.epsilon, self.delta

    def __str__(self) -> str:
        return self.text(up=True)

    def text(self, up: bool) -> str:
        """Write the amount to six digits, rounded up (spent) or down (left)."""
        return self._in_words(short(self.epsilon, up), short(self.delta, up))

    def with_budget(self, budget: Amount) -> tuple[str, str]:
        """Write this expense and a budget in their true order.

        >>> Amount(Fraction("0.01503004"), Fraction(0)).with_budget(Amount(Fraction("0.01503006"), Fraction(0)))
        ('epsilon 0.01503004', 'epsilon 0.01503006')
        """
        epsilon, most_epsilon = in_order(self.epsilon, budget.epsilon)
        delta, most_delta = in_order(self.delta, budget.delta)
        return self._in_words(epsilon, delta), budget._in_words(most_epsilon, most_delta)

    def spent_by(self, source: str, budget: Amount) -> str:
        """Say that a source has spent this of its budget."""
        return f"the source {source!r} has spent {' of '.join(self.with_budget(budget))}"

    def _in_words(self, epsilon: str, delta: str) -> str:
        if self.delta == 0:
            return f"epsilon {epsilon}"
        return f"epsilon {epsilon}, delta {delta}"

    def beyond(self, other: Amount) -> Amount:
        """Return the excess of this amount over the other, at least nothing."""
        return Amount(max(self.epsilon - other.epsilon, Fraction(0)), max(self.delta - other.delta, Fraction(0)))

    def plus(self, other: Amount) -> Amount:
        """Add up two amounts."""
        return Amount(self.epsilon + other.epsilon, self.delta + other.delta)

    def times(self, count: int) -> Amount:
        """Return so many such amounts together."""
        return Amount(count * self.epsilon, count * self.delta)

    def fits(self, other: Amount) -> bool:
        """Whether this amount is within the other."""
        return self.epsilon <= other.epsilon and self.delta <= other.delta


NOTHING = Amount(Fraction(0), Fraction(0))


def most(amounts: list[Amount]) -> Amount:
    """Return the largest epsilon and the largest delta."""
    epsilon = delta = Fraction(0)
    for amount in amounts:
        epsilon, delta = max(epsilon, amount.epsilon), max(delta, amount.delta)
    return Amount(epsilon, delta)


def as_budget(budget: Number | tuple[Number, Number] | Amount) -> Amount:
    """Read a budget: epsilon, or (epsilon, delta).

    Raises InputError unless epsilon is a finite number above 0 (and not subnormal) and delta lies in [0, 1).

    >>> as_budget(1), as_budget((0.5, 1e-6)).delta
    (Amount(epsilon=Fraction(1, 1), delta=Fraction(0, 1)), Fraction(1, 1000000))
    """
    if isinstance(budget, Amount):
        budget = (budget.epsilon, budget.delta)
    epsilon, delta = budget if isinstance(budget, tuple) else (budget, 0)
    amount = Amount(as_epsilon(epsilon, "the budget's epsilon"), as_delta(delta, "the budget's delta"))
    if amount.epsilon < SMALLEST_SPEND:
        raise InputError(
            f"the budget's epsilon is {epsilon!r}", rule="it is too small to be meant", fix="write for example 1.0"
        ).at("budget")
    return amount


@dataclass(frozen=True)
class Source:
    """A declared name, random id and budget, None before the first release.

    `number` is that of its row in the ledger, 0 before there is one.
    """

    name: str
    id: str
    budget: Amount | None
    budget_is_implied: bool
    number: int = field(default=0, repr=False, compare=False)


@dataclass(frozen=True)
class Reservation:
    """Paid releases, with all their source has spent then.

    `ids` are their random ids by name. They move together, under the random id `group`. `same_people` names the other
    sources of the ledger that name units alike, and says of each whether these were declared to be the same people,
    `same_entries` which readings of the source were declared to be of the same entries.
    """

    source: str
    ids: dict[str, str]
    spent: Amount
    budget: Amount
    same_people: Mapping[str, bool] = field(default_factory=dict)
    group: str = ""
    same_entries: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of the first or only release."""
        return next(iter(self.ids.values()))


@dataclass(frozen=True)
class Payment:
    """Releases paid together, whatever became of them.

    `ids` are their random ids by name. `identity` is the keyed hash of what they are, `recipe` says how they are
    completed, under which key they were paid for, and which keys of a release file they answer.
    """

    group: str
    ids: dict[str, str]
    state: str
    identity: str | None
    created: str
    recipe: Plain

    @property
    def once(self) -> str | None:
        """The key against paying twice, if given."""
        return self.recipe.get("once")


@dataclass(frozen=True)
class Pending(Payment):
    """An unpublished payment, drawn or not yet.

    `bundle` holds the noisy values from the draw on (None before it, and where they are lost). `spent` is what the
    source has spent with it and with everything else.
    """

    source: str
    bundle: bytes | None
    spent: Amount
    budget: Amount
    same_people: Mapping[str, bool] = field(default_factory=dict)
    same_entries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Event:
    """An event of a source beside releases, such as another budget."""

    created: str
    what: str


@dataclass(frozen=True)
class UnitSpent:
    """The spending of one unit, under its keyed hash."""

    unit: str
    spent: Amount


@dataclass(frozen=True)
class Spent:
    """The spending of a source: any unit's most, and each unit's amount."""

    spent: Amount
    budget: Amount | None
    units: tuple[UnitSpent, ...]

    @property
    def left(self) -> Amount | None:
        """The rest for the unit of largest spending; None without a budget."""
        if self.budget is None:
            return None
        return self.budget.beyond(self.spent)


@dataclass(frozen=True)
class Entry:
    """One release as the ledger remembers it.

    Of one whose charge cannot be read the `scope` is UNREADABLE, and `kinds` is empty.
    """

    id: str
    name: str
    state: str
    amount: Amount
    kinds: tuple[str, ...]
    scope: str
    units: int
    frameworks: tuple[str, ...]
    software: str
    created: str


@dataclass(frozen=True)
class SourceRow:
    """One line of `takifugu ledger show`."""

    name: str
    id: str
    spent: Amount
    budget: Amount | None
    budget_is_implied: bool
    units: int
    releases: int
    unpublished: int
    names_people: bool
