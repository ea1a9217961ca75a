"""Long ledgers and large sources: within limits of time and memory that a busy machine keeps, too."""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support import ledger_histories as histories

from takifugu.accounting.ledger import Debit, Ledger, trials
from takifugu.accounting.ledger.events import Paid, chained, to_text


def seconds(action: Callable[[], Any]) -> float:
    """Return the time of this process that something takes."""
    start = time.process_time()
    action()
    return time.process_time() - start


def week(number: int, units: Any) -> list[Debit]:
    framework, charge = histories.released(0, 12, "count", 0.1, "influence")  # type: ignore[misc]
    return [Debit(framework, replace(charge, at=12 * number), units)]


def prolonged(ledger: Ledger, payments: int) -> None:
    """Write as many payments as its last one, a week later each, at once."""
    view = ledger.view()
    (group,) = view.groups.values()
    paid, head, rows = group.paid, view.head, []
    for number in range(1, payments):
        lines = tuple(replace(line, at=12 * number) for line in paid.lines)
        event = replace(
            paid, group=f"{number:016x}", ids={"count": f"{number:015x}r"}, lines=lines, spent={"data": ("1/5", "0")}
        )
        text = to_text(event)
        head = chained(view.key, head, text)
        rows.append((text, head))
    assert isinstance(paid, Paid)
    assert ledger.store.append(view.number, view.head, rows, {}, {}, "")


@pytest.mark.mutants
@pytest.mark.parametrize(("payments", "limit"), [(1000, 1), pytest.param(10_000, 8, marks=pytest.mark.slow)])
def test_many_releases(tmp_path: Path, payments: int, limit: float) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    ledger.reserve("data", week(0, ["ann", "bob"]), 10**6, entries="hours")
    prolonged(ledger, payments)
    cold = Ledger.open(tmp_path / "ledger.db")
    tracemalloc.start()
    assert seconds(cold.view) < limit * 6  # measured while memory is traced
    assert tracemalloc.get_traced_memory()[1] < payments * 20_000
    tracemalloc.stop()
    assert seconds(lambda: cold.reserve("data", week(payments, ["ann", "bob"]), entries="hours")) < limit
    assert seconds(lambda: cold.reserve("data", week(payments + 1, ["ann", "bob"]), entries="hours")) < limit
    assert len(cold.view().steps) == payments + 2
    assert cold.spent("data").epsilon < 1
    assert seconds(cold.show) < 0.1
    assert (tmp_path / "ledger.db").stat().st_size < payments * 1200


@pytest.mark.slow
def test_a_release_about_ten_million_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    tags = np.unique(np.random.default_rng(3).integers(0, 2**63, 10_000_000).astype(np.uint64))
    monkeypatch.setattr(trials, "set_of", lambda _, chosen: chosen)
    for number in range(2):
        assert seconds(lambda: ledger.reserve("data", week(number, tags), 10**6, entries="hours")) < 60  # noqa: B023
    assert (tmp_path / "ledger.db").stat().st_size < 8.1 * len(tags)
    again = Ledger.open(tmp_path / "ledger.db")
    assert seconds(again.view) < 30
    assert again.view().people.sizes == [len(tags)]
    assert again.spent("data").epsilon < 0.11
