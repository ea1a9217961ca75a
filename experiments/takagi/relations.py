"""Which record may become which, and what that protects: policies beside Blowfish and OSDP (Takagi21 III, IV).

A *relation* `allowed(x, y)` is true iff Pr[M(X) in S] <= e^eps Pr[M(Y) in S] is required when x in X becomes y.
Ordinary differential privacy allows all moves, Blowfish privacy the edges of a graph, OSDP those from records outside
N, a policy {p_1, ...} those where p_i(x) implies p_i(y) for every i (errata E4, E6): `Policy.allows`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from takifugu.numbers.rationals import Number, as_epsilon

Relation = Callable[[Any, Any], bool]
Predicate = Callable[[Any], bool]


def outside(nonsensitive: Predicate) -> Relation:
    """Return the relation of OSDP: records outside N may become any other (Takagi21 Definition II.4)."""
    return lambda x, y: not nonsensitive(x)


def along(edges: Iterable[tuple[Any, Any]]) -> Relation:
    """Return the relation of Blowfish privacy: one end of an edge may become the other (Takagi21 Definition II.3)."""
    known = {frozenset(edge) for edge in edges}
    return lambda x, y: x == y or frozenset((x, y)) in known


def steps_between(x: Hashable, y: Hashable, records: Sequence[Hashable], allowed: Relation) -> float:
    """Return the least number of allowed moves that turn record x into y, by way of `records`; infinite for none.

    Data sets that differ in this one record are as far apart (Takagi21 Definition IV.6): a path through them changes
    the record along a path of its own. Under a policy it is 0, 1 or infinite, because its relation is transitive.

    >>> steps_between(0, 2, [0, 1, 2], along([(0, 1), (1, 2)]))
    2
    """
    reached, frontier, steps = {x}, {x}, 0
    while frontier:
        if y in frontier:
            return steps
        frontier = {b for b in records if b not in reached and any(allowed(a, b) for a in frontier)}
        reached, steps = reached | frontier, steps + 1
    return math.inf


def forbidden_edges(records: Iterable[Any], condition: Predicate) -> list[tuple[Any, Any]]:
    """Return the pairs that a Blowfish graph must not join for one-sided answers about a count (Takagi21 III.2, (10)).

    If eps < log(beta / alpha) / k, no edge joins records that differ in the condition: with one, k equal changes along
    it lead from data with t + 1 counted records to data with t + 1 - k (errata E7).
    """
    known = list(records)
    return [(x, y) for i, x in enumerate(known) for y in known[i + 1 :] if bool(condition(x)) != bool(condition(y))]


def forced_nonsensitive(records: Iterable[Any], condition: Predicate) -> list[Any]:
    """Return the records that N of OSDP must hold for one-sided answers q_<= (Takagi21 III.3; (11) is reversed, E7).

    Those that are *not* counted: from outside N one of them might become a counted one, which takes a count of t, where
    the answer is yes, to t + 1.
    """
    return [x for x in records if not condition(x)]


def risk_ceiling(
    secret: Predicate,
    records: Sequence[Hashable],
    allowed: Relation,
    epsilon: Number,
    known: Predicate = lambda x: True,
) -> float:
    """Return the largest Risk of a secret over all priors on one record and all mechanisms that keep epsilon.

    The Risk is the factor by which the odds of secret(x) grow (Takagi21 Section III-C). It is e^(d eps), d the largest
    number of moves from a record with the secret to one without, both possible for an adversary who knows `known`;
    infinite where one is not reached; 0 where nothing is left to learn.

    For one predicate p, the secret "not p, and p'" has at most e^eps (Proposition IV.4; (18) with p' true), so has any
    secret for adversaries who know p(x) (IV.5), and p itself has infinite Risk (IV.3). With several predicates the
    first is true of "none of them" only: under {not c_A, not c_B}, whether somebody was at A or at B is not protected.

    >>> from takifugu.model.policies.policy import visits
    >>> nowhere, one, other = (frozenset(places) for places in ("", "A", "B"))
    >>> def at_a(visited): return "A" in visited
    >>> [risk_ceiling(at_a, possible, visits().allows, 1) for possible in ([nowhere, one, other], [nowhere, one])]
    [inf, 2.718281828459045]
    """
    possible = [x for x in records if known(x)]
    having, lacking = ([x for x in possible if bool(secret(x)) == truth] for truth in (True, False))
    if not having or not lacking:
        return 0.0
    steps = max(steps_between(x, y, records, allowed) for x in having for y in lacking)
    return math.exp(min(float(as_epsilon(epsilon)) * steps, 700.0)) if math.isfinite(steps) else math.inf


def telling_yes(data: Iterable[Any], predicate: Predicate, epsilon: Number) -> float:
    """Return P(yes) of the mechanism of Takagi21 (14), (17): a yes shows that the predicate is true of every record.

    1 - e^-eps where it is, 0 where not: (eps, {p})-asymmetric privacy with infinite Risk of p (Proposition IV.3).

    >>> round(telling_yes([0, 0], lambda x: x == 0, 1), 6), telling_yes([0, 1], lambda x: x == 0, 1)
    (0.632121, 0.0)
    """
    return -math.expm1(-float(as_epsilon(epsilon))) if all(predicate(x) for x in data) else 0.0
