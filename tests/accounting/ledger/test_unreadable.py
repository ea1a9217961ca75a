"""What cannot be read: one recipe is one release, an event that makes no sense ends in words, and nothing is paid."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_edits import debit, pay, published
from tests.support.paying import unchanged

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.events import chained, digest_of
from takifugu.core.errors import LedgerError


def rewritten(ledger: Ledger, **changes: Any) -> Ledger:
    """Return a copy whose last payment says something else, written by one who has the key."""
    rows, view = ledger.store.after(0), ledger.view()
    copy = Ledger.blank()
    texts = [json.loads(text) for text, _ in rows]
    next(event for event in reversed(texts) if event["kind"] == "paid").update(changes)
    written, head = [], ""
    for event in texts:
        text = json.dumps(event, sort_keys=True, separators=(",", ":"))
        head = chained(view.key, head, text)
        written.append((text, head))
    with copy.store.asking() as ask:  # type: ignore[attr-defined]
        ask("delete from {events}")
    assert copy.store.append(0, "", written, ledger.store.contents(_digests(rows)), {}, "")
    return copy


def _digests(rows: list[tuple[str, str]]) -> set[str]:
    names = set[str]()
    for text, _ in rows:
        event = json.loads(text)
        names |= {event.get("reading", ""), event.get("recipe", "")}
        names |= {line[key] for line in event.get("lines", ()) for key in ("charge", "framework", "units")}
    return names - {"", "*"}


@pytest.mark.parametrize("recipe", [b"[1", b"\xff\xfe", b"[" * 5000, b"7", b"null"])
@pytest.mark.parametrize("is_drawn", [False, True])
def test_a_recipe_that_cannot_be_read_is_one_release(
    ledger: Ledger, recipe: bytes, is_drawn: bool
) -> None:
    pay(ledger, debit(name="good"), budget=9, recipe={"file": "x.toml"})
    waiting = pay(ledger, debit(name="odd"), recipe={"file": "y.toml"})
    if is_drawn:
        ledger.keep(waiting.group, b"noisy")
    copy = rewritten(ledger, recipe=digest_of(recipe))
    with copy.store.asking() as ask:  # type: ignore[attr-defined]
        ask("insert into {contents} values (?, ?)", digest_of(recipe), recipe)
    assert [[*payment.ids] for payment in copy.pending()] == [["good"], ["odd"]]
    assert pay(copy, debit(name="more")).spent.epsilon * 10 == 3
    copy.keep(copy.payments()[0].group, b"its values")
    with pytest.raises(LedgerError):
        pay(copy, debit(name="once"), recipe={"once": "May"})  # it may be what was paid for
    good, odd, _ = copy.payments()
    assert (good.recipe, [*good.ids], [*odd.ids]) == ({"file": "x.toml"}, ["good"], ["odd"])
    assert "cannot be read" in str(odd.recipe["unreadable"])
    assert [payment.state for payment in copy.payments()][1] == ("drawn" if is_drawn else "reserved")


@pytest.mark.parametrize("changes", [
    {"lines": []}, {"ids": {"release": 7}}, {"spent": {"data": ["1/0", "0"]}}, {"spent": {"data": ["-1", "0"]}},
    {"spent": {"data": ["nan", "0"]}}, {"group": ["x"]}, {"adopted": 1}, {"reading": "00"},
])  # fmt: skip
def test_a_payment_that_makes_no_sense_ends_in_words(ledger: Ledger, changes: dict[str, Any]) -> None:
    published(ledger, budget=9)
    pay(ledger)
    copy = rewritten(ledger, **changes)
    try:
        faults = copy.check()
    except LedgerError:
        return
    assert faults or changes in ({"lines": []}, {"ids": {"release": 7}})


@pytest.mark.parametrize("what", ["charge", "framework", "recipe", "reading", "units"])
def test_a_content_that_is_lost_is_found_and_nothing_is_paid(ledger: Ledger, what: str) -> None:
    pay(ledger, budget=9)
    event = json.loads(next(text for text, _ in ledger.store.after(0) if '"kind":"paid"' in text))
    digest = event[what] if what in event else event["lines"][0][what]
    path = Path(ledger.store.name)
    with ledger.store._connected() as connection:  # type: ignore[attr-defined]
        connection.execute("delete from contents where digest = ?", (digest,))
    again = Ledger.open(path)
    with pytest.raises(LedgerError, match="lacks what one of its events names"):
        again.check()
    if what not in ("recipe",):  # which no total depends on
        with unchanged(path), pytest.raises(LedgerError):
            pay(Ledger.open(path))
