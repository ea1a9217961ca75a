"""The framework that a policy makes of a domain: what must not be noticed, whatever anybody believes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, permutations

from takifugu.core.errors import InputError
from takifugu.core.rules import check_type
from takifugu.model.beliefs.domain import Domain
from takifugu.model.frameworks import Framework
from takifugu.model.policies.places import Visits
from takifugu.model.policies.policy import ASYMMETRIC, Policy
from takifugu.model.policies.predicates import Value
from takifugu.model.policies.sensitivity import Monotone
from takifugu.model.queries import Visitors

NOTHING = "the policy protects nothing: no record may move to another one"


def Asymmetric(policy: Policy, domain: Domain | Visits) -> Framework:
    """Hide one side of a fact: asymmetric privacy of a policy (Takagi21 Definition IV.2).

    The guarantee holds for any two data sets that differ by one allowed move, in that order. It needs no belief.

    Args:
        policy: The moves to hide.
        domain: The possible records.

    Returns:
        The framework, for `calibrate`.

    Raises:
        InputError: For a policy that protects nothing, names a value that no record has, or has a predicate that
            raises.

    Examples:
        >>> from takifugu.model.policies.policy import visits
        >>> Asymmetric(visits(), Visits.of(["bar", "shop"], most=1)).definition
        'asymmetric'
    """
    check_type(policy, Policy, "a policy", "write visits(), or Policy.of(none_of('ill'), ...)", "policy")
    check_type(domain, Domain | Visits, "a domain", "write Visits.of(places), or Domain.of(count, values)", "domain")
    policy.check_known(_values(domain))
    if _protects_nothing(policy, domain):
        raise InputError(
            NOTHING, rule="what is hidden is a move to another record",
            fix="hide something that may become false: p = not c, none_of(...), for what is sensitive",
        ).at("policy")  # fmt: skip
    return Framework((policy,), (), ASYMMETRIC, domain)


def _values(domain: Domain | Visits) -> Iterable[Value]:
    if isinstance(domain, Visits):
        return domain.numbers
    return dict.fromkeys(chain.from_iterable(set(domain.alphabets)))


def _protects_nothing(policy: Policy, domain: Domain | Visits) -> bool:
    if isinstance(domain, Visits):
        moves = domain.moves(policy, domain.resolve(Visitors()))
        return moves.direction is Monotone.CONSTANT
    for values in set(domain.alphabets):
        if any(policy.allows(before, after) for before, after in permutations(values, 2)):
            return False
    return True
