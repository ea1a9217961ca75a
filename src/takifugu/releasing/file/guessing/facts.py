"""What is known of a table from several of its columns together; all of it is private."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from takifugu.data.kinds import NUMBERS, TEXTS, TIMES, WHOLE, YES_NO
from takifugu.releasing.file.guessing.column_words import (
    DWELLINGS,
    EAST,
    INFECTED,
    LIKE_PLURALS,
    NAMING,
    NORTH,
    NUMBERING,
    TOGETHER,
    words,
)
from takifugu.releasing.file.guessing.columns import FirstLook
from takifugu.releasing.file.guessing.marks import all_match, without_marks
from takifugu.releasing.file.guessing.pairs import ends_of
from takifugu.releasing.file.guessing.seen import MOST_STATES, Seen
from takifugu.releasing.file.guessing.sorting import rising, tell_apart, what_sorts

#: Words in the names of columns of dates that say how old somebody is.
BIRTH = words("birth born geburt geburtsjahr naissance nacimiento founded gegrundet")
#: So many columns of a wide table are tried as pieces.
_TRIED = 20
#: So many columns that are alike are the same thing of several people, side by side.
_SIDE_BY_SIDE = 3
#: Both coordinates of a place, in degrees or metres, in one text.
_PLACE = r"(?i)\s*(?:point)?\s*[(\[]?\s*-?[0-9]{1,7}\.[0-9]+\s*[,; ]\s*-?[0-9]{1,7}\.[0-9]+\s*[)\]]?\s*$"


#: A date in any order of its numbers, and what follows it.
_DATED = r"[0-9]{1,4}([-/.])[0-9]{1,2}\1[0-9]{1,4}(?:$|[ T])"


@dataclass(frozen=True, eq=False)
class Facts:
    """What rules may know of a table: its columns as they look, and what follows from several of them together."""

    look: FirstLook

    @classmethod
    def of(cls, look: FirstLook) -> Facts:
        """Return the facts about a table, usual marks read as missing."""
        return cls(without_marks(look))

    @property
    def columns(self) -> tuple[Seen, ...]:
        return tuple(self.look.columns.values())

    @cached_property
    def coordinates(self) -> tuple[Seen, Seen] | None:
        """Return the columns of latitude and longitude, or x and y."""
        numbers = [column for column in self.columns if column.kind in (NUMBERS, WHOLE)]
        ways = [(NORTH, EAST), ({"northing", "hochwert"}, {"easting", "rechtswert"})]
        for north, east in [*ways, ({"n", "nord"}, {"e", "ost"})] if "utm" in self.words else ways:
            first = next((column for column in numbers if column.words & north), None)
            second = next((column for column in numbers if column.words & east), None)
            if first is not None and second is not None:
                return (second, first) if _exchanged(first, second) else (first, second)
        plane = [column for column in numbers if column.words & {"x", "y"} and column.kind == NUMBERS]
        if len(plane) == 2 and len(numbers) <= 4:
            across, up = sorted(plane, key=lambda column: "y" in column.words)
            return up, across
        fine = [column for column in numbers if column.kind == NUMBERS and column.decimals >= 4]
        if len(fine) == 2 and column_range(fine[0]) <= 90 and column_range(fine[1]) <= 180:
            return fine[0], fine[1]
        reals = [column for column in numbers if column.kind == NUMBERS]
        return (reals[1], reals[0]) if len(reals) == 2 and self.places_in_one_column is not None else None

    @property
    def are_exchanged(self) -> bool:
        """Return whether the column called latitude goes beyond 90."""
        return self.coordinates is not None and bool(self.coordinates[1].words & NORTH)

    @cached_property
    def side_by_side(self) -> tuple[Seen, ...]:
        """Return columns of similar numbers, or of the same few values."""
        few = [c for c in self.columns if c.kind in (TEXTS, YES_NO, WHOLE) and 1 < len(c.labels) <= MOST_STATES]
        groups = [[c for c in few if set(c.labels) == set(member.labels)] for member in few if not member.tells_when]
        numbers = [c for c in self.columns if c.kind == NUMBERS and not c.is_epoch]
        reaches = [column_range(column) for column in numbers]
        if len(numbers) >= _SIDE_BY_SIDE and max(reaches) <= 2 * min(reaches):
            groups.append(numbers)
        best = max(groups, key=len, default=[])
        return tuple(best) if len(best) >= _SIDE_BY_SIDE and 2 * len(best) > len(self.columns) else ()

    @cached_property
    def ends(self) -> tuple[Seen, Seen] | None:
        """Return two columns of people, or things, from one list."""
        return ends_of(self.columns, self.look.rows)

    @cached_property
    def places_in_one_column(self) -> Seen | None:
        """Return a column with both coordinates in one text."""
        return next((c for c in self.columns if c.kind == TEXTS and c.labels and all_match(_PLACE, c.labels)), None)

    @property
    def mixed_times(self) -> Seen | None:
        """Return a column of dates in several formats."""
        some = (c for c in self.columns if c.kind == TEXTS and len(c.labels) > 1 and not c.is_clock)
        return next((c for c in some if all_match(_DATED, c.labels)), None)

    @cached_property
    def that_name(self) -> tuple[Seen, ...]:
        """Return the possible columns of names."""
        some = (c for c in self.columns if c.kind in (WHOLE, TEXTS) and not c.tells_when)
        return tuple(c for c in some if not self._is_size(c))

    def _is_size(self, column: Seen) -> bool:
        """Return whether a column of numbers says how many.

        Its name decides, or its values for an ambiguous noun: numbers of employees or of a household's members neither
        stand together nor are told apart by another column.
        """
        if column.is_size or column.kind != WHOLE or column.words & NAMING:
            return column.is_size
        few = column.words & DWELLINGS and column_range(column) <= MOST_STATES
        many = column.words & LIKE_PLURALS and len({len(text) for text in column.labels}) > 1
        if not (few or many) or column.runs == len(column.labels) < column.rows:
            return False
        steps = [c for c in self.columns if c.kind == TIMES or c.tells_when or c.named("order") or c.is_epoch]
        steps = [c for c in steps if not c.words or not c.words <= NUMBERING]
        return not any(self.tell_rows_apart([column, step]) for step in steps)

    @cached_property
    def repeated(self) -> Seen | None:
        """Return the column of people, if some have several rows."""
        if self.each_row_another is not None and self.each_row_another.named("unit"):
            return None
        names = [c for c in self.that_name if c.named("unit")]
        names = [c for c in names if MOST_STATES < len(c.labels) < c.rows]
        return self.with_several_rows or next(iter(names), None)

    @cached_property
    def each_row_another(self) -> Seen | None:
        """Return a column of people with one row each."""
        name_columns = [c for c in self.that_name if c.rows > 1]
        unique = [column for column in name_columns if len(column.labels) == column.rows]
        unit_columns = [column for column in unique if column.named("unit")]
        return next(iter([*unit_columns, *(c for c in unique if c.kind == TEXTS or c.only_numbers_cases)]), None)

    @cached_property
    def shared(self) -> Seen | None:
        """Return a column of households, rooms or teams of several people."""
        who = self.each_row_another
        if who is None or not who.named("unit"):
            return None
        some = (c for c in self.that_name if c is not who and c.words & TOGETHER and not c.is_question)
        return next((c for c in some if 1 < len(c.labels) * 3 <= c.rows * 2), None)

    @property
    def infected(self) -> Seen | None:
        """Return a two-valued column about infection."""
        few = (c for c in self.columns if c.kind in (TEXTS, YES_NO, WHOLE) and len(c.labels) == 2)
        return next((c for c in few if c.words & INFECTED), None)

    @cached_property
    def with_several_rows(self) -> Seen | None:
        """Return a column of people with several rows each."""
        name_columns = [c for c in self.that_name if 0 < len(c.labels) * 2 <= c.rows and c not in self.side_by_side]
        unit_columns = [column for column in name_columns if column.named("unit")]
        if any(column.names_people for column in unit_columns):
            unit_columns = [column for column in unit_columns if not column.names_things]
        name_columns = [column for column in name_columns if not column.is_epoch]
        many = [c for c in name_columns if len(c.labels) > MOST_STATES and (c.kind == TEXTS or c is self.columns[0])]
        together = [column for column in name_columns if column.stands_together]
        return next(iter([*unit_columns, *many, *together]), None) or self._sorting

    @property
    def _sorting(self) -> Seen | None:
        """Return a column of few names with rising times for each."""
        times = [c for c in self.columns if c.kind == TIMES or c.is_epoch]
        few = [c for c in self.columns if c.kind in (WHOLE, TEXTS) and 1 < len(c.labels) * 2 <= c.rows]
        for time in times[:1]:
            clock = [c for c in self.columns if c.is_clock and time.is_date][:1]
            roles = dict(zip(("order", "clock"), (c.name for c in (time, *clock)), strict=False))
            name = what_sorts(self.look.rows, {c.name: c for c in (time, *clock, *few[:_TRIED])}, roles)
            return None if name is None else self.look.columns[name]
        return None

    @cached_property
    def order(self) -> Seen | None:
        """Return a column of times or steps, distinct within each person."""
        keys = [self.with_several_rows] if self.with_several_rows is not None else []
        steps = [c for c in self.columns if c.kind == TIMES or c.tells_when or c.named("order") or c.is_epoch]
        steps = [c for c in steps if c.kind in (TIMES, WHOLE, NUMBERS) and not c.words & BIRTH and c not in keys]
        steps = [c for c in steps if not c.only_numbers_cases]
        steps = sorted((c for c in steps if len(c.labels) > 1), key=lambda column: column.kind != TIMES)
        steps += [column for column in self._rising_in(keys) if column not in steps]
        pieces = [c for c in self.columns if c.kind in (WHOLE, TEXTS) and 1 < len(c.labels) * 2 <= c.rows]
        pieces = sorted((c for c in pieces if c not in keys), key=lambda column: not column.named("piece"))[:_TRIED]
        alone = [(step, [*keys, step]) for step in steps]
        in_pieces = [(step, [*keys, piece, step]) for piece in pieces if keys for step in steps if step is not piece]
        clock = next((column for column in self.columns if column.is_clock), None)
        days = [column for column in self.columns if column.is_date and column.labels and clock is not None]
        clocked = [(day, [*keys, day, clock]) for day in days if clock is not None]
        return next((step for step, names in [*alone, *clocked, *in_pieces] if self.tell_rows_apart(names)), None)

    def _rising_in(self, keys: Sequence[Seen]) -> list[Seen]:
        """Return columns of recurring whole numbers, rising for each key."""
        some = [c for c in self.columns if c not in keys and not c.words & BIRTH]
        return [*rising(some, self.look.rows, [self.look.rows[key.name] for key in keys])][:_TRIED]

    @property
    def only_counts_rows(self) -> bool:
        """Return whether the likely order only numbers the rows."""
        order = self.order
        if order is None or order.kind != WHOLE or not order.words <= NUMBERING or not order.words:
            return False
        ranks = order.ranks([value for value in self.look.rows[order.name] if value is not None])
        return all(b - a == 1 for a, b in pairwise(ranks))

    @property
    def questions(self) -> tuple[Seen, ...]:
        return tuple(column for column in self.columns if column.is_question)

    def tell_rows_apart(self, columns: Sequence[Seen]) -> bool:
        """Return whether these columns, with clock changes, identify nearly all rows."""
        return tell_apart(self.look.rows, self.look.columns, columns)

    @property
    def is_even(self) -> bool:
        """Return whether most steps from row to row are equal."""
        if self.order is None:
            return False
        ranks = self.order.ranks([value for value in self.look.rows[self.order.name] if value is not None])
        are_ranks = self.order.kind in (WHOLE, NUMBERS) or self.order.form is not None
        steps = Counter(b - a for a, b in pairwise(ranks)) if are_ranks else Counter()
        return bool(steps) and steps.most_common(1)[0][1] * 2 >= len(ranks) - 1

    def _used(self) -> list[Seen]:
        columns = [self.each_row_another, self.with_several_rows, self.order, *(self.coordinates or ())]
        return [column for column in columns if column is not None]

    @cached_property
    def answers(self) -> tuple[Seen, ...]:
        """Return the columns of a few recurring values."""
        free_columns = [c for c in self.columns if c not in self._used() and c.kind in (TEXTS, YES_NO, WHOLE)]
        few = [c for c in free_columns if 1 < len(c.labels) <= MOST_STATES and len(c.labels) * 2 <= c.rows]
        return tuple(c for c in few if not c.tells_when and not c.named("piece"))

    @cached_property
    def amounts(self) -> tuple[Seen, ...]:
        """Return the columns of measured or counted numbers."""
        free_columns = [c for c in self.columns if c not in self._used() and c not in self.answers]
        numbers = [c for c in free_columns if c.kind == NUMBERS or (c.kind == WHOLE and len(c.labels) > 2)]
        numbers = [c for c in numbers if not (c.tells_when or c.is_epoch)]
        return tuple(c for c in numbers if not (c.named("unit") or c.is_identifier) or self._is_size(c))

    @property
    def words(self) -> frozenset[str]:
        return frozenset().union(*(column.words for column in self.columns))


def _exchanged(north: Seen, east: Seen) -> bool:
    degrees = bool(north.words & NORTH and north.labels and east.labels)
    return degrees and 90 < column_range(north) <= 180 and column_range(east) <= 90


def column_range(column: Seen) -> float:
    """Return the largest absolute number of a column."""
    return max(abs(float(column.numerals.plain(text))) for text in column.labels)
