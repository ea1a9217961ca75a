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
class Content:
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
    def many(self) -> str:
        """Return what patterns are over: steps of a sequence, else people, where the file has a word for them."""
        if self.stays:
            return "steps"
        return "rows" if self.people == PEOPLE else self.people.many

    @property
    def unit_in_brackets(self) -> str:
        """Return the unit of the values, as it follows a heading."""
        return f" ({self.measured_in})" if self.measured_in else ""
