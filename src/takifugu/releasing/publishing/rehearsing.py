"""A whole release on data that are drawn from the belief with a seed: no data are opened, and no ledger is.

It lies in a folder of its own, and the same seed gives the same bytes. All that it publishes says that it guarantees
nothing: whoever knows the seed knows the noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from takifugu.accounting.ledger import Ledger
from takifugu.analysis.questions.made_up_data import OF_BELIEF, made_up
from takifugu.core.errors import InputError, ReleaseError, Unsupported
from takifugu.core.files import private_folder
from takifugu.core.sections import SELECT
from takifugu.data.relation.keys import Source
from takifugu.data.relation.roster import read_roster
from takifugu.numbers.noise import Entropy, InsecureSeededEntropyForTests
from takifugu.numbers.rationals import as_whole
from takifugu.releasing.advice.budgets import with_ways_to_pay
from takifugu.releasing.advice.refusing import refusal_of
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.certificates.files import files_of
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.relation_keys import UNOPENED, private_files, reads_one_of
from takifugu.releasing.planning.plan import Plan, Table, Watch, aims_of, planned_of, unwatched
from takifugu.releasing.planning.questions import Question, debits_of
from takifugu.releasing.publishing.choosing import Choice, refuse_inputs
from takifugu.releasing.publishing.folder import alone_in, called_certificates, place, writing
from takifugu.releasing.publishing.publish import check, draw, validate
from takifugu.releasing.publishing.sheets import bundle_for, tables_of, with_plan, worths_of
from takifugu.releasing.report.published import Published

#: So many people are made up, and so many steps of each, where neither the file nor the caller says how many.
PEOPLE, STEPS = 10, 1000
#: More steps of all people together are not made up: a minute, and three gigabytes.
MOST_STEPS = 50_000_000
NO_GUARANTEE = "REHEARSAL, no guarantee"


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """The tables of a rehearsal, the folder that they are in, and what was made up."""

    seed: int
    folder: Path
    tables: tuple[Published, ...]
    made_up: str

    @property
    def words(self) -> str:
        """Say that it is one, and on which data."""
        return (
            f"{NO_GUARANTEE}: {self.made_up}, from the belief and the seed {self.seed}. Nobody's data were read, and "
            "no ledger counts this."
        )


def rehearse(
    path: str | Path, seed: int, people: int | None = None, steps: int | None = None, window: str | None = None,
    only: Sequence[str] = (), allow_useless: bool = False, watch: Watch = unwatched,
) -> Rehearsal:  # fmt: skip
    """Publish the tables of a release file on made-up data, beside the file in FILE-rehearsal."""
    file = Choice(tuple(only)).of(load(path, UNOPENED, window=window))
    # by default as many people and steps as roster, [expect], window and max_length say
    planned, crowd, bits = about_nobody(file, seed, people, steps, watch)
    if refusal := refusal_of(planned, allow_useless):
        raise refusal
    drawn_plan = with_data(planned, bits)
    validate(drawn_plan.questions)
    check(drawn_plan.questions)
    # all errors of a release before it pays; of the budget nothing is spent
    _pay_nothing(planned)
    folder = file.path.parent / f"{file.path.stem}-rehearsal"
    refuse_inputs(file, folder, files_of(table.name for table in planned.tables))
    watch("drawing and writing", 0, 1)
    worths = worths_of(planned)
    bundle = bundle_for(drawn_plan, draw(drawn_plan.questions, {}, bits), worths, seed)
    _place(folder, bundle.files)
    tables = tuple(with_plan(table, planned, worths) for table in tables_of(bundle, folder))
    return Rehearsal(seed, folder, tables, crowd.words)


def about_nobody(
    file: ReleaseFile, seed: int, people: int | None, steps: int | None, watch: Watch = unwatched
) -> tuple[Plan, Crowd, Entropy]:
    """Return the plan about made-up people, who they are, and the bits that data and noise come from."""
    as_whole(seed, "the seed", "seed", least=0)
    for name, number in (("people", people), ("steps", steps)):
        if number is not None:
            as_whole(number, f"the number of {name}", name, least=1)
    parts = [file.kind.part(file, item) for item in file.items]
    have_steps = not file.kind.facts.has_lengths or any(part.places is not None for part in parts)
    are_fixed = {"people": (people or 1) > 1 and file.owner_column is None, "steps": steps is not None and have_steps}
    for name, is_fixed in are_fixed.items():
        if is_fixed:
            raise InputError(f"the number of {name} is no choice of this file", fix=f"leave --{name} out").at(name)
    by_attribute = [item.name for item, part in zip(file.items, parts, strict=True) if part.by_units]
    if by_attribute:
        raise InputError(
            f"{by_attribute[0]} is by what is public of {file.people.many}, and these are made up",
            fix="take the others with --only NAME",
        ).at("only")
    crowd = Crowd(file, people, steps)
    planned = planned_of(file, aims_of(file, crowd.units), watch)
    return planned, crowd, InsecureSeededEntropyForTests(seed)


@dataclass(frozen=True, eq=False)
class Crowd:
    """Who is made up for a file: so many people, and so many steps of each."""

    file: ReleaseFile
    people: int | None
    steps: int | None

    def units(self, part: ReleaseFile) -> tuple[Unit, ...]:
        """Return the units of one window, each with one whole recording, and no data."""
        if not part.kind.facts.has_lengths:
            return tuple(Unit(name) for name in self.names)
        size = len(part.places) if part.places is not None else self.steps or part.most_steps or self._expected("rows")
        names, size = self.names, size or STEPS
        _check_few(len(names) * size)
        return tuple(Unit(name, size=size, shape=(size,)) for name in names)

    @property
    def names(self) -> Sequence[str | None]:
        """Return the names of the people, None for one of whom there is no other."""
        if self.file.owner_column is None:
            return (None,)
        roster = self._roster()
        if roster and self.people is None:
            return roster
        count = self.people or self._expected("people") or PEOPLE
        _check_few(count)
        return [f"{self.file.people.one} {number}" for number in range(1, count + 1)]

    def _expected(self, key: str) -> int | None:
        """Return a whole number of [expect], if it has one."""
        number = getattr(self.file.spec.expect, key, None)
        return None if number is None else max(1, round(float(number)))

    def _roster(self) -> Sequence[str]:
        """Return the names of the roster; one that is made of the file of the data is left alone."""
        keys, states, _ = self.file.kind.facts.read_by(self.file.spec, self.file.belief)
        roster, private = keys.get("roster"), private_files(self.file.source, self.file.folder, None)
        if roster is None:
            return ()
        if isinstance(roster, str) and (SELECT.match(roster) or reads_one_of(roster, self.file.folder, private)):
            return ()
        with private_folder() as folder:
            covered = read_roster(Source.of(keys, states), self.file.folder, folder)
        return () if covered is None else list(map(str, covered.names))

    @property
    def words(self) -> str:
        """Say what is made up."""
        names, people = self.names, self.file.people
        who = "the data are made up"
        if names[0] is not None:
            who = f"{people.counted(len(names))} and their data are made up"
        if not self.file.kind.facts.has_lengths:
            return who
        parts = [self.file.kind.part(self.file, item) for item in self.file.items]
        sizes = sorted({self.units(part)[0].size for part in parts})
        return f"{who}, in recordings of {' or '.join(f'{size:,}' for size in sizes)} steps"


def _check_few(steps: int) -> None:
    """Raise InputError for more steps than can be made up."""
    if steps > MOST_STEPS:
        what, fix = f"{steps:,} steps are too many to be made up", "write fewer with --people or --steps"
        raise InputError(what, rule=f"at most {MOST_STEPS:,} are", fix=fix)


def with_data(planned: Plan, bits: Entropy) -> Plan:
    """Return the plan with data for each question; one person has one recording in all tables of a window."""
    recordings = dict[tuple[object, str], Any]()
    tables = list[Table]()
    for table in planned.tables:
        places = planned.file.kind.part(planned.file, table.item).places
        questions = list[Question]()
        for question in table.questions:
            data = list[Any]()
            for unit, (framework, _) in question.readers.items():
                key = places, unit
                if not framework.beliefs:
                    raise Unsupported("nothing is believed of these data, so none are drawn", fix=OF_BELIEF)
                if key not in recordings:
                    recordings[key] = made_up(framework.beliefs[0], bits)
                data.append(recordings[key])
            questions.append(replace(question, data=data[0] if len(data) == 1 else data))
        tables.append(replace(table, questions=tuple(questions)))
    return replace(planned, tables=tuple(tables))


def _pay_nothing(planned: Plan) -> None:
    """Raise what the ledger of a release would raise that has counted nothing yet."""
    file = planned.file
    book = Ledger.blank(str(file.ledger))
    account = book.preview(file.source.name, debits_of(planned.questions), file.budget, entries=file.entries)
    if account.over is not None:
        raise with_ways_to_pay(account.over, file, planned)


def _place(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files; those of another rehearsal give way, and those of a release do not."""
    with writing(folder), alone_in(folder, fix="rehearse a copy of the release file elsewhere"):
        for path in called_certificates(folder):
            if path.name in files and read_certificate(path).rehearsal is None:
                raise ReleaseError(f"{str(path)!r} is of a release, and would be overwritten", fix="move its table")
        place(folder, files, {})
