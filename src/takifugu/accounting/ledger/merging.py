"""Two copies of a ledger that went their own ways become one: what the other one paid for is replayed here.

Copies have one id and one key, and events are the same by their random id alone. Totals are computed anew, because two
copies may each have paid nothing for what both together reveal. Where the order of releases decides what they cost, it
is not known, and the copies are not merged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from takifugu.accounting.composition.losses import depends_on_order
from takifugu.accounting.ledger import pending as reserved
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.applying import apply
from takifugu.accounting.ledger.disk import outputs
from takifugu.accounting.ledger.disk.backup import in_memory, keep
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.encoding import amount
from takifugu.accounting.ledger.facts import Fact, append, content, facts, named_in, request_in
from takifugu.accounting.ledger.facts import keep as keep_content
from takifugu.accounting.ledger.format import seals
from takifugu.accounting.ledger.format.chain import check_chain, digest, key_of, links
from takifugu.accounting.ledger.moving import RECIPE
from takifugu.accounting.ledger.store import Store
from takifugu.accounting.ledger.values import DRAWN, Amount, SourceRow
from takifugu.core.errors import CompositionRefused, LedgerError
from takifugu.core.escaping import command
from takifugu.core.lists import take

#: What the history says of a release that two copies drew.
TWICE = "two copies of the ledger drew it apart from each other, so it is paid for twice"


@dataclass(frozen=True)
class Merged:
    """The outcome of a merge: each source's spending before and after.

    `former` is the kept file of this copy before the merge. `payments` is how many payments this copy lacked, with
    those of releases that both copies drew.
    """

    payments: int
    before: Mapping[str, Amount]
    after: tuple[SourceRow, ...]
    former: Path | None


def merge(store: Store, other: Store, is_rehearsal: bool) -> Merged:
    """Replay the further payments of another copy here, or rehearse it.

    Raises LedgerError for what is no copy of this ledger or was edited, CompositionRefused where the order of releases
    would decide what they cost, and what `Ledger.reserve` raises of releases that cannot be counted together.
    """
    if (store.public_id, store.key) != (other.public_id, other.key):
        raise LedgerError(
            f"{str(other.path)!r} is no copy of the ledger {str(store.path)!r}",
            rule="copies have the same id and the same key",
            fix=f"give a copy of this ledger; {_entering(store.path, other)}",
        ).at("other")
    if store.place.samefile(other.place):
        raise LedgerError("a ledger is not merged with itself", fix="give another copy of it").at("other")
    try:
        with other.reading() as theirs:
            seals.check(theirs)
            check_chain(theirs)
            if is_rehearsal:
                with store.reading() as connection, in_memory(connection) as copied:
                    return _merged(copied, theirs, None)
            with store.writing() as connection:
                return _merged(connection, theirs, (store.place, other.place))
    except _OrderDecides as error:
        reason, rule = f"{error}", "copies do not say in which order their releases were chosen"
    raise CompositionRefused(reason, rule=rule, fix=f"go on with one copy; {_entering(store.path, other)}")


class _OrderDecides(Exception):
    """A payment of both copies with a cost by its order.

    The exception leaves the transaction before a remedy is read.
    """

    def __init__(self, source: str) -> None:
        super().__init__(
            f"both copies paid for or drew releases about the source {source!r} after they parted, and what one of "
            "them costs depends on which was first"
        )


def _entering(ledger: Path, other: Store) -> str:
    """Name the commands to enter another ledger's releases, one a folder."""
    ways = dict[str, None]()
    with other.reading() as theirs:
        for row in theirs.all("select recipe from reservations"):
            recipe = json.loads(row.recipe)
            if "output" in recipe:
                ways[command("ledger", "adopt", ledger, recipe["output"])] = None
    return f"what the other one published is entered with {' and '.join(ways) or 'its certificates'}"


