"""What certificates say of a ledger, which of them it does not know, and how they are entered elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from secrets import token_hex
from typing import Any

from takifugu.accounting.log import words
from takifugu.accounting.log.events import EACH, NOBODY, Line, Paid, canonical
from takifugu.accounting.log.trials import Change, Trial, paid_on
from takifugu.accounting.log.view import Group, View
from takifugu.analysis.guarantee import Charge
from takifugu.core.errors import LedgerError
from takifugu.core.names import normalised
from takifugu.model.frameworks import from_dict as read_framework


def certificate_of(view: View, there: Group) -> dict[str, Any]:
    """Return what a certificate says of the ledger: enough to notice a lost event, and to enter it elsewhere.

    It holds no tag, no set, no number of people or of events, and no digest of data without the ledger's key.
    """
    lines = list[dict[str, object]]()
    for line in there.paid.lines:
        charge, framework = (json.loads(view.content(digest)) for digest in (line.charge, line.framework))
        units = EACH if line.units else NOBODY
        line_of = {
            "release": line.release, "charge": charge, "framework": framework, "at": line.at, "units": units,
            "starts_anywhere": bool(line.starts),
        }  # fmt: skip
        if line_of not in lines:  # how many kinds of people there are is nobody's business
            lines.append(line_of)
    paid = there.paid
    same = [{"declared": event.created, "why": event.why} for event in view.source(paid.source).same]
    return {
        "ledger": view.id, "head": there.digest, "source": paid.source, "ids": dict(paid.ids),
        "reading": view.content(paid.reading).decode(), "entries": paid.entries, "lines": lines, "same": same,
    }  # fmt: skip


def missing_from(view: View, certificates: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Say which published certificates this ledger does not know: an old copy was restored, or it was edited."""
    unknown = list[str]()
    for certificate in certificates:
        names = ", ".join(map(str, certificate["ids"]))
        groups = {view.releases.get(str(number)) for number in certificate["ids"].values()}
        group = view.groups.get(groups.pop() or "") if len(groups) == 1 else None
        if group is None:
            unknown.append(f"{names}: this ledger does not know that it was paid for")
        elif not group.paid.adopted and group.digest != certificate["head"]:
            unknown.append(f"{names}: what this ledger says of it, or of what was before it, is not what was")
    return tuple(unknown)


def adopted(view: View, certificate: Mapping[str, Any]) -> Trial:
    change, lines = Change(), list[Line]()
    with words.of_certificate():
        ids = {str(name): str(number) for name, number in certificate["ids"].items()}
        source = words.source_name(certificate["source"])
        for line in certificate["lines"]:
            framework = read_framework(line["framework"])
            charge = words.as_stored(Charge.from_dict(line["charge"]), framework, line["release"])
            units, at = line["units"], line["at"]
            if units not in (EACH, NOBODY) or line["release"] not in ids or not (at is None or type(at) is int):
                raise ValueError("its lines are no lines of a release")
            starts = token_hex(16) if line["starts_anywhere"] else ""  # where they start stands in no certificate
            lines.append(change.line(line["release"], charge, framework, (units, int(units == NOBODY)), at, starts))
        reading = change.keep(str(certificate["reading"]).encode())
        entries = normalised(certificate["entries"])
    known = view.releases.keys() & {*ids.values()}
    if known:
        raise LedgerError(f"the ledger knows the release {min(known)!r} already")
    words.check_names_units(source, view.source(source), lines)
    recipe = change.keep(canonical({"kind": "adopted"}).encode())
    paid = Paid(source, token_hex(8), ids, tuple(lines), reading, entries, {}, recipe, adopted=True)
    return paid_on(view, change, paid, None)
