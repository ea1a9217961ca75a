"""Many units and a long past: equal histories are one, nobody waits for costs, and every unit is counted right."""

import json
import threading
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.accounting.ledger.test_accounts import alone, pooled_debits, unit_framework
from tests.support.ledger_tools import chain_framework, charge, dump, forge, group_debit, made, one_thing, with_delta

from takifugu.accounting.composition import charge_of, joint
from takifugu.accounting.ledger import Debit, Ledger, paying, tallying
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import BudgetExceeded, TakifuguError
from takifugu.mechanisms import group, wasserstein
from takifugu.model.queries import Count

WHOLE, DATA, QUILT, SINGLE = Covers


def debits_of_lengths(units: int, lengths: range, name: str = "release") -> list[Debit]:
    frameworks = [unit_framework(n) for n in lengths]
    noise = RoundedNormal(Fraction(9), Fraction(1))
    charges = [charge_of(made(framework, Count(1), noise, WHOLE, "1/100")) for framework in frameworks]
    which = [n % len(lengths) for n in range(units)]
    return [Debit(frameworks[k], charges[k], f"participant {n}", name) for n, k in enumerate(which)]


def test_equal_histories_are_written_once(ledger: Ledger) -> None:
    debits = debits_of_lengths(200, range(1, 5))
    for _ in range(3):
        ledger.reserve("data", debits, budget=9)
    rows = dump(ledger.store.path)
    names = ("units", "histories", "debits", "charges", "frameworks")
    assert [len(rows[name]) for name in names] == [200, 12, 12, 4, 4]
    assert {unit.spent.epsilon for unit in ledger.spent("data").units} == {Fraction(3, 100)}
    assert [entry.units for entry in ledger.history("data")] == [200] * 3


def test_one_unit_of_many_leaves_the_others(ledger: Ledger) -> None:
    debits = debits_of_lengths(20, range(2, 3))
    ledger.reserve("data", debits, budget=9)
    ledger.reserve("data", debits[7:8])
    spent = {unit.unit: unit.spent.epsilon for unit in ledger.spent("data").units}
    assert sorted(spent.values()) == [Fraction(1, 100)] * 19 + [Fraction(2, 100)]
    assert spent[ledger.unit_tag("participant 7")] == Fraction(2, 100)


