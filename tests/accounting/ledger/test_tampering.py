"""A ledger that somebody has edited: the next release says so and pays nothing, or the check does.

What no file can tell is left out: a ledger that was replaced by an older copy of itself, and one that whoever has its
key has made anew.
"""

import time
from fractions import Fraction
from pathlib import Path

import pytest
from tests.accounting.ledger.test_people import about
from tests.support.ledger_tools import chain_framework, edit, forge, group_debit, refused_unchanged, unchanged

from takifugu.accounting.ledger import Ledger, Session
from takifugu.core.errors import BudgetExceeded, LedgerError

RELEASE, CHECK = "at the next release", "by the check"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A ledger in which Ana has nothing left; a session is open, and another release waits to be published."""
    path = tmp_path_factory.mktemp("whole") / "ledger.db"
    ledger = Ledger.open(path)
    for name in ("Ana", "Ben"):
        for _ in range(2):
            paid = ledger.reserve("data", [about(name, "1/2")], budget=1, same_people=True)
            ledger.drawn(paid, b"noisy")
            ledger.publish(paid)
    ledger.reserve("more", [about("Ana", "1/4")], budget=2, same_people=False)
    waiting = ledger.reserve("one unit", [group_debit(chain_framework(7), "1/4")], budget=1)
    ledger.drawn(waiting, b"noisy")
    Session.open(ledger, "one unit", [group_debit(chain_framework(7), "1/4")]).ask("how many", lambda _: "3")
    return path.read_bytes()


LAST_OF_DATA = "source = 1 and standing = (select max(standing) from units where source = 1)"
TAMPERED = {
    "charges: quieter": ("update charges set body = replace(body, '1/2', '1/2000'); delete from summaries", RELEASE),
    "charges: another digest": ("update charges set digest = 'x'", RELEASE),
    "charges: they link": ("update charges set links = 1", RELEASE),
    "charges: deleted": ("delete from summaries; delete from debits; delete from charges", RELEASE),
    "summaries: another body": ("update summaries set body = (select max(body) from summaries)", RELEASE),
    "summaries: deleted": ("delete from summaries", CHECK),
    "standings: nothing spent": ("update standings set epsilon = '0'", RELEASE),
    "standings: no delta": ("update standings set delta = '1/10'", RELEASE),
    "standings: another history": ("update standings set history = (select max(history) from standings)", RELEASE),
    "standings: of another source": ("update standings set source = 2 where source = 1", RELEASE),
    "standings: of other numbers": ("update standings set units = units + 1", RELEASE),
    "standings: deleted": ("delete from standings", RELEASE),
    "units: another standing": ("update units set standing = (select min(standing) from units)", RELEASE),
    "units: other people": ("update units set tag = randomblob(16)", RELEASE),
    "units: another source": (f"update units set source = 2 where {LAST_OF_DATA}", RELEASE),
    "units: everyone": (f"update units set tag = x'' where {LAST_OF_DATA}", RELEASE),
    "units: deleted": ("delete from units", RELEASE),
    "units: one is deleted": (f"delete from units where {LAST_OF_DATA}", RELEASE),
    "meta: another key": ("update meta set key = '00'", RELEASE),
    "meta: another id": ("update meta set public_id = 'other'", RELEASE),
    "meta: another head": ("update meta set head = (select chain from events where id = 3)", RELEASE),
    "sources: a larger budget": ("update sources set budget_epsilon = '100'", RELEASE),
    "sources: no budget": ("update sources set budget_epsilon = null, budget_is_implied = 1", RELEASE),
    "sources: another name": ("update sources set name = 'old data' where id = 1", RELEASE),
    "sources: deleted": ("delete from people; delete from standings; delete from units; delete from sources", RELEASE),
    "histories: no past": ("update histories set parent = null", RELEASE),
    "histories: another batch": ("update histories set batch = 1; delete from summaries", RELEASE),
    "debits: another charge": ("update debits set charge = 1; delete from summaries", CHECK),
    "debits: deleted": ("delete from debits where id = 1", RELEASE),
    "batches: deleted": ("delete from debits; delete from histories; delete from batches", RELEASE),
    "frameworks: another belief": ("update frameworks set body = replace(body, '0.8', '0.5')", RELEASE),
    "people: others": ("update people set same = not same", RELEASE),
    "people: deleted": ("delete from people", RELEASE),
    "releases: another id": ("update releases set public_id = public_id || 'x'", CHECK),
    "releases: deleted": ("delete from debits where release = 1; delete from releases where id = 1", RELEASE),
    "notes: deleted": ("delete from notes", RELEASE),
    "notes: other words": ("update notes set what = 'nothing happened'", CHECK),
    "reservations: to be drawn again": ("update reservations set state = 'reserved', bundle = null", CHECK),
    "events: the newest is deleted": ("delete from events where id = (select max(id) from events)", RELEASE),
    "events: the oldest is deleted": ("delete from events where id = 1", RELEASE),
    "events: all are deleted": ("delete from events", RELEASE),
    "events: an old one is edited": ("update events set body = replace(body, 'a', 'b') where id = 3", CHECK),
    "events: two change places": (
        "update events set id = 900 where id = 4; update events set id = 4 where id = 5; "
        "update events set id = 5 where id = 900",
        CHECK,
    ),
    "contents: edited": ("update contents set body = x'00' where rowid = 1", CHECK),
    "seals: removed": (
        "update standings set epsilon = '0', seal = null; update sources set units_seal = null, seal = null", RELEASE
    ),
}  # fmt: skip


def edited(path: Path, whole: bytes, statements: str) -> Ledger:
    path.write_bytes(whole)
    edit(path, *statements.split("; "))
    return Ledger.open(path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", TAMPERED)
def test_what_was_edited_is_noticed_and_nothing_is_paid(tmp_path: Path, whole: bytes, what: str) -> None:
    statements, noticed = TAMPERED[what]
    ledger = edited(tmp_path / "ledger.db", whole, statements)
    error = LedgerError if noticed is RELEASE else BudgetExceeded
    refused_unchanged(ledger, error, "ledger was edited|epsilon 0 left", "data", [about("Ana", "1/2")])
    assert ledger.check()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", [what for what, (_, noticed) in TAMPERED.items() if not what.startswith("events")])
def test_events_that_are_whole_restore_the_rest(tmp_path: Path, whole: bytes, what: str) -> None:
    ledger = edited(tmp_path / "ledger.db", whole, TAMPERED[what][0])
    if what.startswith(("meta", "contents")):
        with pytest.raises(LedgerError, match=r"edited|altered"):
            ledger.rebuild()
        return
    ledger.rebuild()
    assert ledger.check() == ()
    refused_unchanged(ledger, BudgetExceeded, None, "data", [about("Ana", "1/2")])


@pytest.mark.parametrize("what", [what for what in TAMPERED if what.startswith("events")])
def test_events_that_are_not_whole_restore_nothing(tmp_path: Path, whole: bytes, what: str) -> None:
    ledger = edited(tmp_path / "ledger.db", whole, TAMPERED[what][0])
    with unchanged(ledger.store.path), pytest.raises(LedgerError, match="edited"):
        ledger.rebuild()


def test_values_that_were_drawn_are_not_drawn_again(tmp_path: Path, whole: bytes) -> None:
    ledger = edited(tmp_path / "ledger.db", whole, "update reservations set state = 'reserved', bundle = null")
    for ask in (ledger.pending, lambda: ledger.payments("one unit")):
        with pytest.raises(LedgerError, match="edited"):
            ask()


@pytest.mark.parametrize("move", ["budget", "published"])
def test_nothing_seals_what_was_edited(tmp_path: Path, whole: bytes, move: str) -> None:
    """Whatever is written next is written beside the edited row, which stays visible as one."""
    ledger = edited(tmp_path / "ledger.db", whole, "update standings set epsilon = '0'")
    if move == "budget":
        ledger.set_budget("data", 2)
    else:
        ledger.publish(next(one for one in ledger.pending("one unit") if one.state == "drawn"))
    refused_unchanged(ledger, LedgerError, "edited", "data", [about("Ana", "1/2")])
    assert len(ledger.check()) == 4


def test_whoever_has_the_key_is_not_noticed_at_a_release_and_yet_by_the_check(tmp_path: Path, whole: bytes) -> None:
    ledger = edited(tmp_path / "ledger.db", whole, "")
    refused_unchanged(ledger, BudgetExceeded, None, "data", [about("Ana", "1/2")])
    assert ledger.check() == ()
    forge(ledger, "update standings set epsilon = '0'", "update sources set budget_epsilon = '9'")
    ledger.reserve("data", [about("Ana", "1/2")])
    assert any("budget_epsilon is '9', and its events say '1'" in words for words in ledger.check())


def test_a_check_names_every_difference(tmp_path: Path, whole: bytes) -> None:
    spent, lost = "update standings set epsilon = '0' where id = 1", "delete from notes where id = 2"
    ledger = edited(tmp_path / "ledger.db", whole, f"{spent}; {lost}; delete from units where {LAST_OF_DATA}")
    tag = min({ledger.unit_tag("Ana"), ledger.unit_tag("Ben")} - {one.unit for one in ledger.spent("data").units})
    assert sorted(ledger.check()) == [
        "notes, row 2: is missing",
        "standings, row 1: epsilon is '0', and its events say '1'",
        f"units, row {tag} of source 1: is missing",
    ]
    ledger = edited(tmp_path / "ledger.db", whole, "update meta set key = '00'")
    assert ledger.check()[0] == (
        "no event follows from the one before it: the ledger's key, id or date is not the one it had"
    )


def test_a_check_names_an_only_event_that_was_edited(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    ledger.source("data")
    with ledger.store.writing() as connection:
        connection.execute("update events set created = '2020-01-01'")
    assert ledger.check()[0] == "event 1 (source, 2020-01-01) does not follow from the one before it"


@pytest.mark.mutants
def test_comparing_with_the_seals_costs_the_same_after_a_long_history(tmp_path: Path) -> None:
    """Twenty times as many earlier releases cost less than twice as much."""
    times = []
    for weeks in (10, 200):
        ledger = Ledger.open(tmp_path / f"{weeks}.db")
        for _ in range(weeks):
            ledger.reserve("data", [group_debit(chain_framework(7), Fraction(1, 100))], budget=99)
        start = time.process_time()
        for _ in range(5):
            ledger.reserve("data", [group_debit(chain_framework(7), Fraction(1, 100))])
        times.append(time.process_time() - start)
    assert times[1] < 2 * times[0] + 0.05
