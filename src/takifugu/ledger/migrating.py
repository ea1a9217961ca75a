"""From layout version 1 to this one: in one transaction under the write lock, or not at all."""

from __future__ import annotations

import hmac
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row, Table, insert, text

from takifugu.errors import LedgerError, TakifuguError
from takifugu.laws.rationals import to_text
from takifugu.ledger import histories as kept
from takifugu.ledger.accounts import Item
from takifugu.ledger.asking import is_link
from takifugu.ledger.encoding import amount, decoding, now
from takifugu.ledger.histories import Batch, Sums
from takifugu.ledger.tables import KIND, VERSION, metadata
from takifugu.names import normalised

#: Tables of version 1, those that point at others first.
_OLD = ("debits", "releases", "units", "frameworks", "contents", "sources", "meta")

#: What is said of every source: its tags are of names as they were spelt, and the names themselves were never kept.
WORDS = (
    "brought here from layout version 1, which told units apart by their names as they were spelt: a unit is found "
    "under its name and under every spelling that the data still have; a spelling that has vanished from the data "
    "cannot be found, and what was spent under it no longer counts for the unit"
)

#: How it is said of a source that another one, read alike, was merged into it.
MERGED = "is read alike and was merged here"

Old = Mapping[str, Sequence[Row[Any]]]


def migrate(connection: Connection) -> None:
    """Bring a ledger of version 1 to this layout; every id, amount and debit stays as it is.

    Sources whose names are now read alike become one. Raises LedgerError for debits that cannot be read.
    """
    old: Old = {name: connection.execute(text(f"select * from {name} order by rowid")).all() for name in _OLD}
    for name in _OLD:
        connection.execute(text(f"drop table {name}"))
    metadata.create_all(connection)
    (head,) = old["meta"]
    when = now()
    row = {"kind": KIND, "version": VERSION, "created": head.created, "migrated": when, "key": head.key}
    _put(connection, "meta", [row])
    source_of, notes = _sources(connection, old)
    with decoding():
        _accounts(connection, old, source_of)
    kept_ids = dict.fromkeys(source_of.values())
    events = [{"source": source, "what": WORDS, "created": when} for source in kept_ids]
    events += [{"source": source, "what": what, "created": when} for source, what in notes]
    _put(connection, "events", events)


def _sources(connection: Connection, old: Old) -> tuple[dict[int, int], list[tuple[int, str]]]:
    """Write the sources; return which row each became, and what is to be said of those that were merged."""
    one = {row.id for row in old["units"] if row.tag == _tag(old, "")}
    named = {row.source for row in old["units"]} - {row.source for row in old["units"] if row.id in one}
    groups: dict[str, list[Row[Any]]] = {}
    for row in old["sources"]:
        groups.setdefault(_name(row.name), []).append(row)
    source_of: dict[int, int] = {}
    notes: list[tuple[int, str]] = []
    rows: list[dict[str, Any]] = []
    for name, alike in groups.items():
        first, *others = alike
        divided = {row.id in named for row in alike if any(u.source == row.id for u in old["units"])}
        if len(divided) > 1:
            raise LedgerError(
                f"the ledger of version 1 has the source {name!r} in {len(alike)} spellings, once as one unit and "
                "once divided into units, and they are one source now",
                rule="nothing can count both together",
                fix=(
                    "open it with the Takifugu that made it, and publish about these data under one name in a new "
                    "ledger"
                ),
            )
        budgets = [amount(r.budget_epsilon, r.budget_delta) for r in alike if r.budget_epsilon is not None]
        least = min(budgets, key=lambda b: (b.epsilon, b.delta), default=None)
        merged = {
            "id": first.id, "name": name, "public_id": first.public_id, "created": first.created,
            "budget_epsilon": None if least is None else to_text(least.epsilon),
            "budget_delta": None if least is None else to_text(least.delta),
            "budget_is_implied": all(r.budget_is_implied for r in alike), "changes": 0,
            "members": int(any(r.id in named for r in alike)),
        }  # fmt: skip
        rows.append(merged)
        source_of.update({row.id: first.id for row in alike})
        for row in others:
            notes.append((first.id, f"the source {row.name!r} (id {row.public_id}) {MERGED}"))
    _put(connection, "sources", rows)
    return source_of, notes


def _name(raw: str) -> str:
    """Return the name of a source as it is read now; one that would be refused today stays as it was."""
    try:
        return normalised(raw) or raw
    except TakifuguError:
        return raw


def _tag(old: Old, unit: str) -> str:
    return hmac.new(bytes.fromhex(old["meta"][0].key), b"unit\0" + unit.encode(), "sha256").hexdigest()


