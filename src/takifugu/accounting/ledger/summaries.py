"""What histories come to: debits that differ in their noise or place only as one.

A summary is a cache: without it a history is read debit by debit. It has its place only while units have the history.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from takifugu.accounting.composition.several import Cost, Run, added_up, merged, several
from takifugu.accounting.ledger.accounts import Item
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.encoding import decoding
from takifugu.accounting.ledger.histories import charges_of, debits_of, rows_of, select_these
from takifugu.analysis.guarantee import Charge
from takifugu.core.plain import Json, Plain
from takifugu.numbers.rationals import as_fraction, to_text

#: How a summary is written: one that was written in another way is made anew from the debits.
FORM = "one sum for each query"


def summary_of(items: Sequence[Item]) -> tuple[Item, ...]:
    """Summarise debits in the order of their releases."""
    return _items(merged([item.charge for item in items]), any(item.recharge for item in items))


def _items(charges: Iterable[Charge], recharge: bool) -> tuple[Item, ...]:
    """Return charges as debits, `recharge` if any counts by its noise."""
    return tuple(Item(charge, charge.framework, "", rows_of(charge)[1], recharge) for charge in charges)


def summaries_of(connection: Connection, histories: Iterable[int]) -> dict[int, tuple[Item, ...]]:
    """Return the kept summaries of histories, or new ones from their debits."""
    histories = set(histories)
    select_these(connection, "wanted_histories", "id", histories)
    query = "select s.history, s.body from wanted_histories w cross join summaries s on s.history = w.id"
    texts, charge_rows, summaries = dict[int, Plain](), set[int](), dict[int, tuple[Item, ...]]()
    with decoding():
        for history, body in connection.execute(query):
            text = json.loads(body)
            if text.get("form") == FORM:
                texts[history] = text
                charge_rows.update(term["charge"] for term in text["terms"])
        charges = charges_of(connection, charge_rows)
        for history, text in texts.items():
            summaries[history] = of_body(text, charges)
    missing = debits_of(connection, histories - summaries.keys())
    for history, items in missing.items():
        summaries[history] = summary_of(items)
    return summaries


def write(connection: Connection, history: int, summary: Sequence[Item]) -> None:
    """Keep the summary of a history."""
    text = json.dumps(body_of(summary), separators=(",", ":"))
    connection.execute("insert into summaries (history, body) values (?, ?)", (history, text))


def forget_unused(connection: Connection, histories: Iterable[int]) -> None:
    """Drop the summaries of histories without a unit."""
    select_these(connection, "wanted_histories", "id", histories)
    connection.execute(
        "delete from summaries where history in (select id from wanted_histories) "
        "and history not in (select history from standings)"
    )


def body_of(summary: Sequence[Item]) -> Json:
    """Return the stored form of a summary, with charges by their rows."""
    terms = []
    for item in summary:
        charge = several(item.charge)
        row, release = rows_of(charge)
        terms.append({
            "charge": row, "release": release, "reading": charge.reading, "at": charge.at, "cost": charge.cost.text,
            "readings": charge.readings, "saved": None if charge.saved is None else to_text(charge.saved),
            "runs": [[run.first, run.step, run.windows, run.cost.text] for run in charge.runs],
        })  # fmt: skip
    return {"form": FORM, "recharge": any(item.recharge for item in summary), "terms": terms}


def of_body(text: Plain, charges: Mapping[int, Charge]) -> tuple[Item, ...]:
    """Return the summary of a stored form, from charges by their rows."""
    if not text["terms"]:
        raise ValueError("a history without debits")
    summed = []
    for term in text["terms"]:
        at = saved = None
        if term["at"] is not None:  # a window of a series need not be that of its first release
            at = int(term["at"])
        if term["saved"] is not None:
            saved = as_fraction(term["saved"], "an epsilon")
        release = f"{int(term['charge'])} {int(term['release'])}"
        charge = replace(charges[term["charge"]], release=release, reading=str(term["reading"]), at=at)
        runs = [Run(int(first), int(step), int(size), Cost.of_text(cost)) for first, step, size, cost in term["runs"]]
        summed.append(added_up(charge, Cost.of_text(term["cost"]), int(term["readings"]), saved, runs))
    return _items(summed, bool(text["recharge"]))

