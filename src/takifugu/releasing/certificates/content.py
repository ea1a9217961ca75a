"""What a certificate holds: of the data only what is public; `wording` puts it into sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from takifugu.core.assumptions import Assumption
from takifugu.core.people import PEOPLE, People
from takifugu.core.plain import Plain
from takifugu.releasing.certificates.facts import Caution, Stays, Window


@dataclass(frozen=True)
class Answer:
    """One noisy answer: its unit (None: of all units together), its values by cell, and the noise in them."""

    unit: str | None
    values: Mapping[str, str]
    query: Plain
    mechanism: str
    noise: Plain
    #: Scale and expected error are None where the noise has none.
    scale: str | None
    expected_error: str | None
    epsilon: str
    delta: str
    composition: str
    covers: str
    framework: str
    #: Values that were made of the noisy ones, None where none were published.
    adjusted: Mapping[str, str] | None = None
    #: Whether all values that it reads are there, None where some may miss without anybody knowing of it.
    complete: bool | None = None
    #: The noise of all values of the table is within it with this coverage; None where it has no width.
    half_width: str | None = None
    coverage: str | None = None
    #: For computing the loss again (docs/reading-a-certificate.md), None where the page does not know how.
    witness: Plain | None = None


@dataclass(frozen=True)
class Content:
    """The published values of one statistic, and the promise that they carry."""

    release: str
    source: str
    #: "all" (the source is one unit), "unit" (one answer per unit) or "pooled" (one answer over all units).
    scope: str
    #: Of a pooled table they are named only where its release file lists them.
    units: tuple[str, ...]
    statistic: str
    query: Plain
    grid: str
    answers: tuple[Answer, ...]
    definition: str
    hidden: tuple[str, ...]
    beliefs: tuple[str, ...]
    #: By fingerprint.
    frameworks: Plain
    assumptions: tuple[Assumption, ...]
    #: The largest epsilon and delta of all answers.
    epsilon: str
    delta: str
    mechanisms: Mapping[str, str]
    compositions: tuple[str, ...]
    cautions: tuple[Caution, ...]
    private: bool
    #: The statement of the one that paid, for its copies and other ledgers; None where nobody counts.
    ledger: Plain | None
    date: str
    software: str
    #: Facts that have a place of their own, beside the assumptions.
    stays: tuple[Stays, ...] = ()
    window: Window | None = None
    #: The least epsilon that was requested, if the guarantee is weaker.
    requested: str | None = None
    #: The digest of the file of the values, None where there is none.
    table: str | None = None
    #: The number of units; None where there are none, and where presence is the secret.
    unit_count: int | None = None
    #: Words of the release file for readers, up to the noun for one of the people.
    title: str | None = None
    measured_in: str | None = None
    publisher: str | None = None
    contact: str | None = None
    person: str = "person"
    #: The notes on the values that are adjusted.
    adjusting: tuple[str, ...] = ()
    #: Where published values contradict the beliefs.
    doubts: tuple[str, ...] = ()
    #: The seed of a rehearsal, None for a release.
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
    def many(self) -> str:
        """Return what patterns are over: steps of a sequence, else people, where the file has a word for them."""
        if self.stays:
            return "steps"
        return "rows" if self.people == PEOPLE else self.people.many

    @property
    def unit_in_brackets(self) -> str:
        """Return the unit of the values, as it follows a heading."""
        return f" ({self.measured_in})" if self.measured_in else ""
