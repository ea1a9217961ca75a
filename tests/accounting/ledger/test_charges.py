"""What units are charged: every framework, every release, exact amounts, and words that help when it is too much."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.ledger_tools import (
    TWO_BITS,
    TWO_NUMBERS,
    chain,
    chain_framework,
    charge,
    made,
    one_thing,
    promised,
    table_framework,
    with_delta,
)
from tests.support.paying import epsilon_of, group_debit, refused_unchanged

import takifugu as tf
from takifugu.accounting.amounts import SMALLEST_SPEND
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.composition.several import placed
from takifugu.accounting.ledger import Amount, Debit, Ledger, fitting
from takifugu.accounting.ledger.totals import whole_loss
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import BudgetExceeded, CompositionRefused, InputError, LedgerError
from takifugu.influence.chains import remembered
from takifugu.mechanisms import group, wasserstein
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.frameworks import from_dict as framework_from
from takifugu.model.queries import Count, Histogram, Identity
from takifugu.model.secrets.of_entries import every_entry

WHOLE, DATA, NOISE, SINGLE = Covers
THESE: dict[str, Any] = {"entries": "these"}


def test_three_thirds_fit_a_budget_of_one_and_nothing_more(ledger: Ledger) -> None:
    debit = group_debit(one_thing(7), Fraction(1, 3))
    for n in (1, 2, 3):
        assert ledger.reserve("data", [debit], 1, **THESE).spent == Amount(Fraction(n, 3))
    tiny = group_debit(one_thing(7), Fraction(1, 10**9))
    refused_unchanged(ledger, BudgetExceeded, "nothing more", "data", [tiny])


def test_what_a_refusal_offers_for_noise_does_fit(ledger: Ledger) -> None:
    framework = chain_framework(100, 0.7)
    noisy = charge(framework, Count(1), 12, NOISE)
    alone = joint(framework, [replace(noisy, framework="")]).epsilon
    noisy = replace(noisy, epsilon=alone)
    ledger.reserve("data", [Debit(framework, noisy)], alone * Fraction(105, 100), **THESE)
    said = refused_unchanged(ledger, BudgetExceeded, "times the scale", "data", [Debit(framework, noisy)])
    factor = Fraction(said.split("noise of ")[1].split(" times")[0])
    quieter = replace(charge(framework, Count(1), 12 * factor, NOISE), epsilon=alone)
    ledger.reserve("data", [Debit(framework, quieter)], **THESE)
    assert Fraction(103, 100) < epsilon_of(ledger) / alone <= Fraction(105, 100)


def test_what_is_offered_beside_other_releases_is_more_noise_and_what_that_is_worth(ledger: Ledger) -> None:
    framework = chain_framework(100, 0.7)
    ledger.reserve("data", [group_debit(framework, Fraction(1, 4))], "0.4", **THESE)
    noise = [charge(framework, Count(1), units, NOISE) for units in (12, 9)]
    epsilons = [joint(framework, [replace(one, framework="")]).epsilon for one in noise]
    debits = [Debit(framework, replace(one, epsilon=e), name=f"by {e}") for one, e in zip(noise, epsilons, strict=True)]
    said = refused_unchanged(ledger, BudgetExceeded, "times the scale", "data", debits)
    offered = (("noise of ", " times"), ("(alone, epsilon ", ")"))
    factor, worth = (Fraction(said.split(before)[1].split(after)[0]) for before, after in offered)
    quieter = [replace(charge(framework, Count(1), units * factor, NOISE), framework="") for units in (12, 9)]
    alone = [joint(framework, [each]).epsilon for each in quieter]
    assert Fraction(999, 1000) * max(alone) < worth <= max(alone)
    assert min(alone) < Fraction(99, 100) * worth


def test_more_noise_counts_as_noise_alone_for_promises_about_entries_only(ledger: Ledger) -> None:
    framework = chain_framework(7)
    ledger.reserve("data", [Debit(framework, charge(framework, Count(1), 12, NOISE))], 9, **THESE)
    (step,) = ledger.view().steps
    for kind, fingerprint in ((NOISE, ""), (WHOLE, framework.fingerprint())):
        quieter = fitting._quieter(replace(step, charge=replace(step.charge, covers=kind)), Fraction(3)).charge
        assert (quieter.framework, quieter.scale, quieter.epsilon) == (fingerprint, 36, step.charge.epsilon / 3)


def test_deltas_have_a_budget_too(ledger: Ledger) -> None:
    framework = chain_framework(7)
    normal = Debit(framework, with_delta(framework, "1/4"), name="normal")
    both = [normal, group_debit(framework, Fraction(1, 4))]
    refused_unchanged(ledger, BudgetExceeded, "smaller delta, or with delta 0", "data", both, budget=1)
    refused_unchanged(ledger, BudgetExceeded, "smaller delta", "data", [normal], budget=1)
    ledger.reserve("data", [normal], (1, "1/500"), **THESE)
    more = group_debit(framework, 1)
    refused_unchanged(ledger, BudgetExceeded, r"has epsilon 0\.75, delta 0\.001 left", "data", [more])
    ledger.reserve("data", [normal], **THESE)
    refused_unchanged(ledger, BudgetExceeded, "has epsilon 0.5 left", "data", [normal])
    assert ledger.spent("data") == Amount(Fraction(1, 2), Fraction(1, 500))


def test_a_declared_budget_is_changed_on_purpose_only(ledger: Ledger) -> None:
    debit = group_debit(one_thing(7), "1/4")
    ledger.reserve("data", [debit], 1, **THESE)
    assert ledger.reserve("data", [debit], "1.0", **THESE).budget == Amount(Fraction(1))
    words = r"change it on purpose: `takifugu ledger .* data 2`"
    refused_unchanged(ledger, LedgerError, words, "data", [debit], budget=2)
    refused_unchanged(ledger, LedgerError, "write the ledger's, epsilon 1$", "data", [debit], budget="0.75")
    ledger.budget("data", (2, "1/1000"))
    (source,) = ledger.show()
    assert (source.budget, source.is_implied) == (Amount(Fraction(2), Fraction(1, 1000)), False)


def test_a_spend_of_nothing_or_less_than_a_number_is_refused(ledger: Ledger) -> None:
    """Negative, NaN and infinite amounts cannot even be charges (tests/accounting/composition/test_composition.py)."""
    debit = group_debit(chain_framework(7), 1)
    for spend in (Fraction(0), Fraction(5e-324), Fraction(1e-310)):
        none = replace(debit, charge=replace(debit.charge, epsilon=spend))
        refused_unchanged(ledger, LedgerError, "more than nothing", "data", [none])
    ledger.reserve("data", [replace(debit, charge=replace(debit.charge, epsilon=SMALLEST_SPEND))], 1, **THESE)
    assert len(ledger.payments("data")) == 1


def test_what_cannot_be_counted_is_refused(ledger: Ledger) -> None:
    framework = chain_framework(7)
    debit = group_debit(framework, 1)
    refused_unchanged(ledger, InputError, "one person twice", "data", [debit, debit])
    refused_unchanged(ledger, InputError, "another framework", "data", [Debit(chain_framework(8), debit.charge)])
    unknown = replace(debit.charge, definition="nobody's", scale=None, change=None)  # its noise bounds nothing
    refused_unchanged(ledger, CompositionRefused, "no cost|no joint proof", "data", [Debit(framework, unknown)])
    for key, value, words in (("entries", 3, "not a name"), ("same_entries", "yes", "not an answer")):
        refused_unchanged(ledger, InputError, words, "data", [debit], **{key: value})
    with pytest.raises(LedgerError, match="no source 'other'"):
        ledger.spent("other")


def test_frameworks_that_do_not_survive_json_are_refused(ledger: Ledger) -> None:
    framework = Pufferfish(every_entry(), chain(7))
    object.__setattr__(framework.beliefs[0], "states", ((0, 1), (1, 0)))
    noisy = made(framework, Histogram(), RoundedNormal(Fraction(9), Fraction(1), 2), WHOLE)
    refused_unchanged(ledger, InputError, "would not read back", "data", [Debit(framework, charge_of(noisy))])


def test_what_would_not_read_back_is_refused_before_it_is_paid_for(ledger: Ledger) -> None:
    """A row that no float holds was paid for, and no command read the ledger any more."""
    debits = [group_debit(one_thing(), 1, name="huge", change=Fraction(4 * 10**308))]
    refused_unchanged(ledger, InputError, "'huge' would not read back", "data", debits, budget=2)


# Promises that are alone.


def singles(columns: Any) -> list[Debit]:
    """Return the debits of the numbers in two columns, of which each promise is alone."""
    framework = table_framework(*columns, "s")
    return [Debit(framework, charge_of(promised(framework, Identity(name), wasserstein.MECHANISM))) for name in "uv"]


def test_erratum_e12_is_refused_by_the_ledger(ledger: Ledger) -> None:
    """Each of two answers hides s, and both together give it away."""
    first, second = singles(TWO_BITS)
    other = table_framework(*TWO_BITS, "u")
    refused_unchanged(ledger, CompositionRefused, None, "data", [first, replace(second, name="second")], budget=100)
    ledger.reserve("data", [first], 100, **THESE)
    refused_unchanged(ledger, CompositionRefused, "its own output only", "data", [second])
    late = Debit(other, charge_of(promised(other, Identity("v"), group.MECHANISM, 1)))
    refused_unchanged(ledger, CompositionRefused, "without any noise", "data", [late])  # a new belief inherits it


def test_two_singles_are_charged_by_their_noise(ledger: Ledger) -> None:
    for debit in singles(TWO_NUMBERS):
        ledger.reserve("data", [debit], 30, **THESE)
    assert 11.3 < epsilon_of(ledger) < 11.5  # the truth is 11.31
    framework = debit.framework
    whole = Debit(framework, charge_of(promised(framework, Identity("v"), group.MECHANISM, 1)))
    ledger.reserve("data", [whole], **THESE)
    assert epsilon_of(ledger) < 12.5  # far less than the sum, 23


# Each unit by its own framework.


def unit_framework(*lengths: int) -> Framework:
    return Pufferfish(every_entry(), tf.IndependentPieces(chain(1, 0.7), lengths))


UNITS = {"ann": (4, 2), "bob": (6,), "cid": (3,)}


def each(name: str = "each") -> list[Debit]:
    frameworks = {unit: unit_framework(*lengths) for unit, lengths in UNITS.items()}
    return [
        Debit(about, charge_of(promised(about, Histogram(), group.MECHANISM, 1)), [unit], name)
        for unit, about in frameworks.items()
    ]


def pooled(name: str = "pooled") -> list[Debit]:
    """Return the debits of one pooled answer: every unit's share, under what the framework says about this unit."""
    pool = unit_framework(*(n for lengths in UNITS.values() for n in lengths))
    answer = promised(pool, Histogram(), group.MECHANISM, 1)
    frameworks = {unit: unit_framework(*lengths) for unit, lengths in UNITS.items()}
    return [
        Debit(about, charge_of(answer, framework=about, scope="pooled"), [unit], name)
        for unit, about in frameworks.items()
    ]


