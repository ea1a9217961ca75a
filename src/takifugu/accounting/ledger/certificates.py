"""What certificates say of a ledger, which of them it does not know, and how they are entered elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from secrets import token_hex
from typing import Any

from takifugu.accounting.amounts import Amount
from takifugu.accounting.composition import joint
from takifugu.accounting.ledger import words
from takifugu.accounting.ledger.events import EACH, NOBODY, RESERVED, UNREADABLE, Line, Over, Paid, canonical, keyed
from takifugu.accounting.ledger.trials import Change, charged
from takifugu.accounting.ledger.view import View
from takifugu.analysis.guarantee import Charge
from takifugu.core.errors import TakifuguError
from takifugu.core.names import normalised
from takifugu.model.frameworks import Framework


def certificate_of(view: View, group: str) -> dict[str, Any]:
    """Return what a certificate says of the ledger: enough to notice a lost event, and to enter it elsewhere."""
    # no tag, no set, no number of people or of events, and no digest of data without the ledger's key
    there, lines = view.group(group), list[dict[str, object]]()
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
    statement = {
        "ledger": view.id, "head": there.digest, "source": paid.source, "ids": dict(paid.ids),
        "reading": view.content(paid.reading).decode(), "entries": paid.entries, "lines": lines, "same": same,
    }  # fmt: skip
    if there.values and view.is_session(there):  # it has a certificate after each answer
        statement["answered"] = there.values[-1]
    return statement


@dataclass(frozen=True, eq=False)
class Lacking:
    """Published releases that a ledger does not know as they are: why not, and what it enters in their place."""

    why: str
    certificate: Mapping[str, Any]
    digests: tuple[str, ...]

    @property
    def ids(self) -> dict[str, str]:
        return {str(name): str(number) for name, number in self.certificate["ids"].items()}

    @property
    def source(self) -> str:
        return words.source_name(self.certificate["source"])

    @property
    def words(self) -> str:
        return f"{', '.join(self.ids)}: {self.why}"


#: No step of a calendar is so far from 1970.
_FARTHEST = 2**60
_UNKNOWN = "this ledger does not know that it was paid for"
_REWRITTEN = "what this ledger says of it, or of what was before it, is not what was"
_AGAIN = (
    "it was paid for once and drawn twice, from two copies of the ledger: these are the other values; or the same "
    "ones, if the certificate that was noted had a damaged checksum, which names no draw"
)


def digest_of_body(key: bytes, body: bytes) -> str:
    """Return the keyed digest by which a ledger knows a certificate: of its checksum, which other damage leaves."""
    with suppress(*UNREADABLE):
        body = json.loads(body)["checksum"].encode()
    return keyed(key, "body", body.strip())


def lacking_in(
    view: View, certificates: Iterable[Mapping[str, Any]], bodies: Iterable[bytes] = ()
) -> Iterator[Lacking]:
    """Yield what a ledger lacks of published certificates, by release; `bodies` are their texts, if known."""
    published = dict[str, set[str]]()
    for name, number, certificate, digests in _each_release(view, certificates, bodies):
        group, why = view.groups.get(view.releases.get(number, "")), _UNKNOWN
        if group is not None or number in published:
            known = published.setdefault(number, {*group.certificates} if group is not None else set())
            answered = group is not None and certificate.get("answered") in group.values
            is_other = not known.issuperset(digests)
            if not known:  # a session has answered, though nothing notes its certificate
                is_other = group is not None and bool(group.values) and view.is_session(group)
            if group is not None and not group.paid.adopted and group.digest != certificate["head"]:
                why = _REWRITTEN
            elif is_other and not answered:
                why = _AGAIN
            else:  # what is not noted as published yet may have been so with these values
                known.update(digests)
                continue
            # another draw of what is paid for has an id that follows from what was drawn, so that it is so once
            drawn = "\n".join((number, str(certificate["head"]), *digests))
            number = keyed(view.key, "again", drawn.encode())[:16]
        if number not in view.releases and number not in published:
            published[number] = {*digests}
            yield Lacking(why, {**certificate, "ids": {name: number}}, digests)


def _each_release(
    view: View, certificates: Iterable[Mapping[str, Any]], bodies: Iterable[bytes]
) -> Iterator[tuple[str, str, dict[str, Any], tuple[str, ...]]]:
    """Yield the name and number of each release, what its certificate says of it alone, and the digest of its text."""
    statements = list(certificates)
    for statement, body in zip(statements, [*bodies] or [b""] * len(statements), strict=True):
        digests = (digest_of_body(view.key, body),) if body else ()
        with words.of_certificate():
            ids, lines = {str(name): str(number) for name, number in statement["ids"].items()}, statement["lines"]
            if {line["release"] for line in lines} != {*ids} or not isinstance(statement["head"], str):
                raise ValueError("its lines are no lines of a release")
        for name, number in ids.items():
            of_release = [line for line in lines if line["release"] == name]
            yield name, number, {**statement, "lines": of_release}, digests


def in_payments(lacking: Iterable[Lacking]) -> list[Lacking]:
    """Return what was paid for together as one: all of its tables begin a series, for example."""
    payments = dict[object, Lacking]()
    for one in lacking:
        said, key = one.certificate, (one.why, str(one.certificate.get("ledger")), one.certificate["head"])
        before = payments.get(key)
        if before is None:
            payments[key] = one
        elif one.ids.keys() & before.ids.keys():  # a third draw of the same
            payments[key, *one.ids.values()] = one
        else:
            lines = [*before.certificate["lines"], *said["lines"]]
            both = {**said, "ids": before.ids | one.ids, "lines": lines}
            payments[key] = Lacking(one.why, both, tuple(dict.fromkeys((*before.digests, *one.digests))))
    return list(payments.values())


def entered(
    view: View, certificates: Iterable[Mapping[str, Any]], bodies: Iterable[bytes] = ()
) -> tuple[Change, list[tuple[Lacking, dict[str, Amount]]]]:
    """Return what a ledger lacks of published certificates as it is written, and each source's cost then."""
    change, prices = Change(), list[tuple[Lacking, dict[str, Amount]]]()
    trial, said = change.on_trial(view), ([*certificates], [*bodies])
    # noted as published: a draw here would be a second one for one payment
    for over in _drawn_elsewhere(view, *said):
        change.events.append(over)
        trial.apply(over, "")
    for one in in_payments(lacking_in(trial, *said)):
        paid, _, _ = charged(trial, change, _adopted(trial, change, one))
        if one.digests:
            over = Over(paid.group, one.digests)
            change.events.append(over)
            trial.apply(over, "")
        prices.append((one, {name: source.spent for name, source in trial.sources.items()}))
    return change, prices