def _accounts(connection: Connection, old: Old, source_of: Mapping[int, int]) -> None:
    frameworks: dict[tuple[int, str], int] = {}
    framework_of, framework_rows = {}, []
    for f in old["frameworks"]:
        key = (source_of[f.source], f.fingerprint)
        if key not in frameworks:
            frameworks[key] = f.id
            framework_rows.append({**f._mapping, "source": source_of[f.source]})
        framework_of[f.id] = frameworks[key]
    _put(connection, "frameworks", framework_rows)
    # What was asked together is not known: each release is a reservation of its own, and nothing tells how to end it.
    reservations = [
        {
            "id": r.id, "public_id": r.public_id, "source": source_of[r.source], "recipe": "{}", "state": r.state,
            "created": r.created, "changed": r.changed,
        }
        for r in old["releases"]
    ]  # fmt: skip
    _put(connection, "reservations", reservations)
    releases = [
        {
            "id": r.id, "public_id": r.public_id, "source": source_of[r.source], "reservation": r.id, "name": r.name,
            "epsilon": r.epsilon, "delta": r.delta, "software": r.software, "created": r.created,
        }
        for r in old["releases"]
    ]  # fmt: skip
    _put(connection, "releases", releases)
    _debits(connection, old, source_of, framework_of)


def _debits(connection: Connection, old: Old, source_of: Mapping[int, int], framework_of: Mapping[int, int]) -> None:
    charges: dict[tuple[int, str], int] = {}
    charge_rows: list[dict[str, Any]] = []
    batch_rows: list[dict[str, Any]] = []
    debit_rows: list[dict[str, Any]] = []
    history_rows: list[dict[str, Any]] = []
    texts: dict[str, str] = {}
    batch_of: dict[tuple[int, int, bool], int] = {}
    batches: dict[int, Batch] = {}
    held: dict[int, list[int]] = {}
    debited: Counter[int] = Counter()
    for d in old["debits"]:
        body = texts.get(d.charge)
        if body is None:
            plain = json.loads(d.charge)
            plain["release"] = ""
            body = texts[d.charge] = json.dumps(plain, sort_keys=True, separators=(",", ":"))
        key = (framework_of[d.framework], body)
        charge = kept.charge_of_text(body)
        if key not in charges:
            charges[key] = len(charges) + 1
            digest = sha256(body.encode()).hexdigest()
            made = {"id": charges[key], "framework": key[0], "digest": digest, "links": is_link(charge), "body": body}
            charge_rows.append(made)
        debit = (d.release, charges[key], bool(d.recharge))
        if debit not in batch_of:
            number = batch_of[debit] = len(batch_of) + 1
            shape = json.dumps([[*debit[1:], ""]], separators=(",", ":"))
            batch_rows.append({"id": number, "shape": shape})
            batches[number] = Batch(number, shape, (Item(charge, charge.framework, "", d.release, debit[2]),))
            row = dict(zip(("release", "charge", "recharge"), debit, strict=True))
            debit_rows.append({"batch": number, "reading": "", **row})
        debited[batch_of[debit]] += 1
        held.setdefault(d.unit, []).append(batch_of[debit])
    # One tree of histories per source: units with equal debits share a path.
    nodes: dict[tuple[int, int | None, int], int] = {}
    sums: dict[int | None, Sums] = {None: ()}
    unit_rows = []
    tags = sorted(old["units"], key=lambda u: (source_of[u.source], u.tag, u.id))
    for (source, tag), found in groupby(tags, key=lambda u: (source_of[u.source], u.tag)):
        mine = list(found)
        path = sorted(batch for unit in mine for batch in held.get(unit.id, ()))
        node: int | None = None
        for batch in path:
            at = (source, node, batch)
            if at not in nodes:
                nodes[at] = len(nodes) + 1
                sums[nodes[at]] = kept.with_one_more(sums[node], batches, batches[batch])
                history_rows.append({"id": nodes[at], "source": source, "parent": node, "batch": batch})
            node = nodes[at]
        if node is None:
            continue
        spent = [amount(unit.epsilon, unit.delta) for unit in mine]
        unit_row = {
            "id": min(unit.id for unit in mine), "source": source, "tag": bytes.fromhex(tag), "history": node,
            "epsilon": to_text(sum((s.epsilon for s in spent), Fraction(0))),
            "delta": to_text(sum((s.delta for s in spent), Fraction(0))),
        }  # fmt: skip
        unit_rows.append(unit_row)
    for node_row in history_rows:
        node_row["sums"] = json.dumps(sums[node_row["id"]], separators=(",", ":"))
    _put(connection, "charges", charge_rows)
    _put(connection, "batches", [{**row, "units": debited[row["id"]]} for row in batch_rows])
    _put(connection, "debits", debit_rows)
    _put(connection, "histories", history_rows)
    _put(connection, "units", unit_rows)


def _put(connection: Connection, name: str, rows: list[dict[str, Any]]) -> None:
    table: Table = metadata.tables[name]
    if rows:
        connection.execute(insert(table), rows)
