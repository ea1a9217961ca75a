"""The certificate: what a release guarantees, against whom, on which assumptions; of the data only what is public."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from fractions import Fraction

from takifugu.core.assumptions import Assumption, Kind
from takifugu.core.escaping import at_least, visible
from takifugu.core.people import People
from takifugu.core.plain import Json, Plain, indented
from takifugu.core.sections import values_by_field
from takifugu.core.text.parts import html_table
from takifugu.releasing.certificates import wording
from takifugu.releasing.certificates.facts import CAUTIONS, Caution, Stays, Window, checksum_of

#: What a file of a certificate is; it has every field.
FORMAT = "takifugu-certificate/9"
WIDTH = 78
_INDENT = 11


@dataclass(frozen=True)
class Answer:
    """One noisy answer: its unit (None: of all units together), its values by cell, and the noise in them.

    `scale` and `expected_error` are None where the noise has none; `adjusted` are values made of the noisy ones, and
    None where none were published. `complete` says whether all values that it reads are there, None where some may be
    missing without anybody knowing of it. With probability `coverage` the noise of all values of the table is within
    `half_width`; both are None where the noise has no such width. `witness` is what a stranger needs to compute the
    loss again (docs/reading-a-certificate.md), None where the page that checks does not know how.
    """

    unit: str | None
    values: Mapping[str, str]
    query: Plain
    mechanism: str
    noise: Plain
    scale: str | None
    expected_error: str | None
    epsilon: str
    delta: str
    composition: str
    covers: str
    framework: str
    adjusted: Mapping[str, str] | None = None
    complete: bool | None = None
    half_width: str | None = None
    coverage: str | None = None
    witness: Plain | None = None


@dataclass(frozen=True)
class Certificate:
    """What was published of one statistic, and the promise that it carries; `frameworks` are by fingerprint.

    `scope` is "all" (the source is one unit), "unit" (one answer per unit) or "pooled" (one answer over all units). The
    `units` of a pooled table are named only where its release file lists them; `unit_count` is how many there are, None
    where there are no units, and where presence is the secret.
    `assumptions` are sentences, each with its kind; `stays` and `window` are facts that have a place of their own.
    `epsilon` and `delta` are the largest of all answers; `requested` is the least epsilon that was requested, if the
    guarantee is weaker. `table` is the digest of the file that the values were published in, None where there is none.
    `title`, `measured_in`, `publisher` and `contact` are words of the release file for readers, `person` is its word
    for one of those whose data were read; `adjusting` says what was done to the values that are `adjusted`. `ledger` is
    what the one that paid says of the release, for other copies of it and for other ledgers (`Ledger.certificate`);
    None where nobody counts. `rehearsal` is the seed of a rehearsal, None for a release.
    `doubts` say where what was published contradicts the beliefs.
    """

    release: str
    source: str
    scope: str
    units: tuple[str, ...]
    statistic: str
    query: Plain
    grid: str
    answers: tuple[Answer, ...]
    definition: str
    hidden: tuple[str, ...]
    beliefs: tuple[str, ...]
    frameworks: Plain
    assumptions: tuple[Assumption, ...]
    epsilon: str
    delta: str
    mechanisms: Mapping[str, str]
    compositions: tuple[str, ...]
    cautions: tuple[Caution, ...]
    private: bool
    ledger: Plain | None
    date: str
    software: str
    stays: tuple[Stays, ...] = ()
    window: Window | None = None
    requested: str | None = None
    table: str | None = None
    unit_count: int | None = None
    title: str | None = None
    measured_in: str | None = None
    publisher: str | None = None
    contact: str | None = None
    person: str = "person"
    adjusting: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    rehearsal: int | None = None

    @property
    def release_id(self) -> str:
        """The release's random id in the ledger, "" without one."""
        return "" if self.ledger is None else str(self.ledger["ids"][self.release])

    @property
    def ledger_id(self) -> str:
        """The random id of the ledger that paid, "" without one."""
        return "" if self.ledger is None else str(self.ledger["ledger"])

    @property
    def people(self) -> People:
        """Return the words for the people behind the data."""
        return People(self.person)

    @property
    def unit_in_brackets(self) -> str:
        """Return the unit of the values, as it follows a heading."""
        return f" ({self.measured_in})" if self.measured_in else ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings of the certificate."""
        requested = at_least(Fraction(self.requested or self.epsilon))
        numbers = {"epsilon": wording.charged(self.epsilon), "requested": requested}
        return tuple(CAUTIONS[caution].format(**numbers, seed=self.rehearsal) for caution in self.cautions)

    @property
    def assumed(self) -> tuple[Assumption, ...]:
        """Return all assumptions by their kinds: those of the models, of the window and of the definition, too."""
        return wording.assumed(self)

    def of_kind(self, *kinds: Kind) -> tuple[str, ...]:
        """Return the sentences of some kinds, in the order of the certificate."""
        return tuple(assumption.text for assumption in self.assumed if assumption.kind in kinds)

    def to_dict(self) -> Json:
        """Return plain values with their checksum, under keys stable within a format."""
        data = {"format": FORMAT, **{name: _plain(value) for name, value in values_by_field(self).items()}}
        return {**data, "checksum": checksum_of(data)}

    def to_json(self) -> str:
        return indented(self.to_dict())

    def text(self, columns: int = WIDTH) -> str:
        """Return the certificate as sentences, at most `columns` wide."""
        heading = textwrap.wrap(_title(self), columns, break_on_hyphens=False)
        lines = [*heading, "=" * max(map(len, heading))]
        for part in wording.sections(self):
            lines.append("")
            lines += _in_two_columns(part, columns) if part.first is None else _below(part, columns)
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str]] = []
        for part in wording.sections(self):
            titles = [part.title, *[""] * (len(part.sentences) - 1)]
            rows += zip(titles, part.sentences, strict=False)
        return html_table(("about", _title(self)), rows)


def _title(c: Certificate) -> str:
    if c.rehearsal is not None:
        return f"Rehearsal, no guarantee: certificate of {c.release!r} with made-up data"
    return f"Privacy certificate: {c.release}"


def _in_two_columns(part: wording.Section, columns: int) -> Iterator[str]:
    """Yield the words of a section beside its label."""
    label = f"{part.title:<{_INDENT}}"
    for words in part.sentences:
        for line in _wrapped(words, columns - _INDENT):
            yield f"{label}{line}".rstrip()
            label = " " * _INDENT


def _below(part: wording.Section, columns: int) -> Iterator[str]:
    """Yield a title, and below it sentences with their numbers, or as bullets."""
    yield part.title
    for place, words in enumerate(part.sentences, part.first or 0):
        label = f"{place:>3}" if part.first else "  -"
        for line in _wrapped(words, columns - 5):
            yield f"{label}  {line}".rstrip()
            label = "   "


def _wrapped(words: str, columns: int) -> list[str]:
    together = visible(words).replace(" %", "\u00a0%")  # a number and its sign stay on one line
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(together, columns, break_on_hyphens=False)]


def _plain(value: object) -> object:
    if is_dataclass(value):
        return {name: _plain(part) for name, part in values_by_field(value).items()}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):  # a belief about many people lists as many lengths
        return list(value) if {*map(type, value)} <= {int} else list(map(_plain, value))
    return value