def _drawn_elsewhere(view: View, certificates: Sequence[Mapping[str, Any]], bodies: Sequence[bytes]) -> list[Over]:
    """Return that payments which wait to be drawn are published, with the first values of each release."""
    digests = dict[str, dict[str, tuple[str, ...]]]()
    for _, number, certificate, known in _each_release(view, certificates, bodies):
        group = view.groups.get(view.releases.get(number, ""))
        if group is not None and group.state == RESERVED and group.digest == certificate["head"]:
            digests.setdefault(group.paid.group, {}).setdefault(number, known)
    return [Over(group, tuple(dict.fromkeys(chain.from_iterable(of.values())))) for group, of in digests.items()]


def _adopted(view: View, change: Change, lacking: Lacking) -> Paid:
    """Return the payment that releases are entered as."""
    lines, certificate, ids = list[Line](), lacking.certificate, lacking.ids
    with words.of_certificate():
        source = lacking.source
        for line in certificate["lines"]:
            framework = Framework.from_dict(line["framework"])
            charge = words.as_stored(Charge.from_dict(line["charge"]), framework, line["release"])
            with suppress(TakifuguError):  # a noise or a query that nobody can read is told now, not by a later release
                joint(framework, [charge, charge], charge.framework)
            units, at = line["units"], line["at"]
            is_placed = at is None or (type(at) is int and abs(at) < _FARTHEST)
            if units not in (EACH, NOBODY) or line["release"] not in ids or not is_placed:
                raise ValueError("its lines are no lines of a release")
            starts = token_hex(16) if line["starts_anywhere"] else ""  # where they start stands in no certificate
            lines.append(change.line(line["release"], charge, framework, (units, int(units == NOBODY)), at, starts))
        reading = change.keep(str(certificate["reading"]).encode())
        entries = normalised(certificate["entries"])
    words.check_names_units(view.source(source), lines)
    recipe = change.keep(canonical({"kind": "adopted"}).encode())
    return Paid(source, token_hex(8), ids, tuple(lines), reading, entries, {}, recipe, adopted=True)
