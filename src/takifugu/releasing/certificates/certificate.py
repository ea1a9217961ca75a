"""The certificate: what a release promises, against whom, on which assumptions; of the data only what is public."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from fractions import Fraction
from itertools import chain, repeat

from takifugu.accounting import definitions
from takifugu.analysis.randomisers import KINDS
from takifugu.core.escaping import at_least, at_most, number, visible
from takifugu.core.lists import take
from takifugu.core.people import People
from takifugu.core.plain import Json, Plain, indented
from takifugu.core.sections import values_by_field
from takifugu.core.text.parts import html_table
from takifugu.core.text.tables import shortened
from takifugu.model import secrets as secret_room
from takifugu.model.frameworks import DEFINITIONS
from takifugu.model.queries.registry import KINDS as KNOWN_QUERIES
from takifugu.model.queries.registry import Explained
from takifugu.releasing.certificates.facts import CAUTIONS, Caution, Stays, Window, checksum_of

#: What a file of a certificate is; it has every field.
FORMAT = "takifugu-certificate/7"
WIDTH = 78
_INDENT = 15
#: Beliefs that differ between units only in their public lengths are listed up to this many; the JSON has them all.
_LISTED, _LISTED_UNITS = 3, 40
#: So many chains are told in words.
_CHAINS = 7

#: How a release composes with others about the same source, in words (docs/decisions.md#composition).
COMPOSES = {
    "composes": "The release composes with any other. What they lose together is computed from how far each of them "
    "moves the odds when one value changes, or when all of them do; the ledger does so.",
    "alone": "This release is alone: the promise is about this output only. It counts while the ledger has no other "
    "release about the same people. Beside another one both are charged by their noise, and what nothing bounds is "
    "refused.",
}


@dataclass(frozen=True)
class Answer:
    """One noisy answer: its unit (None: of all units together), its values by cell, and the noise in them.

    `scale` and `expected_error` are None where the noise has none; `adjusted` are values made of the noisy ones, and
    None where none were published. `complete` says whether all values that it reads are there, None where some may be
    missing without anybody knowing of it.
    """

    unit: str | None
    values: Mapping[str, str]
    query: Plain
    mechanism: str
    noise: Plain
    scale: str | None
    expected_error: float | None
    epsilon: str
    delta: str
    composition: str
    covers: str
    framework: str
    adjusted: Mapping[str, str] | None = None
    complete: bool | None = None


@dataclass(frozen=True)
class Certificate:
    """What was published of one statistic, and the promise that it carries; `frameworks` are by fingerprint.

    `scope` is "all" (the source is one unit), "unit" (one answer per unit) or "pooled" (one answer over all units). The
    `units` of a pooled table are named only where its release file lists them; `unit_count` is how many there are, None
    where there are no units, and where presence is the secret.
    `assumptions` are sentences; `stays` and `window` are facts that readers are told at a place of their own. `epsilon`
    and `delta` are the largest of all answers; `requested` is the least epsilon that was requested, if the promise is
    weaker. `table` is the digest of the file that the values were published in, None where there is none.
    `title`, `measured_in`, `publisher` and `contact` are words of the release file for readers, `person` is its
    word for one of those whose data were read; `adjusting` says what
    was done to the values that are `adjusted`. `ledger` is what the one that paid says of the release, for other copies
    of it and for other ledgers (`Ledger.certificate`); None where nobody counts.
    `rehearsal` is the seed of a rehearsal, None for a release.
    `doubts` say where what was published contradicts the beliefs, `checks` what the beliefs leave out that is asked.
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
    assumptions: tuple[str, ...]
    epsilon: str
    delta: str
    mechanisms: Mapping[str, str]
    compositions: tuple[str, ...]
    conditions: tuple[str, ...]
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
    checks: tuple[str, ...] = ()
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
        numbers = {"epsilon": charged(self.epsilon), "requested": at_least(Fraction(self.requested or self.epsilon))}
        return tuple(CAUTIONS[caution].format(**numbers, seed=self.rehearsal) for caution in self.cautions)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Return the assumptions, with those of its window and stays."""
        assumed = (*self.assumptions, *stay_words(self))
        if self.window is not None:
            assumed += self.window.sentences
        return assumed

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
        for title, sentences in sections(self):
            hanging = "- " if len(sentences) > 1 or not title else ""
            wrapper = textwrap.TextWrapper(
                columns - _INDENT, initial_indent=hanging, subsequent_indent=" " * len(hanging), break_on_hyphens=False
            )
            wrapped = list(chain.from_iterable(map(wrapper.wrap, map(visible, sentences))))
            if title and wrapped:  # an untitled one continues the section before
                lines.append("")
            titles = chain([title], repeat(""))
            lines += [f"{left:<{_INDENT}}{line}".rstrip() for left, line in zip(titles, wrapped, strict=False)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str]] = []
        for title, words in sections(self):
            titles = [title, *[""] * (len(words) - 1)]
            rows += zip(titles, words, strict=False)
        return html_table(("about", _title(self)), rows)


def statistic_of(c: Certificate) -> str:
    """Name the statistic, and of whom it is, with their public number."""
    if c.scope == "unit":
        return f"{c.statistic}, for each {c.person}"
    if c.scope != "pooled":
        return c.statistic
    count = len(c.units) or c.unit_count
    people = f"{count} {c.people.many}" if count else c.people.many
    return f"{c.statistic}, over all {people} together"


def account_text(c: Certificate) -> str:
    return "no ledger" if c.ledger is None else f"ledger {c.ledger_id}, release {c.release_id}"


def mechanisms_of(c: Certificate) -> list[str]:
    """Name the mechanisms with their sources."""
    return [f"{name} ({source})" for name, source in c.mechanisms.items()]


def stay_words(c: Certificate) -> tuple[str, ...]:
    """Say how long states last, by the belief's first chains."""
    return tuple(shortened([stay.words for stay in c.stays], _CHAINS, "more matrices, which the belief lists"))


