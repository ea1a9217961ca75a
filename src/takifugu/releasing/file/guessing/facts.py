"""What is known of a table: its columns, each with its likely role, and what follows; all of it is private."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise, permutations, product

from takifugu.core.lists import present, without
from takifugu.data.kinds import NUMBERS, TEXTS, WHOLE
from takifugu.releasing.file.guessing.across import Across, across
from takifugu.releasing.file.guessing.column_words import BIRTH, COMPANY, EAST, ENDS, FIGURES, NORTH, PLACE, TOGETHER
from takifugu.releasing.file.guessing.columns import FirstLook
from takifugu.releasing.file.guessing.roles import Roles, Spacing, keys_of, moments, roles_of, spacing, tell_apart
from takifugu.releasing.file.guessing.seen import MISSING, MOST_STATES, Seen

#: Of a wide table so many columns of times are compared.
_COMPARED = 20
#: A date in any order of its numbers, and what follows it.
_DATED = r"[0-9]{1,4}([-/.])[0-9]{1,2}\1[0-9]{1,4}(?:$|[ T])"


@dataclass(frozen=True, eq=False)
class Facts:
    """What questions may know of a table: its columns as they look, their roles, and what follows."""

    look: FirstLook

    @cached_property
    def columns(self) -> tuple[Seen, ...]:
        return tuple(self.look.columns.values())

    @cached_property
    def roles(self) -> Roles:
        """Return the likely columns by role, for rows as steps."""
        return roles_of(self.columns)

    @cached_property
    def across(self) -> Across | None:
        """Return the columns of steps, if most of the table."""
        return across(self.look.columns)

    # Whose a row is.

    @cached_property
    def that_name(self) -> tuple[Seen, ...]:
        """Return the possible columns of names."""
        return tuple(column for column in self.columns if column.may_name)

    @cached_property
    def several(self) -> Seen | None:
        """Return the column of those with several rows each, by roles."""
        unit = self.roles.get("unit")
        return unit if unit is not None and unit.recurs else None

    @cached_property
    def another(self) -> Seen | None:
        """Return a column of people with one row each."""
        others = list[Seen]()
        for column in self.that_name:
            is_unique = 1 < column.rows == len(column.labels) and not column.is_sparse
            if is_unique and (column.named("unit") or column.kind == TEXTS or column.only_numbers_cases):
                others.append(column)
        return max(others, key=lambda column: column.named("unit"), default=None)

    @cached_property
    def merged(self) -> Seen | None:
        """Return a column of people with a name in few rows."""
        return next((column for column in self.columns if column.is_sparse and column.names_people), None)

    @cached_property
    def people_again(self) -> tuple[Seen, ...]:
        """Return the columns of people of whom some have several rows."""
        return tuple(column for column in self.that_name if column.names_people and column.repeats)

    @cached_property
    def repeated(self) -> Seen | None:
        """Return the column of people, or others, with several rows each."""
        another = self.another
        if another is not None and another.named("unit") and (another.names_people or not self.people_again):
            return None
        several = [column for column in self.that_name if column.repeats]
        named = [column for column in several if column.named("unit")]
        ranked = present((*self.people_again, self.several, *named, *filter(self.are_many_names, several)))
        return next(iter(ranked), None)

    def are_many_names(self, column: Seen) -> bool:
        """Return whether a column's texts, or long numbers, are many, and recur as names."""
        says_what = column.named("value") or column.named("recording")
        if column.is_long and not column.is_time:
            return column.may_name and column.repeats and not says_what
        return column.kind == TEXTS and column.recurs and column.has_many and not says_what

    @cached_property
    def shared(self) -> Seen | None:
        """Return a column of households, rooms or teams.

        Each has several people, or many other ids.
        """
        who = self.another
        if who is None or not who.named("unit"):
            return None
        for column in self.that_name:
            is_group = bool(column.words & TOGETHER) or (column.is_called_id and column.has_many)
            groups_rows = 1 < len(column.labels) * 3 <= column.rows * 2
            if is_group and groups_rows and column is not who and not column.is_question:
                return column
        return None

    @cached_property
    def ends(self) -> tuple[Seen, Seen] | None:
        """Return two columns of people, or things, from one list.

        Their names say so; or they are many names that are hardly ever equal, in a table of little else or in two
        columns of one name.
        """
        stems = Counter(column.stem for column in self.columns)
        # A row that is another case was measured twice.
        is_list = not any(column.is_identifier for column in self.columns)
        for end, other in combinations(self.that_name, 2):
            fewest = min(len(end.labels), len(other.labels))
            if len({*end.labels} & {*other.labels}) * 2 < fewest:
                continue
            same_stem = end.stem == other.stem != ""
            are_named = any({first} <= end.words and {second} <= other.words for first, second in ENDS)
            if are_named or (same_stem and end.named("unit")):
                return end, other
            equal = sum(a == b for a, b in zip(end.values, other.values, strict=True) if a is not None)
            if fewest <= MOST_STATES or end.kind != other.kind or equal * 20 > end.rows:
                continue
            is_pair = same_stem and stems[end.stem] == 2
            if end.kind == TEXTS and (is_pair or len(self.columns) <= 4):
                return end, other
            if is_pair and is_list and equal == 0 and 2 * fewest <= end.rows:
                return end, other
        return None

    @cached_property
    def companies(self) -> tuple[Seen, ...]:
        """Return the columns that make each row a company."""
        if self.several is not None and self.order is not None:
            return ()
        figures = [column for column in self.amounts if column.words & FIGURES]
        return tuple(column for column in self.columns if column.words & COMPANY or column in figures)

    # When a row was.

    @cached_property
    def order(self) -> Seen | None:
        """Return the column of times, or of steps for each unit."""
        order = self.roles.get("order")
        if order is None or not (order.is_time or order.tells_when or order.is_called_order or order.recurs):
            return None
        is_log = order.is_time and self.several is not None
        return order if is_log or tell_apart(self.roles) else None

    @cached_property
    def orders(self) -> tuple[Seen, ...]:
        """Return the possible columns of a row's time, the likeliest first."""
        likely = self.roles.get("order")
        possible = list[Seen]()
        for column in self.columns:
            says_when = column.kind == WHOLE or (column.tells_when and not column.is_clock)
            if column is likely or (says_when and column.varies and not column.words & BIRTH):
                possible.append(column)
        return tuple(sorted(possible, key=lambda c: (c is not likely, not c.is_time, not c.tells_when)))

    @cached_property
    def spacing(self) -> Spacing:
        """Return the spacing of each unit's rows."""
        if "order" not in self.roles:
            return Spacing()
        times = moments(self.roles)
        values = self.roles["value"].values if "value" in self.roles else [None] * len(times)
        return spacing(times, keys_of(self.roles), values)

    @property
    def is_timed(self) -> bool:
        """Return whether the likely order holds times."""
        return "order" in self.roles and self.roles["order"].is_time

    @cached_property
    def stays(self) -> tuple[tuple[str, ...], ...]:
        """Return the columns of starts and later ends, or of starts and durations.

        A date and two times of day are three, and two dates with theirs four. The end of stays of a length starts none.
        """
        times = [column for column in self.orders if column.is_time and not column.is_called_id][:_COMPARED]
        lengths = [column for column in self.columns if column.is_duration]
        stays = list[tuple[str, ...]]()
        dates = [column for column in times if column.is_date]
        spans = [(first, last) for first, last in combinations(dates, 2) if _never_falls(first, last)]
        for (first, last), (clock, other) in product(spans, self.shifts):
            stays.append((first.name, clock.name, last.name, other.name))
        for day, (clock, other) in product(dates, self.shifts):
            stays.append((day.name, clock.name, other.name))
        ends = list[tuple[Seen, Seen]]()
        for start, end in permutations(times, 2):
            if _never_falls(start, end) and not _never_falls(end, start):
                stays.append((start.name, end.name))
                ends += [(end, length) for length in lengths if _lasts(start, end, length)]
        starts = without(product(times, lengths), ends)
        return (*stays, *((start.name, length.name) for start, length in starts))

    @cached_property
    def shifts(self) -> tuple[tuple[Seen, Seen], ...]:
        """Return the pairs of columns of times of day."""
        return tuple(combinations([column for column in self.columns if column.is_clock], 2))

    @property
    def mixed_times(self) -> Seen | None:
        """Return a column of dates in several formats."""
        for column in self.columns:
            if column.varies and column.is_unread and all(re.match(_DATED, text) for text in column.labels):
                return column
        return None

    @property
    def unread_times(self) -> Seen | None:
        """Return a column named as times, but with unreadable texts."""
        return next((c for c in self.columns if c.varies and c.is_unread and c.tells_when), None)

    # Where it was.

    @cached_property
    def coordinates(self) -> tuple[Seen, Seen] | None:
        """Return the columns of latitude and longitude, or y and x without a z."""
        numbers = [column for column in self.columns if column.is_number]
        is_flat = not any("z" in column.words for column in numbers)  # no acceleration
        plane = frozenset(("y", "northing", "hochwert")), frozenset(("x", "easting", "rechtswert"))
        for north, east in ((NORTH, EAST), plane):
            first = next((column for column in numbers if column.words & north), None)
            second = next((column for column in numbers if column.words & east and column is not first), None)
            if first is not None and second is not None and is_flat:
                return first, second
        return None

    @cached_property
    def where(self) -> tuple[Seen, ...]:
        """Return the columns of coordinates, or of a place by name."""
        places = [column for column in self.columns if column.words & PLACE and column.has_many]
        return self.coordinates or tuple(without(places, (self.repeated,)))[:1]

    # What it says.

    @property
    def questions(self) -> tuple[Seen, ...]:
        return tuple(column for column in self.columns if column.is_question)

    @cached_property
    def answers(self) -> tuple[Seen, ...]:
        """Return the columns of a few recurring values."""
        free = [column for column in self._free if column.is_few and column.recurs]
        return tuple(column for column in free if not (column.tells_when or column.named("recording")))

    @cached_property
    def amounts(self) -> tuple[Seen, ...]:
        """Return the columns of measured or counted numbers."""
        amounts = list[Seen]()
        for column in without(self._free, self.answers):
            is_amount = column.kind == NUMBERS or (column.is_number and len(column.labels) > 2)
            is_timed = column.tells_when or column.is_time
            names_something = column.named("unit") or column.is_identifier
            if is_amount and not is_timed and (column.is_size or not names_something):
                amounts.append(column)
        return tuple(amounts)

    @property
    def _free(self) -> list[Seen]:
        """Return the columns of neither people nor times and places."""
        used = [self.another, self.several, self.order, *(self.coordinates or ())]
        return without(self.columns, used)


def _never_falls(start: Seen, end: Seen) -> bool:
    """Return whether no row's end is before its start."""
    pairs = [pair for pair in zip(start.moments, end.moments, strict=True) if min(pair) > MISSING]
    return bool(pairs) and all(before <= after for before, after in pairs)


def _lasts(start: Seen, end: Seen, length: Seen) -> bool:
    """Return whether a longer time from start to end has a greater length, whatever its unit."""
    rows = list[tuple[float, float]]()
    for before, after, number in zip(start.moments, end.moments, length.moments, strict=True):
        if min(before, after, number) > MISSING:
            rows.append((number, after - before))
    return all(shorter <= longer for (_, shorter), (_, longer) in pairwise(sorted(rows)))
