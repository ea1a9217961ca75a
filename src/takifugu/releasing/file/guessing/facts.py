"""What is known of a table: its columns, each with its likely role, and what follows; all of it is private."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations, product

from takifugu.data.kinds import NUMBERS, TEXTS, WHOLE, YES_NO
from takifugu.releasing.file.guessing.across import Across, across
from takifugu.releasing.file.guessing.column_words import BIRTH, EAST, INFECTED, NORTH, NOUNS, TOGETHER
from takifugu.releasing.file.guessing.columns import FirstLook
from takifugu.releasing.file.guessing.courses import Spacing, spacing
from takifugu.releasing.file.guessing.roles import Roles, is_size, keys_of, moments, roles_of, tell_apart
from takifugu.releasing.file.guessing.seen import MISSING, MOST_STATES, Seen

#: So many columns that are alike are the same thing of several people, side by side.
_SIDE_BY_SIDE = 3
#: Of a wide table so many columns of times are compared.
_COMPARED = 20
#: Both coordinates of a place, in degrees or metres, in one text.
_PLACE = r"(?i)\s*(?:point)?\s*[(\[]?\s*-?[0-9]{1,7}\.[0-9]+\s*[,; ]\s*-?[0-9]{1,7}\.[0-9]+\s*[)\]]?\s*$"
#: A date in any order of its numbers, and what follows it.
_DATED = r"[0-9]{1,4}([-/.])[0-9]{1,2}\1[0-9]{1,4}(?:$|[ T])"


@dataclass(frozen=True, eq=False)
class Facts:
    """What rules and questions may know of a table: its columns as they look, their roles, and what follows."""

    look: FirstLook

    @cached_property
    def columns(self) -> tuple[Seen, ...]:
        return tuple(self.look.columns.values())

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset().union(*(column.words for column in self.columns))

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
        return tuple(c for c in self.columns if c.is_name and not c.tells_when and not is_size(c, self.roles))

    @cached_property
    def with_several_rows(self) -> Seen | None:
        """Return the column of those with several rows each."""
        unit = self.roles.get("unit")
        return unit if unit is not None and unit.recurs and unit not in self.side_by_side else None

    @cached_property
    def each_row_another(self) -> Seen | None:
        """Return a column of people with one row each."""
        unique = [column for column in self.that_name if 1 < column.rows == len(column.labels)]
        unique = [c for c in unique if c.named("unit") or c.kind == TEXTS or c.only_numbers_cases]
        return max(unique, key=lambda column: column.named("unit"), default=None)

    @cached_property
    def people_again(self) -> tuple[Seen, ...]:
        """Return the columns of people of whom some have several rows."""
        some = (c for c in self.that_name if c.names_people and len(c.labels) < c.rows)
        return tuple(column for column in some if column not in self.side_by_side)

    @cached_property
    def named_again(self) -> tuple[Seen, ...]:
        """Return the columns called after somebody or something, with names in several rows."""
        some = (c for c in self.that_name if c.words & (NOUNS - TOGETHER) and 1 < len(c.labels) < c.rows)
        return tuple(column for column in some if column not in self.side_by_side)

    @cached_property
    def repeated(self) -> Seen | None:
        """Return the column of people, or others, with several rows each."""
        another = self.each_row_another
        if another is not None and another.named("unit") and (another.names_people or not self.people_again):
            return None
        many = [c for c in self.that_name if 1 < len(c.labels) < c.rows and c not in self.side_by_side]
        many = [c for c in many if c.named("unit") or self.are_many_names(c)]
        likely = self.with_several_rows if another is None or not self.people_again else self.people_again[0]
        return likely or max(many, key=lambda column: column.named("unit"), default=None)

    def are_many_names(self, column: Seen) -> bool:
        """Return whether a column's texts are many, and recur as names."""
        says_what = column.named("value") or column.named("piece")
        return column.kind == TEXTS and column.recurs and len(column.labels) > MOST_STATES and not says_what

    @cached_property
    def shared(self) -> Seen | None:
        """Return a column of households, rooms or teams of several people."""
        who = self.each_row_another
        if who is None or not who.named("unit"):
            return None
        some = (c for c in self.that_name if c is not who and c.words & TOGETHER and not c.is_question)
        return next((c for c in some if 1 < len(c.labels) * 3 <= c.rows * 2), None)

    @cached_property
    def ends(self) -> tuple[Seen, Seen] | None:
        """Return two columns of people, or things, from one list."""
        return ends_of(self.columns)

    # When a row was.

    @cached_property
    def order(self) -> Seen | None:
        """Return the column of times, or of steps for each unit."""
        order = self.roles.get("order")
        if order is None or not (order.is_time or order.tells_when or order.is_called_order or order.recurs):
            return None
        is_log = order.is_time and self.with_several_rows is not None
        return order if is_log or tell_apart(self.roles) else None

    @cached_property
    def orders(self) -> tuple[Seen, ...]:
        """Return the possible columns of a row's time, the likeliest first."""
        likely = self.roles.get("order")
        some = [c for c in self.columns if (c.tells_when and not c.is_clock) or c.is_time or c.kind == WHOLE]
        some = [c for c in some if c is likely or (len(c.labels) > 1 and not c.words & BIRTH)]
        return tuple(sorted(some, key=lambda c: (c is not likely, not c.is_time, not c.tells_when)))

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

        A date and two times of day are three.
        """
        times = [column for column in self.orders if column.is_time][:_COMPARED]
        lengths = [column for column in self.columns if column.is_duration]
        stays = list[tuple[str, ...]]()
        for day, (clock, other) in product([column for column in times if column.is_date], self.shifts):
            stays.append((day.name, clock.name, other.name))
        for start, end in permutations(times, 2):
            pairs = [pair for pair in zip(start.moments, end.moments, strict=True) if min(pair) > MISSING]
            if all(a <= b for a, b in pairs) and any(a < b for a, b in pairs):
                stays.append((start.name, end.name))
        return (*stays, *((start.name, length.name) for start, length in product(times, lengths)))

    @cached_property
    def shifts(self) -> tuple[tuple[Seen, Seen], ...]:
        """Return the pairs of columns of times of day."""
        return tuple(combinations([column for column in self.columns if column.is_clock], 2))

    @property
    def mixed_times(self) -> Seen | None:
        """Return a column of dates in several formats."""
        some = (c for c in self.columns if c.kind == TEXTS and len(c.labels) > 1 and not c.is_clock)
        return next((c for c in some if _all_match(_DATED, c.labels)), None)

    # Where it was.

    @cached_property
    def coordinates(self) -> tuple[Seen, Seen] | None:
        """Return the columns of latitude and longitude, or x and y."""
        numbers = [column for column in self.columns if column.is_number]
        reals = [column for column in numbers if column.kind == NUMBERS]
        ways = [(NORTH, EAST), ({"northing", "hochwert"}, {"easting", "rechtswert"})]
        if "utm" in self.words:
            ways.append(({"n", "nord"}, {"e", "ost"}))
        for north, east in ways:
            first = next((column for column in numbers if column.words & north), None)
            second = next((column for column in numbers if column.words & east), None)
            if first is not None and second is not None:
                return (second, first) if _exchanged(first, second) else (first, second)
        plane = [column for column in reals if column.words & {"x", "y"}]
        if len(plane) == 2 and len(numbers) <= 4:
            return tuple(sorted(plane, key=lambda column: "x" in column.words))  # type: ignore[return-value]
        fine = [column for column in reals if column.decimals >= 4]
        if len(fine) == 2 and fine[0].range <= 90 and fine[1].range <= 180:
            return fine[0], fine[1]
        return (reals[1], reals[0]) if len(reals) == 2 and self.places_in_one_column is not None else None

    @property
    def are_exchanged(self) -> bool:
        """Return whether the column called latitude goes beyond 90."""
        return self.coordinates is not None and bool(self.coordinates[1].words & NORTH)

    @cached_property
    def places_in_one_column(self) -> Seen | None:
        """Return a column with both coordinates in one text."""
        return next((c for c in self.columns if c.kind == TEXTS and _all_match(_PLACE, c.labels)), None)

    # What it says.

    @cached_property
    def side_by_side(self) -> tuple[Seen, ...]:
        """Return columns of similar numbers, or of the same few values."""
        few = [c for c in self.columns if (c.is_name or c.kind == YES_NO) and 1 < len(c.labels) <= MOST_STATES]
        groups = list[list[Seen]]()
        for member in few:
            if not member.tells_when:
                groups.append([column for column in few if {*column.labels} == {*member.labels}])
        numbers = [c for c in self.columns if c.kind == NUMBERS and not c.is_time]
        reaches = [column.range for column in numbers]
        if len(numbers) >= _SIDE_BY_SIDE and max(reaches) <= 2 * min(reaches):
            groups.append(numbers)
        best = max(groups, key=len, default=[])
        return tuple(best) if len(best) >= _SIDE_BY_SIDE and 2 * len(best) > len(self.columns) else ()

    @property
    def infected(self) -> Seen | None:
        """Return a two-valued column about infection."""
        few = (c for c in self.columns if (c.is_name or c.kind == YES_NO) and len(c.labels) == 2)
        return next((c for c in few if c.words & INFECTED), None)

    @property
    def questions(self) -> tuple[Seen, ...]:
        return tuple(column for column in self.columns if column.is_question)

    @cached_property
    def answers(self) -> tuple[Seen, ...]:
        """Return the columns of a few recurring values."""
        few = [c for c in self._free if (c.is_name or c.kind == YES_NO) and 1 < len(c.labels) <= MOST_STATES]
        return tuple(c for c in few if c.recurs and not c.tells_when and not c.named("piece"))

    @cached_property
    def amounts(self) -> tuple[Seen, ...]:
        """Return the columns of measured or counted numbers."""
        numbers = [c for c in self._free if c.is_number and c not in self.answers and not (c.tells_when or c.is_time)]
        numbers = [c for c in numbers if c.kind == NUMBERS or len(c.labels) > 2]
        return tuple(c for c in numbers if is_size(c, self.roles) or not (c.named("unit") or c.is_identifier))

    @property
    def _free(self) -> list[Seen]:
        """Return the columns of neither people nor times and places."""
        used = [self.each_row_another, self.with_several_rows, self.order, *(self.coordinates or ())]
        return [column for column in self.columns if column not in used]


def _all_match(form: str, texts: Sequence[str]) -> bool:
    return bool(texts) and all(re.match(form, text) for text in texts)


def _exchanged(north: Seen, east: Seen) -> bool:
    degrees = bool(north.words & NORTH and north.labels and east.labels)
    return degrees and 90 < north.range <= 180 and east.range <= 90


#: Words in the names of the two ends of a contact.
_ENDS = tuple(
    tuple(pair.split()) for pair in (
        "i j", "source target", "src dst", "from to", "sender receiver", "sender recipient", "caller callee",
        "ego alter", "one other", "who whom", "von an", "von nach", "de a", "da a",
    )
)  # fmt: skip


def ends_of(columns: Sequence[Seen]) -> tuple[Seen, Seen] | None:
    """Return two columns of people, or things, from one list.

    Their names say so; or they are many names, or numbers of recurring people, in a table of little else or in two
    columns of one name.
    """
    stems = Counter(column.stem for column in columns)
    # A row that is another case, or says nothing of when or in which groups, may hold what was measured twice.
    of_meetings = (c.is_time or (c.kind == TEXTS and stems[c.stem] == 2) for c in columns)
    meets = any(of_meetings) and not any(column.is_identifier for column in columns)
    names = [column for column in columns if column.is_name and not column.tells_when]
    alike = list[tuple[Seen, Seen]]()
    for end, other in combinations(names, 2):
        fewest = min(len(end.labels), len(other.labels))
        if len({*end.labels} & {*other.labels}) * 2 < fewest:
            continue
        same_stem = end.stem == other.stem != ""
        if any({first} <= end.words and {second} <= other.words for first, second in _ENDS):
            return end, other
        if same_stem and end.named("unit"):
            return end, other
        equal = sum(a == b for a, b in zip(end.values, other.values, strict=True) if a is not None)
        if fewest <= MOST_STATES or end.kind != other.kind or end.is_size:
            continue
        narrow = len(columns) <= 4 and (same_stem or end.kind == TEXTS)
        if narrow and equal * 20 <= end.rows:
            return end, other
        # What is measured twice is the same now and then, too; nobody meets himself.
        are_two = equal * 20 <= end.rows
        if end.kind != TEXTS:
            are_two = meets and 2 * fewest <= end.rows and equal == 0
        if same_stem and stems[end.stem] == 2 and are_two:
            alike.append((end, other))
    return alike[0] if alike else None