def histories(chance: np.random.Generator, framework: Any) -> list[Charge]:
    """Return charges of every kind that compose, equal ones among them, some with a delta."""
    normal, quilt = with_delta(framework, "1/3"), charge(framework, Count(1), 24, QUILT)
    some = [charge(framework, Count(1), 24, WHOLE), charge(framework, Count(1), 40, DATA), quilt, normal]
    some.append(replace(normal, fixed_in_advance=True))
    return [some[k] for k in chance.integers(0, len(some), 9)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_summed_up_costs_what_its_parts_cost(ledger: Ledger, seed: int) -> None:
    """Against the joint cost of the plain list, in the order of the releases."""
    framework = unit_framework(8)
    charges = [replace(one, reading="") for one in histories(np.random.default_rng(seed), framework)]
    for n, one in enumerate(charges, 1):
        ledger.reserve("data", [Debit(framework, one)], budget=(10**6, "1/2"))
        promise = joint(framework, charges[:n])
        spent = ledger.spent("data").spent
        assert (spent.epsilon, spent.delta) == (promise.epsilon, promise.delta)


def added_up(ledger: Ledger) -> list[tuple[int, int]]:
    """Return the rows of the charges of the one history that units have, and how many releases each is of."""
    ((_, body, _),) = dump(ledger.store.path)["summaries"]
    terms = json.loads(body)["terms"]
    return [(term["charge"], int(term["cost"].split(";")[0])) for term in terms]


def test_releases_that_differ_in_their_noise_are_added_up_whatever_is_between(ledger: Ledger) -> None:
    one, other = (group_debit(unit_framework(1), epsilon) for epsilon in (1, "1/4"))
    for n, (debit, total) in enumerate([(one, 1), (other, "5/4"), (one, "9/4"), (one, "13/4"), (other, "7/2")]):
        ledger.reserve("data", [debit], budget=9)
        assert ledger.spent("data").spent.epsilon == Fraction(total), n
    assert added_up(ledger) == [(1, 5)]


def test_a_summary_of_a_former_form_is_made_anew_from_the_debits(ledger: Ledger) -> None:
    debit = group_debit(unit_framework(1), 1)
    ledger.reserve("data", [debit], budget=9)
    former = {"recharge": False, "terms": [{"charge": 1, "release": 1, "reading": "", "at": None}] * 5}
    forge(ledger, f"update summaries set body = '{json.dumps(former)}'")
    ledger.reserve("data", [debit])
    assert ledger.spent("data").spent.epsilon == 2
    assert added_up(ledger) == [(1, 2)]


@pytest.mark.parametrize("with_whole", [False, True])
def test_what_follows_a_delta_is_not_added_to_its_equal_before(ledger: Ledger, with_whole: bool) -> None:
    """The later quilt may have been chosen by what was seen, and costs a change of everything from then on."""
    framework = chain_framework(100, 0.7)
    quilt, whole = (charge(framework, Count(1), 12, kind) for kind in (QUILT, WHOLE))
    normal = with_delta(framework, "1/3")
    plain: list[Charge] = []
    for together in ([quilt], [normal, whole] if with_whole else [normal], [quilt], [quilt], [whole]):
        debits = [Debit(framework, one, "", f"table {n}") for n, one in enumerate(together)]
        ledger.reserve("data", debits, budget=(10**6, "1/2"))
        plain += together
        assert ledger.spent("data").spent.epsilon == joint(framework, plain).epsilon
    assert joint(framework, [quilt, quilt, normal]).epsilon < joint(framework, [quilt, normal, quilt]).epsilon


@pytest.mark.parametrize("known", ["token", ""])
def test_tables_about_different_steps_count_at_once_only_where_their_steps_are_known(
    ledger: Ledger, known: str
) -> None:
    """Also when they are remembered: no step is near both ends, but two tables may be of the same end."""
    framework = chain_framework(100, 0.7)
    ends = [Count(1, entries=range(5)), Count(1, entries=range(95, 100))]
    both = [replace(charge(framework, query, 12, QUILT), reading=known, epsilon=Fraction(1, 99)) for query in ends]
    other = replace(charge(framework, Count(0), 24, QUILT), epsilon=Fraction(1, 99))
    ledger.reserve("data", [Debit(framework, c, "", f"end {n}") for n, c in enumerate(both)], budget=10**6)
    ledger.reserve("data", [Debit(framework, replace(other, reading=""))])
    costs = {
        reading: joint(framework, [*(replace(c, reading=reading) for c in both), replace(other, reading="")]).epsilon
        for reading in ("token", "")
    }
    assert costs["token"] < costs[""]
    assert ledger.spent("data").spent.epsilon == costs[known]


def test_what_reads_the_same_together_costs_as_together(ledger: Ledger) -> None:
    """Two tables of one file, released three times: the two of one week read the same steps, weeks may not."""
    framework = unit_framework(8)
    two = [replace(charge(framework, Count(n), 24, QUILT), reading="token") for n in (0, 1)]
    plain = []
    for week in range(3):
        ledger.reserve("data", [Debit(framework, c, "", f"table {n}") for n, c in enumerate(two)], budget=10**6)
        plain += [replace(c, reading=f"week {week}") for c in two]
        assert ledger.spent("data").spent.epsilon == joint(framework, plain).epsilon
    rows = dump(ledger.store.path)
    assert (len(rows["charges"]), added_up(ledger)) == (2, [(1, 3), (2, 3)])


def test_a_pooled_single_finds_every_release_about_others_behind_the_sums(ledger: Ledger) -> None:
    units = {"ann": (4, 2), "bob": (6,), "cid": (3,)}
    for n in range(3):
        ledger.reserve("data", alone({"bob": (6,)}, Count(1), group.MECHANISM, f"week {n}"), budget=99)
    pooled = pooled_debits({"bob": (6,), "cid": (3,)}, Count(1), group.MECHANISM)
    ledger.reserve("data", [replace(d, charge=replace(d.charge, covers=WHOLE)) for d in pooled])
    ledger.reserve("data", pooled_debits(units, Count(1), wasserstein.MECHANISM, "single"))
    assert [unit.spent.epsilon for unit in ledger.spent("data").units] == [5, 5, 5]


def test_other_sources_do_not_wait_while_costs_are_computed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, go_on, computing = tallying.tally, threading.Event(), threading.Event()

    def waiting(connection: Any, name: str, *rest: Any) -> Any:
        returned = slow(connection, name, *rest)
        if name == "slow":
            computing.set()
            assert go_on.wait(60)
        return returned

    monkeypatch.setattr(paying, "tally", waiting)
    debit = group_debit(one_thing(7), 1)
    other = threading.Thread(target=lambda: Ledger.open(ledger.store.path).reserve("slow", [debit]))
    other.start()
    assert computing.wait(60)
    quick = Ledger.open(ledger.store.path, timeout=0.5)
    quick.reserve("quick", [debit])
    assert quick.spent("quick").spent.epsilon == 1
    go_on.set()
    other.join()
    assert ledger.spent("slow").spent.epsilon == 1


def overtake(monkeypatch: pytest.MonkeyPatch, ledger: Ledger, source: str, debit: Debit) -> list[int]:
    """Let another process pay while the first cost is computed; return the calls that compute one."""
    real, calls = tallying.tally, list[int]()

    def overtaken(*args: Any) -> Any:
        returned = real(*args)
        calls.append(1)
        if len(calls) == 1:
            with monkeypatch.context() as patch:
                patch.setattr(paying, "tally", real)
                Ledger.open(ledger.store.path).reserve(source, [debit])
        return returned

    monkeypatch.setattr(paying, "tally", overtaken)
    return calls


def test_a_cost_that_was_computed_before_another_release_is_computed_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    debit = group_debit(unit_framework(1), 1)
    ledger.source("data", budget=2)
    calls = overtake(monkeypatch, ledger, "data", debit)
    ledger.reserve("data", [debit])
    assert len(calls) == 2
    assert ledger.spent("data").spent.epsilon == 2
    with pytest.raises(BudgetExceeded):
        ledger.reserve("data", [debit])


def test_who_is_overtaken_every_time_makes_the_others_wait(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallying.Tally, "is_of", lambda *_: False)
    ledger.reserve("data", [group_debit(one_thing(7), 1)], budget=2)
    assert ledger.spent("data").spent.epsilon == 1


def test_new_units_of_another_source_are_noticed_while_costs_are_computed(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both name Ana, and neither has seen the other when it starts: the later one is asked about her."""
    debit = group_debit(unit_framework(1), 1, "Ana")
    overtake(monkeypatch, ledger, "first", debit)
    with pytest.raises(TakifuguError, match="same_people"):
        ledger.reserve("second", [debit])
    assert [row.name for row in ledger.show()] == ["first"]


@pytest.mark.slow
def test_a_hundred_thousand_units(ledger: Ledger) -> None:
    debits = debits_of_lengths(100_000, range(10, 40))
    for _ in range(2):
        ledger.reserve("data", debits, budget="0.025")
    with pytest.raises(BudgetExceeded, match=r"person [0-9,]+ of 100,000"):
        ledger.reserve("data", debits)
    rows = dump(ledger.store.path)
    assert [len(rows[name]) for name in ("units", "histories", "charges")] == [100_000, 60, 30]
    assert {row[3:5] for row in rows["standings"]} == {("0.02", "0")}
    assert sum(row[5] for row in rows["standings"]) == 100_000
    assert [entry.units for entry in ledger.history("data")] == [100_000] * 2
