"""What every member of a registry must do: one function per kind of member, for ours and for anybody else's.

`python -c "from tests.conformance.suite import check_belief; check_belief(MyBelief())"` is all that it takes. Each
check raises AssertionError with words that say which rule was broken, and uses the member's public face only.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import chdtrc
from tests.conformance.corpus import Case

from takifugu.audit import true_delta, true_loss
from takifugu.beliefs import from_dict as belief_from_dict
from takifugu.errors import Unsupported
from takifugu.noise import InsecureSeededEntropyForTests
from takifugu.problem import Bound, Cost, Mechanism, Problem, Refusal
from takifugu.queries import from_dict as query_from_dict
from takifugu.randomisers import from_dict as randomiser_from_dict

#: The audit's own rounding, relative: losses are compared up to it.
SLACK = 1e-9


@dataclass(frozen=True)
class Verdict:
    """What a mechanism promised for a case and what the audit found of it; `used` is the part of the promise used."""

    bound: Bound
    used: float


def bound_of(mechanism: Mechanism, problem: Problem) -> Bound | str:
    """Return the mechanism's bound, or the reason why it has none; check what holds of either."""
    try:
        cost = mechanism.cost(problem)
        assert isinstance(cost, Cost), f"{mechanism.name}: cost() returns {cost!r}, not a Cost"
        assert cost.operations >= 0, f"{mechanism.name}: predicts {cost.operations} operations"
        assert cost.memory >= 0, f"{mechanism.name}: predicts {cost.memory} bytes"
        found = mechanism.bound(problem)
    except Unsupported as unsupported:
        found = Refusal(str(unsupported))
    if isinstance(found, Refusal):
        assert len(found.reason.split()) >= 3, f"{mechanism.name}: refuses without a reason: {found.reason!r}"
        return found.reason
    noise = found.randomiser
    assert math.isfinite(noise.scale), f"{mechanism.name}: the scale is {noise.scale}"
    assert noise.scale >= 0, f"{mechanism.name}: the scale is {noise.scale}"
    assert noise.cells == problem.cells, f"{mechanism.name}: noise for {noise.cells} of {problem.cells} cells"
    assert found.epsilon > 0, f"{mechanism.name}: promises epsilon {found.epsilon}"
    assert 0 <= found.delta < 1, f"{mechanism.name}: promises delta {found.delta}"
    why = found.witness.comparison or found.witness.detail
    assert why, f"{mechanism.name}: does not say what forced the noise"
    return found


def check_mechanism(
    mechanism: Mechanism, case: Case, epsilon: Fraction, delta: Fraction = Fraction(0)
) -> Verdict | None:
    """Check one mechanism on one case: its promise is kept, or it refuses with a reason (then None)."""
    found = bound_of(mechanism, Problem(case.framework, case.query, epsilon, delta))
    if isinstance(found, str):
        return None
    return audited(mechanism.name, case, found)


def audited(name: str, case: Case, bound: Bound) -> Verdict:
    """Set a bound against the exact audit; AssertionError where more is lost than it promises."""
    told, noise = (case.framework, case.query), bound.randomiser
    used = math.inf
    if noise.kind != "rounded-normal":
        used = true_loss(*told, noise, case.members).lower / float(bound.epsilon)
    if bound.delta > 0 and used > 1:
        used = true_delta(case.framework, bound.epsilon, case.query, noise, case.members).lower / float(bound.delta)
    elif noise.kind == "rounded-normal" and math.isinf(used):
        raise AssertionError(f"{name} on {case.name}: normal noise under a promise without delta")
    assert used <= 1 + SLACK, (
        f"{name} on {case.name!r} promises epsilon {float(bound.epsilon)}, delta {float(bound.delta)} with scale "
        f"{float(noise.scale):.6g}, and uses {used:.6g} of it"
    )
    return Verdict(bound, used)


def halved(mechanism: Mechanism, problem: Problem) -> Bound | str:
    """Return a bound that claims the promise with half of the noise: half the scale, or else twice the epsilon."""
    found = bound_of(mechanism, problem)
    if isinstance(found, str):
        return found
    noise = found.randomiser
    for field in ("units", "sigma", "scale"):
        if field in {f.name for f in fields(noise)}:  # type: ignore[arg-type]
            return replace(found, randomiser=replace(noise, **{field: getattr(noise, field) / 2}))  # type: ignore[type-var]
    twice = bound_of(mechanism, Problem(problem.framework, problem.query, 2 * problem.epsilon, problem.delta))
    return twice if isinstance(twice, str) else replace(twice, epsilon=found.epsilon)


