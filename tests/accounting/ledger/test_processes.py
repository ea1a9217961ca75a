"""Several processes and sudden death: what was published is never more than what the ledger says was spent."""

import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from fractions import Fraction
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest
from tests.support.ledger_tools import (
    check_forever,
    die_after,
    epsilon_of,
    group_debit,
    one_thing,
    release_apart_forever,
    release_forever,
    release_in_a_loop,
)
from tests.support.processes import FAST, SECONDS, in_a_child, side_by_side

from takifugu.accounting.composition import joint
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import BudgetExceeded

#: How many times the slow test kills; `make crashes` kills more often.
KILLS = int(os.environ.get("TAKIFUGU_KILLS", "100"))


def test_two_processes_never_spend_the_same_epsilon(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    Ledger.open(path).source("data", budget=1)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        published = pool.starmap_async(release_in_a_loop, [(path, "1/13", "", 20)] * 2).get(SECONDS)
    assert sum(published) == 13
    ledger = Ledger.open(path)
    assert ledger.spent("data").spent.epsilon == 1
    assert [entry.state for entry in ledger.history("data")] == ["published"] * 13


def test_two_processes_make_one_ledger(tmp_path: Path) -> None:
    """Both find no file, one makes it, and both debit the same one."""
    for attempt in range(3):
        path = str(tmp_path / f"ledger {attempt}.db")
        published = side_by_side(release_in_a_loop, [(path, "1/3", "", 1)] * 4)
        assert sum(published) == 1  # without a budget the first release is all there is
        assert Ledger.open(path).spent("data").spent.epsilon == Fraction(1, 3)
    assert not list(tmp_path.glob("*.new*"))


@pytest.mark.parametrize("step", ["reserved", "drawn"])
def test_death_between_reserve_and_publish_leaves_the_epsilon_spent(tmp_path: Path, step: str) -> None:
    path = tmp_path / "ledger.db"
    for times in range(1, 5):
        assert in_a_child(die_after, str(path), step) == -signal.SIGKILL
        assert Ledger.open(path).spent("data").spent.epsilon == Fraction(times, 4)
    assert {entry.state for entry in Ledger.open(path).history("data")} == {step}
    with pytest.raises(BudgetExceeded):
        Ledger.open(path).reserve("data", [group_debit(one_thing(), Fraction(1, 4))])


def kill_at_work(children: Sequence[BaseProcess], log: Path, published: int, seconds: float) -> None:
    """Start processes, and kill them so many seconds after so many more releases were published."""
    before = log.stat().st_size
    for child in children:
        child.start()
    while log.stat().st_size < before + published:
        assert all(child.is_alive() for child in children)
        time.sleep(0.005)
    time.sleep(seconds)
    for child in children:
        child.kill()
        child.join()


@pytest.mark.parametrize("times", [10, pytest.param(KILLS, marks=pytest.mark.slow)])
def test_kill_minus_nine_at_random_moments_never_undercounts(tmp_path: Path, times: int) -> None:
    path, log = tmp_path / "ledger.db", tmp_path / "published"
    log.touch()
    Ledger.open(path).source("data", budget=10**6)
    chance = np.random.default_rng(5)
    for _ in range(times):
        children = [FAST.Process(target=release_forever, args=(str(path), str(log), "1/7")) for _ in range(2)]
        kill_at_work(children, log, 1, chance.uniform(0, 0.1))
        check_published(Ledger.open(path), log)


def check_published(ledger: Ledger, log: Path) -> None:
    """Check that all releases were paid for, and that those of which it was noted are published."""
    history, published = ledger.history("data"), log.stat().st_size
    charge = group_debit(one_thing(), Fraction(1, 7)).charge
    assert epsilon_of(ledger) == joint(one_thing(), [charge] * len(history)).epsilon
    assert published <= sum(entry.state == "published" for entry in history) <= len(history)


@pytest.mark.parametrize("times", [2, pytest.param(max(KILLS // 10, 1), marks=pytest.mark.slow)])
def test_copies_that_are_merged_beside_payments_lose_none(tmp_path: Path, times: int) -> None:
    """Kill processes that pay, that merge copies in which they paid, and that check, all on one ledger."""
    path, log, named = tmp_path / "ledger.db", tmp_path / "published", tmp_path / "differences"
    log.touch()
    Ledger.open(path).source("data", budget=10**6)
    copies = [tmp_path / "first.db", tmp_path / "second.db"]
    chance = np.random.default_rng(6)
    for _ in range(times):
        children = [FAST.Process(target=release_forever, args=(str(path), str(log), "1/7"))]
        children += [
            FAST.Process(target=release_apart_forever, args=(str(path), str(log), "1/7", copy.stem)) for copy in copies
        ]
        children += [FAST.Process(target=check_forever, args=(str(path), str(named)))]
        kill_at_work(children, log, 3, chance.uniform(0, 0.2))
        ledger = Ledger.open(path)
        for copy in filter(Path.exists, copies):  # what was published there, and not merged when its process was killed
            ledger.merge(copy)
        assert not named.exists()
        assert ledger.check() == ()
        check_published(ledger, log)


@pytest.mark.slow
@pytest.mark.parametrize(("budget", "step"), [("1", "1/7"), ("5", "3/8"), ("1/3", "1/3")])
def test_twenty_processes_spend_exactly_what_fits(tmp_path: Path, budget: str, step: str) -> None:
    """Two units that ten processes each release about, as often as the joint cost of so many releases allows."""
    path = str(tmp_path / "ledger.db")
    ledger = Ledger.open(path)
    one = group_debit(one_thing(), Fraction(step))
    costs = [joint(one.framework, [one.charge] * n).epsilon for n in range(1, 201)]
    fits = sum(cost <= Fraction(budget) for cost in costs)
    assert 0 < fits < 100
    arguments = [(path, step, unit, 20) for unit in ("ana", "ben") for _ in range(10)]
    ledger.source("data", budget=Fraction(budget))
    published = side_by_side(release_in_a_loop, arguments)
    assert [sum(published[:10]), sum(published[10:])] == [fits, fits]
    assert [unit.spent.epsilon for unit in ledger.spent("data").units] == [costs[fits - 1]] * 2
    assert {entry.state for entry in ledger.history("data")} == {"published"}
    assert ledger.pending() == ()