def _merged(connection: Connection, theirs: Connection, places: tuple[Path, Path] | None) -> Merged:
    seals.check(connection)
    check_chain(connection)
    before = {row.name: row.spent for row in rows.read_rows(connection)}
    ours, further = _lacking(theirs, connection), _lacking(connection, theirs)
    _check_adopted(ours, further)
    _check_order(connection, theirs, ours, further)
    former = None
    if further and places:
        former = keep(places[0], "before-merge")
    try:
        payments = _replay(connection, theirs, ours, further)
        if places:
            _take_values(connection, theirs, *places)
    except BaseException:
        if former is not None:
            former.unlink()  # the ledger stays as it was
        raise
    seals.write(connection)
    return Merged(payments, before, rows.read_rows(connection), former)


def _replay(connection: Connection, theirs: Connection, ours: Sequence[Fact], further: Sequence[Fact]) -> int:
    """Write missing events, pay for double draws, and count these payments."""
    budgets = {fact.source for fact in ours if fact.kind == "budget"}
    replaced = _replaced(connection, theirs)
    doubled = list(_sessions(connection, theirs, further))
    for fact in further:
        _take(connection, theirs, fact, budgets, fact.id in replaced)
    payments = sum(fact.kind == "paid" for fact in further)
    ids = _ids(connection)
    for fact in (*_drawn_twice(connection), *doubled):
        if fact.id in ids:
            continue
        if _depends_on_order(connection, fact):
            raise _OrderDecides(fact.source)
        payments += 1
        over = Fact("over", fact.source, {"group": fact.body["group"], "why": TWICE}, fact.created, f"{fact.id}-over")
        for event in (fact, over):
            append(connection, event)
            apply(connection, event)
    return payments


def _drawn_twice(connection: Connection) -> Iterator[Fact]:
    """Yield a payment for every further copy's draw of a reservation."""
    draws: dict[str, list[str]] = {}
    for fact in facts(connection):
        if fact.kind == "drawn":
            draws.setdefault(fact.body["group"], []).append(fact.id)
    for group, names in draws.items():
        for name in sorted(names)[1:]:
            yield _again(connection, group, name)


def _lacking(connection: Connection, other: Connection) -> list[Fact]:
    """Return a ledger's missing events of `other`, with their first digests."""
    ids = _ids(connection)
    ends = {link.id: link.first or end for link, end in links(other)}
    return [replace(fact, first=ends[fact.id]) for fact in facts(other) if fact.id not in ids]


def _check_adopted(ours: Sequence[Fact], further: Sequence[Fact]) -> None:
    """Refuse a release paid for in one copy, adopted in the other."""
    names, other_names = _names_of(ours), _names_of(further)
    both = sorted(take(names, names.keys() & other_names.keys()))
    if both:
        raise LedgerError(
            f"one copy paid for the release {both[0]!r}, and the other entered it from its certificate",
            rule="a release is paid for once",
            fix="merge copies from before it was entered, or go on with the copy that paid, and enter the others there",
        ).at("other")


def _names_of(facts: Iterable[Fact]) -> dict[str, str]:
    """Return the names of paid releases by their ids."""
    names = {}
    for fact in facts:
        if fact.kind == "paid":
            for name, public_id in fact.body["ids"]:
                names[public_id] = name
    return names


def _check_order(connection: Connection, theirs: Connection, ours: Sequence[Fact], further: Sequence[Fact]) -> None:
    """Refuse payments by both copies about the same people, with order-dependent cost."""
    tied = _tied(connection) | _tied(theirs)

    def payments(facts: Sequence[Fact]) -> Iterator[tuple[str, Fact]]:
        """Yield each payment with its people, the same for tied sources."""
        for fact in facts:
            if fact.kind == "paid":
                yield "" if fact.source in tied else fact.source, fact

    both = dict(payments(ours)).keys() & dict(payments(further)).keys()
    for ledger, side in ((connection, ours), (theirs, further)):
        for people, fact in payments(side):
            if people in both and _depends_on_order(ledger, fact):
                raise _OrderDecides(fact.source)


def _tied(connection: Connection) -> set[str]:
    """Return the sources about the same people as some other."""
    names = set[str]()
    for pair, is_same in rows.read_people(connection).items():
        if is_same:
            names.update(rows.source_of_row(connection, source).name for source in pair)
    return names


def _depends_on_order(connection: Connection, fact: Fact) -> bool:
    """Return whether a promise depends on order."""
    return any(depends_on_order(part.charge) for part in request_in(connection, fact).parts)


