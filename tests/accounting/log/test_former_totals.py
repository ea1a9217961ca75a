"""The totals of the ledger before this one, beside: at declared places none is higher, and none lower without a proof.

Lower are totals with a delta beside a promise that is alone: the former rule adds the whole loss of every release to
that promise, where the joint loss of all noise is less (docs/theory/composition.md).
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from tests.support import log_histories as histories

from takifugu.accounting.ledger import Ledger as FormerLedger
from takifugu.accounting.log import Amount
from takifugu.analysis.guarantee import Covers

#: Searches of joint losses differ by less.
CLOSE = Fraction(1, 10**6)


def both(folder: Path, seed: int) -> Iterator[tuple[Amount, Amount, bool]]:
    """Yield what each person has spent, before and now, and whether a lower total has its proof."""
    people, payments = histories.history(random.Random(seed), placed_only=True)
    former = histories.fresh(folder, f"{seed} former", FormerLedger)
    ledger = histories.fresh(folder, f"{seed} now")
    done = []
    for payment in payments:
        if not histories.attempted(lambda payment=payment: histories.paid_before(former, payment)):
            assert not histories.attempted(lambda payment=payment: histories.paid(ledger, payment)), seed
            done.append(payment)
    charges = [charge for payment in done for _, _, charge, _ in payment.releases]
    has_proof = any(charge.delta for charge in charges) and any(charge.covers is Covers.OUTPUT for charge in charges)
    for source in {payment.source for payment in done}:
        for person, before in histories.former_totals(former, source, people):
            yield before, ledger.spent(source, person), has_proof
    assert ledger.check() == ()


#: The seeds of every day.
QUICK = range(110)


@pytest.mark.parametrize(
    "seeds", [QUICK, *(pytest.param(range(n, n + 100), marks=pytest.mark.slow) for n in range(110, 3110, 100))]
)
def test_totals_at_declared_places(tmp_path: Path, seeds: range) -> None:
    compared = lower = 0
    for seed in seeds:
        for before, now, has_proof in both(tmp_path, seed):
            compared += 1
            assert now.epsilon <= before.epsilon * (1 + CLOSE), (seed, before, now)
            assert now.delta == before.delta
            if now.epsilon < before.epsilon * (1 - CLOSE):
                assert has_proof, (seed, before, now)
                lower += 1
    assert compared > (300 if seeds == QUICK else 2 * len(seeds))
    assert lower < compared // 10


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 260), marks=pytest.mark.slow)])
def test_totals_of_attributes_rows_series_and_pooled_answers(tmp_path: Path, seeds: range) -> None:
    """About named entries, which the former ledger took at their worst: never more, and less only for that."""
    compared = 0
    for seed in seeds:
        people, payments = histories.of_other_kinds(random.Random(seed))
        former = histories.fresh(tmp_path, f"{seed} former", FormerLedger)
        ledger = histories.fresh(tmp_path, f"{seed} now")
        charges = []
        for payment in payments:
            plain = replace(payment, entries="these", reading="", is_adopted=False, same="")
            if histories.attempted(partial(histories.paid_before, former, plain)):
                continue
            if why := histories.attempted(partial(histories.paid, ledger, plain)):
                assert "its own output only" in why  # normal noise that no series holds (docs: planned in advance)
                break
            charges += [charge for _, _, charge, _ in plain.releases]
        else:
            is_named = any(charge.at is None for charge in charges)
            for person, amount in histories.former_totals(former, "A", people) if charges else ():
                now = ledger.spent("A", person)
                compared += 1
                assert now.epsilon <= amount.epsilon * (1 + CLOSE), (seed, amount, now)
                assert now.delta == amount.delta
                assert is_named or now.epsilon >= amount.epsilon * (1 - CLOSE), (seed, amount, now)
    assert compared > len(seeds)
