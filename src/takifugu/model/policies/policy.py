"""Policies of asymmetric privacy: which moves of one record must not be noticed (Takagi21 Definition IV.1, corrected).

A policy is a **set** of predicates. A move x -> x' is allowed iff p(x) -> p(x') for all of them (errata E4: the printed
relation is the negation), and nothing is required the other way: with p = not c, that somebody *was* at a place is
hidden, that they were not is not. "Allowed" is a preorder, so one move takes a record wherever several do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NoReturn

from takifugu.core.errors import InputError
from takifugu.core.plain import Plain, PlainForm, set_fields
from takifugu.core.rules import check_as_many, check_known, check_type, list_of
from takifugu.model.policies.predicates import (
    AnyOf,
    Checked,
    EachOf,
    NoneOf,
    Predicate,
    Record,
    Value,
    from_dict,
    listed,
)

#: The definition of privacy that a policy is read under (`takifugu.accounting.definitions`).
ASYMMETRIC = "asymmetric"


@dataclass(frozen=True)
class Policy(PlainForm, kind="policy"):
    """Hold predicates over records; a move is hidden if it keeps every predicate that was true.

    Without predicates every move is hidden: ordinary differential privacy. A policy is the secret of a framework and
    reads back from JSON.

    Args:
        rules: The predicates; `Policy.of` takes them one by one.

    Raises:
        InputError: For anything that is no predicate.

    Examples:
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
        """Return the policy of the moves that all predicates allow.

        Args:
            rules: The predicates.

        Returns:
            The policy.
        """
        return Policy(tuple(rules))

    def allows(self, before: Record, after: Record) -> bool:
        """Return whether a move of one record is hidden.

        By E4 a move is allowed where p(before) implies p(after), for each predicate p.

        Args:
            before: The record's value before.
            after: Its value after.

        Returns:
            True if it is hidden.

        Raises:
            InputError: Where a predicate does.
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
        """Return the policy of the moves that both policies allow; guarantees under the two add up under it.

        Args:
            other: The second policy.

        Returns:
            The policy.
        """
        return Policy((*self.rules, *other.rules))

    def predicates(self, values: Iterable[Value]) -> tuple[Predicate, ...]:
        """Return the predicates one by one.

        Args:
            values: All values of a record.

        Returns:
            The predicates.
        """
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
        """Return d_p(X, X'), the least number of allowed moves from one data set to another.

        A move changes one record.

        Args:
            one: The first data set's records.
            other: The second one's, as many.

        Returns:
            The number, or infinity.

        Raises:
            InputError: For data sets of different sizes (Takagi21 Definition IV.6 replaces records).

        Examples:
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
        """Refuse: a policy is about records under any belief.

        Args:
            belief: A belief.

        Returns:
            Nothing.

        Raises:
            InputError: Always.
        """
        raise InputError(
            "a policy is about every record, whatever anybody believes", fix="write Asymmetric(policy, domain)"
        ).at("secrets")

    def check_known(self, values: Iterable[Value]) -> None:
        """Check that every value in a predicate has a record.

        Args:
            values: All values of a record.

        Raises:
            InputError: For a value without one.
        """
        check_known(self.values, dict.fromkeys(values), "no record has the policy's value", "policy")


def policy_from(data: Plain) -> Policy:
    """Read a policy back from its `to_dict` form."""
    return Policy(tuple(map(from_dict, data["rules"])))


def visits(places: Iterable[Value] | None = None) -> Policy:
    """Hide that a person was somewhere: the policy {"not at v", for each place v}.

    It hides the places V of a person against any subset of V. It does not hide that they were elsewhere or nowhere: the
    move {A} -> {B} is not allowed, so a reader who knows that somebody was at exactly one of A and B may learn which.

    Args:
        places: The places to hide; None for every place of the domain.

    Returns:
        The policy.

    Raises:
        InputError: For an empty list.

    Source: Takagi21 Section IV-C, with p = not c (errata N3) and a set of predicates for several places (E6).

    Examples:
        >>> both, bar, shop = frozenset({"bar", "shop"}), frozenset({"bar"}), frozenset({"shop"})
        >>> visits().allows(both, bar), visits().allows(bar, shop)
        (True, False)
    """
    return Policy((EachOf(None if places is None else listed(places)),))