def _replaced(connection: Connection, theirs: Connection) -> set[str]:
    """Return the other copy's budget events before a common later one."""
    shared = {fact.id for fact in _shared(connection, theirs)}
    earlier: dict[str, list[str]] = {}
    replaced: set[str] = set()
    for fact in facts(theirs):
        if fact.kind == "budget" and fact.id in shared:
            replaced.update(earlier.pop(fact.source, ()))
        elif fact.kind == "budget":
            earlier.setdefault(fact.source, []).append(fact.id)
    return replaced


def _take(connection: Connection, theirs: Connection, fact: Fact, budgets: set[str], is_replaced: bool) -> None:
    """Write the other copy's event, or its trace only, and its consequences."""
    source = rows.read_source(connection, fact.source)
    is_aside = is_replaced or (fact.kind == "source" and source.number > 0)
    if not is_aside and fact.kind == "budget" and fact.source in budgets and source.budget is not None:
        is_aside = not amount(fact.body["epsilon"], fact.body["delta"]).fits(source.budget)
    if is_aside:  # two copies met the source apart, or changed its budget apart: the smaller one stays
        fact = replace(fact, kind="aside", body={"kind": fact.kind, "body": fact.body})
    for name in named_in(fact):
        keep_content(connection, content(theirs, name))
    append(connection, fact)
    apply(connection, fact)


def _sessions(connection: Connection, theirs: Connection, further: Sequence[Fact]) -> Iterator[Fact]:
    """Yield a payment for every session still open at the copies' parting."""
    repeated = {fact.body.get("again") for fact in further if fact.kind == "paid"}
    query = "select public_id, recipe, state, bundle from reservations"
    their_rows = {row.public_id: row for row in theirs.execute(query)}
    opened, closed = set(), set()
    for fact in _shared(connection, theirs):
        if fact.kind == "drawn":
            opened.add(fact.body["group"])
        elif fact.kind in ("published", "over"):
            closed.add(fact.body["group"])
    still_open = opened - closed - repeated
    for row in connection.all(query):
        other = their_rows.get(row.public_id)
        is_session = json.loads(row.recipe).get("kind") == RECIPE["kind"]
        if other is None or not is_session or row.public_id not in still_open:
            continue
        if row.state != DRAWN or other.state != DRAWN or row.bundle != other.bundle:
            head = theirs.value("select head from meta")
            yield _again(connection, row.public_id, str(head))


def _shared(connection: Connection, theirs: Connection) -> list[Fact]:
    """Return the events of both copies."""
    ids = _ids(theirs)
    return [fact for fact in facts(connection) if fact.id in ids]


def _ids(connection: Connection) -> set[str]:
    """Return the ids of a ledger's events."""
    return {link.id for link, _ in links(connection)}


def _again(connection: Connection, group: str, reason: str) -> Fact:
    """Return the event of a second payment, the same in every copy."""
    paid = next(fact for fact in facts(connection) if fact.kind == "paid" and fact.body["group"] == group)
    key = key_of(connection)

    def fresh(name: str) -> str:
        return digest(key, "again", name, reason).hex()[:16]

    shapes = []
    for shape in paid.body["shapes"]:
        shapes.append([{**part, "release": fresh(part["release"])} for part in shape])
    ids = [[name, fresh(public_id)] for name, public_id in paid.body["ids"]]
    body = {**paid.body, "group": fresh(group), "identity": None, "ids": ids, "shapes": shapes, "again": group}
    return Fact("paid", paid.source, body, paid.created, fresh(paid.id))


def _take_values(connection: Connection, theirs: Connection, place: Path, other_place: Path) -> None:
    """Keep the other copy's unpublished noisy values, against a second draw."""
    query = "select public_id, bundle from reservations where state = ? and bundle is {} null"
    lacking = {row.public_id for row in connection.execute(query.format(""), (DRAWN,))}
    for group, bundle in theirs.all(query.format("not"), (DRAWN,)):
        if group not in lacking:
            continue
        packed = outputs.packed_of(other_place, bundle)
        if packed is not None:
            reserved.set_bundle(connection, group, outputs.placed(place, group, packed))
