"""A release that cannot be read is one release: every other command goes on, and names it."""

from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.commands import ended, json_of, succeed, words_of
from tests.support.ledger_tools import group_debit, one_thing, refused_unchanged

from takifugu.accounting.ledger import Ledger, asking
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
    shown = words_of(succeed("ledger", "show", path))
    assert "the charge of the release huge" in shown
    assert "source 'other'" in shown
    assert "huge" in words_of(succeed("ledger", "history", path))
    assert [len(source["releases"]) for source in json_of("ledger", "show", path)["sources"]] == [2, 1]
    ended(4, "ledger", "resume", path)
    (difference,) = ledger.check()
    assert "release 'huge'" in difference
    assert "'huge'" in words_of(ended(2, "ledger", "check", path))
    ledger.drawn(paid, b"noisy")  # what was paid before is completed
    ledger.publish(paid)
    with pytest.raises(LedgerError, match="cannot be read"):  # nothing is known of a total beside it
        ledger.reserve("data", [group_debit(one_thing(), Fraction(1, 4), name="more")])
    ledger.reserve("other", [group_debit(one_thing(), Fraction(1, 4), name="more")])
