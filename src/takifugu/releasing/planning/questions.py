"""What is asked of the private data: an answer to publish, its noisy values once drawn, and what it debits.

Which entries were observed may be public: plans then expect of a query what it is without the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from takifugu.analysis.questions.coded_rows import CodedRows
from takifugu.analysis.randomisers import KINDS, Randomiser
from takifugu.core.assumptions import Assumption, limit
from takifugu.core.entries import Entries
from takifugu.core.plain import Json, Plain
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Additive, Query
from takifugu.numbers.runs import Runs, refined
from takifugu.releasing.file.kind import Unit

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Debit
    from takifugu.calibration import Calibration
    from takifugu.releasing.planning.truth import Seen

class Reader(NamedTuple):
    """What a unit's data are: the framework about them, and where its recordings start, where no calendar says that."""

    framework: Framework
    starts: tuple[Hashable, ...] = ()


@dataclass(frozen=True, eq=False)
class Question:
    """One answer to be published: its calibration, the private data, and the units whose data it reads."""

    #: Questions of one name are one release.
    release: str
    #: None where the answer is not about one unit alone.
    unit: str | None
    calibration: Calibration
    data: object = field(repr=False)
    #: The units that are debited ("" where a source is one unit), alike ones with one `Reader`.
    readers: Mapping[str, Reader] = field(repr=False)
    #: The declared step at which the data start in the one recording, since 1970 where there is a calendar.
    at: int | None = None
    #: The charge of single units of a pooled answer, where that is not the query itself (`charge_of`).
    shares: Mapping[str, tuple[Query, Fraction]] = field(default_factory=dict)
    #: How rows became entries (`ReleaseFile.reading`), and the name of these.
    reading: str = ""
    entries: str | None = None
    #: Whether later releases count as multiples of it.
    begins_series: bool = False
    #: Which entries were observed, where its query reads others, too, and that is public.
    observed: Runs | None = field(default=None, repr=False)
    #: Whether entries may be missing without anybody knowing of it.
    may_miss: bool = False

    @cached_property
    def seen(self) -> Seen:
        """Return its data, read and found valid. Raises DataError for data that break a rule."""
        from takifugu.releasing.planning.truth import read

        return read(self.calibration, self.data)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Return the names of its values: none of randomised rows, and of what another library draws."""
        from takifugu.releasing.planning.truth import Seen

        data = self.data.data if isinstance(self.data, Seen) else self.data
        if isinstance(data, CodedRows) or not KINDS.find(self.calibration.randomiser.kind).is_drawn_here:
            return ()
        return self.calibration.problem.published

    @property
    def complete(self) -> bool | None:
        """Return whether all values that its query reads are there, None where nobody may know it."""
        if self.may_miss:
            return None
        return self.observed is None

    @cached_property
    def of_observed(self) -> Calibration:
        """Return the calibration of the observed entries, for expectations."""
        if self.observed is None:
            return self.calibration
        return replace(self.calibration, query=Observed(self.calibration.query, self.observed))


@dataclass(frozen=True, eq=False)
class NoisyAnswer:
    """A question's noisy answer in answer units."""

    question: Question
    #: Of rows that are randomised one by one: the sent ones (`SentRows`).
    values: Any
    private: bool
    #: The statement of the ledger, None where none was used.
    account: Plain | None
    #: What was declared of the source's entries, and of the people of other sources of the ledger.
    declared: tuple[Assumption, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        return self.question.labels

    @property
    def randomiser(self) -> Randomiser:
        return self.question.calibration.randomiser

    @property
    def cells(self) -> Mapping[str, Hashable]:
        """Return the values by label, as in a certificate."""
        return dict(zip(self.labels, self.values, strict=True)) if self.labels else {}


def calibrations_of(questions: Iterable[Question]) -> list[Calibration]:
    """Return the calibrations of some questions, each once: those of alike units share one."""
    return list({id(question.calibration): question.calibration for question in questions}.values())


#: What the certificate of a release says that begins a series.
SERIES = limit("The release begins a series: later releases about the source count as multiples of it.")


def debits_of(questions: Sequence[Question]) -> list[Debit]:
    """Return every question's debits of its units, those of a series first: alike units share one."""
    from takifugu.accounting.composition import charge_of
    from takifugu.accounting.ledger import Debit

    debits = list[Debit]()
    for question in sorted(questions, key=lambda question: not question.begins_series):
        scope = "unit" if len(question.readers) == 1 else "pooled"
        alike = dict[Hashable, list[str]]()
        for unit, reader in question.readers.items():
            share = question.shares.get(unit) if question.shares else None
            alike.setdefault((id(reader), share), []).append(unit)
        for units in alike.values():
            (framework, starts), share = question.readers[units[0]], question.shares.get(units[0])
            charge = charge_of(
                question.calibration, framework, share=share, scope=scope, at=question.at,
                begins_series=question.begins_series,
            )  # fmt: skip
            named = None if units == [""] else units
            where = "" if question.at is not None else ",".join(map(str, starts))
            debits.append(Debit(framework, charge, named, question.release, where))
    return debits


@dataclass(frozen=True, eq=False)
class Observed(Query):
    """A query that reads no entries but those with a 1: what can be expected of it, for plans, and no release."""

    query: Query
    runs: Runs

    def resolve(self, entries: Entries) -> Additive:
        answer = self.query.resolve(entries)
        (weights, is_observed), ends = refined(answer.in_runs[0], self.runs)
        observed: Any = Runs(weights * is_observed, ends)
        return replace(answer, weights=observed)

    def to_dict(self) -> Json:
        read = hashlib.sha256(self.runs.values.tobytes() + self.runs.ends.tobytes()).hexdigest()
        return {"kind": "observed", "query": self.query.to_dict(), "runs": read}

    def describe(self) -> str:
        return f"{self.query.describe()}, where it was observed"


def all_complete(units: Sequence[Unit]) -> bool:
    """Return whether every entry of the units was observed."""
    return all(map(attrgetter("complete"), units))


def observed_of(units: Sequence[Unit]) -> Runs | None:
    """Return 1 for each observed entry, else 0; None for all."""
    if all_complete(units):
        return None
    runs_of_units = [(range(unit.size),) if unit.complete else unit.seen for unit in units]
    *first_entries, size = np.cumsum([0, *(unit.size for unit in units)]).tolist()
    shifts = np.repeat(first_entries, list(map(len, runs_of_units)))
    runs = list(chain.from_iterable(runs_of_units))
    starts = np.array([run.start for run in runs], dtype=np.int64)  # two lists: one of pairs takes thrice as long
    stops = np.array([run.stop for run in runs], dtype=np.int64)
    return Runs.indicator(starts + shifts, stops + shifts, size)


def about_observed(query: Query, runs: Sequence[range]) -> Query:
    """Return the query about the observed entries; gaps are public."""
    return query.over(chain.from_iterable(runs))
