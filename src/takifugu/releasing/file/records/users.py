"""Independent users: one row per user, all of them one unit of the ledger.

A user's value may be a combination of columns (age group and sex), one value that is written "young, f": so a table of
all combinations is a histogram, in which a user who changes moves one count down and another one up. A table by groups
has a cell for each group, in which its own users count, and no others (queries.by): who is in which group is public, as
the belief declares it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from takifugu.core.assumptions import public
from takifugu.core.column_words import people_of
from takifugu.core.errors import DataError, TakifuguError, gathered
from takifugu.core.nearest import did_you_mean, first_of
from takifugu.core.plain import toml_of
from takifugu.data.relation.source import Table
from takifugu.data.relation.types import state_of
from takifugu.data.values.bins import Listed
from takifugu.data.values.texts import MISSING, UNKNOWN
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.user_groups import BETWEEN, combined
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import GroupBy, Query, State
from takifugu.model.queries.sections import spelled
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import ABSENT
from takifugu.model.secrets.of_entries import every_entry, presence
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.problems import Where, broken, fault, stranger, undeclared
from takifugu.releasing.file.reading import bins_of, faults_of_rows, placed_at, raise_all, wrong
from takifugu.releasing.file.records.kind import (
    RecordItemSpec,
    RecordReleaseSpec,
    Records,
    bins_problems,
    unknown_value,
)
from takifugu.releasing.file.sections import AboutUnits, numbered

#: What a missing value may count as.
_COUNTS_AS = (
    'write missing = {} under [belief], and "no answer" among its values, with a probability; one of the other values '
    "there would count them as that answer"
)
#: What to write where users are not independent.
_TOGETHER = 'or make those who tell of each other one row; kind = "contacts" is for people who meet'


class Users(Records):
    """A kind whose rows are people without names, answered together; those of a group are alike."""

    reads, hides = ("value", "group"), "presence"
    facts = replace(
        Records.facts, is_one_unit=True, believed=AboutUnits, known=lambda spec, belief: _known(spec, belief),
        may_miss=lambda spec: [name in (spec.belief.missing or {}) for name in names_of(spec.source.value)],
        read_by=lambda spec, belief: (spec.source.read(), (), names_of(spec.source.group)),
    )  # fmt: skip

    def shape_faults(self, spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
        source, belief = spec.source, spec.belief
        yield from broken(
            (source.unit is not None, "source.unit", "does not belong to users, who are answered together",
             "leave it out, one row is one user"),
            (source.value is None, "source.value", "is missing",
             'write value = "<the column with what each user contributes>"'),
        )  # fmt: skip
        if belief.units_independent is not True:
            noun = people_of(None, source.called).one
            yield undeclared("unit", noun, "each row is a user of its own", _TOGETHER)
        yield from bins_problems(source, columns=isinstance(source.value, tuple))
        yield from _value_faults(spec)
        yield from broken(
            (belief.groups is None and source.group is not None, "source.group",
             "is given, but the belief has no groups", "write [[belief.groups]], or leave it out"),
            (source.group is None and len(belief.groups or ()) > 1, "source.group", "is missing",
             "write group = \"<the column with the name of each user's group>\""),
        )  # fmt: skip
        for number, item in numbered(spec.table):
            yield from _by_faults(spec, item, number)

    def query_of(self, file: ReleaseFile, item: RecordItemSpec) -> Query:
        """Return the query of one table, by group if declared."""
        query, spec = super().query_of(file, item), file.sections(RecordReleaseSpec)
        if spec.source.group not in names_of(item.by):
            return query
        cells, first = dict[str, range](), 0
        for group in spec.belief.groups:
            cells[group.name] = range(first, first + group.size)
            first += group.size
        return GroupBy(query, cells, by=spec.source.group or "")

    def values(self, belief: Any) -> list[tuple[State, ...]]:
        return [letters.values for letters in belief.letters]

    def framework_of(self, spec: RecordReleaseSpec, belief: Belief) -> Framework:
        secrets = list[Secret]()
        if spec.hide.presence:
            secrets.append(presence())
        if spec.hide.kind or not secrets:
            secrets.append(every_entry())
        return Pufferfish(secrets, belief)

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return one value per user, in the order of the belief's groups; DataError unless each user has one row."""
        spec, belief = file.sections(RecordReleaseSpec), file.belief
        source, groups, letters = spec.source, _groups(spec, belief), _letters(spec, belief)
        texts, column = list(dict.fromkeys(chain(*letters))), BETWEEN.join(names_of(source.value))
        names, faults = [name for name, _ in groups], list[TakifuguError]()
        counts = _counted(file.table, spec, belief, texts, faults)
        of_groups = file.table.times(file.table.opened.public)
        if sum(of_groups.values()) not in (belief.size, 0):  # an error says that there are none
            faults.append(wrong(
                "file", "the data must have one row for each user of the belief",
                rule="all rows of one person are hidden together, so they must be one row",
                fix="check belief.size, and that no line of the file is one of totals, which where leaves out; if "
                'people have several rows, make them one row each, or use sequences (kind = "markov-chain"), where a '
                "person may have many",
            ))  # fmt: skip
        if source.group is not None and any(group not in names for (group,) in of_groups):
            with gathered(faults), placed_at("group"):
                file.table.refuse_lookalikes(names, "group", "by0")
                raise DataError(f"{source.group!r} has a name that is not a group of the belief",
                                fix=f"its groups are {first_of(names)}")  # fmt: skip
        if any(code == UNKNOWN for code, *_ in counts):
            faults.append(unknown_value(column, letters[0]))
        raise_all(faults)
        # users of a group are alike, so they are counted
        values: list[Hashable] = []
        for number, (name, size) in enumerate(groups):
            tallies = {code: rows for (code, *group), rows in counts.items() if group in ([], [name])}
            if sum(tallies.values()) != size:
                problem = "a group has other than the declared number of rows"
                raise wrong("group", problem, fix="check each group's size")
            for code, rows in sorted(tallies.items()):
                if texts[code] not in letters[number]:
                    raise unknown_value(column, letters[number])
                values += [letters[number][texts[code]]] * rows
        return (Unit(None, values),)

    def assumptions(self, file: ReleaseFile) -> Iterator[Fact]:
        spec = file.sections(RecordReleaseSpec)
        yield public("How many users the belief is about is public.")
        if any(spec.source.group in names_of(item.by) for item in spec.table):
            yield public(f"Who is in which {spec.source.group!r} is public.")
        yield from super().assumptions(file)