def costs_of(debits: Sequence[Debit]) -> dict[str, Fraction]:
    """Return what the debits of each unit cost together."""
    mine: dict[str, list[Debit]] = {}
    for debit in debits:
        mine.setdefault(*debit.units, []).append(debit)  # type: ignore[misc]
    costs = {}
    for unit, of in mine.items():
        costs[unit] = joint(of[0].framework, [replace(debit.charge, reading="the same") for debit in of]).epsilon
    return costs


def test_pooled_and_per_unit_releases_cost_both(ledger: Ledger) -> None:
    """Each unit's own lengths count: bob's six steps are no reason to charge cid's three as six."""
    both = [*each(), *pooled()]
    costs = costs_of(both)
    done = ledger.reserve("data", both, max(costs.values()), **THESE)
    assert set(done.ids) == {"each", "pooled"}
    assert {unit: ledger.spent("data", unit).epsilon for unit in UNITS} == costs
    assert len({*costs.values()}) == 3
    assert done.spent.epsilon == max(costs.values())
    refused_unchanged(ledger, BudgetExceeded, "would cost", "data", each("again"))


def test_per_unit_releases_are_parallel(ledger: Ledger) -> None:
    debits = each()
    ledger.reserve("data", debits, 9, **THESE)
    assert epsilon_of(ledger) == max(costs_of(debits).values())


