"""What questions are about: a table as it looks, and the kind of file that the answers so far mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from takifugu.data.kinds import TIMES, WHOLE
from takifugu.model.queries.sections import EACH_ROW, IN_ORDER, POLICY, RECORDS, WHOLE_COLUMNS
from takifugu.releasing.file.guessing.across import Across, across
from takifugu.releasing.file.guessing.columns import FirstLook, with_roles
from takifugu.releasing.file.guessing.facts import BIRTH, Facts
from takifugu.releasing.file.guessing.rules import Guess, guessed
from takifugu.releasing.file.guessing.seen import Seen
from takifugu.releasing.file.kinds import KINDS, SEQUENCES
from takifugu.releasing.file.questions.question import NONE
from takifugu.releasing.file.questions.spacing import Spacing, moments, spacing
from takifugu.releasing.file.row_words import STEPS

#: The shape of a file about answers, by what stays secret of them.
SHAPES = {"answers": RECORDS, "column": WHOLE_COLUMNS, "population": EACH_ROW}
#: Of a wide table so many columns of times are compared.
_COMPARED = 20
Answers = Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Subject:
    """A table that questions are about, and its kind of file where that was said."""

    look: FirstLook = field(repr=False)
    kind: str | None = None

    @cached_property
    def facts(self) -> Facts:
        return Facts.of(self.look)

    @cached_property
    def guess(self) -> Guess:
        """Return the stated kind, or a guess by the table."""
        return guessed(self.facts) if self.kind is None else Guess(self.kind, 0, "")

    @cached_property
    def across(self) -> Across | None:
        """Return the columns of steps, if most of the table."""
        return across(self.look.columns)

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """Return the columns by likely role, for rows as steps."""
        return {column.role: column.name for column in with_roles(self.look) if column.role is not None}

    @cached_property
    def orders(self) -> tuple[Seen, ...]:
        """Return the possible columns of a row's time, the likeliest first."""
        likely = self.roles.get("order")
        some = [c for c in self.look.columns.values() if c.name == likely or (c.tells_when and not c.is_clock)]
        some += [c for c in self.look.columns.values() if c not in some and (c.is_epoch or c.kind == WHOLE)]
        some = [c for c in some if (len(c.labels) > 1 or c.name == likely) and not c.words & BIRTH]
        return tuple(sorted(some, key=lambda c: (c.name != likely, not self.is_time(c))))

    def is_time(self, column: Seen) -> bool:
        """Return whether a column holds times, not mere numbers."""
        return column.kind == TIMES or column.is_epoch

    @cached_property
    def stays(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs of columns of starts and later ends."""
        return tuple(self._stays())

    def _stays(self) -> Iterator[tuple[str, str]]:
        times = [column.name for column in self.orders if self.is_time(column)][:_COMPARED]
        at = {name: moments(self.look.columns, self.look.rows, [name]) for name in times}
        for start in at:
            for end in at:
                pairs = [(a, b) for a, b in zip(at[start], at[end], strict=True) if a is not None and b is not None]
                if start != end and all(a <= b for a, b in pairs) and any(a < b for a, b in pairs):
                    yield start, end

    @cached_property
    def spacing(self) -> Spacing:
        """Return the spacing of each unit's rows."""
        order = [self.roles[role] for role in ("order", "clock") if role in self.roles]
        if not order:
            return Spacing()
        rows = self.look.rows
        keys = [rows[self.roles[role]] for role in ("unit", "piece") if role in self.roles]
        times = moments(self.look.columns, rows, order)
        values = rows[self.roles["value"]] if "value" in self.roles else [None] * len(times)
        return spacing(times, list(zip(*keys, strict=True)) if keys else [()] * len(times), values)

    @property
    def is_timed(self) -> bool:
        """Return whether the likely order holds times."""
        return "order" in self.roles and self.is_time(self.look.columns[self.roles["order"]])

    def kind_of(self, answers: Answers) -> str:
        """Return the kind of file for the answers."""
        rows, likely = answers.get("rows"), self.guess.kind
        if self.kind is not None or rows is None:
            return likely
        if rows in ("visits", "contacts"):
            return {"visits": "asymmetric", "contacts": "contacts"}[rows]
        shape = IN_ORDER if rows in STEPS else SHAPES.get(answers.get("secret", ""))
        if shape is None:
            shape = shape_of(likely) if shape_of(likely) in SHAPES.values() else RECORDS
        if shape_of(likely) == shape and (likely != "contacts" or self.facts.ends is None):
            return likely
        columns = "normal" if len(self.facts.amounts) > len(self.facts.answers) else "independent-records"
        return {IN_ORDER: SEQUENCES, RECORDS: "users", WHOLE_COLUMNS: columns, EACH_ROW: "populations"}[shape]

    def unit_role(self, answers: Answers) -> str | None:
        """Return the key of [source] for people or units, if any."""
        return next((role for role, like in self.all_roles(answers).items() if like in ("unit", "person")), None)

    def all_roles(self, answers: Answers) -> Mapping[str, str]:
        """Return the column keys of [source], with the columns' likeness."""
        return KINDS.find(self.kind_of(answers)).facts.roles


def shape_of(kind: str) -> str:
    """Return the meaning of a row in a kind's data."""
    return KINDS.find(kind).facts.rows


def named(word: str) -> str | None:
    """Return the column of an answer, if any."""
    return None if word == NONE else word


def likely_rows(subject: Subject) -> str:
    """Return the word for the likely meaning of a row."""
    shape = shape_of(subject.guess.kind)
    is_wide = subject.across is not None and not subject.across.are_questions
    if is_wide and (subject.kind is None or shape == IN_ORDER):
        return "wide"
    if shape == POLICY:
        return "visits"
    if shape != IN_ORDER:
        return "contacts" if subject.guess.kind == "contacts" and subject.facts.ends is not None else "answers"
    if not subject.is_timed or subject.spacing.is_even:
        return "samples"
    return "stays" if subject.stays else "events" if subject.spacing.is_repeated else "changes"