def _plain(value: object) -> object:
    if is_dataclass(value):
        return {name: _plain(part) for name, part in values_by_field(value).items()}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):  # a belief about many people lists as many lengths
        return list(value) if {*map(type, value)} <= {int} else list(map(_plain, value))
    return value


def once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def charged(value: str) -> str:
    """Write an epsilon or a delta of a certificate, never less."""
    return at_most(Fraction(value))


def sections(c: Certificate) -> list[tuple[str, Sequence[str]]]:
    """Return the titles and sentences of a certificate, in order.

    An empty title continues the section before.
    """
    readers, numbers = f"{ANYONE} and believes about the data:" if c.beliefs else ANYONE, list[str]()
    if is_worded(c):
        sentences_in_numbers = _definition(c).in_numbers(Fraction(c.epsilon), Fraction(c.delta))
        numbers = [_of_compared(c, words) for words in sentences_in_numbers]
    all_sections: list[tuple[str, Sequence[str | None]]] = [
        ("Warning", c.warnings),
        ("Check", [*c.doubts, *c.checks]),
        ("Title", [c.title]),
        ("In short", in_short(c)),
        ("Published", [f"{statistic_of(c)}, from the source {c.source!r}"]),
        ("Which means", meaning_of(c)),
        ("Measured in", [c.measured_in]),
        (c.people.many.capitalize(), [_units(c.units)]),
        ("Hidden", c.hidden),
        ("From whom", [readers]),
        ("", shortened(c.beliefs, _LISTED, "more of this kind, with other lengths")),
        ("Promise", [promise_text(c), *numbers]),
        ("If", c.assumed),
        ("And if", c.conditions),
        ("Noise", [noise_text(c)]),
        ("Adjusted", c.adjusting),
        ("Found by", mechanisms_of(c)),
        ("With others", composes(c)),
        ("Not promised", not_promised(c)),
        ("Publisher", [c.publisher, c.contact]),
        ("Account", [account_text(c)]),
        ("Table", _table(c.table)),
        ("Made", [f"{c.date or 'as a rehearsal'} by {c.software}; every number and belief is in the JSON certificate"]),
    ]
    present = list[tuple[str, Sequence[str]]]()
    for title, sentences in all_sections:
        words = list(filter(None, sentences))
        if words:
            present.append((title, words))
    return present


def _table(digest: str | None) -> list[str]:
    """Name the certified bytes by any digest, grouped to fit a line."""
    if digest is None:
        return []
    kind, _, number = digest.partition(":")
    return [f"the values were published in a file whose {kind} is {' '.join(textwrap.wrap(number, 16))}"]


def _title(c: Certificate) -> str:
    if c.rehearsal is not None:
        return f"Rehearsal, no guarantee: certificate of {c.release!r} with made-up data"
    return f"Certificate of the private release {c.release!r}"


