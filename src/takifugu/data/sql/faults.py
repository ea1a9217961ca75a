"""What can be wrong with a source: the rule that is broken and the line that mends it, never a value of a row.

A row at fault has one bit for each cause. The first cause, in the order of the table below, is told with the number of
its first row. No message of DuckDB's is repeated: its messages quote rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.core.files import no_room
from takifugu.data.sql.words import toml_line

if TYPE_CHECKING:
    from duckdb import Error


class RowFault(DataError):
    """Rows break a rule: its name, the number of the first row (from 1), and how many more there are."""

    # `others` are further causes, told without a row; `also` has faults of values, in the words of their columns
    def __init__(
        self, cause: Cause, words: dict[str, str], row: int | None = None, more: int = 0, others: Sequence[Cause] = ()
    ) -> None:
        place = ""
        if row is not None:
            place = f"row {row} and {more:,} more: " if more else f"row {row}: "
        super().__init__(
            place + cause.what.format(**words), rule=cause.rule.format(**words), fix=_pasted(cause.fix, words)
        )
        self.cause, self.row, self.more, self.others = cause.name, row, more, tuple(others)
        self.where = (cause.key,)
        self.words = words
        self.also: tuple[RowFault, ...] = ()

    def each(self) -> Iterator[RowFault]:
        """Yield the fault of each cause, the others without a row's number."""
        yield self
        yield from self.also
        for cause in self.others:
            yield RowFault(cause, self.words)


#: A line of a fix, with an expression or a SELECT.
_FIX = re.compile(r'([a-z]+) = "([^"]*)"')


def _pasted(fix: str, words: dict[str, str]) -> str:
    """Return a fix whose lines can be pasted, whatever quotes the words have."""
    parts, end = list[str](), 0
    for line in _FIX.finditer(fix):
        parts += [fix[end : line.start()].format(**words), toml_line(line[1], line[2].format(**words))]
        end = line.end()
    return "".join([*parts, fix[end:].format(**words)])


@dataclass(frozen=True)
class Cause:
    """A rule about rows: its name, the key that declares it, what is wrong, the rule, and the fix."""

    name: str
    key: str
    what: str
    rule: str
    fix: str


def _of_both(cause: Cause, name: str) -> tuple[Cause, Cause]:
    """Return a cause about `order`, and the same about `end`, by its name."""
    texts = [text.replace("{order}", "{end}") for text in (cause.what, cause.rule, cause.fix)]
    return cause, Cause(name, "end", *(text.replace("order =", "end =") for text in texts))


