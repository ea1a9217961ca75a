"""What certificates say of the ledger that paid: enough to notice what it forgot, and to enter a release elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, cast

from takifugu.accounting.composition import charge_of
from takifugu.core.assumptions import Assumption, public, reading
from takifugu.core.errors import CompositionRefused
from takifugu.core.plain import Json, Plain
from takifugu.core.readings import same_entries, side_by_side

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger, Payment
    from takifugu.calibration import Calibration

#: More kinds of charges are not listed: who enters the release elsewhere counts it at its worst.
MOST_LINES = 8


def statements_of(book: Ledger, paid: Payment) -> dict[str, Plain]:
    """Return what the certificate of each release of a payment says of it, by name."""
    from takifugu.accounting.ledger.certificates import certificate_of

    payment, statements = certificate_of(book.view(), paid.group), dict[str, Plain]()
    if "answered" not in payment:
        payment["drawn"] = token_hex(8)  # equal values are different draws
    for name, number in payment["ids"].items():
        lines = [line for line in payment["lines"] if line["release"] == name]
        statements[name] = {**payment, "ids": {name: number}, "lines": lines}
    return statements


def declared_of(book: Ledger, source: str) -> tuple[Assumption, ...]:
    """Return what was declared of a source's entries and people, in certificates' words."""
    from takifugu.accounting.ledger.values import declarations

    said, view = list[Assumption](), book.view()
    for event, before, now in declarations(view, source):
        same, changes = same_entries(before, now), side_by_side(before, now)
        said.append(reading(f"Declared on {event.created[:10]} to be {same} ({event.why}):\n{changes}"))
    for other in view.sources:
        if other != source:
            said.append(public(
                f"The people of the source {other!r} are the same people. Each release about it counts here at the "
                "cost of a change of the whole data set."
            ))  # fmt: skip
    return tuple(said)


def in_certificate(statement: Plain, calibrations: Sequence[Calibration], frameworks: Plain, worst: bool) -> Plain:
    """Return a statement as a certificate holds it: frameworks by their names, and few lines."""
    lines: Sequence[Plain] = statement["lines"]
    if worst or len(lines) > MOST_LINES:
        # one line for each calibration covers every change: nobody's number or kind follows from it
        lines = list(_at_worst(lines[0], calibrations))
    named = list[Json]()
    for line in lines:
        name = line["charge"]["framework"]
        named.append({**line, "framework": name if name in frameworks else line["framework"]})
    return {**statement, "lines": named}


def _at_worst(line: Plain, calibrations: Sequence[Calibration]) -> Iterator[Plain]:
    from takifugu.accounting.ledger.totals import covering

    different = {id(calibration): calibration for calibration in calibrations}.values()
    try:
        charges = [covering(charge_of(calibration), 1) for calibration in different]
    except CompositionRefused:  # nothing bounds one of them: the release cannot be entered elsewhere
        return
    for charge, calibration in zip(charges, different, strict=True):
        yield {**line, "charge": charge.to_dict(), "framework": calibration.framework.to_dict(), "at": None}


def for_entering(statement: Plain, frameworks: Plain) -> Json:
    """Return a certificate's statement with its frameworks, as a ledger enters it; InputError for lines of none."""
    from takifugu.accounting.ledger.words import of_certificate

    lines, given = list[Json](), cast(Sequence[Plain], statement["lines"])
    with of_certificate():
        for line in given:
            name = line["framework"]
            lines.append({**line, "framework": frameworks[name] if isinstance(name, str) else name})
    return {**statement, "lines": lines}
