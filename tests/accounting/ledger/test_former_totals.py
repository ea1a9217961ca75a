"""The totals of the ledger before this one, as it came to them: at declared places none is higher now.

Lower are totals with a delta beside a promise that is alone: the former rule adds the whole loss of every release to
that promise, where the joint loss of all noise is less (docs/theory/composition.md). `former_totals.json` holds, for
each seed of a history, which of its payments the former ledger took, and what each person had spent then by source; it
was written by that ledger in its last days, and is not to be written anew.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from tests.support import ledger_histories as histories

from takifugu.accounting.ledger import Amount, Ledger
from takifugu.analysis.guarantee import Covers

#: Searches of joint losses differ by less.
CLOSE = Fraction(1, 10**6)


@cache
def former(kind: str) -> Sequence[tuple[list[int], dict[str, dict[str, Any]]]]:
    totals: Any = json.loads(Path(__file__).with_name("former_totals.json").read_text())
    return totals[kind]  # type: ignore[no-any-return]


def both(ledger: Ledger, spent: dict[str, dict[str, Any]]) -> Iterator[tuple[Amount, Amount]]:
    """Yield what each person has spent, before and now."""
    for source, people in spent.items():
        for person, total in people.items():
            epsilon, delta = total if isinstance(total, list) else (total, "0")
            yield Amount(Fraction(repr(epsilon)), Fraction(delta)), ledger.spent(source, person)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(n, n + 100) for n in range(0, 700, 100)])
def test_totals_at_declared_places(seeds: range) -> None:
    compared = lower = 0
    for seed in seeds:
        _, payments = histories.history(random.Random(seed), placed_only=True)
        paid, spent = former("placed")[seed]
        done, ledger = [payments[number] for number in paid], Ledger.blank()
        for payment in done:
            assert not histories.attempted(partial(histories.paid, ledger, payment)), seed
        charges = [charge for payment in done for _, _, charge, _ in payment.releases]
        has_alone = any(charge.covers is Covers.OUTPUT for charge in charges)
        for before, now in both(ledger, spent):
            compared += 1
            assert now.epsilon <= before.epsilon * (1 + CLOSE), (seed, before, now)
            assert now.delta == before.delta
            if now.epsilon < before.epsilon * (1 - CLOSE):
                assert has_alone, (seed, before, now)
                assert any(charge.delta for charge in charges), (seed, before, now)
                lower += 1
        assert ledger.check() == ()
    assert compared > 2 * len(seeds)
    assert lower <= compared // 10


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(130), range(130, 260)])
def test_totals_of_attributes_rows_series_and_pooled_answers(seeds: range) -> None:
    """About named entries, which the former ledger took at their worst: never more, and less only for that."""
    compared = 0
    for seed in seeds:
        _, payments = histories.of_other_kinds(random.Random(seed))
        paid, spent = former("other kinds")[seed]
        ledger, charges = Ledger.blank(), []
        for number in paid:
            plain = replace(payments[number], entries="these", reading="", is_adopted=False, same="")
            if why := histories.attempted(partial(histories.paid, ledger, plain)):
                assert "its own output only" in why  # normal noise that no series holds (docs: planned in advance)
                break
            charges += [charge for _, _, charge, _ in plain.releases]
        else:
            is_named = any(charge.at is None for charge in charges)
            for before, now in both(ledger, spent):
                compared += 1
                assert now.epsilon <= before.epsilon * (1 + CLOSE), (seed, before, now)
                assert now.delta == before.delta
                assert is_named or now.epsilon >= before.epsilon * (1 - CLOSE), (seed, before, now)
    assert compared > len(seeds)


def test_there_are_as_many_as_were_compared() -> None:
    """As many as the design was tried with, at least: docs and issues name 1,880."""
    assert sum(len(people) for _, spent in former("placed") for people in spent.values()) >= 1880
