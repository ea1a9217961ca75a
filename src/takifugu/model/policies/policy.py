"""Policies of asymmetric privacy: which moves of one record must not be noticed (Takagi21 Definition IV.1, corrected).

A policy is a **set** of predicates p_1, ..., p_d over records. A move x -> x' is allowed iff p_i(x) -> p_i(x') for all
i: what is true of x stays true (errata E4: the printed relation is the negation). The requirement is
Pr[M(X) in S] <= e^epsilon Pr[M(X') in S] + delta for all data sets X, X' that differ by one allowed move, and nothing
the other way. With p = not c, "c is false", c may turn from true to false and never back: that somebody *was* at a
place is hidden, that they were not is not.

"Allowed" is a preorder on records: reflexive, and transitive, because implications are. Hence one move takes a record
wherever several do, and the distance d_p(X, X') is the number of records that differ, or infinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import NoReturn

from takifugu.core.errors import InputError
from takifugu.core.lists import list_of
from takifugu.core.plain import Plain, PlainForm, set_fields
from takifugu.core.rules import check_as_many, check_known, check_type
from takifugu.model.policies.predicates import KINDS, AnyOf, Checked, EachOf, NoneOf, Predicate, Record, Value, listed
from takifugu.numbers.rationals import Number, as_delta, as_epsilon, as_whole

#: The definition of privacy that a policy is read under (`takifugu.accounting.definitions`).
ASYMMETRIC = "asymmetric"


@dataclass(frozen=True)
class Policy(PlainForm, kind="policy"):
    """A set of predicates over records; none at all is ordinary differential privacy, where every move is allowed.

    A policy stands as the secret of a framework and reads back from JSON. Raises InputError for what is no predicate.

    >>> from takifugu.model.policies.predicates import none_of
    >>> at_home = Policy.of(none_of("bar"))
    >>> at_home.allows("bar", "home"), at_home.allows("home", "bar")
    (True, False)
    """

    rules: tuple[Predicate | EachOf, ...] = ()

    definition = ASYMMETRIC

    def __post_init__(self) -> None:
        rules = list_of(self.rules, "the predicates", "policy", "[none_of('ill')]", any_order=True)
        for rule in rules:
            fix = "write none_of('ill'), visits(), or checked(name, version, function)"
            check_type(rule, NoneOf | AnyOf | EachOf | Checked, "a predicate", fix, "policy")
        set_fields(self, rules=tuple(dict.fromkeys(rules)))

    @staticmethod
    def of(*rules: Predicate | EachOf) -> Policy:
        """Return the policy of moves allowed by all predicates."""
        return Policy(tuple(rules))

    def allows(self, before: Record, after: Record) -> bool:
        """Return whether one record's move before -> after must stay hidden.

        By E4 a move is allowed where p(before) -> p(after). Raises InputError where a predicate does.
        """
        for rule in self.rules:
            if isinstance(rule, EachOf):
                is_allowed = rule.allows(before, after)
            else:
                is_allowed = not rule(before) or rule(after)
            if not is_allowed:
                return False
        return True

    def intersected(self, other: Policy) -> Policy:
        """Return the policy of the moves allowed by both.

        Promises under the two add up under it.
        """
        return Policy((*self.rules, *other.rules))

    def predicates(self, values: Iterable[Value]) -> tuple[Predicate, ...]:
        """Return the predicates one by one; `values` are all values."""
        all_values, predicates = tuple(values), list[Predicate]()
        for rule in self.rules:
            predicates += rule.predicates(all_values) if isinstance(rule, EachOf) else [rule]
        return tuple(predicates)

    @property
    def values(self) -> tuple[Value, ...]:
        """Return the declared values in its predicates."""
        return tuple(dict.fromkeys(chain.from_iterable(rule.values for rule in self.rules)))

    @property
    def is_ordinary(self) -> bool:
        """Return whether every move is allowed, as in ordinary differential privacy."""
        return not self.rules

    def distance(self, one: Sequence[Record], other: Sequence[Record]) -> int | float:
        """Return d_p(X, X'), the least number of allowed moves, or infinity.

        A move changes one record. Raises InputError for data sets of different sizes (Takagi21 Definition IV.6 replaces
        records).

        >>> from takifugu.model.policies.predicates import none_of
        >>> one = Policy.of(none_of(1))
        >>> one.distance([1, 1, 0], [0, 0, 0]), one.distance([0], [1])
        (2, inf)
        """
        check_as_many(one, "records of one data set", other, "of the other")
        moved = 0
        for before, after in zip(one, other, strict=True):
            if before != after:
                moved += 1
                if not self.allows(before, after):
                    return math.inf
        return moved

    def describe(self) -> str:
        """Describe the hidden side; its opposite is not hidden."""
        if self.is_ordinary:
            return "any change of one record (ordinary differential privacy)"
        return " and ".join(rule.describe() for rule in self.rules)

    def family(self, belief: object) -> NoReturn:
        """Raise InputError: a policy is about records, whatever anybody believes of them."""
        raise InputError(
            "a policy is about every record, whatever anybody believes", fix="write Asymmetric(policy, domain)"
        ).at("secrets")

    def check_known(self, values: Iterable[Value]) -> None:
        """Raise InputError for a predicate's value without a record."""
        check_known(self.values, dict.fromkeys(values), "no record has the policy's value", "policy")


def policy_from(data: Plain) -> Policy:
    """Read a policy back from its `to_dict` form.

    >>> policy_from(visits().to_dict()) == visits()
    True
    """
    return Policy(tuple(KINDS.find(rule.get("kind"))(rule) for rule in data["rules"]))


def visits(places: Iterable[Value] | None = None) -> Policy:
    """Return the policy {"not at v", for each place v}.

    The policy hides the places V of a person against any V' that is a part of V. `places` are those that it is about;
    without them, every place of the domain. It hides that a person was somewhere, not that they were elsewhere or
    nowhere: the move {A} -> {B} is not allowed, so who knows that somebody was at exactly one of A and B may learn
    which. Raises InputError for an empty list. Source: Takagi21 Section IV-C, with p = not c (errata N3) and a
    set of predicates for several places (E6).

    >>> visits().allows(frozenset({"A", "B"}), frozenset({"B"})), visits().allows(frozenset({"A"}), frozenset({"B"}))
    (True, False)
    """
    return Policy((EachOf(None if places is None else listed(places)),))


def along_path(epsilon: Number, delta: Number, moves: int) -> tuple[Fraction, float]:
    """Return the promise for `moves` moves: k epsilon, and the delta.

    `epsilon` and `delta` are those of one move. The delta is delta times the sum of e^(i epsilon) for i < k, at most 1
    (group privacy along a path of data sets). Raises InputError for a negative number of moves.

    >>> along_path(1, 0, 3)
    (Fraction(3, 1), 0.0)
    """
    as_whole(moves, "the number of moves", "moves")
    epsilon_of_move, excess = as_epsilon(epsilon), as_delta(delta)
    try:
        total = 0.0
        if excess:
            total = float(excess) * math.fsum(math.exp(i * float(epsilon_of_move)) for i in range(moves))
    except OverflowError:
        total = 1.0
    return moves * epsilon_of_move, min(1.0, math.nextafter(total, 2.0) if total else 0.0)