def _value_faults(spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
    """Yield the faults of combined columns, their bins and what replaces missing values."""
    columns, belief = names_of(spec.source.value), spec.belief
    if len(set(columns)) < len(columns):
        yield fault(("source", "value"), f"names a column of {list(columns)} twice", "name each once")
    for name in spec.source.bins or ():
        if len(columns) > 1 and name not in columns:
            yield stranger(("source", "bins", name), name, "column of source.value", columns)
    several = isinstance(spec.source.value, tuple)
    for number, values in enumerate(_value_lists(belief)):
        where: Where = ("belief", "groups", number, "values")
        if belief.groups is None:
            where = ("belief", "values")
        odd = [value for value in values if isinstance(value, tuple) != several or len(_parts(value)) != len(columns)]
        if odd and columns:
            problem = f"has {combined(odd[0])!r}, which is not one value for each column of source.value"
            fix = "write single values"
            if several:
                fix = f"write lists such as {[f'a value of {column}' for column in columns]}"
            yield fault(where, problem, fix)
        if several and len({str(combined(value)) for value in values}) < len(values):
            yield fault(where, "has two combinations that are written alike", "rename a value")
    for name, text in (belief.missing or {}).items():
        if name not in columns:
            yield stranger(("belief", "missing"), name, "column of values", columns)
            continue
        choices = dict[str, None]()
        for value in chain(*_value_lists(belief)):
            choices |= dict.fromkeys(map(str, _parts(value)[columns.index(name) :][:1]))
        if choices and text not in choices:
            problem = f"{text!r} is none of the values"
            yield fault(("belief", "missing", name), problem, f"write one of {[*choices]}, or add it to them")


def _value_lists(belief: Any) -> list[Sequence[Any]]:
    """Return the values of each group, or of all users."""
    if belief.groups is None:
        return [belief.values or ()]
    return [group.values for group in belief.groups]


def _parts(value: Any) -> tuple[Any, ...]:
    """Return what a value has in each column."""
    if isinstance(value, tuple):
        return value
    return (value,)


def _by_faults(spec: RecordReleaseSpec, item: RecordItemSpec, number: int) -> Iterator[TakifuguError]:
    """Yield the faults of a table by groups or columns of values."""
    by, group, location = names_of(item.by), spec.source.group, ("table", number, "by")
    columns = tuple(value for value in by if value not in (group,))
    names = [*names_of(group), *names_of(spec.source.value)]
    unknown = next((name for name in by if name not in names), None)
    if unknown is not None:
        yield fault(
            location, f"{unknown!r} is neither the groups' column nor one of value{did_you_mean(unknown, names)}",
            f"write some of {names}; what a table is by beside the public group is a part of each user's value, "
            'value = ["age", "sex"]',
        )  # fmt: skip
    elif group in by and spec.belief.groups is None:
        yield fault(location, "is the column of groups, and the belief has none", "write [[belief.groups]]")
    elif columns and (columns != names_of(spec.source.value) or item.query != "histogram"):
        fix = f'write query = "histogram" and by = {list(names)}, and add up its cells: that costs nothing more'
        yield fault(location, "must name all columns of source.value in their order, or none of them", fix)


def _groups(spec: RecordReleaseSpec, belief: Any) -> list[tuple[str | None, int]]:
    """Return the name and the size of each group, one without a name where there are none."""
    if spec.belief.groups is None:
        return [(None, belief.size)]
    return [(group.name, group.size) for group in spec.belief.groups]


def _letters(spec: RecordReleaseSpec, belief: Any) -> list[dict[str, Hashable]]:
    """Return the values of each group by their texts, those who are absent among them."""
    letters, first = list[dict[str, Hashable]](), 0
    for _, size in _groups(spec, belief):
        of_user = belief.letters[int(belief.letters_of[first])]
        letters.append(spelled([*of_user.values, *[ABSENT] * (of_user.absence == "removed")]))
        first += size
    return letters


def _spelt(spec: RecordReleaseSpec, words: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the texts of each value, by column."""
    values, width = chain(*_value_lists(spec.belief)), len(names_of(spec.source.value))
    texts = {str(combined(value)): tuple(map(str, _parts(value))) for value in values}
    return [texts.get(word, (word,) * width) for word in words]


def _known(spec: RecordReleaseSpec, belief: Any) -> list[Listed]:
    """Return the texts of each column, or its bins."""
    words, several = _spelt(spec, dict.fromkeys(chain(*_letters(spec, belief)))), isinstance(spec.source.value, tuple)
    known = list[Listed]()
    for place, name in enumerate(names_of(spec.source.value)):
        texts = list(dict.fromkeys(word[place] for word in words))
        known.append(bins_of(spec.source, name if several else None) or texts)
    return known


def _counted(
    table: Table, spec: RecordReleaseSpec, belief: Any, words: Sequence[str], faults: list[TakifuguError]
) -> dict[tuple[Any, ...], int]:
    """Return the number of rows by value, and by the name of the group where there are groups, or add `faults`."""
    known, replaced, names = _known(spec, belief), spec.belief.missing or {}, names_of(spec.source.value)
    # values are numbered as in `words`; another one, such as an undeclared combination, is UNKNOWN
    counts = dict[tuple[Any, ...], int]()
    try:
        answers = table.answers()
    except TakifuguError as error:
        missing = {name: _COUNTS_AS.format(toml_of({name: "no answer"})) for name in names}
        faults += faults_of_rows(table, error, {"no value": missing})
        return counts
    number = {value: place for place, value in enumerate(_spelt(spec, words))}
    for row, (codes, rows) in enumerate(zip(answers.codes.tolist(), answers.rows.tolist(), strict=True)):
        texts = list[str]()
        for code, name, rule in zip(codes, names, known, strict=True):
            texts.append(replaced[name] if code == MISSING else state_of(rule, code))
        key = number.get(tuple(texts), UNKNOWN), *(column[row] for column in answers.keys)
        counts[key] = counts.get(key, 0) + rows
    return counts
