"""Long work on answer laws: announced, and never cut short."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from takifugu.analysis.answer_laws.chain import ChainLaw
from takifugu.analysis.problem import Bound, Problem
from takifugu.analysis.questions.answer_law import AnswerFamily
from takifugu.core import searches
from takifugu.mechanisms import laplace_exact, wasserstein
from takifugu.mechanisms.common import answer_families
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.frameworks import Pufferfish
from takifugu.model.queries import Count
from takifugu.model.secrets.of_entries import every_entry


def problem() -> Problem:
    """Return a new problem: what was found for an old one may be kept."""
    return Problem(Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], 6)), Count(1), Fraction(1))


class Seen:
    """A watcher that records its messages."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, int]] = []

    def begins(self, search: searches.Search) -> None:
        assert (search.secrets, search.most, search.things, search.stops) == (6, 6, "secrets", False)
        assert search.seconds > 0
        self.messages.append(("begins", search.done))

    def goes(self, search: searches.Search) -> None:
        self.messages.append(("goes", search.done))

    def over(self, search: searches.Search) -> None:
        assert not search.early
        self.messages.append(("over", search.done))


@pytest.mark.parametrize("mechanism", [laplace_exact.MECHANISM, wasserstein.MECHANISM])
def test_work_that_is_too_large_to_keep_is_watched(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_families, "CACHED_BYTES", 0.0)
    watcher = Seen()
    with searches.stopping(), searches.watched(watcher):
        bounded = mechanism.bound(problem())
    assert isinstance(bounded, Bound)
    assert watcher.messages == [("begins", 0), *(("goes", n) for n in range(1, 7)), ("over", 6)]


@pytest.mark.parametrize("mechanism", [laplace_exact.MECHANISM, wasserstein.MECHANISM])
def test_an_interrupt_never_leaves_some_of_the_laws_out(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The laws of the first entries need less noise than those in the middle: half of them is no bound."""
    whole = ChainLaw.families

    def interrupted(law: ChainLaw) -> Iterator[AnswerFamily]:
        families = whole(law)
        yield next(families)
        raise KeyboardInterrupt

    monkeypatch.setattr(answer_families, "CACHED_BYTES", 0.0)
    monkeypatch.setattr(ChainLaw, "families", interrupted)
    with searches.stopping(), pytest.raises(KeyboardInterrupt):
        mechanism.bound(problem())