ANYONE = "anyone who sees what is published here"


def _units(units: tuple[str, ...]) -> str:
    words = ", ".join(units[:_LISTED_UNITS])
    if len(units) > _LISTED_UNITS:
        words += f" and {len(units) - _LISTED_UNITS} more"
    return words


def is_worded(c: Certificate) -> bool:
    """Return whether a certificate's definition is registered here.

    Only a registered definition can word the certificate.
    """
    return c.definition in DEFINITIONS


def _definition(c: Certificate) -> definitions.Definition:
    """Return the certificate's definition, or plain Pufferfish if unregistered.

    Plain Pufferfish promises no more than a registered definition.
    """
    return definitions.find(c.definition) if is_worded(c) else definitions.find("pufferfish")


def promise_text(c: Certificate) -> str:
    words = _of_compared(c, _definition(c).promise(Fraction(c.epsilon), Fraction(c.delta)))
    return f"epsilon {charged(c.epsilon)}, delta {charged(c.delta)} ({c.definition}): {words}"


def _of_compared(c: Certificate, words: str) -> str:
    """Say a promise of what is compared, where that is not all."""
    return f"between two that are compared: {words}" if compares_some(c) else words


def secrets_of(c: Certificate) -> Iterator[Plain]:
    """Yield the secrets of all frameworks, as they are written."""
    return chain.from_iterable(summary["secrets"] for summary in c.frameworks.values())


def compares_some(c: Certificate) -> bool:
    """Return whether values of what is hidden are not compared with all others."""
    return any(map(secret_room.compares_some, secrets_of(c)))


def in_short(c: Certificate) -> list[str]:
    """Return one sentence about the hidden facts, if the definition has one."""
    if not is_worded(c):
        return []
    kinds = [str(secret["kind"]) for secret in secrets_of(c)]
    return [*filter(None, [definitions.find(c.definition).in_short(c.hidden, c.beliefs, kinds)])]


def meaning_of(c: Certificate) -> Sequence[str]:
    """Return the meaning of the values, where the query's name lacks it."""
    query = KNOWN_QUERIES.get(c.query.get("kind"))
    if not isinstance(query, Explained):
        return ()
    try:
        return tuple(query.meaning(c.query, c.answers[0].noise))
    except (LookupError, TypeError, ValueError, ArithmeticError):  # the file is not as it was written
        return ()


def composes(c: Certificate) -> list[str]:
    """Say how the release adds up with others about its source."""
    if is_worded(c):
        words = [*map(definitions.find(c.definition).composes, once(answer.covers for answer in c.answers))]
        if any(words):
            return words
    return take(COMPOSES, c.compositions)


def not_promised(c: Certificate) -> Sequence[str]:
    """Return the limits of the promise, in the words of its definition."""
    return _definition(c).not_promised()


def noise_text(c: Certificate) -> str:
    """Describe the noise, and where its bits come from."""
    words = _noise_words(c)
    return words if c.private else words.replace("the operating system's randomness", "a seed that is known")


def _noise_words(c: Certificate) -> str:
    kinds = [*map(KINDS.find, once(str(answer.noise["kind"]) for answer in c.answers))]
    if len(kinds) == 1 and kinds[0].words is not None:
        words = kinds[0].words(kinds[0].read(c.answers[0].noise))
        if kinds[0].is_drawn_here:
            words += "; drawn exactly from the operating system's randomness"
        return words
    if len(kinds) == 1 and c.answers[0].noise["kind"] == "none":
        return f"{kinds[0].sentence}; the values are multiples of {c.grid}"
    scales = sorted(Fraction(a.scale) for a in c.answers if a.scale is not None)
    errors = sorted(a.expected_error for a in c.answers if a.expected_error is not None)
    kind_words = " or ".join(kind.sentence for kind in kinds)
    law = "independent for each value"
    if len(kinds) == 1 and not kinds[0].has_scale:
        law, errors = f"on multiples of {c.grid}", errors[-1:]
    elif scales:
        size = " to ".join(map(number, dict.fromkeys((scales[0], scales[-1]))))
        law = f"scale {size}, on multiples of {c.grid}, {law}"
    parts = [kind_words, law]
    if errors:  # in ascending order
        span = " to ".join(dict.fromkeys(number(error, digits=4) for error in (errors[0], errors[-1])))
        parts.append(f"expected L1 error per answer {span}")
    return "; ".join(parts)