def check_belief(belief: Any, others: Sequence[Any] = ()) -> None:
    """Check what holds of every belief: sizes, alphabets, components, what is possible, words, and the way to JSON."""
    name = type(belief).__name__
    assert belief.source.strip(), f"{name}: does not say where it comes from"
    assert belief.describe().strip(), f"{name}: has no words for the certificate"
    assert all(isinstance(a, str) and a for a in belief.assumptions()), f"{name}: assumptions are sentences"
    runs = [list(run) for run in belief.components()]
    assert [e for run in runs for e in run] == list(range(belief.size)), f"{name}: its components are not its entries"
    for entry in range(belief.size):
        alphabet, possible = belief.alphabet(entry), belief.possible(entry)
        assert len(alphabet) == len(set(alphabet)) >= 1, f"{name}: entry {entry} has the values {alphabet}"
        assert len(possible) == len(alphabet), f"{name}: entry {entry} has {len(possible)} marks for {alphabet}"
        assert any(possible), f"{name}: entry {entry} can have no value"
    for number, run in enumerate(runs):
        piece = belief.component(number)
        assert piece.size == len(run), f"{name}: component {number} has {piece.size} entries, not {len(run)}"
        for inside, entry in enumerate(run):
            assert piece.possible(inside) == belief.possible(entry), f"{name}: component {number} forgets what can be"
            assert piece.alphabet(inside) == belief.alphabet(entry), f"{name}: component {number} renames values"
    if belief.names is not None:
        assert len(set(belief.names)) == belief.size, f"{name}: names are not one per entry"
        assert [belief.position(n) for n in belief.names] == list(range(belief.size)), f"{name}: names are misplaced"
    written = json.loads(json.dumps(belief.to_dict(), allow_nan=False))
    again = belief_from_dict(written)
    assert json.loads(json.dumps(again.to_dict())) == written, f"{name}: does not read back from JSON as it is"
    assert again.describe() == belief.describe(), f"{name}: reads back from JSON with other words"


def check_randomiser(noise: Any, answers: Sequence[int | Fraction], outputs: Sequence[int]) -> None:
    """Check a randomiser of one cell: its law sums to one, draws follow it, its error is the law's, it round-trips.

    `answers` are in units of the grid and equally likely, unless the randomiser holds a `prior` of them; `outputs` hold
    all but a millionth of what comes out of any of them.
    """
    name, grid = noise.kind, noise.grid
    prior = getattr(noise, "prior", [1 / len(answers)] * len(answers))
    error = 0.0
    for chance, answer in zip(prior, answers, strict=True):
        masses = np.array([math.exp(noise.log_density([answer], [y * grid])) for y in outputs])
        assert abs(masses.sum() - 1) < 1e-6, f"{name}: its masses sum to {masses.sum()}"
        error += chance * float(abs(np.array(outputs) - float(answer)) @ masses) * float(grid)
        _check_draws(noise, answer, dict(zip(outputs, masses, strict=True)))
    assert abs(noise.expected_error() - error) < 1e-5 * (1 + error), f"{name}: its expected error is not its law's"
    again = randomiser_from_dict(json.loads(json.dumps(noise.to_dict(), allow_nan=False)))
    assert again == noise, f"{name}: does not read back from JSON as it is"


def _check_draws(noise: Any, answer: int | Fraction, masses: dict[int, float], draws: int = 2000) -> None:
    entropy = InsecureSeededEntropyForTests(6)
    seen = dict.fromkeys(masses, 0)
    for _ in range(draws):
        (value,) = noise.draw([answer], entropy)
        assert noise.log_density([answer], [value]) > -math.inf, f"{noise.kind}: draws {value}, which its law excludes"
        if value / noise.grid in seen:
            seen[int(value / noise.grid)] += 1
    often = [y for y, mass in masses.items() if mass * draws >= 5]
    statistic = sum((seen[y] - masses[y] * draws) ** 2 / (masses[y] * draws) for y in often)
    chance = float(chdtrc(max(len(often) - 1, 1), statistic))
    assert chance > 1e-6, f"{noise.kind}: draws do not follow its law (p = {chance:g})"


def check_query(query: Any, belief: Any, data: Sequence[Any], expected: Sequence[Any]) -> None:
    """Check a query on one belief: the answer to `data` is `expected` (answer units), D is the largest change."""
    answer = query.resolve(belief)
    places = np.array([belief.alphabet(i).index(v) for i, v in enumerate(data)])
    found = [Fraction(cell) * answer.grid for cell in answer.evaluate(places)]
    assert found == [Fraction(x) for x in expected], f"{query.describe()}: {found} for {data}, not {list(expected)}"
    changes = answer.entry_changes()
    for entry in range(belief.size):
        largest = 0
        for value in range(len(belief.alphabet(entry))):
            other = places.copy()
            other[entry] = value
            moved = zip(answer.evaluate(other), answer.evaluate(places), strict=True)
            largest = max(largest, sum(abs(a - b) for a, b in moved))
        assert largest <= changes[entry], f"{query.describe()}: entry {entry} moves it by {largest} > {changes[entry]}"
    again = query_from_dict(json.loads(json.dumps(query.to_dict(), allow_nan=False)))
    assert again.to_dict() == query.to_dict(), f"{query.describe()}: does not read back from JSON as it is"
    assert query.describe().strip(), "a query has words for the certificate"
