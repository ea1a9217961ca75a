"""What histories come to: debits that differ in their noise only as one, and those of many queries entry by entry.

A summary is a cache: without it a history is read debit by debit, as it is for a framework that comes to it later. It
has its place only while units have the history.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlalchemy import Connection

from takifugu.accounting.composition.by_entry import ByEntry, Costs, Rates, in_one
from takifugu.accounting.composition.folding import folded
from takifugu.accounting.composition.several import Cost, Run, Several, added_up, merged, several
from takifugu.accounting.composition.totals import Total
from takifugu.accounting.ledger.accounts import Item
from takifugu.accounting.ledger.encoding import decoding
from takifugu.accounting.ledger.histories import charges_of, debits_of, rows_of, select_these
from takifugu.analysis.guarantee import Charge
from takifugu.core.plain import Json, Plain
from takifugu.core.sections import values_of
from takifugu.model.frameworks import Framework
from takifugu.numbers.rationals import as_fraction, to_text

#: How a summary is written: one that was written in another way is made anew from the debits.
FORM = "one sum for all frameworks"
#: What a sum over entries adds up beside its rates.
_SUMS = ("here", "elsewhere", "whole")


def summary_of(items: Sequence[Item], frameworks: Mapping[str, Framework] | None = None) -> tuple[Item, ...]:
    """Return what debits come to, in the order of their releases; for these frameworks only where they are many."""
    return _items(folded(frameworks or {}, merged([item.charge for item in items])), any(i.recharge for i in items))


def _items(charges: Iterable[Charge], recharge: bool) -> tuple[Item, ...]:
    """Return charges as debits, `recharge` whether any of them was to be charged by its noise."""
    return tuple(Item(charge, charge.framework, "", rows_of(charge)[1], recharge) for charge in charges)


def only_readers(summary: Iterable[Item]) -> frozenset[str]:
    """Return the only frameworks that can read a sum entry by entry; none where all can read everything."""
    each = [frozenset(item.charge.under) for item in summary if isinstance(item.charge, ByEntry)]
    return frozenset.intersection(*each) if each else frozenset()


def summaries_of(connection: Connection, chosen: Iterable[int]) -> dict[int, tuple[Item, ...]]:
    """Return what histories come to, from what is kept, or else from their debits."""
    chosen = set(chosen)
    select_these(connection, "wanted_histories", "id", chosen)
    query = "select s.history, s.body from wanted_histories w cross join summaries s on s.history = w.id"
    with decoding():
        bodies = {history: json.loads(body) for history, body in connection.exec_driver_sql(query)}
        texts = {history: body for history, body in bodies.items() if body.get("form") == FORM}
        charges = charges_of(connection, {term["charge"] for text in texts.values() for term in text["terms"]})
        summaries = {history: of_body(text, charges) for history, text in texts.items()}
    missing = chosen - summaries.keys()
    return summaries | {history: summary_of(items) for history, items in debits_of(connection, missing).items()}


def write(connection: Connection, history: int, summary: Sequence[Item]) -> None:
    """Keep what a history comes to."""
    text = json.dumps(body_of(summary), separators=(",", ":"))
    connection.exec_driver_sql("insert into summaries (history, body) values (?, ?)", (history, text))


def forget_unused(connection: Connection, chosen: Iterable[int]) -> None:
    """Drop what is kept of histories that are no unit's any more."""
    select_these(connection, "wanted_histories", "id", chosen)
    connection.exec_driver_sql(
        "delete from summaries where history in (select id from wanted_histories) "
        "and history not in (select history from units)"
    )


def body_of(summary: Sequence[Item]) -> Json:
    """Return what is kept of a summary; of its charges the rows."""
    terms = [_term(several(item.charge)) for item in summary]
    return {"form": FORM, "recharge": any(item.recharge for item in summary), "terms": terms}


def of_body(text: Plain, charges: Mapping[int, Charge]) -> tuple[Item, ...]:
    """Return the summary that was kept, from charges by their rows."""
    if not text["terms"]:
        raise ValueError("a history without debits")
    return _items((_read_term(term, charges) for term in text["terms"]), bool(text["recharge"]))


def _term(charge: Several) -> Json:
    row, release = rows_of(charge)
    term: Json = {
        "charge": row, "release": release, "reading": charge.reading, "at": charge.at, "cost": charge.cost.text,
        "readings": charge.readings, "saved": None if charge.saved is None else to_text(charge.saved),
        "runs": [[run.first, run.step, run.windows, run.cost.text] for run in charge.runs],
    }  # fmt: skip
    if isinstance(charge, ByEntry):
        term["by entry"] = {
            "apart": charge.is_apart, "change": to_text(charge.change or Fraction(0)),
            "any layout": charge.any_layout.text,
            "under": {fingerprint: _costs_as_text(costs) for fingerprint, costs in charge.under.items()},
        }  # fmt: skip
    return term


def _costs_as_text(costs: Costs) -> Json:
    sums = {name: one.text for name, one in values_of(costs, _SUMS).items()}
    return {"rates": [rates.to_json() for rates in costs.rates], **sums}


def _read_costs(text: Plain) -> Costs:
    return Costs(tuple(map(Rates.from_json, text["rates"])), *(Total.of_text(text[name]) for name in _SUMS))


def _read_term(term: Plain, charges: Mapping[int, Charge]) -> Several:
    charge = charges[term["charge"]]
    at = None if term["at"] is None else int(term["at"])  # a window of a series need not be that of its first release
    release = f"{int(term['charge'])} {int(term['release'])}"
    first = replace(charge, release=release, reading=str(term["reading"]), at=at)
    cost, readings = Cost.of_text(term["cost"]), int(term["readings"])
    saved = None if term["saved"] is None else as_fraction(term["saved"], "an epsilon")
    if "by entry" in term:
        return _read_by_entry(term["by entry"], first, cost, readings, saved)
    runs = [Run(int(at), int(step), int(windows), Cost.of_text(each)) for at, step, windows, each in term["runs"]]
    return added_up(first, cost, readings, saved, runs)


def _read_by_entry(held: Plain, first: Charge, cost: Cost, readings: int, saved: Fraction | None) -> ByEntry:
    return in_one(
        first, cost, readings, saved, as_fraction(held["change"], "a change"), is_apart=bool(held["apart"]),
        under={str(fingerprint): _read_costs(costs) for fingerprint, costs in held["under"].items()},
        any_layout=Total.of_text(held["any layout"]),
    )  # fmt: skip