CAUSES = (
    Cause("where unknown", "where", "where is neither true nor false", "each row counts or does not count",
          'where = "coalesce({where}, false)"'),
    Cause("no order", "order", "nothing in {order}", "every row has its place",
          'where = "coalesce(length({order}::varchar), 0) > 0", if such rows mean nothing'),
    *_of_both(Cause("no time", "order", "a text in {order} that is no ISO 8601 time",
          "step is a time, and times are written as 2026-03-29T14:05:00, all with an offset from UTC or all without",
          "order = \"strptime({order}, '%d.%m.%Y %H:%M')\", with your format"), "no end time"),
    *_of_both(Cause("no whole number", "order", "a text in {order} that is no whole number within 9e15",
          "step is a number, so rows start and end at whole numbers",
          "order = \"regexp_replace({order}, '[.]0+$', '')\", where 2.0 is 2"),
          "no whole end"),
    Cause("no unit", "unit", "nothing in {unit}", "every row is about somebody",
          'where = "coalesce(length({unit}::varchar), 0) > 0", if such rows are about nobody'),
    Cause("no recording", "recording", "nothing in {recording}", "every row belongs to a recording",
          'where = "coalesce(length({recording}::varchar), 0) > 0", if such rows mean nothing'),
    Cause("no value", "value", "nothing in {value}", "a missing value has a declared meaning",
          'nulls = "unobserved", or value = "coalesce({value}, \'...\')" with a state'),
    Cause("unknown state", "value", "a value in {value} that is not declared",
          "every value that can occur is declared",
          'value = "lower(trim({text}))" or a CASE; or declare the value, or bins if these are numbers'),
    Cause("no place", "value", "no place in {value}", "a visit is somewhere: one that is left out is not counted",
          'where = "{somewhere}", if such rows are no visits'),
    Cause("no coordinate", "value", "a coordinate in {value} that is no finite number", "a place has two of them",
          "value = [\"replace(lon, ',', '.')\", ...], or another expression that gives numbers"),
    Cause("no longitude", "value", "a longitude out of range in {value}",
          "it is a number of degrees from -360 to 360, and comes first", "repair the row, or leave it out by where"),
    Cause("no latitude", "value", "a latitude out of range in {value}",
          "it is a number of degrees from -90 to 90, and comes second", "repair the row, or leave it out by where"),
    Cause("elsewhere", "value", "a place in {value} that is not declared", "nobody was at a place that is not declared",
          "declare it; or where = \"{places}\": nothing is then said about other places"),
    Cause("no bin", "value", "a number in {value} that lies in no bin", "bins hold every number that can occur",
          "widen them; the last one may end at inf"),
    Cause("no measurement", "value", "NaN in {value}", "NaN is no measurement",
          "value = \"CASE WHEN isfinite(try_cast({value} AS double)) THEN {value} END\", which leaves it missing"),
    Cause("no number", "value", "a text in {value} that is no number", "bins and sums are of numbers",
          "value = \"nullif({value}, 'NA')\", with the text that stands for a missing value; where commas are decimal, "
          "as in 1,5, the number is replace({value}, ',', '.'), and where they stand between groups of digits, as in "
          "1,23,456, replace({value}, ',', '')"),
    Cause("blanks around", "unit", "a name in {unit} with blanks around it", "a name is compared as it is written",
          'unit = "trim({unit})"'),
    Cause("control character", "unit", "a name with a control character, or one that changes the writing direction",
          "a name is printed and published",
          "clean it where the table is made, or by regexp_replace(..., '[[:cntrl:]]', '', 'g') in sql"),
    Cause("number with a point", "unit", "a name in {unit} with a point or an exponent",
          "7.0 was 7 before a column had gaps: the same person under another name",
          "unit = \"regexp_replace({unit}, '^(-?[0-9]{{1,15}})[.]0*$', '\\1')\"; others may have lost digits: "
          "export the column as texts"),
    Cause("fields as a name", "unit", "a name in {unit} that has fields of its own (JSON)",
          "another value of one field would make another name",
          "unit = \"json_extract_string({unit}, 'id')\", with the field that names somebody"),
    *_of_both(Cause("year", "order", "a time before 1900 or after 2099 in {order}",
          "a year of two digits is read as one of the first century", "%y in strptime() reads a year of two digits"),
          "end year"),
    Cause("between steps", "step", "a time in {order} between two steps", "samples lie on steps",
          "order = \"{bucket}\""),
    Cause("outside", "until", "a row that is before from, or not before until", "a source begins and ends there",
          "move until to the time of the export, or leave such rows out by where"),
    Cause("stranger", "roster", "a person that the roster lacks", "the roster names everybody who is covered",
          "add the person to the roster, or leave such rows out by where"),
    Cause("tie", "order", "a second row of one step in {order}", "one row tells the state, and only you know which",
          "sql = \"SELECT * FROM {rows} QUALIFY row_number() OVER (PARTITION BY {row} ORDER BY ...) = 1\"{instead}"),
    Cause("backwards", "end", "a stay that ends before it starts", "a stay starts before it ends",
          'where = "coalesce({end} >= {order}, true)", if such rows mean nothing'),
    Cause("overlap", "end", "a stay that starts before the one before it ends", "a person is in one state at a time",
          "sql = \"SELECT * REPLACE (least({end}, lead({order}) OVER (PARTITION BY {unit} ORDER BY {order})) "
          "AS {end}) FROM {rows}\"{instead}"),
    Cause("open", "end", "a stay without an end before a later stay", "only the last stay of a person may be open",
          'end = "coalesce({end}, ...)"'),
    Cause("second answer", "unit", "a second row of one person", "answers have one row a person",
          "sql = \"SELECT * FROM {rows} QUALIFY row_number() OVER (PARTITION BY {unit} ORDER BY ...) = 1\"{instead}"),
)  # fmt: skip
#: The bit of each cause by its name.
BIT = {cause.name: 1 << number for number, cause in enumerate(CAUSES)}


