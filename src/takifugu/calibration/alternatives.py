"""What each mechanism would do for a problem, as rows of one table: chosen, possible, refused, or why it is neither."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import overload

from takifugu.analysis.guarantee import Composition
from takifugu.analysis.robustness import OFF_BY, OFF_HEADER, Weakened
from takifugu.core.escaping import at_most, number, promised
from takifugu.core.plain import LEFT_OUT, form
from takifugu.core.text.parts import folded, html_table, note
from takifugu.core.text.tables import cut, filled, labelled, text_table, width
from takifugu.core.typed import Typed

#: What an error is, by default.
EXPECTED_ERROR = "how far all cells of an answer are off together, on average"
CHOSEN = "chosen"
IF_ONLY = "if the only release"  # the least error of all, which leaves no room for later releases
IF_FOLLOWED = "if others follow"  # the least error that leaves room
POSSIBLE = "possible"
WEAKER = "promises less"
REFUSED = "refused by default"
UNPROVED = "not proved"  # another package's noise, which loses more than is claimed
INAPPLICABLE = "does not apply"
SKIPPED = "skipped"
#: The statuses of mechanisms that may be used.
USABLE = (CHOSEN, IF_ONLY, IF_FOLLOWED, POSSIBLE)

#: What the picture of their errors is called.
ERRORS = "Noise that each mechanism would add"

_HEADER = ("mechanism", "scale", "error", "composes", "status")


@dataclass(frozen=True)
class Alternative(Typed):
    """One mechanism in a comparison: what it would add, in answer units, how it composes, and why (not)."""

    name: str
    scale: float | None
    expected_error: float | None
    composition: str | None
    status: str
    reason: str

    @property
    def composes(self) -> str:
        """Describe whether it composes; a dash without an answer."""
        if self.composition is None:
            return "-"
        return Composition(self.composition).answer

    @property
    def cells(self) -> tuple[str, ...]:
        return (self.name, number(self.scale), number(self.expected_error), self.composes, self.status)


def fallback(rows: Sequence[Alternative], chosen: str) -> str:
    """Say what was too large to try, if all data are taken for one secret; "" where that is not so."""
    from takifugu.calibration.registry import REGISTRY

    composing = {line.name for line in REGISTRY if "pufferfish" in line.definitions and not line.alone}
    skipped = [row.name for row in rows if row.status == SKIPPED and row.name in composing - {"record-dp"}]
    if chosen != "group-dp" or not skipped:
        return ""
    return (
        f"the belief is too large for {' and '.join(skipped[:2])}, so the noise hides all data as one secret; ask for "
        f'less noise by name: mechanism = "{skipped[0]}"'
    )


def drawn_errors(rows: Sequence[Alternative], error_words: str, width: int) -> str:
    """Return a bar for each mechanism's expected error, starred if refused."""
    from takifugu.core.text.pictures import Bar, bar_chart
    from takifugu.core.text.scales import Axis

    bars, note = [], ""
    for row in rows:
        if row.expected_error is None:
            continue
        star = ""
        if row.status not in USABLE:
            star, note = " *", "; * not used: it promises less than was requested, or is refused by default"
        bars.append(Bar(f"{row.name}{star}", float(f"{row.expected_error:.4g}")))
    return bar_chart(bars, Axis(f"{error_words}{note}"), ERRORS, width=width)