def test_what_is_about_other_entries_counts_at_what_a_change_of_all_data_costs() -> None:
    """The larger of what the noise gives and what a whole promise says; nothing where nothing is read."""
    framework = unit_framework(6)
    cases = [
        (charge(framework, Count(1), 12, NOISE), Fraction(1, 2)),
        (replace(charge(framework, Count(1), 12, WHOLE), epsilon=Fraction(1, 100)), Fraction(1, 2)),
        (replace(charge(framework, Count(1), 12, WHOLE), epsilon=Fraction(5)), Fraction(5)),
        (replace(charge(framework, Count(1), 12, SINGLE), scale=None, change=Fraction(0)), Fraction(0)),
    ]
    for charged, cost in cases:
        assert whole_loss(charged) == Amount(cost)


# Against the joint cost of the plain list, in the order of the releases.

TWO = [[0.9, 0.1], [0.4, 0.6]]
THREE = [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
BELIEFS: dict[str, Any] = {
    "two values": tf.MarkovChain(TWO, 24),
    "three values, any start": tf.MarkovChain(THREE, 24, "any"),
    "a period": tf.PeriodicChain([TWO, [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]], 24),
    "a class": tf.ReversibleChains(0.2, 0.4, 24),
    "pieces": tf.IndependentPieces(tf.MarkovChain([[0.95, 0.05], [0.1, 0.9]], 24), (24,)),
}


def drawn(random: np.random.Generator, frameworks: Sequence[Framework], many: int) -> list[tuple[Framework, Charge]]:
    """Return releases in windows: weeks in a row, between them, before them, twice; now and then with equal noise."""
    releases = []
    for _ in range(many):
        framework = frameworks[int(random.integers(len(frameworks)))]
        scale = Fraction(int(random.integers(50, 5000)), int(random.integers(3, 40)))
        scale = Fraction(20) if random.random() < 0.2 else scale
        one = charge(framework, tf.Count(int(random.integers(2))), scale, (NOISE, DATA)[int(random.random() < 0.25)])
        place = 24 * int(random.integers(-6, 12)) + (3 * int(random.integers(8)) if random.random() < 0.3 else 0)
        releases.append((framework, replace(one, at=place, reading="")))
    return releases


def from_scratch(released: Sequence[tuple[Framework, Charge]]) -> Fraction:
    """Return what releases cost, computed by frameworks that nobody asked before, with nothing remembered."""
    remembered.forget()
    frameworks = {framework.fingerprint(): framework for framework, _ in released}
    charges = [one for _, one in released]
    return max(cost(framework_from(one.to_dict()), charges) for one in frameworks.values())


def cost(framework: Framework, charges: Sequence[Charge]) -> Fraction:
    """Return what charges about one table cost together, one by one and in no runs of windows."""
    given = [placed(one, one.at, "these") for one in charges]
    return joint(framework, given, is_alone=False).epsilon


CASES = [["two values"], ["three values, any start"], ["a period"], ["a class"], ["pieces"], ["two values", "pieces"]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("names", CASES, ids=" and ".join)
def test_windows_in_any_order_cost_what_they_cost_from_scratch(ledger: Ledger, names: list[str]) -> None:
    """With what the process remembers, and read anew."""
    random = np.random.default_rng(CASES.index(names))
    released = drawn(random, [tf.Pufferfish(tf.every_entry(), BELIEFS[name]) for name in names], 18)
    spent, close = [], 1 + 1e-9
    for number, (framework, one) in enumerate(released):
        ledger.reserve("data", [Debit(framework, one, None, f"release {number}")], 10**6, entries="hours")
        spent.append(epsilon_of(ledger))
    assert spent == sorted(spent)
    for number in (10, 11, 17):
        afresh = from_scratch(released[: number + 1])
        assert afresh / close <= spent[number] <= afresh * close
    assert Ledger.open(ledger.store.name).check() == ()


@pytest.mark.parametrize("how", [{}, {"at": 3}], ids=["named", "one window"])
def test_each_release_adds_what_it_costs_beside_all_before(ledger: Ledger, how: dict[str, int]) -> None:
    framework = chain_framework(8, 0.8)
    plain, spent = list[Charge](), Fraction(0)
    for number in range(12):
        query = tf.Count(number // 8 % 2, entries=range(number % 8, min(8, number % 8 + 1 + number % 3)))
        one = charge(framework, query, Fraction(40 + number, 1 + number % 7), NOISE, **how)
        alone = joint(framework, [replace(one, framework="")]).epsilon
        plain.append(replace(one, epsilon=alone))
        before, spent = spent, ledger.reserve(
            "data", [Debit(framework, plain[-1], None, f"{number}")], 10**6, entries="hours"
        ).spent.epsilon
        assert spent > before
        assert spent == pytest.approx(float(cost(framework, plain)), rel=1e-9)
    other = chain_framework(8, 0.95)  # a new belief inherits every query
    new = charge(other, tf.Count(1), 90, NOISE, **how)
    new = replace(new, epsilon=joint(other, [replace(new, framework="")]).epsilon)
    ledger.reserve("data", [Debit(other, new)], entries="hours")
    costs = [cost(each, [*plain, new]) for each in (framework, other)]
    assert epsilon_of(ledger) == pytest.approx(float(max(costs)), rel=1e-9)


@pytest.mark.parametrize("with_whole", [False, True])
def test_what_follows_a_delta_is_not_added_to_its_equal_before(ledger: Ledger, with_whole: bool) -> None:
    """Later noise may have been chosen by what was seen, and costs a change of everything from then on."""
    framework = chain_framework(100, 0.7)
    noisy, whole = (charge(framework, Count(1), 12, kind) for kind in (NOISE, WHOLE))
    normal = with_delta(framework, "1/3")
    plain: list[Charge] = []
    for at_once in ([noisy], [normal, whole] if with_whole else [normal], [noisy], [noisy], [whole]):
        debits = [Debit(framework, one, None, f"table {n}") for n, one in enumerate(at_once)]
        ledger.reserve("data", debits, (10**6, "1/2"), **THESE)
        plain += at_once
        assert epsilon_of(ledger) == joint(framework, plain).epsilon
    assert joint(framework, [noisy, noisy, normal]).epsilon < joint(framework, [noisy, normal, noisy]).epsilon


# Releases that hide properties of whole columns.

TABLE = tf.JointTable([("a", 0), ("a", 1), ("b", 0), ("b", 1)], [0.4, 0.2, 0.1, 0.3], names=["group", "ill"])
HIDDEN = tf.Pufferfish(tf.dataset_property("group", "share", of="b"), tf.Records(TABLE, 12))
RECORDS = tf.Pufferfish(tf.every_entry("ill"), tf.Records(TABLE, 12))
ILL = tf.Count(1, entries=["ill"])
BODIES = tf.MultivariateNormal([70, 40], [[144, 60], [60, 100]], names=["weight", "income"], records=12)
INCOME = tf.Pufferfish(tf.dataset_property("income", "mean", max_difference=2), BODIES)


def debit_of(framework: Any, query: Any, mechanism: str, **options: Any) -> Debit:
    calibration = tf.calibrate(framework, query, epsilon=1, mechanism=mechanism, single_release=True, **options)
    return Debit(framework, charge_of(calibration), ["town"])


def test_promises_about_properties_add_up_alone_and_beside_records(ledger: Ledger) -> None:
    whole, single = debit_of(HIDDEN, ILL, "group"), debit_of(HIDDEN, ILL, "wasserstein")
    record = debit_of(RECORDS, tf.Count("a", entries=["group"]), "group")
    assert {whole.charge.definition, record.charge.definition} == {"attribute", "pufferfish"}
    for times in (1, 2):
        assert ledger.reserve("people", [whole], 3, **THESE).spent.epsilon == times
    assert ledger.reserve("people", [record], **THESE).spent.epsilon == 3  # another definition inherits what was spent
    refused_unchanged(ledger, BudgetExceeded, None, "people", [whole])
    other = Ledger.blank()
    assert single.charge.scale is not None
    by_noise = 12 / single.charge.scale
    assert other.reserve("people", [single], 99, **THESE).spent.epsilon == 1 < by_noise
    assert other.reserve("people", [whole], **THESE).spent.epsilon == 1 + by_noise


def test_what_another_definition_cannot_bound_is_refused(ledger: Ledger) -> None:
    normal = debit_of(INCOME, tf.Mean("weight"), "attribute-gaussian-exact", delta=1e-5)
    record = debit_of(RECORDS, tf.Count("a", entries=["group"]), "group")
    ledger.reserve("people", [normal], (9, "1e-3"), **THESE)
    refused_unchanged(ledger, CompositionRefused, "has no cost by its noise alone", "people", [record])


# What was charged below the truth once.


def test_two_orders_of_one_networks_names_are_one_release_after_the_other(ledger: Ledger) -> None:
    """Queries are matched by the names of what they read, and not by their places."""
    for order in (["hiv", "flu"], ["flu", "hiv"]):
        network = tf.BayesianNetwork([(name, [0, 1], [], [0.5, 0.5]) for name in order])
        framework = tf.Pufferfish(tf.every_entry(), network)
        made_ = tf.calibrate(framework, tf.Count(1, entries=[order.index("hiv")]), epsilon=1, mechanism="group")
        spent = ledger.reserve("p", [Debit(framework, charge_of(made_), ["ana"])], 9, **THESE).spent
    assert spent.epsilon == 2


def test_windows_that_overlap_add_up_where_they_do(ledger: Ledger) -> None:
    """Day 60 is read twice, by windows that start 50 days apart."""
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.6, 0.4], [0.4, 0.6]], 100))
    for at in (0, 50):
        day = tf.Linear([int(step == 60 - at) for step in range(100)])
        made_ = tf.calibrate(framework, day, epsilon=1, mechanism="influence")
        spent = ledger.reserve("p", [Debit(framework, charge_of(made_, at=at), ["ana"])], 9, entries="days").spent
    assert spent.epsilon >= 2


