"""A release that cannot be read is one release: every other command goes on, and names it."""

from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.commands import ended, json_of, succeed, words_of
from tests.support.ledger_tools import group_debit, one_thing, refused_unchanged

from takifugu.accounting.ledger import Ledger, asking
from takifugu.accounting.ledger.format import seals
from takifugu.core.errors import InputError, LedgerError

#: More than any float holds.
HUGE = Fraction(4 * 10**308)


def test_what_would_not_read_back_is_refused_before_it_is_paid_for(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    debits = [group_debit(one_thing(), 1, name="huge", change=HUGE)]
    refused_unchanged(ledger, InputError, "'huge' would not read back", "data", debits, budget=2)


def test_a_row_that_cannot_be_read_is_one_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an earlier version wrote it."""
    path = tmp_path / "ledger.db"
    ledger = Ledger.open(path)
    paid = ledger.reserve("data", [group_debit(one_thing(), Fraction(1, 4), name="good")], budget=2)
    ledger.reserve("other", [group_debit(one_thing(), Fraction(1, 4), name="apart")], budget=2, same_people=False)
    with monkeypatch.context() as patched:
        patched.setattr(asking, "_check_reads_back", lambda *_: None)
        ledger.reserve("data", [group_debit(one_thing(), 1, name="huge", change=HUGE)])
    entries = {entry.name: entry for entry in ledger.history("data")}
    assert (entries["huge"].scope, entries["huge"].kinds, entries["huge"].amount.epsilon) == ("unreadable", (), 1)
    assert (entries["good"].scope != "unreadable", len(entries)) == (True, 2)
    words = words_of(succeed("ledger", "show", path))
    assert "the charge of the release huge" in words
    assert "source 'other'" in words
    assert "huge" in words_of(succeed("ledger", "history", path))
    assert [len(source["releases"]) for source in json_of("ledger", "show", path)["sources"]] == [2, 1]
    ended(4, "ledger", "resume", path)
    difference, rest = ledger.check()
    assert "release 'huge'" in difference
    assert "cannot be computed" in rest
    assert "'huge'" in words_of(ended(2, "ledger", "check", path))
    ledger.drawn(paid, b"noisy")  # what was paid before is completed
    ledger.publish(paid)
    with pytest.raises(LedgerError, match="cannot be read"):  # nothing is known of a total beside it
        ledger.reserve("data", [group_debit(one_thing(), Fraction(1, 4), name="more")])
    ledger.reserve("other", [group_debit(one_thing(), Fraction(1, 4), name="more")])


def test_check_goes_on_after_an_event_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    with monkeypatch.context() as patched:
        patched.setattr(asking, "_check_reads_back", lambda *_: None)
        for source in ("one", "other"):
            debits = [group_debit(one_thing(), 1, name=f"huge {source}", change=HUGE)]
            ledger.reserve(source, debits, budget=2, same_people=False if source == "other" else None)
    differences = ledger.check()
    assert [name in said for name, said in zip(("'huge one'", "'huge other'"), differences, strict=False)] == [True] * 2
    assert len(differences) == 3


@pytest.mark.parametrize("recipe", ["[1", "7", "null"])
def test_a_recipe_that_cannot_be_read_is_one_release(tmp_path: Path, recipe: str) -> None:
    path = tmp_path / "ledger.db"
    ledger = Ledger.open(path)
    ledger.reserve("data", [group_debit(one_thing(), Fraction(1, 4), name="odd")], budget=2, identity=b"odd")
    ledger.reserve("other", [group_debit(one_thing(), Fraction(1, 4), name="good")], budget=2, same_people=False)
    with ledger.store.writing() as connection:
        connection.execute("update reservations set recipe = ?, seal = null where id = 1", (recipe,))
        seals.write(connection)
    odd, good = ledger.pending()
    assert (odd.bundle, [*odd.ids]) == (None, ["odd"])
    assert "cannot be read" in odd.recipe["unreadable"]
    assert [*good.ids] == ["good"]
    with pytest.raises(LedgerError, match="cannot be read"):
        ledger.pending("data", b"odd")
    said = words_of(ended(4, "ledger", "resume", path))
    assert "odd" in said
    assert "good" in said
