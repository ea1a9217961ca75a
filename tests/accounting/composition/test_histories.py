"""What a ledger keeps of a history costs what all its releases cost, however they were added up: random sets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.support.histories import BELIEFS, drawn, frameworks_of

from takifugu.accounting.composition import Charge, joint, sums
from takifugu.accounting.composition.several import several
from takifugu.accounting.ledger import summaries
from takifugu.accounting.ledger.accounts import Item, charges_under
from takifugu.accounting.ledger.summaries import summary_of
from takifugu.core.errors import CompositionRefused
from takifugu.model.frameworks import Framework
from takifugu.model.frameworks import from_dict as framework_from


def cost(framework: Framework, charges: Sequence[Charge]) -> Fraction | None:
    try:
        return joint(framework, charges).epsilon
    except CompositionRefused:
        return None


def in_batches(chance: np.random.Generator, charges: Sequence[Charge]) -> list[list[Charge]]:
    """Return charges as a ledger reads them: no reading is in two reservations, and each release has a row."""
    batches: list[list[Charge]] = []
    at = 0
    while at < len(charges):
        new = charges[at : at + int(chance.integers(1, 16))]
        batches.append(
            [
                replace(one, release=f"{row} {row}", reading=f"{at}.{one.reading}" if one.reading else "")
                for row, one in enumerate(new, at)
            ]
        )
        at += len(new)
    return batches


def stored_summary(batches: Sequence[Sequence[Charge]]) -> tuple[Item, ...]:
    """Return what a history comes to, a batch at a time, each time read from the text of the time before."""
    rows = dict(enumerate(one for batch in batches for one in batch))
    summary: tuple[Item, ...] = ()
    for batch in batches:
        debits = [Item(one, one.framework, "", int(one.release.split()[0]), False) for one in batch]
        text = json.dumps(summaries.body_of(summary_of([*summary, *debits])))
        summary = summaries.of_body(json.loads(text), rows)
    return summary


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("name", BELIEFS)
def test_a_history_costs_what_its_releases_cost_one_by_one(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to the rounding of sums, which is upwards; and in another order exactly the same."""
    chance, frameworks = np.random.default_rng([seed, len(name)]), frameworks_of(name)
    releases = drawn(chance, frameworks, int(chance.integers(1, (6, 20, 40)[seed % 3])))
    batches = in_batches(chance, [one for _, one in releases])
    charges, summary = [one for batch in batches for one in batch], stored_summary(batches)
    assert len(summary) <= len(charges) * len(frameworks)
    for framework in frameworks:
        fingerprint = framework.fingerprint()
        together = cost(framework, charges)
        by_summary = cost(framework, charges_under(summary, fingerprint))
        assert cost(framework, [charges[n] for n in chance.permutation(len(charges))]) == together
        with monkeypatch.context() as patch:
            patch.setattr(sums, "merged", lambda charges: list(map(several, charges)))
            plain = cost(framework_from(framework.to_dict()), charges)
        assert (plain is None) == (together is None) == (by_summary is None)
        if plain is None or together is None or by_summary is None:
            continue
        least, most = plain * (1 - Fraction(1, 10**12)), plain * (1 + Fraction(1, 10**9))
        assert least <= together <= most
        assert least <= by_summary <= most