def test_pieces_that_are_cut_differently_are_other_entries(ledger: Ledger) -> None:
    """Of 13.93 that both lost together 2 were charged. Their cut is part of what is read, and of the name."""
    belief = tf.MarkovChain([[0.999, 0.001], [0.001, 0.999]], 8)
    whole = tf.Pufferfish(tf.every_entry(), belief)
    cut = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(belief, (1,) * 8))
    for framework in (whole, cut):
        noisy = charge_of(tf.calibrate(framework, tf.Count(1), epsilon=1, mechanism="influence"))
        answer = {"same_entries": False} if framework is cut else {}
        name = "hours" if framework is whole else "hours, one by one"
        spent = ledger.reserve("s", [Debit(framework, noisy, ["ana"])], 999, entries=name, **answer).spent
    first, second = (step.charge for step in ledger.view().steps)
    assert spent.epsilon >= min(whole_loss(first).epsilon, whole_loss(second).epsilon) + 1


def test_a_series_of_windows_never_falls(ledger: Ledger) -> None:
    """An unknown start, windows out of order; the total fell from 5.79 to 5.12."""
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.2, 0.8]], 4, "any"))
    spent = Fraction(0)
    for at, epsilon in ((8, 1), (0, 2), (4, "1/2"), (12, 1), (2, 1)):
        noisy = charge_of(tf.calibrate(framework, tf.Count(1), epsilon, mechanism="influence"), at=at)
        before, spent = spent, ledger.reserve("s", [Debit(framework, noisy)], 99, entries="hours").spent.epsilon
        assert spent >= before


