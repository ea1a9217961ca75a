"""Independent users: one row per user, all of them one unit of the ledger."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from takifugu.core.errors import TakifuguError
from takifugu.data import UNKNOWN, UNOBSERVED, Known, tally
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.user_groups import BETWEEN
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Query, State
from takifugu.model.queries.sections import spelled
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import ABSENT
from takifugu.model.secrets.of_entries import every_entry, presence
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.problems import fault
from takifugu.releasing.file.reading import bins_of, no_lookalikes, state_in, value_of, wrong
from takifugu.releasing.file.records import combined
from takifugu.releasing.file.records.kind import Records
from takifugu.releasing.file.records.sections import RecordItemSpec, RecordReleaseSpec, bins_problems


class Users(Records):
    """A kind whose rows are people without names, answered together; those of a group are alike."""

    reads, hides = ("value", "group"), "presence"
    facts = replace(Records.facts, roles={"value": "value", "group": "group"})

    def shape_faults(self, spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
        source, belief = spec.source, spec.belief
        if source.unit is not None:
            problem = "does not belong to users, who are answered together"
            yield fault(("source", "unit"), problem, "leave it out, one row is one user")
        if source.value is None:
            fix = 'write value = "<the column with what each user contributes>"'
            yield fault(("source", "value"), "is missing", fix)
        yield from bins_problems(source, columns=isinstance(source.value, tuple))
        yield from combined.faults_of(spec)
        yield from combined.missing_faults(spec)
        if source.null_keys is not None:
            yield fault(("source", "null_keys"), "does not belong to users", "leave it out, every row is a user")
        if belief.groups is None and source.group is not None:
            problem = "is given, but the belief has no groups"
            yield fault(("source", "group"), problem, "write [[belief.groups]], or leave it out")
        if source.group is None and len(belief.groups or ()) > 1:
            fix = "write group = \"<the column with the name of each user's group>\""
            yield fault(("source", "group"), "is missing", fix)

    def by_shape(self, spec: RecordReleaseSpec) -> Iterator[TakifuguError]:
        yield from combined.by_faults(spec)

    def query_of(self, file: ReleaseFile, item: RecordItemSpec) -> Query:
        return combined.by_group(super().query_of(file, item), file.sections(RecordReleaseSpec), item)

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
        return (Unit(None, _values(file)),)

    def assumptions(self, file: ReleaseFile) -> Iterator[str | Fact]:
        spec = file.sections(RecordReleaseSpec)
        yield "how many users the belief is about is public"
        if any(spec.source.group in names_of(item.by) for item in spec.release):
            yield f"who is in which {spec.source.group!r} is public"
        yield from super().assumptions(file)


def _values(file: ReleaseFile) -> list[Hashable]:
    """Return one value per user, in the order of the belief's groups.

    Users of a group are alike, so they are counted. Raises DataError unless each user has one row.
    """
    spec, belief = file.sections(RecordReleaseSpec), file.belief
    source = spec.source
    groups = [(None, belief.size)]
    if spec.belief.groups is not None:
        groups = [(group.name, group.size) for group in spec.belief.groups]
    letters, first = list[dict[str, Hashable]](), 0
    for _, size in groups:
        letters.append(_spelled(belief, first))
        first += size
    texts = list(dict.fromkeys(chain(*letters)))
    numbers = {str(name): code for code, (name, _) in enumerate(groups)}
    replaced: Mapping[str, str] = spec.belief.missing or {}
    of_group = {} if source.group is None or spec.belief.groups is None else {source.group: numbers}
    bins = None
    if isinstance(source.value, tuple):
        column = BETWEEN.join(source.value)
        counts = combined.counted(file.table, source, combined.spelt(spec.belief, texts), of_group, replaced)
    else:
        bins, column = bins_of(source), str(source.value)  # which `shape_faults` requires
        coding: Known = bins or {text: code for code, text in enumerate(texts)}
        counts = dict(tally(file.table, {column: coding, **of_group}))
    _check_sizes(file, counts, numbers)
    values: list[Hashable] = []
    for number, (_, size) in enumerate(groups):
        tallies = {code: rows for (code, *group), rows in counts.items() if group in ([], [number])}
        if sum(tallies.values()) != size:
            raise wrong("group", "a group has other than the declared number of rows", fix="check each group's size")
        for code, rows in sorted(tallies.items()):  # a value that no group has is the empty text, which is none
            text = replaced.get(column)
            if code != UNOBSERVED and bins is not None:
                text = state_in(code, column, bins)
            elif code != UNOBSERVED:
                text = "" if code == UNKNOWN else texts[code]
            values += [value_of(text, column, letters[number], file.table, combined.count_them(column))] * rows
    return values


def _check_sizes(file: ReleaseFile, counts: Mapping[tuple[int, ...], int], numbers: Mapping[str, int]) -> None:
    """Raise DataError unless each user of the belief has one row, in a declared group."""
    group = file.sections(RecordReleaseSpec).source.group
    if sum(counts.values()) != file.belief.size:
        raise wrong(
            "file", "the data must have one row for each user of the belief",
            rule="all rows of one person are hidden together, so they must be one row",
            fix="check belief.size, and that no line of the file is one of totals; if people have several rows, make "
            'them one row each, or use sequences (kind = "markov-chain"), where a person may have many',
        )  # fmt: skip
    if any(min(row[1:], default=0) < 0 for row in counts):
        no_lookalikes(file.table, str(group), numbers, "group")
        raise wrong("group", f"column {group!r} has a name that is not a group of the belief")


def _spelled(belief: IndependentUsers, user: int) -> dict[str, Hashable]:
    """Return a user's possible values by text, with "absent" for removal."""
    letters = belief.letters[int(belief.letters_of[user])]
    return spelled([*letters.values, ABSENT] if letters.absence == "removed" else letters.values)

