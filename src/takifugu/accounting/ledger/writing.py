"""What a reservation writes, in one transaction: its releases, what each kind of unit is debited, and the new costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from takifugu.accounting.ledger import histories as stored
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger import summaries
from takifugu.accounting.ledger.accounts import Item
from takifugu.accounting.ledger.asking import Part, Request, is_link
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.format.tables import TAG
from takifugu.accounting.ledger.kinds import Account, AccountKind
from takifugu.accounting.ledger.tallying import Tally
from takifugu.accounting.ledger.values import Amount, most
from takifugu.numbers.rationals import to_text

#: Tags that stand one after the other in one value: a statement for each of them would take three times as long.
_TAGS = (
    "with recursive places (place) as "
    f"(select 1 union all select place + {TAG} from places where place + {TAG} <= :end), "
    f"tags (tag) as (select coalesce(substr(:tags, place, {TAG}), x'') from places) "
)
_ADD = f"{_TAGS} insert into units (standing, source, tag) select :standing, :source, tag from tags"
_MOVE = f"{_TAGS} update units set standing = :standing where source = :source and tag in tags"
_CHANGE = "update standings set history = ?, epsilon = ?, delta = ?, seal = null where id = ?"
_PART = "update standings set units = units - ?, seal = null where id = ?"
_DECLARE = (
    "insert into people (one, other, same) values (?, ?, ?) "
    "on conflict (one, other) do update set same = excluded.same, seal = null"
)


def write_releases(
    connection: Connection, source: int, reservation: int, request: Request, software: str, created: str
) -> dict[str, int]:
    """Write the releases and return their numbers by random id."""
    numbers = {}
    for name, public_id in request.ids.items():
        promises = []
        for part in request.parts:
            if part.release == public_id:
                promises.append(Amount(part.charge.epsilon, part.charge.delta))
        promise = most(promises)
        numbers[public_id] = connection.insert(
            "releases", public_id=public_id, source=source, reservation=reservation, name=name,
            epsilon=to_text(promise.epsilon), delta=to_text(promise.delta), software=software, created=created,
        )  # fmt: skip
    return numbers


def write_debits(connection: Connection, tally: Tally, source: int, numbers: Mapping[str, int]) -> None:
    """Write every unit's debits and changed costs."""
    request = tally.request
    batches = []
    for shape, parts in enumerate(request.shapes):
        batches.append(_batch(connection, source, parts, request.counts[shape], numbers))
    moved, former = dict[AccountKind, int](), set[int]()
    for kind in tally.mine.kinds:
        if kind.shape >= 0:
            before = None if kind.standing is None else kind.standing.history
            batch = batches[kind.shape]
            moved[kind] = connection.insert("histories", source=source, parent=before, batch=batch.id)
            earlier = () if before is None else tally.summaries[before]
            summaries.write(connection, moved[kind], summaries.summary_of([*earlier, *batch.items]))
            former.update(kind.histories)
    _write_units(connection, source, tally.mine, moved)
    if request.names_units and any(members.new for members in tally.mine.kinds.values()):
        connection.execute("update sources set members = members + 1, seal = null where id = ?", (source,))
    summaries.forget_unused(connection, former)
    for account in tally.theirs:
        _write_units(connection, account.number, account, {})
        rows.changed(connection, account.number)


def write_people(connection: Connection, source: int, tally: Tally, created: str) -> None:
    """Write declarations of the same people, with a trace of each."""
    if tally.is_shared:
        connection.execute("insert or ignore into people (one, other, same) values (?, ?, 1)", (source, source))
    for other, same in tally.people.items():
        lower, higher = rows.pair(source, other)
        former = connection.first("select same from people where one = ? and other = ?", (lower, higher))
        if former is not None and bool(former.same) == same:
            continue
        connection.execute(_DECLARE, (lower, higher, same))
        both_name_units = rows.has_members(connection, lower) and rows.has_members(connection, higher)
        for noting, noted in ((lower, higher), (higher, lower)):
            name = rows.source_of_row(connection, noted).name
            words = f"declared: the source {name!r} is about {'the same' if same else 'other'} people"
            if both_name_units:
                whose = "the same people" if same else "other people of the same names"
                words = f"declared: the people of the source {name!r} are {whose}"
            rows.add_note(connection, noting, created, words)


@dataclass(frozen=True)
class _Batch:
    """One reservation's debits of a unit, as written."""

    id: int
    items: tuple[Item, ...]


def _batch(
    connection: Connection, source: int, parts: Sequence[Part], units: int, numbers: Mapping[str, int]
) -> _Batch:
    batch = connection.insert("batches", units=units)
    items = []
    for part in parts:
        release, of_source = numbers[part.release], {"source": source, "fingerprint": part.fingerprint}
        definition = part.charge.definition
        framework = _row(connection, "frameworks", of_source, definition=definition, body=part.body)
        of_framework = {"framework": framework, "digest": part.digest}
        charge = _row(connection, "charges", of_framework, links=is_link(part.charge), body=part.text)
        connection.insert(
            "debits", batch=batch, release=release, charge=charge, recharge=part.recharge, reading=part.reading
        )
        read = stored.read_as(part.charge, charge, release, batch, part.reading)
        items.append(Item(read, part.fingerprint, part.release, release, part.recharge))
    return _Batch(batch, tuple(items))


def _row(connection: Connection, table: str, key: Mapping[str, object], **others: object) -> int:
    """Return the row with a key of two columns, made if new."""
    first, second = key
    row = connection.first(f"select id from {table} where {first} = ? and {second} = ?", (*key.values(),))
    return connection.insert(table, **key, **others) if row is None else int(row.id)


def _write_units(connection: Connection, source: int, account: Account, moved: Mapping[AccountKind, int]) -> None:
    """Write changed costs and grown histories, and part units with new pasts."""
    has_parted = False
    for kind, cost in account.costs.items():
        before, members = kind.standing, account.kinds[kind]
        spent = (moved.get(kind, *kind.histories), to_text(cost.epsilon), to_text(cost.delta))
        if before is not None and spent == before[1:4]:
            continue
        if before is not None and len(members.known) == before.units:  # they all go on together: no unit is written
            connection.execute(_CHANGE, (*spent, before.row))
            continue
        has_parted = True
        names = ("history", "epsilon", "delta")
        values = dict(zip(names, spent, strict=True))
        standing = connection.insert("standings", source=source, units=members.count, **values)
        if before is not None:
            connection.execute(_PART, (len(members.known), before.row))
        for statement, tags in ((_MOVE, members.known), (_ADD, members.new)):
            if tags:
                joined = b"".join(sorted(tags))
                connection.execute(
                    statement, {"standing": standing, "source": source, "tags": joined, "end": len(joined)}
                )
    if has_parted:
        connection.execute("delete from standings where source = ? and units = 0", (source,))
        rows.open_units(connection, source)
