"""How texts are read, the same wherever the rows are: patterns, and the messages about a column that fits none."""

from __future__ import annotations

import json

from takifugu.core.errors import DataError

#: What is stripped from both ends of a text; engines differ in what they call a blank.
BLANKS = " \t\n\r\x0b\x0c"
INTEGER = r"^-?[0-9]{1,18}$"
NUMBER = r"^-?[0-9]{1,60}(?:[.][0-9]{1,60})?(?:[eE][+-]?[0-9]{1,2})?$"
NOT_FINITE = r"^[+-]?(?:[nN][aA][nN]|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)$"
#: Infinities, which are numbers of a bin that has them; nan is none.
INFINITE = r"^[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?$"
#: Dates and times: ISO 8601 in the calendar's long form, to the microsecond, with or without an offset from UTC. Many
#: systems write a blank before the offset, and no colon in it.
TIME = (
    "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    "(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6}0{0,3})?)?"
    "(?: ?(?:Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?))?)?$"
)
#: The offset at the end of a time, and how a time with one ends; a date alone may end as an offset does.
OFFSET = " ?(?:Z|[+-][0-9][0-9](?::?[0-9][0-9])?)$"
ZONED = f":[0-9.]+{OFFSET}"
#: An order column of numbers with fractions is read to a thousandth of a step.
PARTS_OF_STEP = 1000


def time_for_numbers(column: str) -> DataError:
    return DataError(
        f"the step is a time, and column {column!r} holds numbers",
        fix="write step = 1 if each row adds 1 to that column, step = 60 if it counts seconds and a row is a minute",
    ).at("step")


def number_for_times(column: str) -> DataError:
    return DataError(
        f"the step is a number, and column {column!r} holds dates and times", fix='write a time, such as step = "1min"'
    ).at("step")


def no_order(column: str) -> DataError:
    return DataError(
        f"column {column!r} is neither all numbers nor all ISO dates and times (such as 2026-01-31 17:05:00)",
        rule="it cannot order the rows",
        fix='declare beside the name of the file how they are written: order_format = "%d/%m/%Y %H:%M", decimal = ","',
    ).at("order")


def no_times(column: str) -> DataError:
    return DataError(
        f"column {column!r} holds neither numbers nor dates and times", rule="it cannot order the rows",
        fix="make it one of these, such as periods of pandas by .dt.to_timestamp()",
    ).at("order")  # fmt: skip


def two_ways(column: str, end: str | None = None) -> DataError:
    """Return the error about moments beside clock times, in one column or in that of ends, too."""
    subject = f"column {column!r} has" if end is None else f"columns {column!r} and {end!r} have"
    return DataError(
        f"{subject} times with and without a zone", rule="a zone would move only some of them",
        fix="write all of them in one way: with offsets from UTC, such as 2026-01-31T17:05+01:00, or without",
    ).at("order")  # fmt: skip


def two_kinds(start: str, end: str, kinds: tuple[str, str]) -> DataError:
    return DataError(
        f"column {start!r} holds {kinds[0]}, and column {end!r} {kinds[1]}",
        rule="when a stay starts and when it ends are of one kind: a zone would move only one of them",
        fix=f"give both one type, such as (\"{end}\" AT TIME ZONE 'Europe/Berlin') in DuckDB, or "
        f"frame[{end!r}].dt.tz_localize('Europe/Berlin') in pandas, for clock times there",
    ).at("end")


def zone_of_numbers(column: str) -> DataError:
    return DataError(f"a time zone is declared, and column {column!r} holds numbers", fix="leave the zone out").at(
        "timezone"
    )


def no_number_at_all(column: str, counts_as: float) -> DataError:
    """Return the error about missing values, perhaps countable as `counts_as`."""
    missing = f"missing = {{ {json.dumps(column, ensure_ascii=False)} = {counts_as:.12g} }} under [belief]"
    return DataError(
        f"column {column!r} has values that are missing or not finite",
        fix=f"fill them, or write what they count as: {missing}",
    )


def out_of_bounds(column: str) -> DataError:
    return DataError(
        f"column {column!r} has numbers outside of its declared range",
        fix="declare a wider range, or have them clipped",
    )


#: What helps where a mark such as NA stands for a missing value; which one the data hold is not told.
NAME_MARKS = 'name a mark for missing values (NA, -99, ?) as it is written: missing = ["NA"] under [source]'
REPAIR_THEM = f"repair them, or {NAME_MARKS}"


def not_numbers(column: str, fix: str = REPAIR_THEM) -> DataError:
    return DataError(f"column {column!r} has texts that are no numbers", fix=fix)


#: A cell that holds nothing, a value that is not known, and a number that is in no bin.
UNOBSERVED, UNKNOWN, OUTSIDE = -1, -2, -3