def test_a_release_that_moves_nothing_moves_no_frame(ledger: Ledger) -> None:
    """A release of zeros had shifted the places of all others: spent 1, true 10."""
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 3))
    totals = []
    for weights in ([[1, 0, 0]], [[0, 0, 0], [1, 0, 0]]):
        book = Ledger.blank()
        for number, chosen in enumerate(weights):
            one = charge(framework, tf.Linear(chosen), 1, NOISE, at=3 * (number + 1))
            book.reserve("s", [Debit(framework, replace(one, epsilon=Fraction(1)))], 99, entries="hours")
        one = charge(framework, tf.Linear([0, 0, 1]), Fraction(1, 10), NOISE, at=1)
        totals.append(book.reserve("s", [Debit(framework, replace(one, epsilon=Fraction(10)))], entries="hours").spent)
    assert totals[1].epsilon >= 10
    assert ledger.show() == ()


def test_a_promise_that_is_alone_and_was_chosen_after_another_keeps_no_small_delta(ledger: Ledger) -> None:
    """Noise chose which value the second answer tells apart; charged (4.1, .05), its true delta is .34."""
    values = [f"r{number}" for number in range(20)]
    table = tf.JointTable([(s, r) for s in ("s0", "s1") for r in values], [Fraction(1, 40)] * 40, names=["s", "r"])
    framework = tf.Pufferfish(tf.entry(0, "s0", "s1"), table)
    first = tf.calibrate(framework, tf.Histogram(tuple(values)), 4, mechanism="group")
    chosen = tf.Linear([1, 1], {"s0": 0, "s1": 1, **{value: number for number, value in enumerate(values)}})
    options = {"delta": "0.05", "mechanism": "wasserstein-delta", "allow_zero_noise": True}
    second = tf.calibrate(framework, chosen, "0.1", **options)  # type: ignore[arg-type]
    ledger.reserve("s", [Debit(framework, charge_of(first), ["ana"])], (99, "0.9"), **THESE)
    try:
        spent = ledger.reserve("s", [Debit(framework, charge_of(second), ["ana"])], **THESE).spent
    except CompositionRefused:
        return
    assert spent.delta >= Fraction(34, 100)


