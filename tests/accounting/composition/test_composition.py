"""Joint promises against the true joint loss, found by listing every joint state and every extreme transcript."""

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import float_law
from tests.support.ledger_tools import (
    TWO_BITS,
    TWO_NUMBERS,
    Promised,
    chain,
    chain_framework,
    charge,
    contributions_of,
    joint_loss,
    laplace,
    made,
    promised,
    table_framework,
    worst_joint_loss,
)

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, compose, joint
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import Exact, RoundedNormal
from takifugu.core.errors import CompositionRefused, InputError
from takifugu.mechanisms import group_dp, wasserstein
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Count, Histogram, Identity, Linear, Query
from takifugu.model.secrets.of_entries import entry, every_entry

WHOLE, DATA, QUILT, SINGLE = Covers
def bits_framework() -> Framework:
    """Two independent fair bits, both secret."""
    fair = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 1)
    return Pufferfish(every_entry(), tf.IndependentPieces(fair, [1, 1]))


def law_of(belief: tf.MarkovChain) -> dict[tuple[int, ...], float]:
    start = None if belief.initial == "stationary" else [Fraction(p) for p in belief.initial]
    return float_law(belief.matrix.tolist(), belief.length, start)


def exact_loss(framework: Framework, releases: Sequence[Promised]) -> float:
    """Return what releases about a chain lose together."""
    listed = [(contributions_of(framework, r.query), r.randomiser.scale / r.randomiser.grid) for r in releases]
    return worst_joint_loss(law_of(framework.beliefs[0]), listed, framework.beliefs[0].size)


def table_law_of(framework: Framework) -> dict[tuple[int, ...], float]:
    table = framework.beliefs[0]
    total = table.total
    return {tuple(map(int, row)): mass / total for row, mass in zip(table.indices, table.masses, strict=True)}


def test_a_charge_survives_json() -> None:
    framework = chain_framework()
    first = charge_of(promised(framework, Linear(["1/3"] * 10), group_dp.MECHANISM, "1/7"), at=3)
    again = Charge.from_dict(json.loads(json.dumps(first.to_dict())))
    assert again == first
    assert again.to_dict() == first.to_dict()
    assert hash(again) == hash(first)


@pytest.mark.parametrize("key", ["epsilon", "scale", "change"])
@pytest.mark.parametrize("value", ["nan", "inf", "-1", -0.5, float("nan"), float("inf")])
def test_a_charge_refuses_amounts_that_are_no_amounts(key: str, value: Any) -> None:
    plain = charge_of(promised(chain_framework(), Count(1), group_dp.MECHANISM)).to_dict()
    with pytest.raises(InputError, match=r"must"):
        Charge.from_dict({**plain, key: value})
    del plain[key]
    with pytest.raises(InputError, match=key):
        Charge.from_dict(plain)


def e12(columns: tuple[Any, Any]) -> tuple[Framework, list[Promised]]:
    framework = table_framework(*columns, "s")
    return framework, [promised(framework, Identity(name), wasserstein.MECHANISM) for name in ("u", "v")]


def test_erratum_e12_two_exact_bits_never_get_a_number() -> None:
    framework, bits = e12(TWO_BITS)
    assert all(b.randomiser == Exact(Fraction(1)) and b.guarantee.covers is SINGLE for b in bits)
    with pytest.raises(CompositionRefused, match=r"its own output only.*infinitely much"):
        compose(bits)
    releases = [(contributions_of(framework, b.query), 0) for b in bits]
    assert joint_loss(table_law_of(framework), releases[:1], 0, 0, 1) == 0
    assert joint_loss(table_law_of(framework), releases, 0, 0, 1) == float("inf")


def test_erratum_e12_two_noisy_numbers_are_charged_above_their_true_loss() -> None:
    framework, numbers = e12(TWO_NUMBERS)
    assert all(n.randomiser.scale == 1 for n in numbers)
    releases = [(contributions_of(framework, n.query), n.randomiser.scale) for n in numbers]
    true = joint_loss(table_law_of(framework), releases, 0, 0, 1)
    assert true == pytest.approx(11.31, abs=0.01)
    assert true <= compose(numbers).epsilon < 11.44  # a change of everything would be 22
    assert sum(charge_of(n).epsilon for n in numbers) < true  # what adding them up would charge


def exclusive_or() -> tuple[Framework, list[Charge], float]:
    """Noisy x1 and x2, each bit covered, and x1 xor x2 exactly; the true loss about x1 is twice epsilon."""
    framework = bits_framework()
    both = laplace(framework, Histogram(states=[1]), 1, DATA)
    exact = replace(charge(framework, Count(1), 1, SINGLE), scale=Fraction(0), epsilon=Fraction(1, 1000))
    law = {(x, y, x ^ y): 0.25 for x in (0, 1) for y in (0, 1)}
    first, second, parity = [[0, 1], [0, 0], [0, 0]], [[0, 0], [0, 1], [0, 0]], [[0, 0], [0, 0], [0, 1]]
    true = joint_loss(law, [(first, 1), (second, 1), (parity, 0)], 0, 0, 1)
    return framework, [charge_of(both), exact], true


def test_beside_a_single_of_their_xor_nothing_bounds_releases_of_both_bits() -> None:
    framework, charges, true = exclusive_or()
    assert true == pytest.approx(2)
    assert sum(one.epsilon for one in charges) < true  # what adding them up would charge
    for order in (charges, charges[::-1]):
        with pytest.raises(CompositionRefused, match="infinitely much"):
            joint(framework, order)


