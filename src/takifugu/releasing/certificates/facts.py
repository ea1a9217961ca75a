"""Facts of a certificate that are more than a sentence: typed in its file, put into words where they are read.

"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from enum import StrEnum

from takifugu.core.assumptions import Assumption, limit, reading, sentence
from takifugu.core.plain import Plain
from takifugu.core.text.tables import shortened
from takifugu.data.times.moments import moment
from takifugu.data.times.zones import Zone

#: So many states of a chain are told one by one.
_MOST_STATES = 8
#: How long a state lasts that is never left.
FOR_EVER = "for ever"
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
#: Whose clock tells the hours of a table, where no zone is declared.
UTC, AS_WRITTEN = "UTC", "as written in the table"


class Caution(StrEnum):
    """What a certificate warns of."""

    NOT_PRIVATE = "not private"
    WEAKER = "weaker than requested"
    NO_NOISE = "no noise"
    BELIEFS_ONLY = "under the beliefs only"
    NO_LEDGER = "no ledger"
    REHEARSAL = "rehearsal"


CAUTIONS = {
    Caution.NOT_PRIVATE: "NOT PRIVATE: the noise came from a seed, for tests. Whoever knows the seed can remove the "
    "noise; do not publish this.",
    Caution.REHEARSAL: "REHEARSAL, no guarantee: the data are made up from the belief, and they and the noise come "
    "from the seed {seed}. Nobody's data were read, and no ledger counts this.",
    Caution.WEAKER: "The promise is weaker than requested: epsilon {epsilon}, not {requested}.",
    Caution.NO_NOISE: "No noise was added. The secret is hidden by the randomness of the data under the stated "
    "beliefs, and by nothing else: someone who knows more than these beliefs state may learn it.",
    Caution.BELIEFS_ONLY: "The noise alone would not hide one value from someone who knows all the others. The promise "
    "holds under the stated beliefs, and only under them.",
    Caution.NO_LEDGER: "No ledger accounts for this release: nothing prevents a second one about the same data.",
}


def words_of_clock(clock: str) -> str:
    """Say whose clock tells hours or weekdays: that of a zone, `UTC`, or `AS_WRITTEN`; of none "" is said."""
    known = {UTC: f"in {UTC}", AS_WRITTEN: f"on clocks {AS_WRITTEN}", "": ""}
    return known.get(clock, f"on clocks in {clock}")


@dataclass(frozen=True)
class Window:
    """The steps of a calendar that a table reads."""

    span: str
    step: str
    zone: str | None
    #: The epsilon of changes in several steps, by what changes.
    costs: Mapping[str, str] = field(default_factory=dict)
    #: The name of the tables of all windows, and which one this is; empty for a table of one window.
    series: str = ""
    period: str = ""
    #: The clock of cells by hours, weekdays or dates: a zone, `UTC`, or `AS_WRITTEN`; else empty.
    clock: str = ""

    @property
    def clock_words(self) -> str:
        """Say whose clock tells the cells of a table, as it follows what they are by."""
        return words_of_clock(self.clock)

    @property
    def start(self) -> str:
        """Return the first step's time, to the minute for sub-daily steps."""
        first = self.span.partition(" to ")[0]
        if re.fullmatch(r"\d{4}-\d\d-\d\d", first) and not re.search(r" days?$", self.step):
            first = f"{first}T00:00:00"
        return re.sub(r"T(\d\d:\d\d)(:00(?!\.))?", r" \1", first)

    @property
    def days(self) -> str:
        """Return the days that the window reads, to the last one, or its times; "" for steps that are counted."""
        try:
            first, end = map(datetime.fromisoformat, self.span.split(" to "))
        except ValueError:
            return ""
        if first.timetz() == end.timetz() == time.min:
            return _between(first.date(), (end - timedelta(microseconds=1)).date())
        starts, ends = (_between(at.date(), at.date()) for at in (first, end))
        since, until = (at.timetz().isoformat("seconds" if at.second else "minutes") for at in (first, end))
        return f"{starts}, {since} to {until}" if starts == ends else f"{starts} {since} to {ends} {until}"

    @property
    def length(self) -> timedelta:
        """Return the time from the first step to the end, in which clocks may have been changed."""
        zone = None if self.zone is None else Zone(self.zone)
        first, end = (moment(text, True, "window", zone) for text in self.span.split(" to "))
        return timedelta(microseconds=end - first)

    @property
    def words(self) -> str:
        clocks = "" if self.zone is None else f", by clocks in {self.zone}"
        return f"The window is {self.span}, its end not included, in steps of {self.step}{clocks}."

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Return how rows were read, and the changes that the noise does not hide."""
        against = "against someone who knows all other steps, the noise alone gives epsilon"
        not_hidden = [f"a whole {span}: {against} {cost}" for span, cost in self.spans.items()]
        return (reading(self.words), *(limit(sentence(words)) for words in not_hidden))

    @property
    def spans(self) -> dict[str, str]:
        """Return the epsilon of a change of every step, by how long the change lasts: day, week."""
        return {what.removeprefix("one "): cost for what, cost in self.costs.items()}


@dataclass(frozen=True)
class Stays:
    """How long the states of a chain last at a time on average; `cells` are the steps that it is about, "" for all."""

    lasting: Mapping[str, str]
    cells: str = ""

    @property
    def words(self) -> str:
        clauses, ending = list[str](), dict(self.lasting)
        # a state that hours or weekdays never leave ends at other ones
        endless = [state for state, span in self.lasting.items() if self.cells and span == FOR_EVER]
        for state in endless:
            del ending[state]
        if endless:
            states = ", ".join(shortened(list(map(repr, endless)), _MOST_STATES, "more states"))
            clauses.append(f"{states} {'does' if len(endless) == 1 else 'do'} not end then")
        if ending:
            (first, lasts), *states_after = ending.items()
            spans = [f"{first!r} lasts {lasts} at a time", *(f"{state!r} {span}" for state, span in states_after)]
            clauses.append(f"on average {', '.join(shortened(spans, _MOST_STATES, 'more states'))}")
        words = "; ".join(clauses)
        if self.cells:
            words = f"{self.cells}: {words}"
        return f"{words[0].upper()}{words[1:]}."


def _between(first: date, last: date) -> str:
    """Write two days without what they share."""
    end = f"{last.day} {_MONTHS[last.month - 1]} {last.year}"
    if first == last:
        return end
    if first.year != last.year:
        return f"{first.day} {_MONTHS[first.month - 1]} {first.year} to {end}"
    if first.month != last.month:
        return f"{first.day} {_MONTHS[first.month - 1]} to {end}"
    return f"{first.day} to {end}"


#: What a kind of release file tells of a table: a sentence, or a fact that readers are shown at a place of its own.
Fact = Assumption | Window | Stays


def checksum_of(data: Plain) -> str:
    """Return the checksum of a certificate's values, whatever their order."""
    content = {key: value for key, value in data.items() if key not in ("checksum",)}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