@dataclass(frozen=True)
class Comparisons(Typed, Sequence[Alternative]):
    """Every mechanism side by side, in the registry's order."""

    epsilon: Fraction
    delta: Fraction
    #: "auto" takes the chosen one; the least error of all, or of those that compose, is marked, too.
    rows: tuple[Alternative, ...]
    #: The promise where a belief is off by 0.01, 0.1 and 0.5, if it may be off.
    if_belief_off: tuple[Weakened, ...] = ()
    #: Sentences about what is no mechanism for this definition.
    remarks: tuple[str, ...] = field(default=(), metadata=form(key="beside", is_left_out=True))
    #: What an error is.
    error_words: str = field(default=EXPECTED_ERROR, metadata=LEFT_OUT)

    def __repr__(self) -> str:
        return f"<Comparisons: {len(self.rows)} mechanisms, epsilon {at_most(self.epsilon)}>"

    @overload
    def __getitem__(self, index: int) -> Alternative: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Alternative]: ...

    def __getitem__(self, index: int | slice) -> Alternative | Sequence[Alternative]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Alternative]:
        return iter(self.rows)

    def __str__(self) -> str:
        title = f"{self._title}; error: {self.error_words}"
        parts = [filled(title), as_text(self.rows), *map(filled, self.remarks)]
        parts += map(filled, self._fallback)
        if self.if_belief_off:
            parts += [text_table(OFF_HEADER, self._off_cells), filled(OFF_BY)]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        off = ""
        if self.if_belief_off:
            off = html_table(OFF_HEADER, self._off_cells, OFF_BY)
        title = f"{self._title}; error: {self.error_words}"
        page = as_html(self.rows, title) + "".join(map(note, [*self.remarks, *self._fallback]))
        return page + folded("If the belief is inaccurate", off)

    @property
    def _fallback(self) -> list[str]:
        chosen = next((row.name for row in self.rows if row.status == CHOSEN), "")
        words = fallback(self.rows, chosen)
        return [words] if words else []

    @property
    def _off_cells(self) -> list[tuple[str, ...]]:
        return [row.cells for row in self.if_belief_off]

    @property
    def _title(self) -> str:
        return promised(self.epsilon, self.delta)


def as_text(rows: Sequence[Alternative]) -> str:
    """Return a table of applicable mechanisms, notes, and a line for each other one; its `reason` says all."""
    cells, why, first, others = [], [], dict[str, str](), list[tuple[str, str]]()
    for row in rows:
        if row.status == INAPPLICABLE:
            others.append((row.name, row.reason))
            continue
        cells.append(row.cells)
        if not row.reason:
            continue
        if row.reason in first:
            why.append((row.name, f"as {first[row.reason]}"))
        else:
            first[row.reason] = row.name
            why.append((row.name, row.reason))
    parts = []
    if cells:
        parts.append(text_table(_HEADER, cells))
    if why:
        parts.append(labelled(why))
    if len(rows) == 1 and others:  # what was asked for alone says all
        parts.append(filled(f"does not apply: {others[0][1]}"))
    elif others:
        widest = max(len(name) for name, _ in others)
        lines = list[str]()
        for name, reason in others:
            lines.append(cut(f"  {name:{widest}}  {_first_words(reason)}", width()))
        parts.append("\n".join(["does not apply:", *lines]))
    return "\n\n".join(parts)


def _first_words(reason: str) -> str:
    """Return what a reason says first, without its own reason and its remedy."""
    return re.split(r"[:;]\s", reason, maxsplit=1)[0]


def as_html(rows: Sequence[Alternative], caption: str) -> str:
    """Return a table of usable mechanisms, the chosen one marked, others folded."""
    usable, unusable, chosen_number = list[Alternative](), list[tuple[str, ...]](), -1
    for row in rows:
        if row.status not in USABLE:
            unusable.append((row.name, row.status, row.reason))
            continue
        if row.status == CHOSEN:
            chosen_number = len(usable)
        usable.append(row)
    header: tuple[str, ...] = _HEADER
    if any(row.reason for row in usable):
        header = (*_HEADER, "why")
    table = refused = ""
    if usable:
        cells = [(*row.cells, row.reason)[: len(header)] for row in usable]
        table = html_table(header, cells, caption, chosen_number)
    if unusable:
        refused = html_table(("mechanism", "status", "why"), unusable)
    return table + folded(f"{len(unusable)} that may not be used here", refused)
