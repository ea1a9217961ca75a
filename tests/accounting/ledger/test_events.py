"""Events are the one truth: whatever else a ledger keeps is computed from them, and comes out the same again."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.accounting.ledger.test_accounts import pooled_debits
from tests.accounting.ledger.test_growth import debits_of_lengths
from tests.accounting.ledger.test_people import about
from tests.support.ledger_tools import chain_framework, charge, dump, edit, group_debit, unchanged, with_delta

from takifugu.accounting.ledger import Debit, Ledger, Session, preview
from takifugu.accounting.ledger.adopting import Adoption
from takifugu.accounting.ledger.histories import debits_of
from takifugu.accounting.ledger.summaries import summaries_of, summary_of
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import LedgerError
from takifugu.mechanisms import wasserstein
from takifugu.model.queries import Count

WHOLE, DATA, QUILT, SINGLE = Covers
TRUTH = ("meta", "events", "contents")


def windows(ledger: Ledger) -> None:
    """A year of weekly windows, one of them published twice, another with other noise."""
    framework = chain_framework(7, 0.9)
    one = charge(framework, Count(1), 30, QUILT)
    for week in (*range(8), 3, 5):
        scale = Fraction(31, 3) if week == 5 else one.scale
        ledger.reserve("data", [Debit(framework, replace(one, at=7 * week, calendar="days", scale=scale))], budget=99)


def kinds(ledger: Ledger) -> None:
    """Releases of every kind that composes, in any order, some of one reading, some with a delta."""
    chance, framework = np.random.default_rng(11), chain_framework(8, 0.8)
    some = [charge(framework, Count(n), 24 + n, kind) for n in (0, 1) for kind in (WHOLE, DATA, QUILT)]
    some.append(with_delta(framework, "1/3"))
    for week in range(8):
        two = [replace(some[n], reading="file") for n in chance.integers(0, len(some), 2)]
        debits = [Debit(framework, c, "", f"table {n}") for n, c in enumerate(two)]
        ledger.reserve("data", debits, budget=(10**6, "1/2"), as_composing=week == 3)


def many_units(ledger: Ledger) -> None:
    debits = debits_of_lengths(20, range(1, 4))
    for n in (20, 7, 20):
        ledger.reserve("data", debits[:n], budget=9)


def people(ledger: Ledger) -> None:
    ledger.reserve("sleep", [about("Ana"), about("Ben")], budget=9)
    ledger.reserve("work", [about("Ana"), about("Dan")], budget=9, same_people=False)
    ledger.reserve("work", [about("Ana", "1/2")], same_people=True)
    ledger.reserve("sleep", [about("Ana", "1/4")])


def pooled(ledger: Ledger) -> None:
    ledger.reserve("data", pooled_debits({"Ana": (1,), "Ben": (1,)}, Count(1), wasserstein.MECHANISM), budget=99)
    for n in range(3):
        ledger.reserve("data", [about("Ana", "1/2", name=f"week {n}")])


def readings(ledger: Ledger) -> None:
    answers = {"value: state": None, "value: State": True, "value: lag": False}
    for reading, answer in (*answers.items(), ("value: state", None)):
        debit = about("Ana", "1/2")
        debit = replace(debit, charge=replace(debit.charge, read_as=reading))
        ledger.reserve("data", [debit], budget=9, same_entries=answer)


def states(ledger: Ledger) -> None:
    """Reserved, drawn, published, over, and two sessions; budgets that are implied, declared and changed."""
    debit = group_debit(chain_framework(7), "1/2")
    ledger.source("empty", budget=(3, "1/10"))
    ledger.reserve("implied", [debit])
    ledger.set_budget("implied", 9)
    first, second, third = (ledger.reserve("implied", [debit], recipe={"n": n}, identity=b"it") for n in range(3))
    ledger.drawn(first, b"noisy")
    ledger.drawn(second, b"values")
    ledger.publish(second)
    (waiting,) = [one for one in ledger.pending("implied") if one.group == third.group]
    ledger.finish(waiting, "it was over")
    for close in (False, True):
        session = Session.open(ledger, "asked", [debit], budget=9)
        session.ask("a question", lambda _: "an answer")
        if close:
            session.close()


def certificates(ledger: Ledger) -> None:
    """Of three releases only the certificates are known: two before the first that the ledger paid, one after it."""
    debit = group_debit(chain_framework(7), "1/2")
    ledger.adopt([[Adoption("data", "an account", {"release": "aa"}, [debit])]])
    ledger.reserve("known", [about("Ana")], budget=9)
    ledger.adopt([[Adoption("known", "another", {"release": "bb"}, [group_debit(chain_framework(1), "1/3")])]])
    ledger.reserve("known", [about("Ana", "1/5"), about("Ben", "1/5")])


STORIES: list[Callable[[Ledger], None]] = [windows, kinds, many_units, people, pooled, readings, states, certificates]


def emptied(path: Path) -> None:
    """Delete every row that is no event."""
    edit(path, *(f"delete from {table}" for table in dump(path) if table not in TRUTH))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("story", STORIES)
def test_whatever_is_kept_comes_out_the_same_again(ledger: Ledger, story: Callable[[Ledger], None]) -> None:
    story(ledger)
    before = dump(ledger.store.path)
    ledger.rebuild()
    assert dump(ledger.store.path) == before
    values = [one.bundle for one in ledger.pending()]
    emptied(ledger.store.path)
    assert ledger.show() == ()
    ledger.rebuild()
    edit(ledger.store.path, "update reservations set bundle = null")
    ledger.rebuild()
    lost = [(*row[:6], None, *row[7:-1]) for row in before["reservations"]]
    assert [row[:-1] for row in dump(ledger.store.path)["reservations"]] == lost
    assert [one.bundle for one in ledger.pending()] == [None] * len(values)  # they are no events


@pytest.mark.sampled(3)
@pytest.mark.parametrize("story", STORIES)
def test_events_are_only_ever_added_to(ledger: Ledger, story: Callable[[Ledger], None]) -> None:
    seen: list[Any] = []
    write = ledger.store.writing

    def watched() -> Any:
        rows = dump(ledger.store.path)
        assert rows["events"][: len(seen)] == seen
        seen[:] = rows["events"]
        return write()

    object.__setattr__(ledger.store, "writing", watched)
    story(ledger)
    assert dump(ledger.store.path)["events"][: len(seen)] == seen
    assert len(seen) > 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("story", STORIES)
def test_what_a_history_comes_to_is_a_cache(ledger: Ledger, story: Callable[[Ledger], None]) -> None:
    story(ledger)
    with ledger.store.reading() as connection:
        rows = dump(ledger.store.path)
        used = {history for (history, *_) in rows["summaries"]}
        summaries = summaries_of(connection, used)
        for history, items in debits_of(connection, used).items():
            assert set(summary_of(items)) == set(summaries[history])
    source, unit = ledger.show()[-1].name, "Ana" if story in (people, pooled, readings, certificates) else ""
    debit = about("Ana", "1/9") if unit else group_debit(chain_framework(7), "1/9")
    debit = debits_of_lengths(2, range(1, 2))[0] if story is many_units else debit
    previewed = preview(ledger.store.path, source, [debit])
    edit(ledger.store.path, "delete from summaries")
    assert preview(ledger.store.path, source, [debit]) == previewed


@pytest.mark.parametrize("what", [
    "contents set body = x'00'", "events set kind = 'eaten'", "events set source = 'no' where kind = 'paid'",
    "events set body = '{}'",
])  # fmt: skip
def test_altered_events_are_found_when_they_are_read(ledger: Ledger, what: str) -> None:
    ledger.reserve("data", [group_debit(chain_framework(7), "1/2")])
    edit(ledger.store.path, f"update {what}")
    with unchanged(ledger.store.path), pytest.raises(LedgerError, match="edited"):
        ledger.rebuild()


def test_a_charge_is_written_once(ledger: Ledger) -> None:
    many_units(ledger)
    bodies = [body for _, body in dump(ledger.store.path)["contents"]]
    assert sum(b"covers" in body and b"randomiser" in body for body in bodies) == 3
    assert len(bodies) == 3 + 3 + 2 + 1  # charges, frameworks, units of all and of seven, a recipe
