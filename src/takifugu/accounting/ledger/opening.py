"""Opening a ledger: a file that is one, whole and in today's format, or a new one.

One of an older format becomes one of this: its events are replayed, and the old file is kept beside it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

from takifugu.accounting.ledger import pending as reserved
from takifugu.accounting.ledger.applying import apply
from takifugu.accounting.ledger.asking import roster_of
from takifugu.accounting.ledger.disk import sqlite
from takifugu.accounting.ledger.disk.backup import keep
from takifugu.accounting.ledger.disk.places import check_locks, check_one_name, check_side_files, place_of
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.encoding import canonical, decoding, now
from takifugu.accounting.ledger.facts import Fact, append, content, named_in
from takifugu.accounting.ledger.facts import keep as keep_content
from takifugu.accounting.ledger.format import seals
from takifugu.accounting.ledger.format.chain import check_chain, digest, start
from takifugu.accounting.ledger.format.tables import KIND, READ, TAG, VERSION, columns, make, parts, parts_of
from takifugu.accounting.ledger.store import Store
from takifugu.core.errors import LedgerError
from takifugu.core.escaping import command, visible
from takifugu.core.lists import without

#: So many payments are replayed in a few seconds; more are not replayed by the way.
AT_ONCE = 1000
#: The last format whose events had no ids, and no seals that are those of now.
WITHOUT_IDS = 5
#: How many bytes a tag had up to format 6; after each came the number of its shape, in 4 bytes.
WITH_LONG_TAGS, LONG_TAG = 6, 32
#: Up to format 7 readings were JSON, in a table of this name; what their keys are called now, if otherwise.
_FORMER = "layouts"
_LINES = {"from": "start between steps", "layout": "reading"}


def open_store(path: Path, timeout: float, create: bool, at_most: int | None = AT_ONCE) -> Store:
    """Open the ledger at `path`, or make one, or upgrade an older one.

    Raises LedgerError, with the fix, for anything that is not a sound ledger, and for an older one of more than
    `at_most` payments.
    """
    with sqlite.explained(path):
        path, is_new = file_of(path, create)
    store = Store(path, timeout, b"")
    with store.reading() as connection:
        sqlite.check_harmless(connection)
        sqlite.check_whole(connection)
        is_older = version_of(connection, path) != VERSION
    former = _upgrade(store, at_most) if is_older else None
    with store.reading() as connection:
        version_of(connection, path)
        with decoding():
            check_parts(connection, path)
            row = connection.one("select public_id, key from meta")
            key = bytes.fromhex(row.key)
    with sqlite.explained(path):
        sqlite.give_up_shared_memory(path, timeout)
    return Store(path, timeout, key, is_new, row.public_id, former)


def file_of(path: Path, create: bool) -> tuple[Path, bool]:
    """Return the place of a ledger's file, a regular one of its full length, and whether it was made now."""
    if path.is_dir():
        raise LedgerError(f"the ledger {str(path)!r} is a folder", fix="give the path of a file").at("ledger")
    path, is_new = place_of(path), False
    if not path.exists():
        if not create:
            raise LedgerError(
                f"there is no ledger {str(path)!r}", fix="a first release makes one, or check the path"
            ).at("ledger")
        check_locks(path.parent)
        is_new = sqlite.create(path, _fill)
    if not path.is_file():
        raise LedgerError(f"the ledger {str(path)!r} is a device or a pipe", fix="give the path of a file").at("ledger")
    check_side_files(path)
    check_one_name(path)
    check_locks(path.parent)
    if path.stat().st_size == 0:
        raise LedgerError(
            f"the ledger {str(path)!r} is an empty file",
            rule=(
                "either it lost its contents (restore a backup), or it never was a ledger (delete it, and a new one is "
                "made)"
            ),
        ).at("ledger")
    sqlite.check_length(path)
    return path, is_new


def _fill(connection: Connection) -> None:
    begin(connection, token_hex(8), now(), token_hex(32))
    seals.write(connection)


def begin(connection: Connection, public_id: str, created: str, key: str) -> None:
    """Make the ledger's empty tables, and describe it."""
    make(connection)
    connection.insert(
        "meta", kind=KIND, version=VERSION, public_id=public_id, created=created, key=key, head="", counts=""
    )
    connection.execute("update meta set head = ?", (start(connection),))


def check_parts(connection: Connection, path: Path) -> None:
    """Raise LedgerError for other tables, columns or indexes than a ledger's."""
    there = parts_of(connection)
    strange = without(there, parts())
    strange += [table for table, names in columns().items() if {*there.get(table, ())} != {*names}]
    if strange:
        raise LedgerError(
            f"the ledger {str(path)!r} has a part that no ledger has ({visible(min(strange))[:40]!r})",
            rule="it was edited, or made by another version",
            fix="restore a backup",
        ).at("ledger")