#: What may be repeated of DuckDB's words: the number of a line, never its text.
_LINE = re.compile(r"CSV Error on Line: (\d+)")
#: What a line of DuckDB's words about a text file begins with; the lines around it quote the row and the path.
_LINES = {
    "The Parallel CSV Reader": ("a field has lines of its own that look like rows", "a line is a row",
                                "export the table without that column, or save it as Parquet"),
    "Expected Number of Columns": ("lines of the file do not have the same columns",
                                   "every line has the columns of the first one",
                                   "quotes around a field that holds the sign between fields; "
                                   "read_csv(..., null_padding = true) in sql reads shorter lines"),
    "Invalid unicode": ("the file is not UTF-8 text", "a text file is UTF-8, or its encoding is declared",
                        'encoding = "cp1252"'),
    "Value with unterminated quote": ("a quote is opened and not closed", "quotes stand around a whole field",
                                      "repair the line; read_csv(..., quote = '') in sql takes quotes as letters"),
    "Error when converting column": ("a value is not of the type that columns of read_csv() declares",
                                     "a type holds for every row", "'VARCHAR' there, and try_cast() of the column"),
    "Maximum line size": ("a line has more than 2 MB", "a line is a row", "look at the line; export the file again"),
    "The CSV Parser state machine": ("lines end in two ways, or text follows a quote that is closed",
                                     "lines end alike, and a quote inside a field is doubled", "export it again"),
}  # fmt: skip
_ERRORS = {
    "ParserException": ("is no SQL that DuckDB understands", "", "try it in the duckdb shell, which shows the place"),
    "CatalogException": ("names a table, function or type that DuckDB does not have", "",
                         "compare with DESCRIBE in the duckdb shell"),
    "BinderException": ("names a column that is not there, or combines values of two types", "",
                        "compare with DESCRIBE in the duckdb shell"),
    "ConversionException": ("casts a value that is not of that type", "a cast holds for every row",
                            "try_cast() gives NULL instead, try_strptime() for times"),
    "InvalidInputException": ("cannot be computed for every row", "an expression holds for every row",
                              "try_cast() and try_strptime() give NULL instead; strptime() takes a list of formats"),
    "OutOfRangeException": ("has a number that is too large for its type", "", "cast to a wider type"),
    "OutOfMemoryException": ("needs more memory than is allowed", "",
                             "leave out columns and ORDER BY, or allow more memory"),
    "PermissionException": ("reads a file that it does not name", "sources read only the files that they name",
                            "write each path as a text: read_csv('x.csv')"),
    "IOException": ("names a file that is not there or cannot be read", "", "write its path from the release file on"),
}  # fmt: skip


def translated(error: Error, key: str, file: str = "") -> TakifuguError:
    """Return DuckDB's error as one of ours, without a word of the data."""
    kind, text = type(error).__name__, str(error)
    if re.search("max_temp_directory_size|No space left", text):
        return no_room("no space left on device")
    line = _LINE.search(text)
    if line is not None or "CSV" in text[:60]:
        starts = (words for words in _LINES if re.search(f"^(.*Error: )?{words}", text, re.MULTILINE))
        what, rule, fix = _LINES[next(starts, "Expected Number of Columns")]
        place = f"line {line[1]} of {file}: " if line is not None else f"{file}: "
        return wrong_data("file", place + what, rule, fix)
    if re.search("magic bytes|to be a Parquet file|not a valid DuckDB", text):
        what = f"{file or 'the file'} is damaged, or not what its ending says"
        return wrong_data("file", what, "", "export it again")
    what, rule, fix = _ERRORS.get(kind, ("cannot be read by DuckDB", "", "try it in the duckdb shell"))
    return wrong_data(key, f"{key} {what}", rule, fix)


def no_rows() -> DataError:
    """Return the error about a table without rows."""
    rule = "an empty export is more often a mistake than nobody"
    return wrong_data("file", "there are no rows", rule, "look at the file, and at where")


def wrong_data(key: str, what: str, rule: str = "", fix: str = "") -> DataError:
    """Return the error about what a key declares: a file, a frame, a roster."""
    return DataError(what, rule=rule, fix=fix).at(key)


def wrong_key(key: str, what: str, rule: str = "", fix: str = "") -> InputError:
    """Return the error about a key of [source]."""
    return InputError(what, rule=rule, fix=fix).at(key)