def test_hours_of_two_clocks_are_not_hours_of_one(ledger: Ledger) -> None:
    """Summer time from midnight, then winter time from two; charged 1.5, by the clocks 2.0."""
    sticky, free = [[0.9999, 0.0001], [0.0001, 0.9999]], [[0.5, 0.5], [0.5, 0.5]]
    for size, start, at in ((3, 0, 0), (5, 2, 3)):
        belief = tf.PeriodicChain([sticky, free], size, [0, 0, 1] + [0] * 21, start)
        framework = tf.Pufferfish(tf.every_entry(), belief)
        noisy = charge_of(tf.calibrate(framework, tf.Count(1), 1, mechanism="influence"), at=at)
        spent = ledger.reserve("s", [Debit(framework, noisy, ["ana"])], 99, entries="hours").spent
    assert spent.epsilon >= 2


def test_a_set_costs_no_more_than_a_larger_one() -> None:
    """A promise that is alone beside another cost 5.0, and with one more of its kind 2.931."""
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.8, 0.2], [0.2, 0.8]], 6))
    kinds = [("laplace-exact", 1), ("group", 4), ("laplace-exact", 1)]
    charges = [charge_of(tf.calibrate(framework, Count(1), epsilon, mechanism=name)) for name, epsilon in kinds]
    totals = []
    for count in (1, 2, 3):
        book = Ledger.blank()
        for one in charges[:count]:
            book.reserve("s", [Debit(framework, one, ["ana"])], 99, **THESE)
        totals.append(book.spent("s"))
    assert totals == sorted(totals)
