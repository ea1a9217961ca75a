"""Takagi21's propositions against enumeration: paths over data sets, the best mechanism by LP, Risk over priors."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import linprog
from tests.support import policies

from takagi import bounds, relations
from takagi.virtual import one_way_ceiling, virtual_beta
from takifugu.mechanisms.one_sided.answers import sanitiser
from takifugu.mechanisms.one_sided.questions import at_most
from takifugu.mechanisms.one_sided.tails import count_noise
from takifugu.model.policies.policy import Policy, visits

F = Fraction
#: Records are sets of places.
NONE, A, B, AB = frozenset(), frozenset("A"), frozenset("B"), frozenset("AB")
PLACES = [NONE, A, B, AB]
ONE_PLACE = [NONE, A, B]


def not_at(place):
    return lambda record: place not in record


def at(place):
    return lambda record: place in record


def count(data, place="A"):
    return sum(place in record for record in data)


BOTH_HIDDEN = [not_at("A"), not_at("B")]


@pytest.mark.parametrize("records", [PLACES, ONE_PLACE])
@pytest.mark.parametrize(
    ("policy", "predicates"), [(visits(["A"]), [not_at("A")]), (visits(), BOTH_HIDDEN), (Policy.of(), [lambda r: True])]
)
def test_one_record_moves_as_far_as_its_data_set(records, policy, predicates):
    related, data = policy.allows, policies.datasets(records, 2)
    assert set(policies.moves(data, related)) == set(policies.moves(data, policies.policy(*predicates)))
    for rest in records:
        for x in records:
            steps = policies.distances((x, rest), data, policies.policy(*predicates))
            for y in records:
                assert relations.steps_between(x, y, records, related) == steps.get((y, rest), math.inf)


@pytest.mark.parametrize("records", [PLACES, ONE_PLACE])
def test_the_distance_from_danger_is_found_by_breadth_first_search(records):
    """Errata E7: k = min over X' with q(X') False of d(X', X), not d(X, X'), which is infinite."""
    data, related = policies.datasets(records, 3), policies.policy(*BOTH_HIDDEN)
    for t in range(3):
        away = [policies.distances(x, data, related) for x in data if count(x) > t]
        for x in data:
            if count(x) > t:
                continue
            k = min((start[x] for start in away if x in start), default=math.inf)
            able = sum("A" not in r and (records is PLACES or not r) for r in x)
            assert bounds.steps_to_false(at_most(t), count(x), able) == k
            assert not any(count(y) > t for y in policies.distances(x, data, related))


@pytest.mark.parametrize("delta", [0.0, 0.02])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_symmetric_bounds_are_necessary(delta, k):
    """A mechanism that an LP finds never has less epsilon, or delta, than (7) and (9) ask for."""
    data = policies.datasets([0, 1], 3)
    for alpha, epsilon in itertools.product([0.0, 0.01, 0.1], [0.3, 1.0]):
        best = policies.best_yes(data, policies.anything, lambda x: sum(x) >= k, (0, 0, 0), alpha, epsilon, delta)
        assert best <= bounds.group_bound(alpha, F(str(epsilon)), F(str(delta)), k) + 1e-9
        assert bounds.symmetric_delta(alpha, min(1, best), F(str(epsilon)), k) <= delta + 1e-9
        if delta == 0 and best > 0:
            assert bounds.symmetric_epsilon(alpha, best, k) <= epsilon + 1e-7


def test_the_printed_numbers_of_section_iii():
    assert bounds.symmetric_delta(0, "0.5", 1, 3) == pytest.approx(0.045015, abs=1e-6)  # X4: not 0.12
    assert bounds.symmetric_epsilon("1e-4", "0.5", 1) == pytest.approx(math.log(5000), rel=1e-14)  # 8.517, not 8.4
    assert bounds.symmetric_epsilon(0, "0.5", 1) == math.inf
    assert bounds.symmetric_epsilon("0.5", "0.5", 1) == 0
    assert virtual_beta(0, 1, bounds.symmetric_delta(0, "0.5", 1, 3), 3) == pytest.approx(0.5)


@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=5),
    st.lists(st.integers(0, 6), min_size=2, max_size=5),
    st.fractions(0, 1, max_denominator=20),
)
def test_no_sanitiser_beats_the_power(one, other, alpha):
    one, other = one[: len(other)], other[: len(one)]
    if not sum(one) or not sum(other):
        return
    law = {z: F(n, sum(one)) for z, n in enumerate(one)}
    false = {z: F(n, sum(other)) for z, n in enumerate(other)}
    power = bounds.power(law, false, alpha)
    plain = F(0)
    for bits in itertools.product((False, True), repeat=len(law)):
        wrong, right = (sum((p[z] for z in law if bits[z]), F(0)) for p in (false, law))
        if wrong <= alpha:
            plain = max(plain, right)
            assert alpha * right >= min(right, right) * wrong  # (5) with S = {yes}, beta = P(S)
    assert power >= plain
    matrix = [[float(p) for p in false.values()]]
    best = linprog([-float(p) for p in law.values()], A_ub=matrix, b_ub=[float(alpha)], bounds=(0, 1))
    assert float(power) == pytest.approx(-best.fun, abs=1e-9)


@pytest.mark.parametrize("t", [0, 1])
def test_a_blowfish_edge_across_the_condition_silences_the_safe_answer(t):
    """Proposition III.2 with alpha = 0: with any one of the edges beta is 0, without all of them it is 1."""
    data = policies.datasets(PLACES, 2)
    allowed = [(x, y) for x, y in itertools.combinations(PLACES, 2) if at("A")(x) == at("A")(y)]
    forbidden = relations.forbidden_edges(PLACES, at("A"))
    assert len(allowed) + len(forbidden) == 6

    def best(edges, x):
        return policies.best_yes(data, relations.along(edges), lambda d: count(d) > t, x, 0.0, 1.0)

    for x in data:
        if count(x) <= t:
            assert best(allowed, x) == pytest.approx(1)
    for x, y in forbidden:
        low = x if "A" not in x else y
        target = (A,) * t + (low,) * (2 - t)
        if t == 0 or low == NONE:
            assert best([*allowed, (x, y), (A, AB)], target) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_the_corrected_hypothesis_of_iii_2_is_where_it_begins_to_bite(alpha):
    """With one edge a mechanism reaches beta = alpha e^(k eps) and no more: eps < log(beta / alpha) / k excludes it."""
    data = policies.datasets([NONE, A], 2)
    for k in (1, 2):
        target = (A,) * (2 - k) + (NONE,) * k
        best = policies.best_yes(data, relations.along([(NONE, A)]), lambda d: count(d) > 1, target, alpha, 0.5)
        if k == 1:
            assert bounds.symmetric_epsilon(alpha, best, 1) == pytest.approx(0.5, abs=1e-7)
        assert math.log(alpha / best) < 0  # the printed hypothesis eps < log(alpha / beta) / k is never true


@pytest.mark.parametrize("t", [0, 1])
def test_osdp_must_give_up_those_who_are_not_counted(t):
    """Proposition III.3, reversed as in errata E7: N holds all records without the condition."""
    data = policies.datasets(ONE_PLACE, 2)
    forced = relations.forced_nonsensitive(ONE_PLACE, at("A"))
    assert forced == [NONE, B]

    def best(nonsensitive, x):
        relation = relations.outside(lambda r: r in nonsensitive)
        return policies.best_yes(data, relation, lambda d: count(d) > t, x, 0.0, 1.0)

    for missing in forced:
        left = [r for r in forced if r != missing]
        target = (A,) * t + (missing,) * (2 - t)
        assert best(left, target) == pytest.approx(0, abs=1e-9)
        assert best([*left, A], target) == pytest.approx(0, abs=1e-9)  # what (11) prints does not help
    for x in data:
        if count(x) <= t:
            assert best(forced, x) >= one_way_ceiling(0, 1, 0, t + 1 - count(x)) - 1e-9


@pytest.mark.parametrize("records", [PLACES, ONE_PLACE])
def test_proposition_iv_7_is_necessary_and_reached(records):
    data, related = policies.datasets(records, 3), policies.policy(*BOTH_HIDDEN)
    for t, alpha, epsilon in itertools.product((0, 1), (0.0, 0.05), (0.4, 1.0)):
        for x in [(NONE, NONE, NONE), (A, NONE, NONE), (B, B, NONE), (B, NONE, NONE)]:
            if count(x) > t:
                continue
            able = sum("A" not in r and (records is PLACES or not r) for r in x)
            k = bounds.steps_to_false(at_most(t), count(x), able)
            best = policies.best_yes(data, related, lambda d, t=t: count(d) > t, x, alpha, epsilon)
            reached = one_way_ceiling(alpha, F(str(epsilon)), 0, t + 1 - count(x))
            if math.isinf(k):  # no path leads here, and the proposition says nothing
                assert best >= reached - 1e-9
            else:
                assert best == pytest.approx(reached, abs=1e-7)
            assert bounds.one_way_epsilon(alpha, min(1.0, best), k) <= epsilon + 1e-6


@given(st.fractions("0.05", 3, max_denominator=20), st.integers(0, 6), st.integers(0, 6), st.integers(1, 4))
def test_corollary_v_6_for_the_corrected_and_the_printed_sanitiser(epsilon, t, m, sensitivity):
    if m > t:
        return
    noise = count_noise(epsilon, sensitivity, whole=False)
    beta = sanitiser(at_most(t), noise).beta(m)
    assert bounds.enough_epsilon(beta, t + 1 - m, sensitivity) == pytest.approx(float(epsilon), rel=1e-6)
    b = float(noise.scale)
    printed = quad(lambda x: math.exp(-x / b) / b, 0, t - m)[0]  # z <= t
    assert bounds.printed_beta(t, m, epsilon, sensitivity) == pytest.approx(printed, abs=1e-9)
    assert printed < beta


def secrets(records):
    return [set(chosen) for size in range(1, len(records)) for chosen in itertools.combinations(records, size)]


def extreme_mechanisms(data, related, epsilon, directions, outputs=3):
    """Yield mechanisms that are vertices of the set of all with epsilon along the moves: laws over a few outputs."""
    place = {x: n for n, x in enumerate(data)}
    size = len(data)
    rows = []
    for one, other in policies.moves(data, related):
        for z in range(outputs):
            row = np.zeros(size * outputs)
            row[place[one] * outputs + z], row[place[other] * outputs + z] = 1.0, -math.exp(epsilon)
            rows.append(row)
    total = np.kron(np.eye(size), np.ones(outputs))
    limits = (np.array(rows), np.zeros(len(rows))) if rows else (None, None)
    for cost in directions:
        made = linprog(cost, *limits, total, np.ones(size), (0, 1))
        law = np.maximum(made.x.reshape(size, outputs), 0)
        law[law < 1e-9] = 0
        yield {x: law[place[x]].tolist() for x in data}


RELATIONS = {
    "ordinary": lambda x, y: True,
    "one predicate": visits(["A"]).allows,
    "two predicates": visits().allows,
    "Blowfish": relations.along([(NONE, B), (A, AB)]),
    "a path": relations.along([(NONE, B), (B, AB), (AB, A)]),
    "OSDP": relations.outside(lambda r: "A" not in r),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", RELATIONS)
def test_no_mechanism_and_prior_has_more_risk_than_the_ceiling(name):
    related, data = RELATIONS[name], policies.datasets(PLACES, 1)
    draw = np.random.default_rng(7)
    mechanisms = list(extreme_mechanisms(data, related, 0.7, draw.normal(size=(12, len(data) * 3))))
    priors = [dict(zip(PLACES, row, strict=True)) for row in draw.dirichlet(np.full(4, 0.4), size=12)]
    for secret in secrets(PLACES):
        top = relations.risk_ceiling(lambda r, s=secret: r in s, PLACES, related, 0.7)
        for chances, prior in itertools.product(mechanisms, priors):
            assert policies.risk(chances, (), prior, lambda r, s=secret: r in s) <= top * (1 + 1e-5)


@pytest.mark.parametrize("name", RELATIONS)
def test_the_risk_ceiling_is_reached(name):
    """P(yes | Y) = c e^(-eps d(x, Y)), 0 where x never leads: it keeps epsilon, and two possible records suffice."""
    related, epsilon, top = RELATIONS[name], 0.7, 0.1
    data = policies.datasets(PLACES, 2)
    for secret in secrets(PLACES):
        worst = 0.0
        for x in (r for r in PLACES if r in secret):
            steps = {y: relations.steps_between(x, y, PLACES, related) for y in PLACES}

            def law(one, steps=steps):
                yes = top * math.exp(-epsilon * steps[one[0]])
                return {0: yes, 1: 1 - yes}

            assert policies.losses(law, data, related) <= epsilon + 1e-12
            chances = {one: list(law(one).values()) for one in data}
            for y in (r for r in PLACES if r not in secret):
                worst = max(worst, policies.risk(chances, (NONE,), {x: 0.5, y: 0.5}, lambda r, s=secret: r in s))
        ceiling = relations.risk_ceiling(lambda r, s=secret: r in s, PLACES, related, epsilon)
        assert ceiling == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("records", [PLACES, ONE_PLACE])
def test_propositions_iv_3_iv_4_iv_5_and_18_for_one_predicate(records):
    p, related = not_at("A"), visits(["A"]).allows
    assert relations.risk_ceiling(p, records, related, 1) == math.inf  # IV.3
    for other in secrets(records):
        having = {r for r in other if not p(r)}
        if having:  # IV.4: not p, and p'
            assert relations.risk_ceiling(lambda r, h=having: r in h, records, related, 1) == pytest.approx(math.e)
        known = relations.risk_ceiling(lambda r, o=other: r in o, records, related, 1, known=p)  # IV.5
        assert known in (0.0, pytest.approx(math.e))
    assert relations.risk_ceiling(at("A"), records, related, 1) == pytest.approx(math.e)  # (18)


def test_iv_4_fails_for_two_predicates_and_survives_for_none_of_them():
    related = visits().allows
    assert relations.risk_ceiling(at("A"), PLACES, related, 1) == math.inf
    assert relations.risk_ceiling(lambda r: r == AB, PLACES, related, 1) == pytest.approx(math.e)
    # Whoever knows "exactly one of A, B" learns which: the mechanism that shows everything but who was nowhere.
    chances = {(A,): [1.0, 0.0, 0.0], (B,): [0.0, 1.0, 0.0], (NONE,): [0.4, 0.4, 0.2]}
    assert policies.losses(lambda d: dict(enumerate(chances[d])), list(chances), policies.policy(*BOTH_HIDDEN)) < 1
    assert policies.risk(chances, (), {A: 0.5, B: 0.5}, at("A")) == math.inf
    assert policies.risk(chances, (), {A: 0.5, NONE: 0.5}, at("A")) < math.e


def test_blowfish_and_osdp_have_the_infinite_risks_of_section_iii_c():
    graph = relations.along([(NONE, B), (A, AB)])  # no forbidden edge
    assert relations.risk_ceiling(at("A"), PLACES, graph, 1) == math.inf
    assert relations.risk_ceiling(not_at("A"), PLACES, graph, 1) == math.inf
    osdp = relations.outside(not_at("A"))  # N = {not c}
    assert relations.risk_ceiling(at("A"), PLACES, osdp, 1) == pytest.approx(math.e)
    for other in secrets(PLACES):
        having = {r for r in other if "A" not in r}
        if having:  # (not c) and p'
            assert relations.risk_ceiling(lambda r, h=having: r in h, PLACES, osdp, 1) == math.inf
    asymmetric = visits(["A"]).allows  # who was not at A keeps the rest secret
    assert relations.risk_ceiling(at("B"), PLACES, asymmetric, 1, known=not_at("A")) == pytest.approx(math.e)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_the_mechanism_of_iv_3_keeps_epsilon_and_tells(epsilon):
    data, p = policies.datasets([0, 1], 3), lambda x: x == 0

    def law(one):
        yes = relations.telling_yes(one, p, epsilon)
        return {"yes": yes, "no": 1 - yes}

    assert policies.losses(law, data, policies.policy(p)) == pytest.approx(epsilon)
    assert policies.losses(law, data, policies.anything) == math.inf
    chances = {x: list(law(x).values()) for x in data}
    assert policies.risk(chances, (0, 0), {0: 0.5, 1: 0.5}, p) == math.inf


@pytest.mark.parametrize(("count_", "maximum", "epsilon"), [(0, 10, 1), (3, 10, "0.2"), (9, 10, 2), (4, 4, 1)])
def test_the_error_of_ageo_is_the_sum_over_its_law(count_, maximum, epsilon):
    matrix = bounds.tight_matrix(maximum, epsilon)
    want = math.fsum((j - count_) * matrix[count_, j] for j in range(count_, maximum + 1))
    assert bounds.truncated_error(count_, maximum, epsilon) == pytest.approx(want, abs=1e-12)
    assert bounds.truncated_error(count_, maximum, epsilon) <= count_noise(epsilon).mean_error()
