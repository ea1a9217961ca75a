"""What mechanisms of asymmetric privacy share: how the answer moves, what forces the noise, and what it must not do."""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass, replace
from fractions import Fraction

import numpy as np

from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Direction
from takifugu.core.errors import Unsupported
from takifugu.model.policies.places import Visits
from takifugu.model.policies.policy import Policy
from takifugu.model.policies.predicates import Checked
from takifugu.model.policies.sensitivity import Monotone, Sensitivity, sensitivity
from takifugu.model.queries import Additive, resolved
from takifugu.model.queries.forms import own_grid
from takifugu.model.secrets.hypotheses import Comparison, EntryIs

NO_POLICY = "the framework has no policy: write Asymmetric(policy, domain)"
#: Which way noise must leave room, by which way a cell moves.
DIRECTIONS = {
    Monotone.DECREASING: Direction.DOWN, Monotone.INCREASING: Direction.UP, Monotone.NONE: Direction.EITHER,
    Monotone.CONSTANT: Direction.DOWN,
}  # fmt: skip


@dataclass(frozen=True)
class Moves:
    """How a problem's answer moves along one allowed move of its policy, cell by cell."""

    policy: Policy
    sensitivity: Sensitivity

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Return the direction of every cell, or the shared one."""
        directions = tuple(DIRECTIONS[change.direction] for change in self.sensitivity.changes)
        return directions[:1] if len({*directions}) == 1 else directions

    def units(self, problem: Problem) -> Fraction:
        """Return the total change along one move, in grid steps."""
        return self.sensitivity.total / problem.grid

    def witness(self, problem: Problem) -> Witness:
        """Return the move behind the noise."""
        detail = self.sensitivity.describe()
        if self.sensitivity.worst is None:
            return Witness("no comparison: no allowed move changes the answer", detail)
        record, before, after = self.sensitivity.worst
        comparison = comparison_of(problem.framework.domain, record, before, after)
        return Witness(comparison.label, detail, (("D", float(self.sensitivity.total)),))

    @property
    def covers(self) -> Covers:
        """Return the composition: alone if a predicate is a function."""
        return composition_of(self.policy)


def moves_of(problem: Problem) -> Moves:
    """Return how the answer of a problem moves under its policy; Unsupported without one."""
    policies = [secret for secret in problem.framework.secrets if isinstance(secret, Policy)]
    if len(policies) != len(problem.framework.secrets) or not policies or problem.framework.given_domain is None:
        raise Unsupported(NO_POLICY)
    policy = policies[0]
    for other in policies[1:]:
        policy = policy.intersected(other)
    _check_exact(problem)
    return Moves(policy, sensitivity(policy, problem.framework.given_domain, problem.query))


def comparison_of(domain: object, record: int, before: object, after: object) -> Comparison:
    """Return an allowed move of one record as a comparison, one way."""
    name = "a person's places" if isinstance(domain, Visits) else ""
    return Comparison(None, EntryIs(record, before, name), EntryIs(record, after, name), one_way=True)


def composition_of(policy: Policy) -> Covers:
    """Return the composition: alone if a predicate is a function."""
    if any(isinstance(rule, Checked) for rule in policy.rules):
        return Covers.OUTPUT
    return Covers.COMPONENT


def public_end(problem: Problem) -> int | None:
    """Return the public largest value of all cells, which run from 0 to it for any data, in grid steps; else None."""
    answer = problem.answers[0]
    if not isinstance(answer, Additive):
        return None
    low, high = np.zeros((2, answer.cells), dtype=object)
    kinds = answer.table_numbers
    for number, table in enumerate(answer.tables):
        weights = answer.weights[kinds == number]
        up, down = int(weights[weights > 0].sum()), int(weights[weights < 0].sum())
        low += up * table.min(axis=0).astype(object) + down * table.max(axis=0).astype(object)
        high += up * table.max(axis=0).astype(object) + down * table.min(axis=0).astype(object)
    ends = set(high.tolist())
    return ends.pop() if not low.any() and len(ends) == 1 and max(ends) > 0 else None


def check_falls(moves: Moves) -> None:
    """Raise Unsupported for thresholds on cells with a rising move."""
    rising = [c.direction for c in moves.sensitivity.changes if c.direction in (Monotone.INCREASING, Monotone.NONE)]
    if rising:
        raise Unsupported(
            f'"safe" could be wrong: {moves.sensitivity.describe()}, and only noise that adds is never wrong about it',
            fix="hide what is counted, p = not c, each by a predicate of its own: visits() or none_of(...)",
        )


def _check_exact(problem: Problem) -> None:
    """Refuse a declared grid too coarse for the answer."""
    query = problem.query
    if own_grid(query) is None:
        return
    assert is_dataclass(query)
    exact = resolved(replace(query, grid=None), problem.framework.domain)
    if (exact.grid / problem.grid).denominator != 1:
        raise Unsupported(
            "the query's grid rounds what each record adds, to either side", fix="leave it out, or declare a finer one"
        )
