"""Which entries a payment is about: what its owner is asked, and what no answer makes true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from takifugu.core.errors import InputError, ReadingChanged
from takifugu.core.names import normalised
from takifugu.core.readings import STARTS, are_never_the_same, differences, with_entries


@dataclass(frozen=True)
class NewEntries:
    """A payment about entries that a source's ledger does not know: its reading, their name, and the known tables."""

    source: str
    reading: str
    entries: str | None
    content: Callable[[str], bytes]
    tables: Sequence[tuple[str, str]]

    @property
    def now(self) -> str:
        return with_entries(self.reading, self.entries)

    def before(self, table: tuple[str, str]) -> str:
        return with_entries(self.content(table[0]).decode(), table[1])

    @cached_property
    def nearest(self) -> tuple[str, str]:
        """The newest of the tables whose reading differs least, one that may be the same before others."""

        def distance(table: tuple[str, str]) -> tuple[bool, int]:
            before = self.before(table)
            return bool(are_never_the_same(before, self.now)), len(differences(before, self.now))

        return min(self.tables[::-1], key=distance)

    @property
    def question(self) -> ReadingChanged:
        return ReadingChanged(self.source, self.before(self.nearest) if self.tables else "", self.now)

    def check_same(self, why: str) -> None:
        """Refuse an answer about no entries, one without a reason, and one that the readings show to be wrong."""
        if not self.tables:
            raise InputError(
                f"nothing was released about the source {self.source!r} before, so its entries are those of no release",
                fix='name them: entries = "..." under [source] (entries="..." in Python)',
            ).at("same_entries")
        check_same(self.source, self.before(self.nearest), self.now, why)


def check_same(source: str, before: str, now: str, why: str) -> None:
    """Refuse a declaration without a reason, and one that two readings show to be wrong."""
    if not normalised(why, "the reason"):
        raise InputError(
            "nothing says why these are the same entries", rule="certificates print it",
            fix="write for example --same-entries 'the export was corrected' (same_entries='...' in Python)",
        ).at("same_entries")  # fmt: skip
    line = are_never_the_same(before, now)
    if line:
        raise InputError(
            f"the source {source!r} is read with another step, or from another start: {line}",
            rule="these are never the same entries",
            fix="write --other-entries (other_entries=True in Python), or read it as before",
        ).at("same_entries")


def starts_question(source: str, reading: str, entries: str | None) -> ReadingChanged:
    """Return the question where sequences of one name start elsewhere than before: their values are not the same."""
    now = with_entries(reading, entries)
    elsewhere = f"{STARTS}: elsewhere, or in recordings of other names"
    return ReadingChanged(source, f"{STARTS}: where they did\n{now}", f"{elsewhere}\n{now}")


def nobody_asks(source: str) -> InputError:
    return InputError(
        f"the source {source!r} is read as before, so nobody asks whether its entries are the same",
        rule="an answer that stands in a script would answer what is asked another time",
        fix="leave --same-entries or --other-entries out (same_entries and other_entries in Python)",
    ).at("same_entries")