@st.composite
def small_cases(draw: st.DrawFn) -> tuple[Framework, list[Promised]]:
    length = draw(st.integers(2, 5))
    rows = [[p, 1 - p] for p in draw(st.lists(st.floats(0.1, 0.9), min_size=2, max_size=2))]
    start = draw(st.sampled_from(["stationary", (0.3, 0.7)]))
    framework = Pufferfish(every_entry(), tf.MarkovChain(rows, length, start))
    weights = st.lists(st.integers(0, 2), min_size=length, max_size=length).filter(any).map(Linear)
    some = st.lists(st.integers(0, length - 1), min_size=1, unique=True).map(lambda e: Count(1, entries=e))
    queries: st.SearchStrategy[Query] = st.one_of(weights, some, st.just(Count(1)))
    if length <= 3:
        queries = st.one_of(queries, st.just(Histogram()))
    chosen = draw(st.lists(queries, min_size=1, max_size=3))
    units = st.fractions(Fraction(1, 2), 8, max_denominator=4)
    return framework, [laplace(framework, q, draw(units), QUILT, 50) for q in chosen]


@settings(max_examples=40, deadline=None)
@given(small_cases())
def test_joint_quilt_cost_lies_between_the_true_joint_loss_and_the_sum_of_whole_changes(case: Any) -> None:
    framework, releases = case
    charges = [replace(charge_of(r), framework="another belief") for r in releases]  # charged by their noise alone
    cost = joint(framework, charges).epsilon
    assert cost >= exact_loss(framework, releases) - 1e-9
    assert cost <= sum(c.change / c.scale for c in charges)
    assert cost >= max(joint(framework, [c]).epsilon for c in charges)


@settings(max_examples=30, deadline=None)
@given(small_cases(), st.lists(st.sampled_from([WHOLE, DATA, QUILT]), min_size=3, max_size=3))
def test_no_mixture_of_kinds_is_below_the_true_joint_loss(case: Any, kinds: list[Covers]) -> None:
    """Several whole and data releases are charged by their noise, however little they claim to promise."""
    framework, releases = case
    charges = []
    for release, kind in zip(releases, kinds, strict=False):
        is_foreign = kind is QUILT or len(releases) == 1
        by_noise = {"framework": "another belief"} if is_foreign else {"epsilon": Fraction(1, 100)}
        charges.append(replace(charge_of(release), covers=kind, **by_noise))
    assert joint(framework, charges).epsilon >= exact_loss(framework, releases) - 1e-9


@settings(max_examples=15, deadline=None)
@given(small_cases(), st.fractions(Fraction(1, 4), 4, max_denominator=8))
def test_a_single_and_whole_releases_are_not_below_the_true_joint_loss(case: Any, epsilon: Fraction) -> None:
    framework, others = case
    single = promised(framework, Count(1), wasserstein.MECHANISM, epsilon)
    wholes = [promised(framework, r.query, group_dp.MECHANISM, epsilon) for r in others[:2]]
    together = compose([wholes[0], single, *wholes[1:]])
    assert exact_loss(framework, [single, *wholes]) <= together.epsilon + 1e-9


# Several frameworks: a new belief inherits the history.


def test_a_promise_about_components_is_believed_only_by_its_own_framework() -> None:
    """Normal noise enough for one framework's components is too little for another's: other pairs, other secrets."""
    noise, delta = RoundedNormal(Fraction(60), Fraction(1)), Fraction(1, 1000)

    def twins(*pairs: str) -> tf.BayesianNetwork:
        copy = [[0.9, 0.1], [0.1, 0.9]]
        nodes = [[(a, [0, 1], [], [0.5, 0.5]), (b, [0, 1], [a], copy)] for a, b in pairs]
        return tf.BayesianNetwork([node for pair in nodes for node in pair])

    one, other = (Pufferfish(every_entry(), twins(*pairs)) for pairs in (("ab", "cd"), ("ac", "bd")))
    first = charge_of(made(one, Count(1, entries=["a", "c"]), noise, DATA, 1, delta))
    pieces = tf.IndependentPieces(chain(5), [5, 5])
    here, everywhere = Pufferfish(entry(0, 0, 1), pieces), Pufferfish(every_entry(), pieces)
    second = charge_of(made(here, Linear([1] * 5 + [1000] * 5), noise, DATA, 1, delta))
    uneven = Pufferfish(every_entry(), tf.IndependentPieces(chain(8), [2, 8]))
    third = charge_of(made(everywhere, Count(1), noise, DATA, 1, delta))
    for home, foreign, normal in ((one, other, first), (here, everywhere, second), (everywhere, uneven, third)):
        assert joint(home, [normal, normal]).epsilon == 2
        with pytest.raises(CompositionRefused, match="other states, values or pieces"):
            joint(foreign, [normal, normal])


def test_under_an_unknown_definition_nothing_is_proved_and_a_charge_of_one_counts_by_its_noise() -> None:
    framework = chain_framework()
    strange = Framework(framework.secrets, framework.beliefs, "distribution-privacy")
    one = charge_of(promised(framework, Count(1), group_dp.MECHANISM))
    with pytest.raises(CompositionRefused, match="no joint proof for definition 'distribution-privacy'"):
        joint(strange, [one])
    foreign = replace(one, definition="distribution-privacy", epsilon=Fraction(1, 100))
    assert joint(framework, [foreign]).epsilon == 1
    with pytest.raises(CompositionRefused, match="no cost for a change of the whole data"):
        joint(framework, [one, replace(foreign, scale=Fraction(0))])
