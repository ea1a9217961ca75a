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
from takifugu.accounting.ledger import summaries
from takifugu.accounting.ledger.accounts import Item, charges_under
from takifugu.accounting.ledger.summaries import Summary, summary_of
from takifugu.core.errors import CompositionRefused
from takifugu.model.frameworks import Framework
from takifugu.model.frameworks import from_dict as framework_from


def cost(framework: Framework, charges: Sequence[Charge]) -> Fraction | None:
    try:
        return joint(framework, charges).epsilon
    except CompositionRefused:
        return None


def kept(chance: np.random.Generator, releases: Sequence[tuple[Framework, Charge]]) -> Summary:
    """Return what a history comes to, a few releases at a time, each time read from the text of the time before."""
    frameworks = {framework.fingerprint(): framework for framework, _ in releases}
    rows = {number: one for number, (_, one) in enumerate(releases)}
    summary, at = Summary((), False), 0
    while at < len(rows):
        new = range(at, min(len(rows), at + int(chance.integers(1, 5))))
        debits = [Item(replace(rows[n], release=f"{n} {n}"), rows[n].framework, "", n, False) for n in new]
        text = json.dumps(summaries.body_of(summary_of([*summary.items, *debits], frameworks)))
        summary = summaries.of_body(json.loads(text), rows)
        at = new.stop
    return summary


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", BELIEFS)
def test_a_history_costs_what_its_releases_cost_one_by_one(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to the rounding of sums, which is upwards; and in another order exactly the same."""
    chance, frameworks = np.random.default_rng([seed, len(name)]), frameworks_of(name)
    releases = drawn(chance, frameworks, int(chance.integers(1, (6, 12, 24, 40)[seed])))
    charges = [one for _, one in releases]
    summary = kept(chance, releases)
    assert len(summary.charges) <= len(charges) * len(frameworks)
    for framework in frameworks:
        fingerprint = framework.fingerprint()
        together = cost(framework, charges)
        by_summary = cost(framework, charges_under(summary.items, fingerprint))
        assert cost(framework, [charges[n] for n in chance.permutation(len(charges))]) == together
        with monkeypatch.context() as patch:
            patch.setattr(sums, "merged", list)
            plain = cost(framework_from(framework.to_dict()), charges)
        assert (plain is None) == (together is None) == (by_summary is None)
        if plain is not None and together is not None and by_summary is not None:
            for total in (together, by_summary):
                assert plain * (1 - Fraction(1, 10**12)) <= total <= plain * (1 + Fraction(1, 10**9))
