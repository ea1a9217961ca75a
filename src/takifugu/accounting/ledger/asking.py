"""What is asked of the ledger, prepared before any lock is taken: units as keyed hashes, and equal debits as one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain
from secrets import token_hex

from takifugu.accounting.amounts import SMALLEST_SPEND
from takifugu.accounting.ledger.encoding import canonical
from takifugu.accounting.ledger.format.readings import Readings
from takifugu.accounting.ledger.format.tables import EVERYONE, TAG
from takifugu.accounting.ledger.values import SMALLEST_SPEND, Debit, Debits
from takifugu.analysis.guarantee import SAME, Charge, Covers
from takifugu.core.errors import InputError, LedgerError
from takifugu.core.escaping import at_most
from takifugu.core.lists import places_of
from takifugu.core.names import budget_name
from takifugu.model.frameworks import Framework


@dataclass(frozen=True, eq=False)
class Part:
    """One unit's debit: its charge, framework and release, with kept texts."""

    charge: Charge
    framework: Framework
    release: str
    number: int
    recharge: bool
    reading: str
    text: str
    body: str

    @property
    def fingerprint(self) -> str:
        return self.charge.framework

    @property
    def digest(self) -> str:
        return sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Request:
    """Releases to be paid, with each tag's debits by number in `shapes`.

    `ids` are the random ids of the releases by name; `everything` is the tag of a source that is one unit. Debits of
    EVERYONE are of every unit that the source has or will have. `debits` and `recharge` are the call's own.
    """

    ids: Mapping[str, str]
    shapes: tuple[tuple[Part, ...], ...]
    units: Mapping[bytes, int]
    everything: bytes
    debits: tuple[Debit | Debits, ...] = ()
    recharge: bool = False

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of all shapes, in their order."""
        return tuple(chain.from_iterable(self.shapes))

    @cached_property
    def counts(self) -> Mapping[int, int]:
        """The number of units alike, by debit number."""
        return Counter(self.units.values())

    @cached_property
    def readings(self) -> tuple[str, ...]:
        """The readings of the data; one for a release file or `release`."""
        return tuple(dict.fromkeys(part.charge.read_as for part in self.parts))

    @property
    def names_units(self) -> bool:
        return self.everything not in self.units and not self.is_everyone

    @property
    def is_everyone(self) -> bool:
        return EVERYONE in self.units


def roster_of(units: Mapping[bytes, int], shapes: int) -> bytes:
    """Return the tags of all units, followed by their shapes' numbers.

    No numbers follow where there is one shape.
    """
    width = width_of(shapes)
    roster = b"".join(units)
    if width:
        roster += b"".join(shape.to_bytes(width, "big") for shape in units.values())
    return roster


def units_in(roster: bytes, shapes: int) -> dict[bytes, int]:
    """Return a roster's units with their shapes' numbers."""
    width = width_of(shapes)
    count = len(roster) // (TAG + width)
    units = {}
    for number in range(count):
        place = count * TAG + number * width
        units[roster[number * TAG : (number + 1) * TAG]] = int.from_bytes(roster[place : place + width], "big")
    return units


def width_of(shapes: int) -> int:
    """Count the bytes of a shape's number."""
    return ((shapes - 1).bit_length() + 7) // 8


def in_classes(request: Request, readings: Readings) -> Request:
    """Return a request with its readings' classes."""
    parts: dict[int, Part] = {}
    for part in dict.fromkeys(request.parts):
        parts[id(part)] = part
        name = readings.class_of(part.charge.read_as)
        if name != part.charge.read_as:
            charge = replace(part.charge, read_as=name)
            text = canonical(charge.to_dict(), "the charge of this release")
            parts[id(part)] = replace(part, charge=charge, text=text)
    shapes = []
    for shape in request.shapes:
        shapes.append(tuple(parts[id(part)] for part in shape))
    return replace(request, shapes=tuple(shapes))


def request_of(
    debits: Sequence[Debit | Debits], tag: Callable[[str], bytes], recharge: bool,
    ids: Mapping[str, str] | None = None,
) -> Request:  # fmt: skip
    """Check a request and prepare it.

    `ids` are the random ids, by name, of releases that have them already. Raises InputError or LedgerError for what
    cannot be counted.
    """
    if not debits:
        raise InputError("there is nothing to reserve", fix="give at least one debit").at("debits")
    if not ids:
        names = dict.fromkeys(debit.name for debit in debits)
        ids = {name: token_hex(8) for name in names}
    rows, row_of = _debited(debits, ids, recharge, tag)
    if "" in row_of and len(row_of) > 1:
        raise LedgerError(ONE_OR_MANY)
    shape_of = places_of(dict.fromkeys(row_of.values()))
    units = {tag(unit): shape_of[row] for unit, row in row_of.items()}
    if len(units) < len(row_of) or ("" not in row_of and tag("") in units):
        raise LedgerError(
            "the ledger has one keyed hash for two people", rule="of such two only one would be charged",
            fix="release about one of them under another name; that this happens has less than one chance in 10^20",
        )  # fmt: skip
    shapes = tuple(_read_together(rows[row]) for row in shape_of)
    return Request(ids, shapes, units, tag(""), tuple(debits), recharge)


