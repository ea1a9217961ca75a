"""The first draft of a release file that randomises a column; nothing of the data but its columns' names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from takifugu.core.text.toml import toml_of
from takifugu.data.kinds import NUMBERS, TEXTS, TIMES, WHOLE
from takifugu.releasing.file.drafting import Start, comment, groups_of, line, plain, release_lines
from takifugu.releasing.file.guessing.column_words import WORDS, words_in
from takifugu.releasing.file.guessing.columns import Column
from takifugu.releasing.file.guessing.seen import MOST_STATES


def draft(start: Start) -> Iterator[str]:
    """Yield the lines of a release file, valid as soon as those that say FILL IN are filled in."""
    yield from _source(start, start.columns)
    yield from _belief(start.columns)
    yield from release_lines("randomised", "each-value", "each row's value, randomised by itself")
    yield line("epsilon = 1.0", "for a person, all rows together")


def _source(start: Start, columns: Sequence[Column]) -> Iterator[str]:
    unit = next((c for c in columns if c.role == "unit"), None)
    places = _places(columns)
    yield from start.source("answers", "one row per value")
    if unit is None:
        if rest := _names(columns):
            yield line(f"# unit = {toml_of(rest[0].name)}", "with units_independent: whose row it is")
    else:
        yield line(f"unit = {toml_of(unit.name)}", unit.guess("whose row it is"))
    if places:
        yield line(f"coordinates = {toml_of(places)}", "guessed: first and second coordinate")
    else:
        listed = plain(", ".join(toml_of(c.name) for c in columns))
        yield from comment(f"FILL IN the column with the values, or the two with the coordinates, of {listed}.")
        yield f"# value = {toml_of(_value(columns).name)}"
        if numbers := _coordinates(columns):
            yield line(f"# coordinates = {toml_of(numbers)}", "instead of value, values, laws, with box, reference")
    yield from comment("FILL IN the most rows that one person may have; the promise is about all of them together.")
    yield "# rows_per_person = 1"
    yield line('# batch = "2026-03"', "a name for these rows: no row is in batches of two names")
    yield start.budget("the most epsilon that a person may ever spend")
    yield ""


def _names(columns: Sequence[Column]) -> list[Column]:
    """Return the columns that may say whose row it is, where some have several rows."""
    some = [column for column in columns if column.recurs and column.kind not in (NUMBERS, TIMES)]
    return [c for c in some if words_in(c.name) & WORDS["unit"] or (c.kind == TEXTS and len(c.labels) > MOST_STATES)]


def _value(columns: Sequence[Column]) -> Column:
    """Return the column that may hold the values: the first texts, where there are any."""
    some = [column for column in columns if column.role != "unit"] or columns
    return next((column for column in some if column.kind == TEXTS), some[0])


def _places(columns: Sequence[Column]) -> list[str]:
    """Return the two columns that are coordinates as far as one can guess, or none."""
    by_role = {column.role: column.name for column in columns}
    numbers = [column.name for column in columns if column.kind == NUMBERS]
    return [by_role["x"], by_role["y"]] if "x" in by_role else numbers if len(numbers) == 2 else []


def _coordinates(columns: Sequence[Column]) -> list[str]:
    """Return two columns of numbers that may be coordinates, or none."""
    numbers = [column.name for column in columns if column.kind in (NUMBERS, WHOLE) and column.role is None]
    return numbers[:2] if len(numbers) > 1 else []


def _belief(columns: Sequence[Column]) -> Iterator[str]:
    yield from comment(
        "Hidden is from which population a row comes, not the row's own value or place: that is published nearly as it "
        "is where epsilon, or the difference between the populations, allows it. The report says how nearly."
    )
    yield line("[belief]", "the populations that a row may come from")
    yield 'kind = "populations"'
    yield line('source = "assumed"', "FILL IN where they come from; the certificate prints it")
    box = "# box = { first = [0, 10], second = [0, 10], cells = [10, 10], metres = [1000, 1000] }"
    value = None if _places(columns) else _value(columns)
    groups = (column.name for column in groups_of(columns) if column.kind == TEXTS and column is not value)
    population = next(groups, "population")
    counted = f'file = "public.csv", population = {toml_of(population)}, smoothing = 1, confidence = 0.99'
    reference = f"# reference = {{ {counted} }}"
    if _places(columns):
        yield from comment("FILL IN a box that the places lie in and that is known without them.")
        yield box
        yield from comment("FILL IN the public file of other people in which each population's places are counted.")
        yield reference
    else:
        yield from comment("FILL IN the values as they are known without the data.")
        yield '# values = ["shop", "street"]'
        yield from comment("FILL IN how likely each value is in each population. Not from these data.")
        yield '# laws = { home = ["0.6", "0.4"], out = ["0.3", "0.7"] }'
        yield from comment("Or, instead of laws: counted in a public file of other people.")
        yield reference
        if _coordinates(columns):
            yield from comment("For places, with coordinates: a box that is known without them.")
            yield box
    yield from comment(
        "What is counted is a class: the promise holds for every population that the public file supports with this "
        'confidence. Where a person has several rows there, write unit = "person" in it: then each counts once.'
    )
    yield from comment("FILL IN: are a person's rows independent of each other, given the population? Only then write")
    yield "# rows_independent = true"
    if all(c.role != "unit" for c in columns):
        if _names(columns):
            yield line("# units_independent = true", "with unit: one person says nothing about the others")
    else:
        yield from comment("FILL IN: does one person say nothing about the others (no families)? Only then write this.")
        yield "# units_independent = true"
    yield ""
