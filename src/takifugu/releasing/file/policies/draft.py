"""First drafts of release files under a policy; nothing of the data but its columns' names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from takifugu.core.text.toml import toml_of
from takifugu.data.kinds import NUMBERS, WHOLE
from takifugu.releasing.file.drafting import EPSILON, Start, comment, line, plain, release_lines
from takifugu.releasing.file.guessing.columns import Column


def draft(start: Start) -> Iterator[str]:
    """Yield the lines of a release file, valid as soon as those that say FILL IN are filled in."""
    yield from _source(start, start.columns)
    yield from _rest(start.columns, start.said.get("publish") or "safe")


def _source(start: Start, columns: Sequence[Column]) -> Iterator[str]:
    yield from start.source("visits", "one row per visit of a person to a place")
    by_role = {column.role: column for column in columns}
    free = [column for column in columns if column.role not in ("x", "y")]
    person = by_role.get("person", free[0])
    place = next((column for column in free if column is not person), person)
    if person.role == "person" and person.sure != "a guess":
        yield line(f"person = {toml_of(person.name)}", person.guess("who was there"))
    else:
        yield from comment("FILL IN the column that says who was there.")
        yield f"# person = {toml_of(person.name)}"
    if "x" in by_role:
        for key in ("x", "y"):
            yield line(f"{key} = {toml_of(by_role[key].name)}", "guessed: a coordinate of where")
    else:
        yield from comment("FILL IN the column that says where.")
        yield f"# place = {toml_of(place.name)}"
        for key, number in zip(("x", "y"), _coordinates(columns), strict=False):
            yield line(f"# {key} = {toml_of(number.name)}", "instead of place and places, with x, y and grid")
    yield start.budget("the most that these people may ever spend")
    yield line('# elsewhere = "ignore"', "leave out rows at other places than those below; else they are refused")
    yield from comment(f"Its columns: {plain(', '.join(toml_of(column.name) for column in columns))}.")
    yield ""


def _coordinates(columns: Sequence[Column]) -> list[Column]:
    numbers = [column for column in columns[1:] if column.kind in (NUMBERS, WHOLE)]
    return numbers[:2] if len(numbers) > 1 else []


def _rest(columns: Sequence[Column], query: str) -> Iterator[str]:
    yield line("[belief]", "what the data can be; nothing is believed about them")
    yield 'kind = "asymmetric"'
    grid = "# grid = { x = [-74.3, -73.7], y = [40.5, 41.0], columns = 70, rows = 70 }"
    if any(column.role == "x" for column in columns):
        yield from comment("FILL IN the boxes that visits are counted in, from public knowledge, not from these data.")
        yield grid
    else:
        yield from comment(
            "FILL IN all places, from public knowledge and not from these data: a list, a public file, or the boxes of "
            "a grid (then source.x and source.y in place of source.place)."
        )
        yield '# places = ["bar", "shop"]'
        yield line('# places = { file = "places.csv", column = "place" }', "instead of places: the column of a file")
        if _coordinates(columns):
            yield from comment("Or, instead of places and place, with x and y:")
            yield grid
    yield from comment(
        "If it is a fact that nobody was at more than so many of the places (one per hour, 24 hours), say it: less "
        "noise. Data that break it are refused; nothing is ever cut."
    )
    yield "# most = 24"
    yield ""
    yield "[hide]"
    yield line('visits = "all"', "that a person was where they were; not that they were not elsewhere")
    yield ""
    if query == "visitors":
        yield from release_lines("visitors", "visitors", 'or "safe", places where so few were that they may be named')
        yield EPSILON
        return
    yield from release_lines("safe-places", "safe", 'or "visitors", the numbers themselves')
    yield from comment("FILL IN the largest number of people at a place that you call safe.")
    yield "# at_most = 5"
    yield line("# limit = 20", "after so many places that are not known to be safe, no more are answered")
    yield EPSILON