def _debited(
    debits: Sequence[Debit | Debits], ids: Mapping[str, str], recharge: bool, tag: Callable[[str], bytes]
) -> tuple[list[tuple[Part, ...]], dict[str, int]]:
    """Return the different rows of parts, and the number of each unit's row."""
    numbers = dict(zip(ids, range(len(ids)), strict=True))
    texts: dict[int, str] = {}
    parts: dict[tuple[int, int, str], Part] = {}
    rows: list[tuple[Part, ...]] = [()]
    longer: dict[tuple[int, int], int] = {}  # the number of a row with one more part
    row_of: dict[str, int] = {}
    for debit in debits:
        release, parts_of_kinds = debit.name, []
        for kind in debit.kinds:
            key = id(kind.charge), id(kind.framework), release
            if key not in parts:
                parts[key] = _part(kind, ids[release], numbers[release], recharge, texts, tag)
            parts_of_kinds.append(parts[key])
        for name, number in debit.units.items():
            unit = _unit(name)
            row, part = row_of.get(unit, 0), parts_of_kinds[number]
            step = row, id(part)
            if step not in longer:
                if any(earlier.release == part.release for earlier in rows[row]):
                    raise InputError(
                        f"the release {release!r} debits one person twice", fix="give each answer its own name"
                    ).at("debits")
                longer[step] = len(rows)
                rows.append((*rows[row], part))
            row_of[unit] = longer[step]
    return rows, row_of


def request_of_everyone(debits: Sequence[Debit], ids: Mapping[str, str], tag: Callable[[str], bytes]) -> Request:
    """Prepare debits of every unit of a source, with known release ids."""
    numbers = dict(zip(ids, range(len(ids)), strict=True))
    texts: dict[int, str] = {}
    parts = tuple(_part(debit, ids[debit.name], numbers[debit.name], False, texts, tag) for debit in debits)
    return Request(ids, (_read_together(parts),), {EVERYONE: 0}, tag(""))


ONE_OR_MANY = (
    "about one source, either every release names the people that it reads or none does: name them as before, or give "
    "these data another source name if nothing was released about them"
)


def _unit(name: str) -> str:
    if not name:
        return ""
    spelling = budget_name(name, "the name of a person")
    if not spelling:
        raise InputError("the name of a person holds nothing but blanks", fix="write whose data they are").at("unit")
    return spelling


def _part(
    debit: Debit, release: str, number: int, recharge: bool, texts: dict[int, str], tag: Callable[[str], bytes]
) -> Part:  # fmt: skip
    charge = debit.charge
    if charge.epsilon < SMALLEST_SPEND:
        raise LedgerError(
            f"the release {debit.name!r} would spend epsilon {at_most(charge.epsilon)}",
            rule="a release costs more than nothing",
            fix="calibrate it for an epsilon above 0, for example 0.1",
        )
    if id(debit.framework) not in texts:
        texts[id(debit.framework)] = canonical(debit.framework.to_dict(), "the framework of this release")
    body = texts[id(debit.framework)]
    if charge.framework != debit.framework.fingerprint():
        raise InputError(
            f"the release {debit.name!r} was charged under another framework than the one that it names for its person",
            fix="use charge_of(calibration, framework=...) with the person's framework",
        )
    charge_read, reading = unread(charge)
    if reading.startswith(SAME) and reading != SAME:  # where recordings start, which nobody reads back
        reading = f"{SAME}{tag(reading).hex()}"
    text = canonical(charge_read.to_dict(), "the charge of this release")
    _check_reads_back(debit.name, text)
    return Part(charge_read, debit.framework, release, number, recharge, reading, text, body)


def _check_reads_back(name: str, text: str) -> None:
    """Refuse, before payment, what the ledger could not read any more."""
    try:
        Charge.from_dict({"release": "", **json.loads(text)})
    except (InputError, ArithmeticError, ValueError) as error:
        why = error.message if isinstance(error, InputError) else str(error)
        raise InputError(
            f"the charge of the release {name!r} would not read back from a ledger: {why}",
            rule="what is paid for can be written down and read",
            fix="publish numbers of an ordinary size, such as millions",
        ) from None


def unread(charge: Charge) -> tuple[Charge, str]:
    """Return a charge without its release and reading, and the reading."""
    return replace(charge, release="", reading=""), charge.reading


def _read_together(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Number the readings that several of a unit's debits share; those with a name are known in every payment."""
    counts = Counter(part.reading for part in parts)
    numbers: dict[str, str] = {}
    for reading, count in counts.items():
        if reading and count > 1:
            numbers[reading] = str(len(numbers) + 1)
    numbers |= {reading: reading for reading in counts if reading.startswith(SAME)}
    return tuple(replace(part, reading=numbers.get(part.reading, "")) for part in parts)


def is_link(charge: Charge) -> bool:
    """Return whether a promise is about the joint law of several units.

    A debit of one of them affects all.
    """
    return charge.covers is Covers.OUTPUT and charge.scope == "pooled"