def version_of(connection: Connection, path: Path) -> int:
    """Return the format of a ledger.

    Raises LedgerError for what is no ledger, or has an unknown format.
    """
    has_meta = connection.first("select 1 from sqlite_master where type = 'table' and name = 'meta'")
    rows = connection.all("select kind, version from meta") if has_meta else []
    if len(rows) != 1 or rows[0].kind != KIND:
        raise LedgerError(
            f"the ledger {str(path)!r} is a database, but not a ledger",
            fix="give the path of a ledger, or of a file that does not exist yet",
        ).at("ledger")
    version = rows[0].version
    if version not in READ:
        is_newer = isinstance(version, int) and version > VERSION
        if is_newer:
            fix = "install a newer Takifugu"
        else:
            fix = "open it with the Takifugu that made it"
        raise LedgerError(
            f"the ledger {str(path)!r} is in format {version}",
            rule=f"this version of Takifugu reads formats {min(READ)} to {VERSION}",
            fix=fix,
        ).at("ledger")
    return int(version)


def _upgrade(store: Store, at_most: int | None = AT_ONCE) -> Path | None:
    """Replay an older ledger's events; return the old one's place, or None.

    All is one transaction on the very file: whoever is about to write finds the old ledger or the new one. Raises
    LedgerError for one that has more than `at_most` payments, and for one that cannot be read: it stays as it is.
    """
    with store.writing() as connection:
        version = connection.value("select version from meta")
        if version == VERSION:
            return None
        payments = connection.value("select count(*) from events where kind = 'paid'")
        if at_most is not None and payments > at_most:
            raise LedgerError(
                f"the ledger {str(store.path)!r} is in format {version}, and this version of Takifugu writes format "
                f"{VERSION}",
                rule=f"its {payments:,} payments are replayed once, which takes a while",
                fix=f"run {command('ledger', 'upgrade', store.path)}, which keeps the old file beside the new one",
            ).at("ledger")
        sqlite.check_harmless(connection)
        former = keep(store.place, f"format-{version}")
        with decoding():
            _replay(connection, version)
        check_parts(connection, store.path)
    return former


def _replay(connection: Connection, version: int) -> None:
    meta = connection.one("select public_id, created, key from meta")
    if version > WITHOUT_IDS:
        seals.check_itself(connection)
        check_chain(connection)
    events = _events(connection, version, meta.key)
    names = dict.fromkeys(itertools.chain.from_iterable(map(named_in, events)))
    texts = {name: content(connection, name) for name in names}
    waiting = "select public_id, bundle from reservations where bundle is not null"
    bundles = connection.all(waiting)
    for table in (_FORMER, *reversed(columns())):
        connection.execute(f"drop table if exists {table}")
    begin(connection, meta.public_id, meta.created, meta.key)
    for older in events:
        fact = older
        if fact.kind == "paid":
            if version <= WITH_LONG_TAGS:
                fact = _with_short_tags(connection, fact, texts)
            fact = _with_readings(connection, fact, texts)
        append(connection, fact)
        apply(connection, fact)
    for group, bundle in bundles:
        reserved.set_bundle(connection, group, bundle)
    seals.write(connection)


def _events(connection: Connection, version: int, key: str) -> list[Fact]:
    """Return an old ledger's events; a missing id becomes one equal in all copies.

    Events of format 5 had neither an id nor a first digest.
    """
    names = "public_id, first" if version > WITHOUT_IDS else "'', null"
    query = f"select kind, source, body, created, {names} from events order by id"
    events = []
    for number, (kind, source, body, created, name, first) in enumerate(connection.all(query)):
        name = name or digest(key, number, kind, source, body, created).hex()[:16]
        first = None if first is None else str(first)
        events.append(Fact(str(kind), str(source), json.loads(str(body)), str(created), str(name), first))
    return events


def _with_short_tags(connection: Connection, fact: Fact, texts: Mapping[str, bytes]) -> Fact:
    """Return a payment with short tags of units, its content written."""
    body = {**fact.body, "everything": fact.body["everything"][: 2 * TAG]}
    if body["units"] is not None:
        former = texts[body["units"]]
        places, units = range(0, len(former), LONG_TAG + 4), dict[bytes, int]()
        for start_of_tag in places:
            shape = former[start_of_tag + LONG_TAG : start_of_tag + LONG_TAG + 4]
            units[former[start_of_tag : start_of_tag + TAG]] = int.from_bytes(shape, "big")
        if len(units) < len(places):
            raise ValueError("two of its people have one tag")
        body["units"] = keep_content(connection, roster_of(units, len(body["shapes"])))
    return replace(fact, body=body)


def _with_readings(connection: Connection, fact: Fact, texts: Mapping[str, bytes]) -> Fact:
    """Return a payment whose charges have a reading in lines, its contents written."""
    shapes = []
    for shape in fact.body["shapes"]:
        charges = [keep_content(connection, _with_reading(texts[part["charge"]])) for part in shape]
        shapes.append([{**part, "charge": charge} for part, charge in zip(shape, charges, strict=True)])
    now = replace(fact, body={**fact.body, "shapes": shapes})
    for name in named_in(now):
        if name in texts:
            keep_content(connection, texts[name])
    return now


def _with_reading(text: bytes) -> bytes:
    """Return a charge with the lines of its reading in place of its layout."""
    charge = json.loads(text)
    layout = charge.pop("layout", "")
    if not layout:
        return text
    facts = json.loads(layout)
    if "from" in facts:
        facts["from"] = facts["from"].removeprefix("steps that start ")
    lines = (f"{_LINES.get(key, key)}: {json.dumps(facts[key], ensure_ascii=False)}" for key in facts)
    return canonical({**charge, "read_as": "\n".join(lines)}, "a charge").encode()
